"""What a box's shell prints around a command is no part of what the command printed."""

from __future__ import annotations

import subprocess

import pytest

from orchestrator.hosts.ssh.marked_command import has_begun, marked_line, result_of
from orchestrator.ports.box_link import Ended

MARK = "0123456789abcdef"


def ended(line: str) -> Ended:
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def test_output_ahead_and_behind_is_left_out() -> None:
    """A shell that bids farewell, or traces what it does, was taken for a connection that had ended."""
    line = marked_line(["sh", "-c", "printf 'out\\n'; printf err >&2; exit 3"], MARK)
    said = ended(f"trap 'echo bye; echo bye >&2' EXIT; set -x; echo hello; {line}")
    result = result_of(said, MARK)
    assert result is not None
    assert (result.status, result.out) == (3, b"out\n")
    assert result.err.endswith(b"err")


@pytest.mark.parametrize("err", [b"", f"\n{MARK} 0".encode(), f"\n{MARK} x\n".encode(), b"\n0123 0\n"])
def test_without_its_end_mark_nothing_is_known(err: bytes) -> None:
    said = Ended(0, f"\n{MARK}\nout".encode(), err)
    assert has_begun(said, MARK)
    assert result_of(said, MARK) is None


def test_output_of_a_killed_program_is_kept_as_it_is() -> None:
    line = marked_line(["sh", "-c", "printf out; kill -9 $$"], MARK)
    result = result_of(ended(line), MARK)
    assert result is not None
    assert (result.status, result.out) == (137, b"out")
