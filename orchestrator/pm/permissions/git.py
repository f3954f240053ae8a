"""git: which of its commands are allowed, wherever the options of the whole stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.formats.shell_words import Word
from orchestrator.model.permission import Ruling
from orchestrator.pm.permissions.defaults import GIT, GIT_NEVER, GIT_SETTINGS
from orchestrator.pm.permissions.files import read_word
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown, strictest
from orchestrator.pm.permissions.matching import wild
from orchestrator.pm.permissions.options import has_option
from orchestrator.pm.permissions.paths import inside, protected, resolved

_FREE: Final = frozenset(
    {"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"}
)
_LOOKS: Final = {
    "worktree": frozenset({"list"}),
    "remote": frozenset({"-v", "--verbose", "get-url", ""}),
    "config": frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"}),
    "reflog": frozenset({"", "show"}),
    "submodule": frozenset({"", "status"}),
}
_TEXTS: Final = frozenset({"-m", "--message", "--grep", "--author", "--trailer"})


def judged_git(case: Case, words: Sequence[Word], places: frozenset[str]) -> Finding | None:
    """Return what holds of a git command; None if there is no default for it."""
    told = shown(" ".join(word.text for word in words))
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        option, value = words[at].text, words[at + 1] if at + 1 < len(words) else None
        if option in _FREE:
            at += 1
        elif option in {"--version", "--help"} and at == len(words) - 1:
            return built_in(Ruling.ALLOW, f"{told} only tells")
        elif value is not None and value.certain and _harmless(case, option, value.text, places):
            at += 2
        else:
            return case.doubt(f"{told} has an option of which there is no default")
    rest = words[at:]
    if not rest or not rest[0].certain or rest[0].glob:
        return case.doubt(f"which command of git {told} runs is not certain")
    verb, following = rest[0].text, rest[1].text if len(rest) > 1 else ""
    if verb == "remote" and following.startswith("-") and len(rest) > 2:  # noqa: PLR2004 (verb and option)
        return None
    if verb in {"mv", "checkout", "restore"} and any(protected(f"/{word.text}") for word in rest[1:]):
        return case.doubt(f"{told} may change what steers git or the agent's own program")
    if verb not in GIT and following not in _LOOKS.get(verb, frozenset()):
        return None
    if has_option(rest, [option for option in GIT_NEVER if option != "-O" or verb == "grep"]):
        return case.doubt(f"{told} has an option that may run or write something else")
    return strictest(
        [
            built_in(Ruling.ALLOW, f"{told} stays within the repository"),
            *(read_word(case, word, places) for word in _paths(rest)),
        ]
    )


def _harmless(case: Case, option: str, value: str, places: frozenset[str]) -> bool:
    if option == "-C":
        return all((path := resolved(value, place)) and inside(path, case.grants) for place in places)
    name = value.partition("=")[0].casefold()
    return option == "-c" and any(wild(pattern, name) for pattern in GIT_SETTINGS)


def _paths(rest: Sequence[Word]) -> list[Word]:
    """Return the words that may name files, without those that are text for people."""
    found, text = list[Word](), False
    for word in rest[1:]:
        if (
            not text
            and word.certain
            and word.text.startswith(("-F", "-t"))
            and not word.text.startswith("--")
        ):
            found.append(Word(word.text[2:]))
        elif not text and word.certain and (not word.text.startswith("-") or word.text.startswith("--file")):
            found.append(word)
        text = word.text in _TEXTS or (rest[0].text == "commit" and word.text == "-am")
    return found if rest[0].text not in {"add", "grep", "rm", "mv", "check-ignore", "stash"} else []
