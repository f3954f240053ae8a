"""What `MemoryFiles` adds for simulations: kills at each step, faults, crashes."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from orchestrator.testing.memory_files import MemoryFiles, Step

ROOT = Path("/state")
FILE = ROOT / "a"


class KilledError(BaseException):
    pass


def kill_at(files: MemoryFiles, number: int) -> list[Step]:
    """Kill the caller at its step of that number; return the list of the steps that it came to."""
    steps: list[Step] = []

    def before(step: Step, path: Path) -> None:
        del path
        steps.append(step)
        if len(steps) == number:
            raise KilledError

    files.before = before
    return steps


@pytest.fixture
def files() -> MemoryFiles:
    made = MemoryFiles()
    made.make_folder(ROOT)
    made.write(FILE, b"old")
    return made


@pytest.mark.parametrize(
    ("number", "killed", "no_power"), [(1, b"old", b"old"), (2, b"old", b"old"), (3, b"new", b"old")]
)
@pytest.mark.parametrize("power", [False, True])
def test_a_write_killed_at_any_step_leaves_the_old_or_the_new(files, number, killed, no_power, power) -> None:
    kill_at(files, number)
    with pytest.raises(KilledError):
        files.write(FILE, b"new")
    files.crash(power=power)
    assert files.read(FILE) == (no_power if power else killed)


def test_a_write_that_returned_outlives_a_power_loss(files: MemoryFiles) -> None:
    files.write(FILE, b"new")
    files.make_folder(ROOT / "b" / "c")
    files.create(ROOT / "b" / "c" / "d", b"x")
    files.remove(FILE)
    files.crash(power=True)
    assert files.entry(FILE) is None
    assert files.read(ROOT / "b" / "c" / "d") == b"x"


def test_a_folder_not_fsynced_is_lost_with_all_in_it(files: MemoryFiles) -> None:
    kill_at(files, 2)
    with pytest.raises(KilledError):
        files.make_folder(ROOT / "b")
    files.before = None
    files.write(ROOT / "b" / "c", b"x")
    files.crash(power=True)
    assert files.entry(ROOT / "b") is None
    assert files.entry(ROOT / "b" / "c") is None


def test_a_rename_across_folders_is_taken_back_on_both_sides(files: MemoryFiles) -> None:
    files.make_folder(ROOT / "b")
    kill_at(files, 2)
    with pytest.raises(KilledError):
        files.rename(FILE, ROOT / "b" / "a")
    files.crash(power=True)
    assert files.read(FILE) == b"old"
    assert files.entries(ROOT / "b") == []


@pytest.mark.parametrize(
    ("power", "torn", "left"), [(False, 0, b"1\n2\n"), (True, 0, b"1\n"), (True, 1, b"1\n2")]
)
def test_a_line_appended_and_not_fsynced(files: MemoryFiles, power, torn, left) -> None:
    log = files.open_log(ROOT / "log")
    log.append(b"1\n")
    kill_at(files, 2)
    with pytest.raises(KilledError):
        log.append(b"2\n")
    files.crash(power=power, torn=torn)
    assert files.read(ROOT / "log") == left


def test_a_crash_closes_the_logs_of_the_dead(files: MemoryFiles) -> None:
    log = files.open_log(ROOT / "log")
    files.crash()
    with pytest.raises(OSError, match="Bad file descriptor"):
        log.append(b"1\n")


def test_a_fault_comes_once_and_only_where_it_was_put(files: MemoryFiles) -> None:
    files.fail_next("write", OSError(errno.ENOSPC, "full"), FILE)
    files.write(ROOT / "b", b"x")
    with pytest.raises(OSError, match="full"):
        files.write(FILE, b"new")
    assert files.read(FILE) == b"old"
    files.write(FILE, b"new")
    assert files.read(FILE) == b"new"


def test_log_survives_a_full_disk_not_a_failed_fsync(files: MemoryFiles) -> None:
    log = files.open_log(ROOT / "log")
    files.fail_next("append", OSError(errno.ENOSPC, "full"))
    with pytest.raises(OSError, match="full"):
        log.append(b"1\n")
    log.append(b"2\n")
    files.fail_next("fsync", OSError(errno.EIO, "gone"))
    for _ in range(2):
        with pytest.raises(OSError, match=r"gone|error"):
            log.append(b"3\n")
    assert files.read(ROOT / "log") == b"2\n"


def test_files_of_others_take_no_step_and_are_not_durable(files: MemoryFiles) -> None:
    steps = kill_at(files, 1)
    files.put(ROOT / "scratch" / "b", b"theirs")
    assert steps == []
    assert files.read(ROOT / "scratch" / "b") == b"theirs"
    files.crash(power=True)
    assert files.entry(ROOT / "scratch" / "b") is None


def test_times_come_from_the_clock_that_is_given() -> None:
    times = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    files = MemoryFiles(now=lambda: next(times))
    files.make_folder(ROOT)
    files.write(FILE, b"x")
    entry = files.entry(FILE)
    assert entry
    assert entry.mtime_ns == 4_000_000_000


def test_entries_are_read_again_after_a_change(files: MemoryFiles) -> None:
    def sizes() -> dict[str, int]:
        return {entry.name: entry.size for entry in files.entries(ROOT)}

    assert sizes() == {"a": 3}
    assert files.entries(ROOT) == files.entries(ROOT)
    log = files.open_log(ROOT / "log")
    assert sizes() == {"a": 3, "log": 0}
    log.append(b"line")
    assert sizes() == {"a": 3, "log": 4}
    files.put(FILE, b"longer")
    assert sizes() == {"a": 6, "log": 4}
    files.rename(FILE, ROOT / "b")
    assert sizes() == {"b": 6, "log": 4}
    files.crash(power=True)
    assert sizes() == {"b": 0, "log": 4}


def test_durable_log_lines_are_known(files: MemoryFiles) -> None:
    reported: list[tuple[Path, bytes]] = []
    files.appended = lambda path, line: reported.append((path, line))
    log = files.open_log(ROOT / "log")
    log.append(b"one")
    files.fail_next("fsync", OSError(errno.EIO, "no"))
    with pytest.raises(OSError, match="no"):
        log.append(b"two")
    assert reported == [(ROOT / "log", b"one")]


def test_opened_log_survives_a_power_cut() -> None:
    """As on the disk, where opening a log syncs its folder too (`DiskFiles.open_log`)."""
    files = MemoryFiles()
    files.make_folder(Path("/j"))
    files.put(Path("/j/1.jsonl"), b"a line\n")
    files.crash()
    files.open_log(Path("/j/1.jsonl")).append(b"another\n")
    files.crash(power=True)
    assert files.read(Path("/j/1.jsonl")) == b"a line\nanother\n"
