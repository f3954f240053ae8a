"""One mutant is put to its tests."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Self

from tests.mutation import sandbox
from tests.mutation.mutants import Mutant
from tests.mutation.selection import Chosen, file_of

# Beyond what the tests took in the clean run: a busy machine, and Python's start.
SLOWER, STARTED = 5.0, 60.0
TYPES_SECONDS = 600.0


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"  # a test failed
    ENDLESS = "endless"  # the tests did not end in their time
    TYPES = "types"  # its tests passed, and mypy refuses it, which is a check like they are
    ALIVE = "alive"
    UNTESTED = "untested"  # no test runs it: it lives
    ERROR = "error"  # it could not be tried


DEAD = frozenset({Verdict.KILLED, Verdict.ENDLESS, Verdict.TYPES})
LIVING = frozenset({Verdict.ALIVE, Verdict.UNTESTED})


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant, and of which code and tests that holds.

    Attributes:
        mutant: its name.
        by: the test that killed it, or what went wrong.
        tests: how many it was put to.
        seconds: that it took.
        module: the module's fingerprint.
        suite: the fingerprint of the project and of the tests.
    """

    mutant: str
    path: str
    verdict: Verdict
    by: str
    tests: int
    seconds: float
    module: str
    suite: str

    def line(self) -> str:
        """Give it as a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> Self:
        """Read a line of JSON."""
        fields = json.loads(line)
        return cls(**{**fields, "verdict": Verdict(fields["verdict"])})


def tried(mutant: Mutant, chosen: Chosen, *, types: bool) -> tuple[Verdict, str]:
    """Put a mutant to its tests, and if it lives, to mypy.

    Args:
        mutant: the fault.
        chosen: its tests.
        types: whether mypy is asked about one that lives.

    Returns:
        What became of it, and by what.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{mutant.name}-", dir=sandbox.KEPT))
    try:
        module = folder / "module.py"
        module.write_text(mutant.source(), encoding="utf-8")
        verdict, by = _by_tests(mutant, chosen, folder, module)
        if verdict in LIVING and types:
            refused = _by_types(mutant, folder, module)
            if refused:
                return Verdict.TYPES, refused
        return verdict, by
    finally:
        shutil.rmtree(folder)


def passes_unchanged(mutant: Mutant, chosen: Chosen) -> bool:
    """Tell whether tests pass on the code without the fault: what fails there as well has found nothing.

    Args:
        mutant: of the module.
        chosen: the tests.
    """
    text = (sandbox.TREE / mutant.path).read_text("utf-8")
    return tried(replace(mutant, source=lambda: text), chosen, types=False)[0] is Verdict.ALIVE


def _by_tests(mutant: Mutant, chosen: Chosen, folder: Path, module: Path) -> tuple[Verdict, str]:
    if not chosen.tests:
        return Verdict.UNTESTED, ""
    out = folder / "out"
    out.mkdir()
    (out / "selected.json").write_text(json.dumps(chosen.tests), encoding="utf-8")
    files = dict.fromkeys(map(file_of, chosen.tests))
    ended = sandbox.run(
        [
            *("python", "-m", "pytest", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"),
            *("-p", "tests.mutation.selected", "-p", "no:xdist", *files),
        ],
        seconds=chosen.seconds * SLOWER + STARTED,
        out=out,
        replaced={mutant.path: module},
        environ={"MUTATION_OUT": sandbox.OUT},
    )
    report = out / "ended.json"
    if ended.status is None:
        return Verdict.ENDLESS, f"{chosen.seconds:.0f} s of tests"
    shown = json.loads(report.read_text("utf-8")) if report.exists() else {}
    match shown.get("status"):
        case 0:
            return Verdict.ALIVE, ""
        case 1 | 2:
            return Verdict.KILLED, next(iter(shown["failed"]), "as it was imported")
        # What pytest's own start imports of the project is broken.
        case None if (out / "started").exists():
            return Verdict.KILLED, "as it was imported"
        case _:
            pass
    return Verdict.ERROR, ended.printed[-500:]


def _by_types(mutant: Mutant, folder: Path, module: Path) -> str:
    """Give what mypy says against it, or nothing."""
    cache = sandbox.KEPT / "mypy"
    if not cache.is_dir():
        return ""
    copy = folder / "mypy"
    shutil.copytree(cache, copy)
    ended = sandbox.run(
        ["mypy", "--cache-dir", sandbox.OUT, "--no-error-summary", mutant.path],
        seconds=TYPES_SECONDS,
        out=copy,
        replaced={mutant.path: module},
    )
    said = [
        line for line in ended.printed.splitlines() if line.startswith(mutant.path) and ": error:" in line
    ]
    return said[0].partition(": error: ")[2] if ended.status == 1 and said else ""


def fill_types_cache() -> None:
    """Let mypy look at the whole project once, so that afterwards a changed module takes seconds."""
    cache = sandbox.KEPT / "mypy"
    cache.mkdir(exist_ok=True)
    sandbox.run(["mypy", "--cache-dir", sandbox.OUT, "orchestrator"], seconds=TYPES_SECONDS, out=cache)
