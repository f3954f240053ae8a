"""Ruff, asked the same way all through a task.

The project's own rules count where it has any that can be used, else default ones, with ruff isolated from
whatever configuration lies above the project.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import inner_projects
import python_version
from errors import LinterError
from findings import SYNTAX, Finding, parse
from outcomes import is_of_tests
from python_version import Oldest
from ruff_configuration import own_configuration, sorts_imports_itself
from wording import first_line

RUFF_SECONDS = 600
# Under the kernel's bound for one argument list, environment included.
ARGUMENT_BYTES = 500_000

DEFAULT_RULES = ("E4", "E7", "E9", "F", "W", "I", "UP", "B", "C4", "SIM", "PIE")
# Matters of taste, with large changes and little gain.
DEFAULT_WITHOUT = ("C408", "SIM108")
# Not RUF100: whether a `noqa` is of use, only the linter that it was written for can tell.
PYTHON_2_WITHOUT = ("UP", "SIM")
OTHER_PEOPLES = (
    "_vendor",
    "_vendored",
    "vendor",
    "vendored",
    "third_party",
    "extern",
    "external",
    "*_pb2*.py",
)


@dataclass(frozen=True)
class Manner:
    """How ruff is asked for one project."""

    own_rules: bool
    target: str
    without: tuple[str, ...] = ()
    note: str = ""

    def arguments(self) -> list[str]:
        """The options that make it so."""
        if self.own_rules:
            return []
        rules = [rule for rule in DEFAULT_RULES if rule not in self.without]
        return [
            "--isolated",
            f"--select={','.join(rules)}",
            f"--ignore={','.join(DEFAULT_WITHOUT)}",
            f"--target-version={self.target}",
            f"--extend-exclude={','.join(OTHER_PEOPLES)}",
        ]

    def to_json(self) -> dict[str, object]:
        """As findings.json keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Manner:
        """As findings.json has it.

        Raises:
            LinterError: it was not written by this template.
        """
        without = said.get("without")
        if not isinstance(without, list) or "target" not in said:
            raise LinterError("findings.json does not say how ruff was asked: let explore run again.")
        return cls(
            own_rules=bool(said.get("own_rules")),
            target=str(said["target"]),
            without=tuple(map(str, without)),
            note=str(said.get("note", "")),
        )


def survey(root: Path, files: Sequence[str]) -> tuple[Manner, list[Finding]]:
    """Decide how ruff is asked in this project, and ask.

    Raises:
        LinterError: ruff is not there, or fails with the default rules too.
    """
    own, note = own_configuration(root, files)
    if own:
        manner = Manner(own_rules=True, target="", note="the project's own ruff rules")
        try:
            return manner, findings(root, manner, files)
        except LinterError as error:
            note = f"the project's ruff configuration could not be used: {first_line(str(error))}"
    manner = default_manner(root, _oldest(root), note)
    found = findings(root, manner, files)
    if any(finding.code == SYNTAX and not is_of_tests(finding.path) for finding in found):
        # What is no Python 3 is Python 2 more often than not, whatever the project says of itself.
        manner = default_manner(root, Oldest(python2=True), note)
        found = findings(root, manner, files)
    return manner, found


def _oldest(root: Path) -> Oldest:
    """The oldest Python that any project of the repository supports."""
    every = [python_version.of_project(folder) for folder in [root, *inner_projects.of(root)]]
    return Oldest(min(each.version for each in every), python2=any(each.python2 for each in every))


def default_manner(root: Path, oldest: Oldest, note: str = "") -> Manner:
    """The default rules, for the oldest Python that the project supports."""
    without = [*(PYTHON_2_WITHOUT if oldest.python2 else ()), *(["I"] if sorts_imports_itself(root) else [])]
    rules = f"default rules for Python {oldest.version[0]}.{oldest.version[1]} and newer"
    if without:
        rules += f", without {', '.join(without)}"
    return Manner(
        own_rules=False,
        target=oldest.ruff,
        without=tuple(without),
        note="; ".join(filter(None, [note, rules])),
    )


def findings(root: Path, manner: Manner, files: Sequence[str]) -> list[Finding]:
    """What ruff finds in these files of the tree at `root`.

    Raises:
        LinterError: ruff is not there, or refused.
    """
    found: list[Finding] = []
    for some in _batches(files):
        output = _ruff(
            root,
            ["check", "--output-format=json", "--no-fix", "--no-fix-only", *manner.arguments()],
            some,
        )
        found += parse(output, root.resolve())
    return found


def fix(root: Path, manner: Manner, files: Sequence[str], codes: Iterable[str], *, unsafe: bool) -> None:
    """Let ruff fix the findings of some rules in some files, in place.

    All rules of the project stay on and only these are fixed: a rule such as "unused noqa" judges by what is
    on.

    Raises:
        LinterError: ruff is not there, or refused.
    """
    for some in _batches(files):
        _ruff(
            root,
            [
                "check",
                "--fix-only",
                "--quiet",
                f"--fixable={','.join(sorted(codes))}",
                "--unsafe-fixes" if unsafe else "--no-unsafe-fixes",
                *manner.arguments(),
            ],
            some,
        )


def is_installed() -> bool:
    """Whether ruff can be run by this interpreter."""
    try:
        _ruff(Path.cwd(), ["--version"], [], options=())
    except LinterError:
        return False
    return True


def _ruff(
    root: Path,
    arguments: Sequence[str],
    files: Sequence[str],
    options: Sequence[str] = ("--no-cache", "--exit-zero", "--force-exclude"),
) -> str:
    # -P: a folder `ruff` in the project is not the program. `./`: no name is an option or a list of names.
    command = [sys.executable, "-P", "-m", "ruff", *arguments, *options, *(f"./{path}" for path in files)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RUFF_")}
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=environment | {"NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUFF_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LinterError(f"Ruff did not end within {RUFF_SECONDS} s.") from None
    if done.returncode:
        words = first_line(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise LinterError(f"Ruff failed: {words}")
    return done.stdout.decode("utf-8", "replace")


def _batches(files: Sequence[str]) -> Iterator[list[str]]:
    """Files in portions that fit an argument list."""
    portion: list[str] = []
    size = 0
    for path in files:
        size += len(path.encode()) + 3
        if portion and size > ARGUMENT_BYTES:
            yield portion
            portion, size = [], len(path.encode()) + 3
        portion.append(path)
    if portion:
        yield portion
