"""The observer over thirty days of ten thousand handoffs, and over an archived night, as `task observe` runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from orchestrator import layout
from orchestrator.cli.archives import MANIFEST, Manifest
from orchestrator.cli.packing import HOME
from orchestrator.formats.coordination.handoff import render_handoff
from orchestrator.formats.coordination.records import render_chain
from orchestrator.model.coordination import Transition, iso
from orchestrator.records.chains import chain_of
from tests.benchmarks import reporting
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK
from tests.unit.records.pipelines import BEGAN, LEAK, handed_on

DAYS = 30
TASKS = 2500
"""Each of four handoffs and a chain."""

FORMS = 1.5
"""How many times the time of the text a form of the report may take: all but the words is the same."""

ARCHIVED = 8
"""How many times reading the lines an archived night may take: they also become a history, and figures."""

_STEPS = (Transition.IMPLEMENT, Transition.AUDIT, Transition.CLEAN_UP, Transition.COMPLETE)
_READ = (
    "import json, sys; from pathlib import Path\n"
    "for path in Path(sys.argv[1]).glob('*/*.json'): json.loads(path.read_bytes())\n"
)
_UNPACKED = (
    "import json, sys, tarfile\n"
    "with tarfile.open(sys.argv[1], 'r:gz') as packed:\n"
    "    for member in packed:\n"
    "        if 'journal/' in member.name:\n"
    "            for line in packed.extractfile(member).read().splitlines():\n"
    '                if b\'"kind":"event_landed"\' not in line: json.loads(line)\n'
)
"""Reads the archive once, and the lines that tell more than an agent's every move as JSON."""


def rows(bench: Bench) -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        yield from _handoffs(bench, Path(folder))
    with TemporaryDirectory() as folder:
        yield _archived(bench, Path(folder))


def _handoffs(bench: Bench, folder: Path) -> Iterator[Row]:
    bench.progress.show("laying down an archive")
    lay_down(folder / "data" / "handoffs")
    (folder / "state").mkdir(mode=0o700)
    what = f"task observe: {DAYS} days, {len(_STEPS) * TASKS:,} handoffs"
    observe = [str(TASK), "observe", "--date", "2025-12-11", "--days", str(DAYS)]
    read = [sys.executable, "-c", _READ, str(folder / "data" / "handoffs")]
    taken, floor = _in_turn(bench, what, folder, [*observe, "--details"], read)
    yield Row(what, "ms", taken, floor, "the same files, read as JSON", Reach(Of.MEDIAN, 1000))
    for form in ("--html", "--prometheus"):
        taken, floor = _in_turn(bench, f"{what}: {form}", folder, [*observe, form], observe)
        yield Row(f"{what}: {form}", "ms", taken, floor, "its text", Reach(Of.RATIO, FORMS))


def _archived(bench: Bench, folder: Path) -> Row:
    bench.progress.show("laying down an archived night")
    home = reporting.lay_down(folder)
    file = layout.archive_file(folder / "state", reporting.TASK_ID)
    file.parent.mkdir(mode=0o700)
    pack(file, home, folder / "shop")
    home.rename(folder / "home")
    what = f"task observe: an archived night of {reporting.LINES:,} journal lines"
    observe = [str(TASK), "observe", "--all-projects", "--date", "2025-11-28", "--days", "2"]
    taken, floor = _in_turn(bench, what, folder, observe, [sys.executable, "-c", _UNPACKED, str(file)])
    return Row(
        what, "ms", taken, floor, "the same lines, unpacked and read as JSON", Reach(Of.RATIO, ARCHIVED)
    )


def pack(file: Path, home: Path, project: Path) -> None:
    """Pack a task's own folder as `task archive` does."""
    manifest = Manifest(reporting.TASK_ID, "night", str(project), "complete", BEGAN).encoded()
    with tarfile.open(file, "w:gz") as packed:
        first = tarfile.TarInfo(MANIFEST)
        first.size = len(manifest)
        packed.addfile(first, BytesIO(manifest))
        packed.add(home, HOME)
    file.chmod(0o600)


def lay_down(root: Path) -> None:
    """Write an archive of thirty days, up to 11 December 2025."""
    for task in range(TASKS):
        name, first = f"task_{task}", -(task % DAYS) * 24 * 60
        handoffs = [
            handed_on(10 * task + number, each, first + 30 * (number + 1), LEAK, task=name)
            for number, each in enumerate(_STEPS)
        ]
        chain = chain_of(name, handoffs, (), BEGAN + 60 * first, None)
        day = root / iso(BEGAN + 60 * first)[:10]
        day.mkdir(parents=True, exist_ok=True)
        for each in handoffs:
            (day / f"{each.head.id}.json").write_bytes(render_handoff(each))
        (day / f"{chain.id}.json").write_bytes(render_chain(chain))


def _in_turn(
    bench: Bench, what: str, folder: Path, command: Sequence[str], floor: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of a command and of its floor, each measured in turn with the other."""
    environ = {
        **os.environ,
        "ORCHESTRATOR_HOME": f"{folder}/state",
        "ORCHESTRATOR_DATA": f"{folder}/data",
    }
    taken, floors = list[float](), list[float]()
    for _ in bench.times(7, what):
        for samples, each in ((floors, floor), (taken, command)):
            watch = Stopwatch()
            subprocess.run(each, env=environ, cwd=folder, stdout=subprocess.DEVNULL, check=True)
            samples.append(watch.ms)
    return taken, floors
