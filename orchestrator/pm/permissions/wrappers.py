"""Programs that run another command: where that begins, if it is certain."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from orchestrator.formats.shell_words import Word
from orchestrator.formats.text import names
from orchestrator.pm.permissions.defaults import MODULES, PACKAGES, RUNNERS
from orchestrator.pm.permissions.matching import plain_name

_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_SPAN: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")
_NICENESS: Final = re.compile(r"-(?:n)?-?[0-9]{1,2}")
_RUN_BY: Final = frozenset({"uv", "poetry", "pipenv", "hatch", "pdm", "rye"})
_QUIET: Final = frozenset({"--no-sync", "--frozen", "--locked", "--offline", "-q", "--quiet", "--"})
_SHELLS: Final = frozenset({"sh", "bash", "dash"})
_C: Final = re.compile(r"-[eulx]*c")
_PYTHON: Final = re.compile(r"python(?:3(?:\.[0-9]{1,2})?)?")
_PLACED: Final = frozenset({"nohup", "builtin", "noglob", "nocorrect", "exec", "-"})


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: words of one command, or a shell's `text`; `assignments` hold for it.

    With a `doubt` it is not certain; with no words, text or doubt nothing is run.
    """

    words: tuple[Word, ...] = ()
    text: str = ""
    assignments: tuple[Word, ...] = ()
    doubt: str = ""


def inner(words: Sequence[Word]) -> Inner | None:
    """Return what a command runs in turn, or None if it is no wrapper."""
    name = plain_name(words[0].text)
    if _PYTHON.fullmatch(name):
        return _module(words)
    if name in _SHELLS or name in {"zsh", "ksh", "fish", "csh", "tcsh"}:
        return _shell(name, words)
    if name in _PLACED:
        return _after(words, 1, name)
    if name in _RUN_BY:
        return _run_by(words)
    found = _KNOWN.get(name)
    if found:
        return found(words)
    return Inner(doubt=f"`{name}` runs what it is told to") if name in _RUNS else None


def _after(words: Sequence[Word], at: int, name: str, assignments: tuple[Word, ...] = ()) -> Inner:
    rest = tuple(words[at:])
    if not rest:
        return Inner(doubt=f"`{name}` runs nothing that is named")
    if not rest[0].certain or rest[0].glob or rest[0].tilde or rest[0].text.startswith("-"):
        return Inner(doubt=f"what `{name}` runs is not certain")
    return Inner(rest, assignments=assignments)


def _env(words: Sequence[Word]) -> Inner:
    at, set_before = 1, list[Word]()
    while at < len(words):
        word = words[at]
        if word.text in {"-i", "--ignore-environment", "--", "-"}:
            at += 1
        elif word.text in {"-u", "--unset"}:
            at += 2
        elif _ASSIGNMENT.fullmatch(word.text):
            set_before.append(word)
            at += 1
        else:
            break
    return _after(words, at, "env", tuple(set_before))


def _command(words: Sequence[Word]) -> Inner:
    if len(words) > 1 and words[1].text in {"-v", "-V"}:
        return Inner()
    return _after(words, 2 if len(words) > 1 and words[1].text in {"-p", "--"} else 1, "command")


def _timeout(words: Sequence[Word]) -> Inner:
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text in {"-k", "-s", "--kill-after", "--signal"}:
            at += 1
        elif not re.fullmatch(
            r"--foreground|--preserve-status|-v|--verbose|--(?:kill-after|signal)=\w+", words[at].text
        ):
            return Inner(doubt="what `timeout` runs is not certain")
        at += 1
    if at >= len(words) or not _SPAN.fullmatch(words[at].text):
        return Inner(doubt="what `timeout` runs is not certain")
    return _after(words, at + 1, "timeout")


def _nice(words: Sequence[Word]) -> Inner:
    at = 1
    if len(words) > 1 and words[1].text == "-n":
        at = 3
    elif len(words) > 1 and _NICENESS.fullmatch(words[1].text):
        at = 2
    return _after(words, at, "nice")


def _time(words: Sequence[Word]) -> Inner:
    return _after(words, 2 if len(words) > 1 and words[1].text in {"-p", "-v"} else 1, "time")


def _stdbuf(words: Sequence[Word]) -> Inner:
    at = 1
    while at < len(words) and re.fullmatch(r"-[ioe](?:L|[0-9]+[KM]?)", words[at].text):
        at += 1
    return _after(words, at, "stdbuf")


def _run_by(words: Sequence[Word]) -> Inner | None:
    if len(words) > 1 and not words[1].certain:
        return Inner(doubt="what it runs is not certain")
    if len(words) < 2 or words[1].text != "run":  # noqa: PLR2004 (program and verb)
        return None
    at = 2
    while at < len(words) and words[at].text in _QUIET:
        at += 1
    if at < len(words) and words[at].certain and words[at].text.endswith(".py"):
        return Inner((Word("python3"), *words[at:]))
    return _after(words, at, f"{words[0].text} run")


def _npx(words: Sequence[Word]) -> Inner:
    at = 1
    while at < len(words) and words[at].text in {"--no-install", "--no", "--offline"}:
        at += 1
    if at < len(words) and words[at].certain and words[at].text in PACKAGES:
        return Inner(tuple(words[at:]))
    return Inner(doubt="what `npx` runs is none of the known programs of development")


def _shell(name: str, words: Sequence[Word]) -> Inner:
    """Return the text after `-c`. A script or standard input is not known here."""
    if name in _SHELLS and len(words) == 3 and _C.fullmatch(words[1].text) and words[2].certain:  # noqa: PLR2004
        return Inner(text=words[2].text)
    if name in _SHELLS and len(words) == 2 and words[1].text in {"--version", "--help"}:  # noqa: PLR2004
        return Inner()
    return Inner(doubt=f"what `{name}` runs is not certain")


def _module(words: Sequence[Word]) -> Inner | None:
    """Return the program that `python -m` runs, under its own name; None where python itself runs something."""
    at = 1
    while at < len(words) and words[at].text.startswith("-") and words[at].certain:
        letters, at = words[at].text[1:], at + 1
        if letters.startswith("-"):
            continue
        taker = next((place for place, letter in enumerate(letters) if letter in "cmWX"), None)
        if taker is None:
            continue
        if letters[taker] == "c":
            return None
        if letters[taker] == "m":
            return _of_python(letters[taker + 1 :], words, at)
        at += not letters[taker + 1 :]
    return None


def _of_python(name: str, words: Sequence[Word], at: int) -> Inner:
    """Return what a module is, whose name is this or else the word at that place."""
    if not name and at < len(words) and words[at].certain:
        name, at = words[at].text, at + 1
    if name in RUNNERS:
        return Inner((Word(name), *words[at:]))
    if name in MODULES:
        return Inner()
    return Inner(doubt=f"the module {name[:40]!a} is none of the known programs of development")


_KNOWN: Final[dict[str, Callable[[Sequence[Word]], Inner | None]]] = {
    "env": _env,
    "command": _command,
    "timeout": _timeout,
    "gtimeout": _timeout,
    "nice": _nice,
    "time": _time,
    "stdbuf": _stdbuf,
    "npx": _npx,
}
_RUNS: Final = names(
    "eval source . trap alias xargs parallel watch flock strace ltrace gdb script expect chroot unshare setsid entr"
    " busybox ionice chrt taskset ssh-agent dbus-run-session xvfb-run caffeinate hash enable set export"
    " declare typeset readonly local unset shopt setopt emulate autoload zmodload unalias pushd popd sudo doas su"
)
"""They may run what their words say, or make later words mean something else: nothing certain can be told of them."""
