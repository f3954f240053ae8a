"""From findings to subtasks: what is mended together, in which order, and what is left to a person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from os.path import commonpath

from findings import SYNTAX, UNREADABLE, Finding, Safety
from outcomes import is_of_tests
from subtasks import Left, Plan, Subtask
from taken_names import IMPORTS, UNUSED_IMPORT
from task_file import Settings
from wording import count, listed

SMALL = (4, 8, 16, 32)
"""Rules with fewer findings than this are put together with others of their theme; more, if too many are left."""
FILES, FINDINGS = 30, 100
MECHANICAL_FILES, MECHANICAL_FINDINGS = 80, 400
MECHANICAL = ("W", "I", "D", "COM", "Q", "UP025", "UP009")
"""Changes so alike that many of them are reviewed as easily as few."""

# What may be a fault comes first, the sorting of imports last: other fixes add and remove imports.
THEMES = {
    "faults": ("F", "E", "PLE", "PLW", "B", "A", "S", "BLE", "ASYNC", "DTZ", "LOG", "G"),
    "simpler": (),
    "newer": ("UP", "FA", "FURB", "PTH"),
    "layout": ("W", "D", "Q", "COM", "ISC", "I"),
}
OTHER_THEME = "simpler"
NOT_TRIED = {
    "B905": "its fix only writes down what happens anyway",
    "ERA001": "its fix deletes what somebody may have meant to keep",
    "T201": "its fix deletes output that somebody may read",
    "T203": "its fix deletes output that somebody may read",
}
SAFE_ID = re.compile(r"[^a-z0-9]+")
ID_LENGTH = 56
PLAIN_PATH = re.compile(r"[\w./-]+")

MOST_SUBTASKS, FEWEST_SUBTASKS = 20, 6
TEST_TIME = 1800
"""About the seconds that the test runs of one task may take, if each subtask needs one."""


class Why(StrEnum):
    """Why a finding is left to a person."""

    NO_FIX = "ruff has no fix for it"
    UNTESTED = "its fix may change what the code does, and no test imports the file"
    TEST = "its fix may change what a test asserts, and nothing tests the tests"
    IMPORT = "an import inside a test may be just what it tests"
    DATA = "it lies among the tests and none imports it, so it may be what they read"
    GENERATED = "the file says that a program has written it"
    TAKEN = "another file takes an import from that file"
    SETTING = "task.md leaves it alone"
    SYNTAX = "the file has syntax errors"
    BOUND = "there was more than one task should change; run the template again"


def most_subtasks(test_seconds: float) -> int:
    """How many subtasks a task may have, when one run of its tests takes so long."""
    return max(FEWEST_SUBTASKS, min(MOST_SUBTASKS, int(TEST_TIME / max(test_seconds, 1.0))))


def make_plan(
    findings: Sequence[Finding],
    settings: Settings,
    *,
    tested: Collection[str],
    most: int,
    by_importing: Collection[str] = (),
    taken_from: Collection[str] = (),
    as_they_stand: Mapping[str, str] | None = None,
) -> Plan:
    """Group what can be mended into subtasks, safest and most valuable first.

    One rule makes one group; rules that are found only once or twice are put together by what they are about.

    Args:
        findings: All that ruff found.
        settings: What the user wants.
        tested: The files of which tests can tell if an unsafe fix does harm.
        most: The bound on the number of subtasks.
        by_importing: The test files in which an unused import may be a test.
        taken_from: The files from which others take an import that is unused there.
        as_they_stand: The files to change nothing in, each with the reason.
    """
    whole = as_they_stand or {}
    imports = {(path, UNUSED_IMPORT): Why.TAKEN for path in taken_from}
    imports |= {(path, code): Why.IMPORT for path in by_importing for code in IMPORTS}
    unreadable = {finding.path for finding in findings if finding.code in {SYNTAX, UNREADABLE}}
    mended: list[Finding] = []
    left: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        why = _why_left(finding, settings, unreadable, tested)
        why = why or whole.get(finding.path, "")
        why = why or imports.get((finding.path, finding.code), "")
        if why:
            left[finding.code, finding.name, why] += 1
        else:
            mended.append(finding)
    portions = _within_bound(mended, most)
    for finding in (finding for portion in portions[most:] for finding in portion):
        left[finding.code, finding.name, Why.BOUND] += 1
    return Plan(
        tuple(_named(portions[:most], {path for path, _ in imports})),
        tuple(Left(code, name, number, why) for (code, name, why), number in left.most_common()),
    )


def _why_left(finding: Finding, settings: Settings, unreadable: set[str], tested: Collection[str]) -> str:
    if finding.fix is None:
        return Why.NO_FIX
    if finding.path in unreadable:
        return Why.SYNTAX
    if not (settings.wants(finding.code) and settings.covers(finding.path)):
        return Why.SETTING
    if finding.fix.safety is Safety.UNSAFE:
        return NOT_TRIED.get(finding.code, "") or _why_untested(finding.path, tested)
    return ""


def _why_untested(path: str, tested: Collection[str]) -> str:
    if path in tested:
        return ""
    return Why.TEST if is_of_tests(path) else Why.UNTESTED


def _within_bound(findings: Sequence[Finding], most: int) -> list[list[Finding]]:
    """The portions to mend, as few rules in each as the bound on their number allows."""
    portions: list[list[Finding]] = []
    for small in SMALL:
        portions = [portion for group in _groups(findings, small) for portion in _portions(group)]
        if len(portions) <= most:
            break
    return portions


def _groups(findings: Iterable[Finding], small: int) -> list[list[Finding]]:
    """Findings that are mended together: of one rule, or of a theme's rare ones; in order of doing."""
    rules: dict[tuple[bool, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        rules[_is_unsafe(finding), finding.code].append(finding)
    groups: dict[tuple[bool, str], list[Finding]] = defaultdict(list)
    for (unsafe, code), found in rules.items():
        groups[unsafe, code if len(found) >= small else theme(code)] += found
    return sorted(groups.values(), key=_turn)


def _turn(group: Sequence[Finding]) -> tuple[bool, int, bool, int, str]:
    rules = _rules(group)
    sorts_imports = any(family(code) == "I" for code in rules)
    rank = list(THEMES).index(theme(rules[0]))
    return _is_unsafe(group[0]), rank, sorts_imports, -len(group), rules[0]


def _is_unsafe(finding: Finding) -> bool:
    return finding.fix is not None and finding.fix.safety is Safety.UNSAFE


def family(code: str) -> str:
    """The letters that a rule's code begins with."""
    return re.sub(r"[^A-Z].*", "", code)


def theme(code: str) -> str:
    """What a rule is about."""
    return next((theme for theme, families in THEMES.items() if family(code) in families), OTHER_THEME)


def _portions(group: Sequence[Finding]) -> Iterator[list[Finding]]:
    """A group in portions that stay reviewable, neighbours together, each file whole."""
    alike = all(finding.code.startswith(MECHANICAL) for finding in group)
    most_files, most_findings = (MECHANICAL_FILES, MECHANICAL_FINDINGS) if alike else (FILES, FINDINGS)
    files: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(group, key=lambda finding: (finding.path, finding.row)):
        files[finding.path].append(finding)
    portion: list[Finding] = []
    in_it = 0
    for found in files.values():
        if portion and (in_it == most_files or len(portion) + len(found) > most_findings):
            yield portion
            portion, in_it = [], 0
        portion += found
        in_it += 1
    if portion:
        yield portion


def _named(portions: Iterable[Sequence[Finding]], keeping: Collection[str]) -> Iterator[Subtask]:
    """Subtasks of the portions; those of one kind are numbered. Some files keep their imports in any of them."""
    stems = [(_stem(portion), portion) for portion in portions]
    kinds = Counter(stem for stem, _ in stems)
    numbers: Counter[str] = Counter()
    for stem, portion in stems:
        numbers[stem] += 1
        subtask = _subtask(f"{stem}-{numbers[stem]}" if kinds[stem] > 1 else stem, portion)
        yield replace(subtask, keep_imports=tuple(path for path in subtask.files if path in keeping))


def _stem(portion: Sequence[Finding]) -> str:
    rules = _rules(portion)
    names = f"{rules[0]} {portion[0].name}" if len(rules) == 1 else f"few of each {theme(rules[0])}"
    slug = SAFE_ID.sub("-", names.lower()).strip("-")[:ID_LENGTH].rstrip("-")
    return f"{slug}-try" if _is_unsafe(portion[0]) else slug


def _rules(portion: Sequence[Finding]) -> list[str]:
    return sorted({finding.code for finding in portion})


def _subtask(name: str, portion: Sequence[Finding]) -> Subtask:
    rules = _rules(portion)
    files = sorted({finding.path for finding in portion})
    unsafe = _is_unsafe(portion[0])
    what = f"{rules[0]} {portion[0].name.replace('-', ' ')}" if len(rules) == 1 else listed(rules, limit=6)
    title = (
        f"{'Try to mend' if unsafe else 'Mend'} {what}: {count(len(portion), 'finding')} in {place(files)}"
    )
    return Subtask(name, title, tuple(rules), tuple(files), len(portion), unsafe)


def place(files: Sequence[str]) -> str:
    """Where some files are, in a few words."""
    where = files[0] if len(files) == 1 else commonpath(files)
    number = count(len(files), "file")
    if not PLAIN_PATH.fullmatch(where):
        return number
    return where if len(files) == 1 else f"{number} under {where}"
