"""Standard error of a child that lives long: its first words are kept, and a flood ends it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from orchestrator.hosts.ssh.stderr import FLOOD, KEPT, Stderr
from orchestrator.hosts.ssh.stream import Broken, opened

LONG = 30.0


@contextmanager
def followed(script: str) -> Iterator[tuple[subprocess.Popen[bytes], Stderr]]:
    with closing(Stderr()) as stderr:
        child = subprocess.Popen(
            [sys.executable, "-c", f"import os, sys, time\n{script}"],
            stderr=stderr.writer,
            start_new_session=True,
        )
        stderr.follow(child)
        try:
            yield child, stderr
        finally:
            child.kill()
            child.wait()


def test_its_words_are_whole_at_its_end() -> None:
    with followed("os.write(2, b'no route')") as (child, stderr):
        assert child.wait(LONG) == 0
        assert stderr.said(LONG) == b"no route"


def test_more_than_a_pipe_holds_does_not_stop_it() -> None:
    with followed("[os.write(2, b'a' * 1000) for _ in range(1000)]") as (child, stderr):
        assert child.wait(LONG) == 0
        assert stderr.said(LONG) == b"a" * KEPT
        assert FLOOD > 1_000_000


def test_a_flood_ends_it() -> None:
    with followed("while True: os.write(2, b'a' * 65536)") as (child, stderr):
        assert child.wait(LONG) == -9
        assert len(stderr.said(LONG)) == KEPT


def test_it_can_be_left_while_something_holds_the_pipe() -> None:
    """A program in the background outlives the child, and has its standard error."""
    with followed("os.fork() or time.sleep(60)") as (child, stderr):
        child.wait(LONG)
        assert stderr.said() == b""
        stderr.close()
        stderr.close()
        os.killpg(child.pid, 9)


def test_flooding_stream_is_closed_with_its_last_words() -> None:
    """A stream whose other end floods is broken with its words."""
    flood = [sys.executable, "-c", "import os\nwhile True: os.write(2, b'a' * 65536)"]
    with opened(flood, os.environ, time.monotonic() + LONG) as stream, pytest.raises(Broken) as broken:
        stream.recv(1)
    assert broken.value.said == b"a" * KEPT
