"""The process table of this machine, and being told of exits."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest

from orchestrator.hosts import exit_watch, processes
from orchestrator.hosts.exit_watch import ExitWatch
from orchestrator.hosts.processes import Process, alive, environment_of, rows_of, send, start_of
from tests.polling import wait_until


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    yield child
    child.kill()
    child.wait()


def process(child: subprocess.Popen[bytes]) -> Process:
    return Process(child.pid, start_of(child.pid))


def test_process_is_alive_until_it_ends_even_if_unreaped(sleeper) -> None:
    """A process is alive until it ends even if nobody waited for it."""
    it = process(sleeper)
    assert alive(it)
    assert not alive(Process(it.pid, "another start"))
    sleeper.kill()
    wait_until(lambda: not alive(it))
    assert start_of(it.pid) == ""


def test_a_name_with_spaces_and_parentheses_is_no_trap(tmp_path: Path) -> None:
    program = tmp_path / "a) S 1 (b"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([program, "600"])
    try:
        assert alive(process(child))
        assert start_of(child.pid).partition("@")[0].isdigit()
    finally:
        child.kill()
        child.wait()


def test_only_the_same_process_is_signalled(sleeper) -> None:
    send(Process(sleeper.pid, "another start"), signal.SIGKILL)
    send(Process(2**22 + 1, "never there"), signal.SIGKILL)
    assert sleeper.poll() is None
    send(process(sleeper), signal.SIGTERM)
    assert sleeper.wait(10) == -signal.SIGTERM


@pytest.mark.skipif(not processes.LINUX, reason="compares with /proc")
def test_ps_reports_the_same_where_there_is_no_proc(sleeper, monkeypatch) -> None:
    (by_proc,) = rows_of({sleeper.pid})
    monkeypatch.setattr(processes, "LINUX", False)
    it = process(sleeper)
    assert alive(it)
    (by_ps,) = rows_of({sleeper.pid})
    assert (by_ps.process, by_ps.name, by_ps.parent) == (it, by_proc.name, by_proc.parent)
    assert by_ps.session == by_proc.session  # its process group, of which it is the leader too
    assert sleeper.pid in processes.pids()
    sleeper.kill()
    wait_until(lambda: not alive(it))


# Being told ---------------------------------------------------------------------------------------


class Signals:
    """What an `ExitWatch` told so far."""

    def __init__(self) -> None:
        self.runs: list[str] = []

    def __call__(self, run: str) -> None:
        self.runs.append(run)


@pytest.fixture(params=["pidfd", "looking"])
def how(request: pytest.FixtureRequest, monkeypatch) -> str:
    if request.param == "looking":
        monkeypatch.setattr(exit_watch, "_pidfd", lambda _process: -1)
    return str(request.param)


def test_an_end_is_reported_once(sleeper, how) -> None:
    reported = Signals()
    watch = ExitWatch(reported, every=0.02)
    watch.add("r1", process(sleeper))
    sleeper.kill()
    wait_until(lambda: reported.runs == ["r1"])
    watch.close()
    assert reported.runs == ["r1"]


def test_one_that_was_gone_before_is_signalled_too(sleeper, how) -> None:
    reported = Signals()
    it = process(sleeper)
    sleeper.kill()
    sleeper.wait()
    watch = ExitWatch(reported, every=0.02)
    watch.add("r1", it)
    watch.add("r2", Process(os.getpid(), "another start"))
    wait_until(lambda: sorted(reported.runs) == ["r1", "r2"])
    watch.close()


def test_one_that_is_watched_no_longer_is_not_signalled(sleeper, how) -> None:
    reported = Signals()
    watch = ExitWatch(reported, every=0.02)
    watch.add("r1", process(sleeper))
    watch.add("r2", process(sleeper))
    watch.remove("r1")
    watch.remove("never added")
    sleeper.kill()
    wait_until(lambda: reported.runs == ["r2"])
    watch.close()


def test_a_listener_that_fails_stops_nothing(sleeper, caplog) -> None:
    reported = Signals()

    def fails_first(run: str) -> None:
        if run == "r1":
            raise ValueError(run)
        reported(run)

    watch = ExitWatch(fails_first)
    watch.add("r1", Process(sleeper.pid, "another start"))
    wait_until(lambda: "could not be passed on" in caplog.text)
    watch.add("r2", process(sleeper))
    sleeper.kill()
    wait_until(lambda: reported.runs == ["r2"])
    watch.close()


def test_it_closes_though_nothing_can_be_written(monkeypatch) -> None:
    """A byte that wakes the thread may fail to be written; a disk that was full in a chaos test hung the close."""
    watch = ExitWatch(Signals())

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "write", full)
    closing = threading.Thread(target=watch.close, daemon=True)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()


def test_many_come_and_go_from_many_threads_and_nothing_leaks() -> None:
    descriptors = len(list(Path("/dev/fd").iterdir()))
    reported = Signals()
    watch = ExitWatch(reported)

    def come_and_go(number: int) -> None:
        for turn in range(10):
            child = subprocess.Popen(["true"] if turn % 2 else ["sleep", "600"])
            it = Process(child.pid, start_of(child.pid))
            watch.add(f"r{number}-{turn}", it)
            if turn % 2 == 0:
                watch.remove(f"r{number}-{turn}")
                child.kill()
            child.wait()

    threads = [threading.Thread(target=come_and_go, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = sorted(f"r{number}-{turn}" for number in range(8) for turn in range(1, 10, 2))
    wait_until(lambda: sorted(reported.runs) == wanted)
    watch.close()
    watch.close()
    watch.add("late", Process(os.getpid(), start_of(os.getpid())))
    watch.remove("late")
    assert len(list(Path("/dev/fd").iterdir())) == descriptors


@pytest.mark.skipif(not processes.LINUX, reason="environments of others are seen in /proc only")
def test_program_at_its_start_shows_its_environment() -> None:
    """Within execve there is none for a moment, in which most of these are seen."""
    for _ in range(30):
        child = subprocess.Popen(["sleep", "600"], env={"MARKED": "by this test"})
        try:
            assert environment_of(child.pid) == b"MARKED=by this test\0"
        finally:
            child.kill()
            child.wait()


@pytest.mark.skipif(not processes.LINUX, reason="environments of others are seen in /proc only")
def test_a_program_without_an_environment_is_not_waited_for(monkeypatch) -> None:
    child = subprocess.Popen(["sleep", "600"], env={})
    try:
        wait_until(lambda: Path(f"/proc/{child.pid}/cmdline").read_bytes())
        monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it was waited for"))
        assert environment_of(child.pid) == b""
    finally:
        child.kill()
        child.wait()
    assert environment_of(child.pid) == b""


@pytest.mark.skipif(not processes.LINUX, reason="environments of others are seen in /proc only")
def test_environment_that_may_not_be_read_is_not_waited_for(monkeypatch) -> None:
    """Of processes of others the kernel hides where it lies as well, as if they were within execve."""
    refused, stat = PermissionError(errno.EACCES, "Permission denied"), processes._stat_of(os.getpid())
    assert stat is not None
    hidden = (stat[0], [*stat[1][: processes._ENV_END], b"0", *stat[1][processes._ENV_END + 1 :]])
    monkeypatch.setattr(processes, "_stat_of", lambda _pid: hidden)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it was waited for"))
    with monkeypatch.context() as others:
        others.setattr(os, "open", Mock(side_effect=refused))
        assert environment_of(1) == b""
