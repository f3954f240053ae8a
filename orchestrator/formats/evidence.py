"""References in the evidence of a success criterion: what an item of `(evidence: …)` points at (H10).

Agents write a bare path, `path:12`, a Markdown link, a commit, the name of a check, or a sentence that mentions one of
these. What can be looked up is taken out here; whether it exists is found at the edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orchestrator.model.evidence import EvidenceKind, Reference

LONGEST: Final = 1024
"""Characters of an item that are looked at: a path is no longer."""

MOST: Final = 8
"""References that are taken from one item."""

_TASK_FOLDERS: Final = ("artifacts/", "handoffs/")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
_LINES: Final = re.compile(r"(?::|#L|#)(\d{1,7})(?:(?:[-–:]|-L)(\d{1,7}))?$")
_COMMIT: Final = re.compile(r"(?:commit[ :]?)?([0-9a-f]{7,64})", re.IGNORECASE)
_RUN: Final = re.compile(r"r-[0-9a-f]{8}")
_STEP: Final = re.compile(r"[a-z0-9][a-z0-9_-]*(?::[a-z0-9][a-z0-9_-]*)?")
_CHECK: Final = re.compile(r"check:? (\S+)|(\S+)'s check|the check of (\S+)", re.IGNORECASE)
_SPAN: Final = re.compile(r"`([^`]+)`|(\S+)")
_AROUND: Final = "`'\"()[]<>{},;*"


def references(item: str, checks: frozenset[str]) -> tuple[tuple[Reference, ...], bool]:
    """Return what an item of evidence points at, and whether the whole item is one reference.

    Args:
        item: the item as the report writes it.
        checks: the names that a check of this task goes by: ids of steps and of runs.

    Returns:
        The references, none for mere prose. Where the item is nothing but a reference, one that does not exist is a
        false claim; a word inside a sentence may only look like one.

    """
    text = item[:LONGEST].strip()
    if link := _LINK.fullmatch(text):
        text = link[1]
    whole = _reference(text.strip(_AROUND), checks)
    if whole is not None:
        return (whole,), True
    found = {each: None for word in _words(text) if (each := _reference(word, checks, inside=True))}
    return tuple(found)[:MOST], False


def _words(text: str) -> Iterator[str]:
    """Yield the parts of a sentence that may be references: what is marked as code, and single words."""
    for link in _LINK.finditer(text):
        yield link[1]
    if check := _CHECK.search(text):
        yield f"check {check[1] or check[2] or check[3]}"
    for span in _SPAN.finditer(text):
        yield span[1].strip() if span[1] else span[2].strip(_AROUND).rstrip(".:")


def _reference(text: str, checks: frozenset[str], *, inside: bool = False) -> Reference | None:
    """Return the reference that a text is, or None. `inside` a sentence a word must look like a path to be one."""
    if not text or any(sign in text for sign in "\0\n\r"):
        return None
    name = text.removeprefix("check:").removeprefix("check ").strip()
    if name in checks or (text != name and (_RUN.fullmatch(name) or _STEP.fullmatch(name))):
        return Reference(text, EvidenceKind.CHECK, name)
    if _RUN.fullmatch(text):
        return Reference(text, EvidenceKind.CHECK, text)
    if (commit := _COMMIT.fullmatch(text)) and not commit[1].isdigit():
        return Reference(text, EvidenceKind.COMMIT, commit[1].lower())
    return _path(text, inside=inside)


def _path(text: str, *, inside: bool) -> Reference | None:
    if any(sign.isspace() for sign in text) or "://" in text or text.startswith("-"):
        return None
    lines = _LINES.search(text)
    path = text[: lines.start()] if lines else text
    if not path.strip("./") or (not lines and not _looks_like_a_path(path, inside=inside)):
        return None
    numbers = [int(number) for number in lines.groups() if number] if lines else []
    if 0 in numbers:  # lines begin with 1
        return None
    line = max(numbers, default=0)
    path = path.removeprefix("./")
    kind = EvidenceKind.TASK_FILE if path.startswith(_TASK_FOLDERS) else EvidenceKind.FILE
    return Reference(text, kind, path, line)


def _looks_like_a_path(text: str, *, inside: bool) -> bool:
    """Return whether a word is a path: a name with an ending, or folders. Inside a sentence, `and/or` is none."""
    name = text.rstrip("/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    has_ending = bool(dot) and ending.isalnum() and len(ending) <= 12 and bool(stem or text.startswith("."))  # noqa: PLR2004 (longer endings are words)
    has_ending = has_ending and any(sign.isalpha() for sign in ending)  # `v1.2` is a version
    if inside:
        return has_ending
    return has_ending or "/" in text or name in {"README", "LICENSE", "Makefile", "Dockerfile", "CHANGELOG"}
