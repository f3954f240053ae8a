"""Which tests a mutant has to get past: those that run the lines it is in, found out by running them all once."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.mutation import sandbox
from tests.mutation.mutants import Mutant

CLEAN = sandbox.KEPT / "clean"
# The layers that answer in minutes. What only others hold is counted as alive, and can be explained by naming them.
LAYERS = (
    "tests/unit",
    "tests/contract",
    "tests/integration/hosts",
    "tests/integration/workspaces",
    "tests/remote",
)
CLEAN_SECONDS = 2 * 3600
# Tests for one mutant, in seconds of the clean run. One that outlives these counts as alive.
MOST_SECONDS = 40.0


@dataclass(frozen=True, slots=True)
class Chosen:
    """Tests for a mutant, those first that are most about its module; and how long they took in the clean run."""

    tests: tuple[str, ...]
    seconds: float


class Clean:
    """What the clean run has shown."""

    def __init__(self, recorded: Iterable[dict[str, Any]]) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._runs: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        size: Counter[str] = Counter()
        share: dict[str, Counter[str]] = defaultdict(Counter)
        for part in recorded:
            self.seconds |= part["seconds"]
            self.failed |= set(part["failed"])
            for test, modules in part["lines"].items():
                for module, lines in modules.items():
                    size[test] += len(lines)
                    share[module][test] = len(lines)
                    for line in lines:
                        self._runs[module][line].append(test)
        self._about = {
            module: {test: lines / size[test] for test, lines in tests.items()}
            for module, tests in share.items()
        }

    def chosen(self, mutant: Mutant, most_seconds: float = MOST_SECONDS) -> Chosen:
        """Choose the tests for a mutant.

        What runs when a module is imported, or in a process of its own, is seen in no test: a mutant there has to
        get past all tests that run anything of its module; or, if that holds nothing but tables, anything of the
        modules that read them.

        Args:
            mutant: which has to get past them.
            most_seconds: of the clean run; the first test is chosen however long it took.
        """
        lines = self._runs.get(mutant.path, {})
        first, last = mutant.lines
        about: dict[str, float] = self._about.get(mutant.path, {})
        running = {test for line in range(first, last + 1) for test in lines.get(line, ())} or set(about)
        if not running:
            about = {}
            for module in importers_of(mutant.path):
                about |= self._about.get(module, {})
            running = set(about)
        ranked = sorted(
            running - self.failed, key=lambda test: (-about[test], self.seconds.get(test, 0), test)
        )
        # The best of each file, then the second best: within one file tests are often much alike.
        ranks: Counter[str] = Counter()
        turn = {}
        for test in ranked:
            ranks[file_of(test)] += 1
            turn[test] = ranks[file_of(test)]
        tests: list[str] = []
        seconds = 0.0
        for test in sorted(ranked, key=turn.__getitem__):
            took = self.seconds.get(test, 0.0)
            if not tests or seconds + took <= most_seconds:
                tests.append(test)
                seconds += took
        return Chosen(tuple(tests), seconds)


@cache
def importers_of(path: str) -> frozenset[str]:
    """Find the modules that import a module, by its name in their texts."""
    package, _, name = path.removesuffix(".py").replace("/", ".").rpartition(".")
    names = re.compile(
        rf"from {re.escape(package)}(\.{re.escape(name)} import|\ import .*\b{re.escape(name)}\b)"
    )
    found = (place for place in python_files("orchestrator") if names.search(place.read_text("utf-8")))
    return frozenset(place.relative_to(sandbox.TREE).as_posix() for place in found)


def fingerprint(paths: Iterable[Path]) -> str:
    """Say in one word what some files of the copy hold."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.relative_to(sandbox.TREE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def python_files(*folders: str) -> set[Path]:
    """Find the Python files of folders of the copy."""
    found = (path for folder in folders for path in (sandbox.TREE / folder).rglob("*.py"))
    return {path for path in found if "__pycache__" not in path.parts}


def clean_run(jobs: int, layers: Sequence[str] = LAYERS) -> Clean:
    """Run the tests once on the code as it is, or those of them that have changed since they last were.

    A change of the project, or of what tests share, runs them all again.

    Raises:
        sandbox.Unusable: if the run did not come to an end.
    """
    tests = {path for path in python_files(*layers) if path.name.startswith("test_")}
    shared = python_files("orchestrator", *layers) - tests
    kept = CLEAN / fingerprint(shared)
    if not kept.is_dir():
        shutil.rmtree(CLEAN, ignore_errors=True)
        kept.mkdir(parents=True)
    ran = kept / "ran.json"
    before: dict[str, str] = json.loads(ran.read_text("utf-8")) if ran.exists() else {}
    now = {path.relative_to(sandbox.TREE).as_posix(): fingerprint([path]) for path in tests}
    changed = sorted(name for name, state in now.items() if before.get(name) != state)
    if changed:
        print(
            f"{len(changed)} files of tests run once on the code as it is, to see which test runs which line",
            flush=True,
        )
        _record(changed, jobs, kept / f"{len(list(kept.iterdir())):04}")
        ran.write_text(json.dumps(now), encoding="utf-8")
    return Clean(_latest(kept, set(now)))


def _record(files: Sequence[str], jobs: int, folder: Path) -> None:
    out = CLEAN / "unfinished"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    ended = sandbox.run(
        [
            *("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutation.recorder"),
            *("-n", str(jobs), "--dist", "worksteal", *files),
        ],
        seconds=CLEAN_SECONDS,
        out=out,
        tree_writable=True,
        environ={"MUTATION_OUT": sandbox.OUT},
    )
    if ended.status not in {0, 1}:
        raise sandbox.Unusable(
            f"the tests on the code as it is did not end as they should:\n{ended.printed[-3000:]}"
        )
    (out / "files.json").write_text(json.dumps(list(files)), encoding="utf-8")
    out.rename(folder)


def _latest(kept: Path, files: set[str]) -> Iterator[dict[str, Any]]:
    """Yield what the latest run of each file of tests has recorded."""
    wanted = set(files)
    for folder in sorted((path for path in kept.iterdir() if path.is_dir()), reverse=True):
        taken = wanted & set(json.loads((folder / "files.json").read_text("utf-8")))
        wanted -= taken
        for path in sorted(folder.glob("*.json")):
            if path.name != "files.json":
                part = json.loads(path.read_text("utf-8"))
                yield {
                    "seconds": {
                        test: took for test, took in part["seconds"].items() if file_of(test) in taken
                    },
                    "failed": [test for test in part["failed"] if file_of(test) in taken],
                    "lines": {test: lines for test, lines in part["lines"].items() if file_of(test) in taken},
                }


def file_of(test: str) -> str:
    """Give the file in which a test stands."""
    return test.partition("::")[0]
