"""Reads the instructions of an edit: a unified diff, or search-and-replace blocks. Prose is refused (F2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import Hunk, Hunks

FORMS: Final = (
    "give the whole new text as 'content', or in 'edit_instructions' a unified diff ('@@ -12,3 +12,4 @@' and lines "
    "that begin with a space, '-' or '+'), or blocks of whole lines: '<<<<<<< SEARCH', the lines as they are, "
    "'=======', the new lines, '>>>>>>> REPLACE'"
)
_SEARCH: Final = re.compile(r"<{5,9} ?SEARCH\s*")
_DIVIDER: Final = re.compile(r"={5,9}\s*")
_REPLACE: Final = re.compile(r">{5,9} ?REPLACE\s*")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})[\w.+-]*\s*")
_HUNK: Final = re.compile(r"@@(?: -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))?(?: @@.*)?|.*@@.*|\s*)")
_HEADER: Final = re.compile(
    r"(?:diff |index |--- |\+\+\+ |old mode |new mode |new file mode |similarity index )"
)


def read_edit(instructions: str) -> Hunks:
    """Return the places that the instructions of an edit name.

    Raises:
        Refused: they are neither a diff nor blocks, or parts of both, or a part of them is left over: nothing that an
            agent asks for is passed over.

    """
    lines = instructions.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if any(_SEARCH.fullmatch(line) for line in lines):
        return Hunks(tuple(_blocks(lines)), ordered=False)
    if any(_HUNK.fullmatch(line) for line in lines):
        return Hunks(tuple(_diff(lines)), ordered=True)
    raise Refused(f"edit_instructions in prose cannot be carried out: {FORMS}")


def _blocks(lines: list[str]) -> Iterator[Hunk]:
    at = 0
    while at < len(lines):
        if not _SEARCH.fullmatch(lines[at]):
            if lines[at].strip() and not _FENCE.fullmatch(lines[at]):
                raise Refused(
                    f"line {at + 1} of edit_instructions stands outside of every block: {lines[at][:60]!a}"
                )
            at += 1
            continue
        divider = _next(lines, at, _DIVIDER, "=======")
        end = _next(lines, divider, _REPLACE, ">>>>>>> REPLACE")
        old, new = tuple(lines[at + 1 : divider]), tuple(lines[divider + 1 : end])
        if not any(line.strip() for line in old):
            raise Refused(
                f"the block in line {at + 1} searches for nothing: give at least one line of the file"
            )
        yield Hunk(old, new)
        at = end + 1


def _next(lines: list[str], after: int, sign: re.Pattern[str], shown: str) -> int:
    """Return the only line with a sign before the next block. Two dividers would leave the halves to be guessed."""
    found = list[int]()
    for at in range(after + 1, len(lines)):
        if sign.fullmatch(lines[at]):
            found.append(at)
        if _SEARCH.fullmatch(lines[at]) or _REPLACE.fullmatch(lines[at]):
            break
    if len(found) != 1:
        raise Refused(
            f"the block in line {after + 1} has {'no' if not found else 'more than one'} line {shown!r}"
        )
    return found[0]


def _diff(lines: list[str]) -> Iterator[Hunk]:
    starts = [at for at, line in enumerate(lines) if _HUNK.fullmatch(line)]
    for at, line in enumerate(lines[: starts[0]]):
        if line.strip() and not _HEADER.match(line) and not _FENCE.fullmatch(line):
            raise Refused(f"line {at + 1} of edit_instructions is no part of a diff: {line[:60]!a}")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield _hunk(lines, start, end)


def _hunk(lines: list[str], start: int, end: int) -> Hunk:
    head = _HUNK.fullmatch(lines[start])
    line = int(head[1]) if head and head[1] else 0
    body = lines[start + 1 : end]
    while body and (_FENCE.fullmatch(body[-1]) or (body[-1] == "" and _beyond(body, head))):
        body.pop()
    _refuse_more_files(body, start, head)
    old, new, opened = list[str](), list[str](), dict[str, bool]()
    last = ""
    for at, text in enumerate(body, start + 2):
        sign, rest = (text[0], text[1:]) if text else (" ", "")
        if sign == "\\" and last:
            opened |= dict.fromkeys("-+" if last == " " else last, True)
            continue
        if sign not in " +-":
            raise Refused(
                f"line {at} of edit_instructions must begin with a space, '-' or '+': {text[:60]!a}"
            )
        if sign in " -":
            old.append(rest)
        if sign in " +":
            new.append(rest)
        last = sign
    if "-" not in {each[:1] for each in body} and "+" not in {each[:1] for each in body}:
        raise Refused(f"the hunk in line {start + 1} changes nothing")
    before, after = _context(body)
    said = bool(opened)
    return Hunk(
        tuple(old),
        tuple(new),
        line,
        before,
        after,
        opened.get("-", False) if said else None,
        opened.get("+", False) if said else None,
    )


def _beyond(body: list[str], head: re.Match[str] | None) -> bool:
    """Return whether a hunk has more old lines than its head counts: its last empty line is then no part of it."""
    if head is None or head[1] is None:
        return True
    return sum(each[:1] in {" ", "-", ""} for each in body) > int(head[2] or 1)


def _refuse_more_files(body: list[str], start: int, head: re.Match[str] | None) -> None:
    """Refuse a diff of a second file. A removed line `-- x` beside an added `++ y` looks alike; the head counts it."""
    removed = sum(each[:1] in {" ", "-", ""} for each in body)
    counted = head is not None and head[1] is not None and removed == int(head[2] or 1)
    for at in range(len(body)):
        starts = body[at].startswith("--- ") and at + 1 < len(body) and body[at + 1].startswith("+++ ")
        if body[at].startswith("diff --git ") or (starts and not counted):
            raise Refused(
                f"line {start + at + 2} of edit_instructions begins another file: one operation, one file"
            )


def _context(body: list[str]) -> tuple[int, int]:
    """Return how many lines of context a hunk begins and ends with."""
    kept = [each[:1] in {" ", ""} for each in body if not each.startswith("\\")]
    before = kept.index(False)
    return before, kept[::-1].index(False)
