"""A process that has more than 1,024 files open speaks to its children as before: `select` would refuse to."""

import ast
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

import orchestrator
from orchestrator.hosts.exit_watch import ExitWatch
from orchestrator.hosts.processes import Process, start_of
from orchestrator.hosts.ssh import notice
from orchestrator.hosts.ssh.child import Late, run_child
from orchestrator.hosts.ssh.stream import Broken, opened
from tests.polling import wait_until

LONG = 30.0
LIMIT = 1024
ECHO = [sys.executable, "-uc", "import os\nwhile piece := os.read(0, 9): os.write(1, piece)"]


@pytest.fixture
def crowded() -> Iterator[None]:
    """Let every descriptor that is opened from now on be beyond what `select` takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * LIMIT:
        pytest.skip(f"this user may open {hard} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * LIMIT), hard))
    held = [os.open(os.devnull, os.O_RDONLY)]
    try:
        while held[-1] < LIMIT:
            held.append(os.open(os.devnull, os.O_RDONLY))
        yield
    finally:
        for descriptor in held:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("crowded")
def test_stream_sends_and_receives() -> None:
    with opened(ECHO, os.environ, time.monotonic() + LONG) as stream:
        assert stream.send(b"a word") == 6
        assert stream.recv(100) == b"a word"
        assert not stream.recv_ready(0.01)


@pytest.mark.usefixtures("crowded")
def test_stream_reports_its_end_and_its_deadline() -> None:
    with opened(["true"], os.environ, time.monotonic() + LONG) as stream, pytest.raises(Broken):
        stream.recv(1)
    with opened(["sleep", "60"], os.environ, time.monotonic() + 0.1) as stream, pytest.raises(Late):
        stream.recv(1)


def test_stream_that_nobody_reads_is_late() -> None:
    """What it is given fills the pipe, and then it waits until its deadline."""
    with opened(["sleep", "60"], os.environ, time.monotonic() + 0.5) as stream, pytest.raises(Late):
        list(map(stream.send, repeat(b"a" * 65536)))


@pytest.mark.usefixtures("crowded")
def test_child_is_fed_and_read() -> None:
    fed = b"a" * 300_000
    ended = run_child(["cat"], stdin=fed, deadline=LONG, most=len(fed), environ=os.environ)
    assert ended.out == fed
    with pytest.raises(Late):
        run_child(["sleep", "60"], stdin=b"", deadline=0.1, most=1, environ=os.environ)


@pytest.mark.usefixtures("crowded")
def test_exit_of_a_run_is_signalled() -> None:
    events = threading.Event()
    with (
        closing(ExitWatch(lambda _: events.set())) as watch,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child,
    ):
        watch.add("run", Process(child.pid, start_of(child.pid)))
        child.kill()
        assert events.wait(LONG)


@pytest.mark.usefixtures("crowded")
def test_notices_on_a_box_are_reported(tmp_path: Path) -> None:
    """It inherits what the login shell there had open."""
    crowd = [descriptor for descriptor in range(3, LIMIT + 1) if _is_open(descriptor)]
    program = [sys.executable, "-I", "-S", "-c", Path(notice.__file__).read_text()]
    child = subprocess.Popen(
        [*program, "600", "600", "task", "0", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=crowd,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        try:
            assert child.stdout.readline() == b"ready inotify\n"
            (tmp_path / "a").write_text("a")
            assert child.stdout.readline() == b"change task\n"
            child.stdin.close()
            wait_until(lambda: child.poll() is not None)
        finally:
            child.kill()
    assert child.returncode == 0


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _selects(text: str) -> list[int]:
    """Return the lines in which `select.select` is called."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "select.select"
    ]


def test_select_is_called_nowhere() -> None:
    """But in the fake CLI, which waits for its standard input alone: descriptor 0."""
    root = Path(orchestrator.__file__).parent
    found = [path.relative_to(root).as_posix() for path in root.rglob("*.py") if _selects(path.read_text())]
    assert found == ["testing/fake_cli.py"]
