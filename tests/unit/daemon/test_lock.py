import fcntl
import json
import os
import stat
import subprocess
import sys

import pytest

from orchestrator.daemon.process.lock import DaemonLock, beat
from orchestrator.daemon.process.recovery import ended_well, unforeseen_return
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.processes import start_of
from orchestrator.model.errors import Refused
from tests.another_user import by_root, give_away


@pytest.fixture
def lock(tmp_path):
    made = DaemonLock(tmp_path)
    yield made
    made.release()


def held(state) -> bool:
    """Tell whether somebody has the lock, as `task status` finds out."""
    with (state / "daemon.lock").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_second_daemon_is_refused_with_the_pid_of_the_first(lock, tmp_path, monkeypatch):
    monkeypatch.setattr("orchestrator.daemon.process.lock.PATIENCE", 0.0)
    with pytest.raises(Refused, match=f"a daemon runs already, pid {os.getpid()}"):
        DaemonLock(tmp_path)


def test_what_is_started_does_not_hold_the_lock_on(tmp_path):
    lock = DaemonLock(tmp_path)
    command = [sys.executable, "-c", "print('up', flush=True); input()"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, close_fds=False, stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        child.stdout.readline()
        lock.release()
        assert not held(tmp_path)
        child.communicate(b"\n")


def test_successor_keeps_the_lock_without_a_gap(tmp_path):
    """It passes it to no child."""
    lock = DaemonLock(tmp_path)
    number = lock.handed_on()
    assert os.get_inheritable(number)
    before = (tmp_path / "daemon.lock").stat().st_mtime_ns
    after = DaemonLock(tmp_path, inherited=number)
    assert held(tmp_path)
    assert not os.get_inheritable(number)
    assert (tmp_path / "daemon.lock").stat().st_mtime_ns == before, "it was never empty"
    after.release()
    assert not held(tmp_path)


def test_a_lock_survives_an_exec(tmp_path):
    then = (
        "import os, sys; from pathlib import Path; from orchestrator.daemon.process.lock import DaemonLock\n"
        "state, number = Path(sys.argv[1]), int(sys.argv[2])\n"
        "DaemonLock(state, inherited=number); print('held', os.getpid(), flush=True); input()"
    )
    first = (
        "import os, sys; from pathlib import Path; from orchestrator.daemon.process.lock import DaemonLock\n"
        "lock = DaemonLock(Path(sys.argv[1])); print('first', os.getpid(), flush=True)\n"
        "os.execv(sys.executable, [sys.executable, '-c', sys.argv[2], sys.argv[1], str(lock.handed_on())])"
    )
    command = [sys.executable, "-c", first, str(tmp_path), then]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        words = [child.stdout.readline().split() for _ in range(2)]
        assert words == [["first", str(child.pid)], ["held", str(child.pid)]]
        assert held(tmp_path)
        assert (tmp_path / "daemon.lock").read_text() == f"{child.pid}\n"
        child.communicate("\n")
    assert not held(tmp_path)


@pytest.mark.parametrize("what", ["another file", "nothing open", "the lock of a folder that was taken away"])
def test_a_number_that_is_not_our_lock_is_not_believed(tmp_path, what):
    (tmp_path / "other").write_text("precious")
    if what == "another file":
        number = os.open(tmp_path / "other", os.O_RDWR)
    elif what == "nothing open":
        number = 987
    else:
        number = DaemonLock(tmp_path).handed_on()
        (tmp_path / "daemon.lock").unlink()
    made = DaemonLock(tmp_path, inherited=number)
    assert made._file != number
    assert held(tmp_path)
    assert (tmp_path / "other").read_text() == "precious"
    made.release()
    if what != "nothing open":
        os.close(number)


def test_successor_respects_a_quicker_daemon(tmp_path, monkeypatch):
    monkeypatch.setattr("orchestrator.daemon.process.lock.PATIENCE", 0.0)
    other = DaemonLock(tmp_path)
    number = os.open(
        tmp_path / "daemon.lock", os.O_RDWR
    )  # the same file, but not the one that holds the lock
    with pytest.raises(Refused, match="a daemon runs already"):
        DaemonLock(tmp_path, inherited=number)
    other.release()


class _Clock:
    def now(self) -> float:
        return 1000.5

    def monotonic(self) -> float:
        return 20.25

    def asleep(self) -> float:
        raise AssertionError

    def utc_offset(self, at: float) -> int:
        raise AssertionError

    def sleep(self, seconds: float) -> None:
        raise AssertionError


def test_heartbeat_has_both_clocks_and_the_next_due_time(tmp_path):
    beat(DiskFiles(), tmp_path, 900.0, _Clock(), 5.0, {"stamp": "none"})
    assert json.loads((tmp_path / "daemon.beat").read_text()) == {
        "pid": os.getpid(),
        "process": start_of(os.getpid()),
        "started_at": 900.0,
        "beat_at": 1000.5,
        "monotonic": 20.25,
        "every": 5.0,
        "version": "0.1.0",
        "settings": {"stamp": "none"},
    }


@pytest.mark.parametrize("mode", [0o620, 0o666])
def test_a_lock_that_others_can_write_is_not_taken(tmp_path, mode):
    path = tmp_path / "daemon.lock"
    path.touch()
    path.chmod(mode)
    with pytest.raises(Refused, match="can be written by others: look at it, then `chmod go-w"):
        DaemonLock(tmp_path)


def test_a_lock_that_is_a_link_is_not_taken(tmp_path):
    (tmp_path / "elsewhere").touch()
    (tmp_path / "daemon.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="is a symbolic link"):
        DaemonLock(tmp_path)
    assert (tmp_path / "elsewhere").read_bytes() == b""


@by_root
def test_a_lock_of_another_user_is_not_taken(tmp_path):
    (tmp_path / "daemon.lock").touch(0o600)
    give_away(tmp_path / "daemon.lock")
    with pytest.raises(Refused, match="belongs to user 12345, not to you"):
        DaemonLock(tmp_path)


def put(path, what):
    match what:
        case "pipe":
            os.mkfifo(path, 0o600)
        case "folder":
            path.mkdir(0o700)
        case _:
            try:
                os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
            except PermissionError:
                pytest.skip("no devices can be made here")


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_what_is_no_plain_file_is_no_lock(tmp_path, what):
    put(tmp_path / "daemon.lock", what)
    with pytest.raises(Refused, match=r"daemon.lock is not a plain file: take it away"):
        DaemonLock(tmp_path)


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_a_beat_goes_on_whatever_is_in_its_place(tmp_path, what):
    put(tmp_path / "daemon.beat", what)
    beat(DiskFiles(), tmp_path, 900.0, _Clock(), 5.0, {})
    assert json.loads((tmp_path / "daemon.beat").read_text())["pid"] == os.getpid()
    assert (tmp_path / "daemon.beat.set-aside-1").is_dir() == (what == "folder")


@pytest.mark.parametrize("what", ["pipe", "folder", "device"])
def test_last_words_in_odd_places_are_waited_for_by_nobody(tmp_path, what):
    put(tmp_path / "daemon.ended", what)
    put(tmp_path / "daemon.beat", what)
    ended_well(tmp_path, 900.0)
    assert unforeseen_return(tmp_path, 1000.0) is None


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"pid": 1, "beat_at": -Infinity}', '{"pid": [], "beat_at": 1e999}']
)
def test_a_beat_of_any_shape_keeps_no_daemon_from_starting(tmp_path, text):
    (tmp_path / "daemon.beat").write_text(text)
    news = unforeseen_return(tmp_path, 1000.0)
    assert news is None or "an unknown time" in news.text
