"""What became of each test, and which tests were lost between two runs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from wording import first_line, last_line

UNREAD_MODULE = "unittest.loader._FailedTest."
"""Where unittest puts a module that could not be read."""
ERROR_BLOCK = re.compile(r"^E +(.*(?:\nE .*)*)", re.MULTILINE)
ERROR_NAME = re.compile(r"^(?:E +)?([A-Za-z_.]+(?:Error|Exception)\b.*)", re.MULTILINE)
TEST_FOLDERS = {"test", "tests", "testing"}
DATA_FOLDERS = {"fixtures", "testdata", "test_data", "test-data"}


@dataclass(frozen=True)
class Outcomes:
    """One run of the suite. A test stands in exactly one of the three; `failed` has its last words.

    A module that could not be read stands in `failed` under its own name. `imported` are the project's files
    that the tests' process had imported at the end; `elsewhere` are those of the user's own tree, which no change
    reaches: such a run tells nothing.
    """

    passed: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    skipped: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()

    @property
    def tells(self) -> bool:
        """Whether this run says something of the code that it was made for."""
        return bool(self.passed) and not self.elsewhere

    def __len__(self) -> int:
        """How many tests were seen."""
        return len(self.passed) + len(self.failed) + len(self.skipped)

    @property
    def unread(self) -> dict[str, str]:
        """The test modules that could not be read, each with the last words."""
        return {
            test: words
            for test, words in self.failed.items()
            if test.startswith(UNREAD_MODULE) or ("::" not in test and test.endswith(".py"))
        }


def read(lines: Iterable[str]) -> Outcomes:
    """Put the recorders' lines together; the worst of a test's phases is its outcome.

    A line that was cut off by the run's end is passed over.
    """
    passed: set[str] = set()
    skipped: set[str] = set()
    failed: dict[str, str] = {}
    imported: set[str] = set()
    elsewhere: set[str] = set()
    for line in lines:
        match _told(line):
            case {"id": str(test), "outcome": "failed", "words": str(words)}:
                failed.setdefault(test, words)
            case {"id": str(test), "outcome": "skipped" | "xfailed"}:
                skipped.add(test)
            case {"id": str(test), "outcome": "passed", "when": "call"}:
                passed.add(test)
            case {"imported": list(files)}:
                imported.update(map(str, files))
            case {"elsewhere": list(files)}:
                elsewhere.update(map(str, files))
            case _:
                continue
    skipped -= set(failed)
    return Outcomes(
        frozenset(passed - skipped - set(failed)),
        failed,
        *map(frozenset, (skipped, imported, elsewhere)),
    )


def _told(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def gist(words: str) -> str:
    """The one line of a failure's words that names the error.

    Pytest marks the lines of an error with `E`; the first of them says what it is, except where Python itself
    begins with the place, as for a syntax error. Elsewhere the error stands last.
    """
    blocks = ERROR_BLOCK.findall(words)
    if not blocks:
        return last_line(words)
    named = ERROR_NAME.search(blocks[-1])
    return first_line(named[1] if named else blocks[-1])


def home(test: str) -> str:
    """The file of a pytest test, the module of a unittest test."""
    if "::" in test or test.endswith(".py"):
        return test.split("::", 1)[0]
    if test.startswith(UNREAD_MODULE):
        return test.removeprefix(UNREAD_MODULE)
    # A unittest test bears its module, its class and its own name.
    return test.rsplit(".", 2)[0]


def lost(before: Iterable[str], now: Outcomes) -> dict[str, str]:
    """The tests that passed before and do not now, each with the reason.

    A test that is not there any more counts, for it may have been imported by what was taken away; but not
    where its file has as many passing tests as ever: then its name is one that changes from run to run.
    """
    gone = sorted(set(before) - now.passed)
    then = Counter(home(test) for test in before)
    still = Counter(home(test) for test in now.passed)
    unread = {home(test): words for test, words in now.unread.items()}
    reasons = {}
    for test in gone:
        where = home(test)
        if test in now.failed:
            reasons[test] = now.failed[test]
        elif test in now.skipped:
            reasons[test] = "It is skipped now."
        elif where in unread:
            reasons[test] = f"{where} can no longer be read: {unread[where]}"
        elif still[where] < then[where]:
            reasons[test] = "It is not run any more."
    return reasons


def is_test(path: str) -> bool:
    """Whether a file's name is one that test runners look for."""
    stem = PurePosixPath(path).stem
    return stem.startswith("test_") or stem.endswith("_test") or stem in {"test", "tests", "conftest"}


def is_of_tests(path: str) -> bool:
    """Whether a file belongs to the tests: by its name, or by a folder that it is in."""
    return is_test(path) or not TEST_FOLDERS.isdisjoint(PurePosixPath(path).parts)


def may_be_data(path: str) -> bool:
    """Whether a file lies where tests keep what they read, and has no name of a test."""
    pure = PurePosixPath(path)
    if pure.stem in {"__init__", "conftest"} or pure.stem.lower().startswith("test") or is_test(path):
        return not DATA_FOLDERS.isdisjoint(pure.parts[:-1])
    return not (TEST_FOLDERS | DATA_FOLDERS).isdisjoint(pure.parts[:-1])
