"""Transfers change no file of a task that was released, also those that are under way at that moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.boxes.task_files import Released, TaskFiles, TaskGate
from orchestrator.hosts.ssh.publish import Publisher
from orchestrator.hosts.ssh.pulled_files import Known
from orchestrator.testing.memory_files import MemoryFiles
from tests.polling import wait_until

FOLDER, HOME, MIRROR = Path("/p/tasks/t1"), Path("/pm/tasks/t1-0123abcd"), Path("/pm/boxes/b/t1-0123abcd")
NAMES = ("artifacts/code/a", "artifacts/code/b", "handoffs/dev-20251127-154500.md", "scratchpad/dev/c")


class SlowFiles(MemoryFiles):
    """Files of which the change of one path waits until it may go on."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._slow = path
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def write(self, path: Path, *rest: Any, **more: Any) -> None:
        if path == self._slow:
            self.begun.set()
            assert self.may_go_on.wait(20)
        super().write(path, *rest, **more)


@dataclass
class Bench:
    """A mirror with some files that are to be published."""

    files: MemoryFiles = field(default_factory=MemoryFiles)
    gate: TaskGate = field(default_factory=lambda: TaskGate("t1-0123abcd"))

    def __post_init__(self) -> None:
        for name in NAMES:
            self.files.put(MIRROR / "tree" / name, b"there")
        self.files.make_folder(FOLDER)
        files = TaskFiles(self.files, self.gate)
        self.publisher = Publisher(files, Known(files, MIRROR / "known"), MIRROR / "tree", FOLDER, HOME)

    def publish(self) -> None:
        self.publisher.publish(self.publisher.news([]), [])

    def here(self) -> list[str]:
        return [name for name in NAMES if self.files.entry(FOLDER / name) is not None]


def test_released_task_gets_nothing() -> None:
    bench = Bench()
    assert bench.gate.close()
    with pytest.raises(Released):
        bench.publish()
    assert not bench.here()
    bench.gate.open()
    bench.publish()
    assert bench.here() == list(NAMES)


@pytest.mark.parametrize("after", range(1, 9))
def test_release_at_any_change_is_the_last_one(after: int) -> None:
    """Nothing comes into the task's folder behind that."""
    bench, changes = Bench(), 0

    def release(step: str, path: Path) -> None:
        nonlocal changes
        if step in {"write", "mkdir"} and path.is_relative_to(FOLDER):
            changes += 1
            if changes == after:
                raise KeyboardInterrupt

    bench.files.before = release
    try:
        bench.publish()
    except KeyboardInterrupt:
        bench.files.before = None
        assert bench.gate.close()
        there = bench.here()
        with pytest.raises(Released):
            bench.publish()
        assert bench.here() == there


def test_release_waits_for_no_slow_disk() -> None:
    slow = SlowFiles(FOLDER / NAMES[0])
    bench = Bench(slow)
    thread = threading.Thread(target=_quietly(bench.publish))
    thread.start()
    assert slow.begun.wait(20)
    assert not bench.gate.close(), "a file is being written, and the folder may not be removed yet"
    slow.may_go_on.set()
    wait_until(bench.gate.close)
    before = bench.here()
    thread.join(20)
    assert not thread.is_alive()
    assert bench.here() == before


def _quietly(work: Callable[[], None]) -> Callable[[], None]:
    def done() -> None:
        try:
            work()
        except Released:
            return

    return done


def test_only_changes_are_refused() -> None:
    bench = Bench()
    bench.publish()
    bench.gate.close()
    files = TaskFiles(bench.files, bench.gate)
    path = FOLDER / NAMES[0]
    assert files.read(path) == b"there"
    assert files.names(path.parent) == ["a", "b"]
    assert len(files.entries(path.parent)) == 2
    assert files.entry(path) is not None
    assert not files.being_written(path)
    assert files.real(path) == path
    for change in (
        lambda: files.write(path, b""),
        lambda: files.create(path, b""),
        lambda: files.open_log(path),
        lambda: files.make_folder(layout.artifacts(FOLDER)),
        lambda: files.rename(path, path.with_name("z")),
        lambda: files.remove(path),
    ):
        with pytest.raises(Released):
            change()
    assert bench.files.read(path) == b"there"
