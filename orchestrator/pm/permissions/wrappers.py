"""Programs that run another command: where that command begins, if that is certain."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.defaults.development_tools import PACKAGES, RUN_BY
from orchestrator.pm.permissions.fields import ANY_FILE, ANYTHING, FILE_TEXT, SOME_FILE, Field
from orchestrator.pm.permissions.modules import module
from orchestrator.pm.permissions.runs import Inner
from orchestrator.pm.permissions.searching import search

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_SPAN: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?[smhd]?")
_NICENESS: Final = re.compile(r"-(?:n)?-?[0-9]{1,2}")
_QUIET: Final = frozenset(
    {
        "--no-sync",
        "--frozen",
        "--locked",
        "--offline",
        "-q",
        "--quiet",
        "--",
        "--isolated",
        "--all-extras",
        "--dev",
    }
)
_WITH: Final = frozenset({"--with", "--group", "--extra", "-p", "--python", "--env", "-e", "--project-dir"})
_SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh"})
_ANY_SHELL: Final = frozenset({*_SHELLS, "zsh", "ksh", "fish", "csh", "tcsh"})
_C: Final = re.compile(r"-[eulxo]*c")
_STRICT: Final = re.compile(r"-[eulxn]+|-o|pipefail|--norc|--noprofile|--login")
_PYTHON: Final = re.compile(r"python(?:3(?:\.[0-9]{1,2})?)?")
_PLACED: Final = frozenset(
    {"nohup", "builtin", "noglob", "nocorrect", "exec", "-", "setsid", "caffeinate", "unbuffer"}
)
_EXEC: Final = frozenset({"-exec", "-execdir"})


def inner(call: Call) -> Inner | None:
    """Return the command that another command runs, or None if it is no wrapper."""
    name = call.name
    if _PYTHON.fullmatch(name):
        return module(call.fields)
    if name in _ANY_SHELL:
        return _shell(call)
    if name in _PLACED:
        return _after(call, 1)
    if name in RUN_BY:
        return _run_by(call)
    if name == "find" and any(text in {*_EXEC, "-ok", "-okdir"} for text in call.texts):
        return _found(call)
    found = _KNOWN.get(name)
    if found:
        return found(call)
    return Inner(doubt=f"`{name}` runs other commands") if name in _RUNS else None


def _after(call: Call, at: int, assignments: tuple[tuple[str, str], ...] = ()) -> Inner:
    rest = call.fields[at:]
    if not rest:
        return Inner(doubt=f"`{call.name}` does not name the command that it runs")
    if not rest[0].certain or rest[0].glob or rest[0].tilde or rest[0].text.startswith("-"):
        return Inner(doubt=f"what `{call.name}` runs is not certain")
    return Inner(rest, assignments=assignments)


def _env(call: Call) -> Inner:
    at, fields, assignments = 1, call.fields, list[tuple[str, str]]()
    while at < len(fields):
        text = fields[at].text
        found = _ASSIGNMENT.fullmatch(text)
        if text in {"-i", "--ignore-environment", "--", "-"}:
            at += 1
        elif text in {"-u", "--unset"}:
            at += 2
        elif found:
            assignments.append((found[1], found[2]))
            at += 1
        else:
            break
    return _after(call, at, tuple(assignments))


def _command(call: Call) -> Inner:
    if call.texts[:1] in (("-v",), ("-V",)):
        return Inner()
    return _after(call, 2 if call.texts[:1] in (("-p",), ("--",)) else 1)


def _timeout(call: Call) -> Inner:
    at, fields = 1, call.fields
    while at < len(fields) and fields[at].text.startswith("-"):
        if fields[at].text in {"-k", "-s", "--kill-after", "--signal"}:
            at += 1
        elif not re.fullmatch(
            r"--foreground|--preserve-status|-v|--verbose|--(?:kill-after|signal)=\w+", fields[at].text
        ):
            return Inner(doubt="what `timeout` runs is not certain")
        at += 1
    if at >= len(fields) or not _SPAN.fullmatch(fields[at].text):
        return Inner(doubt="what `timeout` runs is not certain")
    return _after(call, at + 1)


def _nice(call: Call) -> Inner:
    at = 1
    if call.texts[:1] == ("-n",):
        at = 3
    elif call.texts and _NICENESS.fullmatch(call.texts[0]):
        at = 2
    return _after(call, at)


def _time(call: Call) -> Inner:
    return _after(call, 2 if call.texts[:1] in (("-p",), ("-v",)) else 1)


def _stdbuf(call: Call) -> Inner:
    at = 1
    while at < len(call.fields) and re.fullmatch(r"-[ioe](?:L|[0-9]+[KM]?)", call.fields[at].text):
        at += 1
    return _after(call, at)


def _watch(call: Call) -> Inner:
    """Return a doubt for `script -q /dev/null` and the like; `xvfb-run` runs the command after its options."""
    at = 1
    while at < len(call.fields) and re.fullmatch(
        r"-a|--auto-servernum|-s|--server-args=.*", call.fields[at].text
    ):
        at += 2 if call.fields[at].text == "-s" else 1
    return _after(call, at)


def _run_by(call: Call) -> Inner | None:
    if call.rest and not call.rest[0].certain:
        return Inner(doubt="what it runs is not certain")
    if call.texts[:1] not in (("run",), ("exec",)):
        return None
    at = 2
    while at < len(call.fields) and (call.fields[at].text in _QUIET or call.fields[at].text in _WITH):
        at += 2 if call.fields[at].text in _WITH else 1
    if at < len(call.fields) and call.fields[at].text in {"-m", "--module"}:
        return Inner((Field("python3"), *call.fields[at:]))
    if at < len(call.fields) and call.fields[at].certain and call.fields[at].text.endswith(".py"):
        return Inner((Field("python3"), *call.fields[at:]))
    if at < len(call.fields) and call.fields[at].text == "-":
        return Inner((Field("python3"), *call.fields[at:]))
    return _after(call, at)


def _npx(call: Call) -> Inner:
    """Return the development program that is run; it may be fetched by its name, as an install would."""
    at = 1
    while at < len(call.fields) and call.fields[at].text in {
        "--no-install",
        "--no",
        "--offline",
        "--yes",
        "-y",
        "--bun",
        "--prefer-offline",
    }:
        at += 1
    if call.name in {"pnpm", "yarn", "bun"}:
        at += 1
    if at < len(call.fields) and call.fields[at].certain:
        name = re.sub(r"(?<=.)@[\w.^~-]+$", "", call.fields[at].text)
        if name in PACKAGES:
            return Inner((Field(name.rpartition("/")[2]), *call.fields[at + 1 :]))
    return Inner(doubt=f"what `{call.name}` runs is not a known development program")


def _manager(call: Call) -> Inner | None:
    """Return what `pnpm exec`, `yarn dlx`, `bun x` and the like run; None if they do something else."""
    if call.texts[:1] in (("exec",), ("dlx",), ("x",)):
        return _npx(call)
    if (
        call.name in {"yarn", "pnpm", "bun"}
        and call.rest
        and call.rest[0].certain
        and call.texts[0] in PACKAGES
    ):
        return Inner(call.rest)
    return None


def _shell(call: Call) -> Inner | None:
    """Return the text after `-c`, or from standard input; None if it runs a script."""
    if call.name not in _SHELLS:
        return Inner(doubt=f"what `{call.name}` runs is not certain")
    at = 1
    while at < len(call.fields) and _STRICT.fullmatch(call.fields[at].text):
        at += 1
    if at + 1 < len(call.fields) and _C.fullmatch(call.fields[at].text):
        text, arguments = call.fields[at + 1], call.fields[at + 2 :]
        if not text.certain:
            return Inner(doubt=f"what `{call.name}` runs is not certain")
        return Inner(text=text.text, arguments=tuple(arguments[1:]))
    if call.texts in {("--version",), ("--help",)}:
        return Inner()
    if at < len(call.fields) and call.fields[at].text not in {"-s", "-"} and not call.fields[at].option:
        return None
    if call.given is not None and Field(call.given).certain and call.given.strip():
        return Inner(text=call.given)
    if call.given == FILE_TEXT:
        return None
    return Inner(doubt=f"what `{call.name}` runs is not certain")


def _xargs(call: Call) -> Inner:
    """Return the command with its input appended, or in place of its placeholder."""
    at, sign, fields = 1, "", call.fields
    while at < len(fields) and fields[at].text.startswith("-"):
        text = fields[at].text
        if text in {"-n", "-P", "-L", "-s", "-d", "--max-args", "--max-procs", "--delimiter"}:
            at += 1
        elif text == "-I" and at + 1 < len(fields):
            sign, at = fields[at + 1].text, at + 1
        elif re.fullmatch(r"-I.+", text):
            sign = text[2:]
        elif not re.fullmatch(
            r"-[0rtx]+|-[nPLs][0-9]+|-d.+|--null|--no-run-if-empty|--verbose|--max-(?:args|procs)=[0-9]+",
            text,
        ):
            return Inner(doubt="what `xargs` runs is not certain")
        at += 1
    rest = fields[at:] or (Field("echo"),)
    if not rest[0].certain or rest[0].text.startswith("-") or (sign and sign in rest[0].text):
        return Inner(doubt="what `xargs` runs is not certain")
    return _filled(rest, sign, Field(call.given if call.given is not None else ANYTHING, many=not sign))


def _filled(rest: Sequence[Field], sign: str, value: Field) -> Inner:
    """Return a command with a value put in."""
    if sign:
        if rest[0].text in _ANY_SHELL and any(sign in field.text for field in rest if _is_code(field)):
            return Inner(doubt="file names would become part of a script")
        return Inner(tuple(replace(field, text=field.text.replace(sign, value.text)) for field in rest))
    given = value.text.split() if Field(value.text).certain else [value.text]
    return Inner((*rest, *(Field(text, many=value.many) for text in given)))


def _is_code(field: Field) -> bool:
    return any(character in field.text for character in " ;|&$")


def _git(call: Call) -> Inner | None:
    """Return what git runs at each step of a rebase or a bisection; None if it runs nothing of the kind."""
    texts = call.texts
    if texts[:2] == ("bisect", "run"):
        return _after(call, 3)
    if texts[:1] != ("rebase",):
        return None
    scripts = [call.fields[at + 2] for at, text in enumerate(texts[:-1]) if text in {"-x", "--exec"}]
    scripts += [Field(text.partition("=")[2]) for text in texts if text.startswith("--exec=")]
    if not all(field.certain for field in scripts):
        return Inner(doubt="what `git` runs is not certain")
    return Inner(text="\n".join(field.text for field in scripts)) if scripts else None


def _found(call: Call) -> Inner:
    """Return what `find` runs for each file; its other effects are judged with its reading."""
    read, made = search(call.rest), None
    for at in sorted(read.chosen, reverse=True):
        option, begin = call.texts[at], at + 2
        if not option.startswith(("-exec", "-ok")):
            continue
        ends = (place for place in range(begin, len(call.fields)) if call.fields[place].text in {";", "+"})
        end = next(ends, begin)
        if option not in _EXEC or end == begin or not call.fields[begin].certain:
            return Inner(doubt="what `find` runs is not certain")
        path = read.path(chosen=read.chosen[at])
        if option == "-execdir" and ANYTHING not in path:
            path = f"./{ANY_FILE if ANY_FILE in path else SOME_FILE}"
        filled = _filled(call.fields[begin:end], "{}", Field(path, many=call.fields[end].text == "+"))
        made = filled if made is None else replace(filled, also=made)
    return made if made is not None else Inner(doubt="what `find` runs is not certain")


_KNOWN: Final[dict[str, Callable[[Call], Inner | None]]] = {
    "env": _env,
    "command": _command,
    "timeout": _timeout,
    "gtimeout": _timeout,
    "nice": _nice,
    "time": _time,
    "stdbuf": _stdbuf,
    "npx": _npx,
    "bunx": _npx,
    "uvx": _npx,
    "pnpm": _manager,
    "yarn": _manager,
    "bun": _manager,
    "xargs": _xargs,
    "gxargs": _xargs,
    "xvfb-run": _watch,
    "git": _git,
}
_RUNS: Final = names(
    "parallel watch flock strace ltrace gdb script expect chroot unshare entr busybox ionice chrt taskset ssh-agent"
    " dbus-run-session sudo doas su pipx nodemon concurrently dotenv direnv"
)
"""Programs that may run what their words contain; nothing certain can be said of them."""
