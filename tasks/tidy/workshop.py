"""A place to mend files in without touching the work tree: a copy in which ruff works."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import edits
import linter
import taken_names
from compiling import broken
from findings import Counts, Finding, Fix, Safety, by_path, counted, of
from linter import Manner
from repository import Repository
from scratch import copied
from subtasks import Subtask
from taken_names import IMPORTS, UNUSED_IMPORT

Contents = Mapping[str, bytes]
"""Files with the bytes that they shall have."""

LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Polished:
    """What may be put into the work tree, and which files not, each with the reason."""

    contents: Contents
    refused: Mapping[str, str]
    before: int
    after: int


class Workshop:
    """The files of one subtask, in a copy of the project."""

    def __init__(self, copy: Path, manner: Manner, subtask: Subtask, files: Sequence[str]) -> None:
        self.files = files
        self._copy, self._manner, self._subtask = copy, manner, subtask
        self._original = {path: (copy / path).read_bytes() for path in files}
        self._before = counted(self.findings({}))

    @property
    def to_mend(self) -> int:
        """How many of the subtask's findings there are."""
        return of(self._before, self._subtask.rules, self.files)

    def findings(self, contents: Contents) -> list[Finding]:
        """What ruff finds in the subtask's files, with these contents in place of theirs."""
        self._lay(contents)
        return linter.findings(self._copy, self._manner, self.files)

    def mended(self) -> Contents:
        """The files that ruff changes when it fixes the subtask's rules."""
        self._lay({})
        for files, rules in self._rules_by_files():
            if files and rules:
                linter.fix(self._copy, self._manner, files, rules, unsafe=self._subtask.unsafe)
        return self._changed()

    def _rules_by_files(self) -> Iterator[tuple[list[str], list[str]]]:
        rules, keeping = list(self._subtask.rules), self._subtask.keep_imports
        yield [path for path in self.files if path not in keeping], rules
        yield [path for path in self.files if path in keeping], [r for r in rules if r not in IMPORTS]

    def single_fixes(self, paths: Iterable[str]) -> list[tuple[str, Fix]]:
        """Each fix of the subtask's rules in some files, for itself."""
        where, wanted = set(paths), {Safety.SAFE, Safety.UNSAFE} if self._subtask.unsafe else {Safety.SAFE}
        rules = {path: some for paths, some in self._rules_by_files() for path in paths}
        found = {
            (finding.path, finding.fix): None
            for finding in self.findings({})
            if finding.path in where
            and finding.code in rules[finding.path]
            and finding.fix is not None
            and finding.fix.safety in wanted
        }
        return list(found)

    def with_fixes(self, chosen: Iterable[tuple[str, Fix]]) -> Contents:
        """The files as they are with only these fixes."""
        fixes: dict[str, list[Fix]] = defaultdict(list)
        for path, fix in chosen:
            fixes[path].append(fix)
        return {path: edits.apply(self._original[path], some) for path, some in fixes.items()}

    def polished(self, contents: Contents) -> Polished:
        """Mend what the change itself brought in, and refuse files that it harms in a way seen without tests."""
        self._lay(contents)
        self._mend_consequences(list(contents))
        result = self._changed()
        after = counted(linter.findings(self._copy, self._manner, self.files))
        refused = {path: why for path in result if (why := self._harm(path, result[path], after))}
        kept = {path: data for path, data in result.items() if path not in refused}
        return Polished(
            kept, refused, self.to_mend, of(self._counts_of(kept), self._subtask.rules, self.files)
        )

    def _mend_consequences(self, paths: Sequence[str]) -> None:
        """A fix may leave an import unused or unsorted: that is its own to clear up, where there was none."""
        fresh = [
            finding
            for finding in linter.findings(self._copy, self._manner, paths)
            if not self._before[finding.path, finding.code]
            and finding.fix is not None
            and finding.fix.safety is Safety.SAFE
        ]
        everything = [path.relative_to(self._copy).as_posix() for path in self._copy.rglob("*.py")]
        kept = {(path, UNUSED_IMPORT) for path in taken_names.files(self._copy, everything, fresh)}
        new: dict[tuple[str, ...], list[str]] = defaultdict(list)
        found: dict[str, set[str]] = defaultdict(set)
        for finding in fresh:
            if (finding.path, finding.code) not in kept:
                found[finding.path].add(finding.code)
        for path, codes in found.items():
            new[tuple(sorted(codes))].append(path)
        for some, where in new.items():
            linter.fix(self._copy, self._manner, where, some, unsafe=False)

    def _harm(self, path: str, data: bytes, after: Counts) -> str:
        original = self._original[path]
        if why := broken(data, path):
            return "" if broken(original, path) else f"it would no longer compile: {why}"
        if (now := by_path(after)[path]) > (then := by_path(self._before)[path]):
            return f"ruff would find {now} things in it instead of {then}"
        if _ends(data) - _ends(original) or data.startswith(BOM) != original.startswith(BOM):
            return "its line ends or its byte order mark would change"
        return ""

    def _counts_of(self, contents: Contents) -> Counts:
        return counted(self.findings(contents))

    def _lay(self, contents: Contents) -> None:
        for path, data in self._original.items():
            (self._copy / path).write_bytes(contents.get(path, data))

    def _changed(self) -> dict[str, bytes]:
        now = {path: (self._copy / path).read_bytes() for path in self.files}
        return {path: data for path, data in now.items() if data != self._original[path]}


def _ends(data: bytes) -> set[bytes]:
    return set(LINE_END.findall(data))


@contextmanager
def opened(
    workspace: Repository, manner: Manner, subtask: Subtask, files: Sequence[str]
) -> Iterator[Workshop]:
    """A workshop for some of the subtask's files, gone when the block ends."""
    with copied(workspace) as copy:
        yield Workshop(copy, manner, subtask, files)
