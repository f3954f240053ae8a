"""What holds of one plain command unless the user says otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from orchestrator.formats.shell_words import Word
from orchestrator.model.permission import Ruling
from orchestrator.pm.permissions.defaults import (
    NEVER_WITH,
    PLAIN,
    READERS,
    REMOTE_COPY,
    RUNNERS,
    SUBCOMMANDS,
    WRITERS,
)
from orchestrator.pm.permissions.files import reading, writing
from orchestrator.pm.permissions.finding import Case, Finding, built_in, shown
from orchestrator.pm.permissions.git import judged_git
from orchestrator.pm.permissions.matching import base, plain_name
from orchestrator.pm.permissions.options import has_option
from orchestrator.pm.permissions.paths import inside, resolved
from orchestrator.pm.permissions.scanning import denied_within
from orchestrator.pm.permissions.scripts import awk_only_prints, sed_only_edits

_VERSIONED: Final = re.compile(r"(python3|gcc|clang)\.?[0-9.]*")
_REMOTE: Final = re.compile(r"(?:[^/]*:.*|rsync://.*)", re.DOTALL)
_INLINE: Final = re.compile(r"-[A-Za-z]*[ceEp]|--eval|--print|--command")
_OWN_FOLDERS: Final = ("/bin/", "/.bin/", "./gradlew", "./mvnw")


def by_default(case: Case, words: Sequence[Word], places: frozenset[str], stdin: str) -> Finding | None:
    """Return what holds of a command; None if there is no default for it.

    Args:
        case: What it is held against.
        words: The program and what it is given.
        places: The folders in which it may be run; an empty one is not known.
        stdin: The text that it is given in the line itself.

    """
    name = _known_name(case, words[0].text, places)
    told = shown(" ".join(word.text for word in words))
    if name in {"test", "[", "printf"} and any(
        "$(" in word.text or "`" in word.text or word.text == "-v" for word in words
    ):
        return case.doubt(f"{told} may run what stands in an index")
    if name in PLAIN:
        return built_in(Ruling.ALLOW, f"{told} changes nothing")
    if name in READERS:
        return _read(case, name, words, places)
    if name in {"sed", "awk", "gawk", "mawk", "uniq"}:
        return _edited(case, name, words, places)
    if name in WRITERS:
        return writing(case, name, words, places)
    if name == "git":
        return judged_git(case, words, places)
    if base(words[0].text) in {"chown", "chgrp"}:
        return writing(case, "chown", words, places)
    if base(words[0].text) == REMOTE_COPY and any(_REMOTE.fullmatch(word.text) for word in words[1:]):
        return built_in(Ruling.DENY, f"{told} reaches another machine")
    if base(words[0].text) == "dd" and any(word.text.startswith("of=/dev/") for word in words[1:]):
        return built_in(Ruling.DENY, f"{told} writes to a device")
    return _developed(case, name, words, stdin)


def _known_name(case: Case, program: str, places: Iterable[str]) -> str:
    """Return the name by which a program is known: also where it lies in the run's own environment."""
    name = plain_name(program)
    if not name and any(sign in f"/{program}" for sign in _OWN_FOLDERS) and _is_inside(case, program, places):
        own = base(program)
        name = own if own in RUNNERS or _VERSIONED.fullmatch(own) else ""
    found = _VERSIONED.fullmatch(name)
    return "python3" if found and found[1] == "python3" else name


def _is_inside(case: Case, path: str, places: Iterable[str]) -> bool:
    return all((found := resolved(path, place)) and inside(found, case.grants) for place in places)


def _read(case: Case, name: str, words: Sequence[Word], places: frozenset[str]) -> Finding:
    if has_option(words, READERS[name]):
        return case.doubt(f"{shown(' '.join(word.text for word in words))} may do more than read")
    if name == "date" and any(not word.text.startswith(("-", "+")) for word in words[1:]):
        return case.doubt("`date` may set the clock")
    return reading(case, name, words, places)


def _edited(case: Case, name: str, words: Sequence[Word], places: frozenset[str]) -> Finding:
    """Return what is found of programs that read, or write, by a script of their own."""
    if not all(word.certain for word in words):
        return case.doubt(f"what `{name}` is given is not known")
    texts = [word.text for word in words]
    if name == "uniq":
        operands = [text for text in texts[1:] if not text.startswith("-")]
        return reading(case, name, words, places) if len(operands) < 2 else case.doubt("`uniq` writes a file")  # noqa: PLR2004
    if name == "sed":
        edit = sed_only_edits(texts[1:])
        if edit is None:
            return case.doubt("what this `sed` does is not certain")
        files = [word for word in words if word.text in set(edit.files)]
        return (
            writing(case, "sed", [words[0], *files], places)
            if edit.in_place
            else reading(case, "cat", [words[0], *files], places)
        )
    printed = awk_only_prints(texts[1:])
    if printed is None:
        return case.doubt("what this `awk` does is not certain")
    return reading(
        case, "cat", [words[0], *(word for word in words[1:] if word.text in set(printed))], places
    )


def _developed(case: Case, name: str, words: Sequence[Word], stdin: str) -> Finding | None:
    """Return what is found of a program of development: it may run what the agent wrote."""
    told = shown(" ".join(word.text for word in words))
    if has_option(words, NEVER_WITH.get(name, ())):
        return None
    if name in {*SUBCOMMANDS, *RUNNERS, "npx"} and not all(word.certain for word in words):
        return case.doubt(f"what {told} is given is not known")
    if name in SUBCOMMANDS:
        verbs = [word for word in words[1:] if not (name == "cargo" and word.text.startswith("+"))]
        if verbs and verbs[0].certain and verbs[0].text in SUBCOMMANDS[name]:
            return built_in(Ruling.ALLOW, f"{told} builds or tests")
        return None
    if name == "npx":
        return built_in(Ruling.ALLOW, f"{told} builds or tests")
    if name not in RUNNERS:
        return None
    inline = any(_INLINE.fullmatch(word.text) for word in words[1:])
    inline = inline and name in {"python", "python3", "node"}
    code = "\n".join([*(word.text for word in words[1:] if inline), stdin])
    if code and (found := denied_within(case, code)):
        return found
    return built_in(Ruling.ALLOW, f"{told} is a program of development")
