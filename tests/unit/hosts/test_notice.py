"""What runs on a box to tell of news, run here: by python3, and by nothing but a POSIX sh."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import notice as notices
from tests.polling import wait_until

FOLDER = Path(notices.__file__).parent
PYTHON = [sys.executable, "-I", "-S", "-c", (FOLDER / "notice.py").read_text()]
SH = ["sh", "-c", (FOLDER / "notice.sh").read_text(), "notice"]
QUICK_SH = [each.replace("\n    sleep 1\n", "\n    sleep 0.1\n") for each in SH]
"""The same ten times as fast: its stamps need no seconds. A box's own `sleep` might take only whole ones."""
assert QUICK_SH != SH

BOTH = pytest.mark.parametrize("program", [PYTHON, SH], ids=["python", "sh"])
QUICK = pytest.mark.parametrize("program", [PYTHON, QUICK_SH], ids=["python", "sh"])
ONLY_PYTHON = pytest.mark.parametrize("program", [PYTHON], ids=["python"])


class Running:
    """One of the programs, on the folders of two tasks."""

    def __init__(self, program, folder, beat="600", silence="600"):
        self.folder = folder
        words = []
        for task in ("a", "b"):
            for name, depth in [("handoffs", "0"), ("artifacts", "-1"), ("events", "0"), ("runs", "1")]:
                (folder / task / name).mkdir(parents=True)
                words += [task, depth, str(folder / task / name)]
        # Stamps lie where nobody else's do.
        (folder / "stamps").mkdir()
        self.child = subprocess.Popen(
            [*program, beat, silence, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(folder / "stamps")},
            start_new_session=True,
        )
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.stdin, self.stdout = self.child.stdin, self.child.stdout
        os.set_blocking(self.stdout.fileno(), False)
        self.lines = []
        wait_until(lambda: self.seen("ready"))

    def seen(self, words):
        """Read on, and tell whether a line begins so."""
        select.select([self.stdout], [], [], 0.05)
        self.lines += (self.stdout.read() or b"").decode().splitlines()
        return any(line.startswith(words) for line in self.lines)

    def emits(self, task, act):
        """Tell what is printed when something is done, until the task is named."""
        self.lines.clear()
        act()
        wait_until(lambda: self.seen(f"change {task}"))
        return set(self.lines)

    def quiet(self, beats):
        """Tell whether nothing but so many signs of life is printed."""
        self.lines.clear()
        wait_until(lambda: self.seen("change") or self.lines.count("alive") >= beats)
        return not self.seen("change")

    def settle(self):
        """Wait until nothing more is told: sh tells twice."""
        wait_until(lambda: self.quiet(3), within=30)

    def ended(self):
        return self.child.wait(10)


@pytest.fixture
def run(tmp_path):
    started = []

    def start(program, **more):
        started.append(Running(program, tmp_path, **more))
        return started[-1]

    yield start
    for each in started:
        if each.child.poll() is None:
            os.killpg(each.child.pid, signal.SIGKILL)
        each.child.wait(10)
        each.stdin.close()
        each.stdout.close()


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / ".tmp-new").write_text("a")
    (path.parent / ".tmp-new").rename(path)


@QUICK
@pytest.mark.parametrize(
    "name",
    ["handoffs/a.md", "handoffs/two\nlines 'x' -n", "artifacts/deep/er/a", "events/e.json", "runs/r-1/exit"],
)
def test_rename_into_place_is_reported_for_its_task(run, tmp_path, program, name):
    running = run(program, beat="0.1")
    assert running.emits("b", lambda: put(tmp_path / "b" / name)) <= {"change b", "alive"}
    running.settle()
    # In folders that were not there when it began, too.
    assert running.emits("b", lambda: put((tmp_path / "b" / name).with_name("again.md"))) <= {
        "change b",
        "alive",
    }


@ONLY_PYTHON
def test_write_in_place_is_reported_when_closed(run, tmp_path, program):
    """Temporary files are not reported."""
    running = run(program, beat="0.1")
    with (tmp_path / "a/handoffs/a.md").open("w") as file:
        file.write("a")
        file.flush()
        (tmp_path / "a/events/.being-written").write_text("a")
        (tmp_path / "a/runs/exit.new").write_text("a")
        assert running.quiet(3)
    wait_until(lambda: running.seen("change a"))


@ONLY_PYTHON
def test_a_folder_that_was_made_anew_is_watched_again(run, tmp_path, program):
    running = run(program, beat="0.1")
    (tmp_path / "a/handoffs").rename(tmp_path / "away")
    (tmp_path / "a/handoffs").mkdir()
    wait_until(lambda: put(tmp_path / "a/handoffs/a.md") or running.seen("change a"))


@ONLY_PYTHON
def test_a_flood_is_a_trickle_of_lines(run, tmp_path, program):
    running = run(program, beat="0.1")
    began = time.monotonic()
    for number in range(3000):
        put(tmp_path / f"a/handoffs/{number}.md")
    running.seen("change a")
    reported = running.lines.count("change a")
    assert 0 < reported <= 2 + (time.monotonic() - began) / notices.PAUSE
    running.settle()
    running.emits("a", lambda: put(tmp_path / "a/handoffs/last.md"))


@BOTH
def test_it_gives_signs_of_life(run, program):
    running = run(program, beat="1")
    assert running.quiet(2)


@BOTH
@pytest.mark.parametrize("how", ["nobody speaks", "silence", "nobody reads"])
def test_it_ends_with_its_connection_and_leaves_nothing(run, tmp_path, program, how):
    running = run(program, beat="1", silence="2" if how == "silence" else "600")
    if how == "nobody speaks":
        running.stdin.close()
    if how == "nobody reads":
        running.stdout.close()
    running.ended()
    wait_until(lambda: not _in_group(running.child.pid))
    assert not list((tmp_path / "stamps").iterdir())


@BOTH
def test_it_stays_as_long_as_somebody_speaks(run, program):
    running = run(program, beat="1", silence="2")
    for _ in range(5):
        running.stdin.write(b"\n")
        running.stdin.flush()
        assert running.quiet(1)
    assert running.child.poll() is None


def test_more_folders_than_may_be_watched_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(notices, "MOST", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    notice = notices.Notice([("a", -1, os.fsencode(tmp_path))])
    notice.watch_all()
    assert notice.blind
    assert len(notice.watched) == 3
    os.close(notice.inotify)


def _in_group(group):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(stat.parent.name)
    return found
