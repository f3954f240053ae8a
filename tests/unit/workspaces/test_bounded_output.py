"""Git that talks for a box: what it prints is bounded, by bytes and by time."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.workspaces.bounded_output import PrintsTooMuch, read_to_end
from orchestrator.workspaces.git_process import Git, GitLate, GitTooLoud


def process(script: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(["sh", "-c", script], stdin=pipe, stdout=pipe, stderr=pipe)


def git(folder: Path, script: str, deadline: float = 20.0) -> Git:
    """Return git as a script of ours, which has no configuration to tell of."""
    (folder / "git").write_text(f'#!/bin/sh\ncase "$*" in *--list*) exit 0 ;; esac\n{script}\n')
    (folder / "git").chmod(0o700)
    return Git(folder, deadline, {"PATH": f"{folder}:{os.environ['PATH']}"}, prints=100_000)


def test_both_outputs_are_read_to_their_end() -> None:
    with process("head -c 70000 /dev/zero; echo oh >&2; exec >&-; echo more >&2") as it:
        out, err = read_to_end(it, 20, 100_000)
    assert (len(out), err, it.returncode) == (70_000, b"oh\nmore\n", 0)


@pytest.mark.parametrize("where", ["", ">&2"], ids=["output", "complaints"])
def test_output_without_end_is_cut_off(where: str) -> None:
    with process(f"exec yes {where}") as it:
        with pytest.raises(PrintsTooMuch):
            read_to_end(it, 20, 100_000)
        it.kill()


def test_a_git_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(GitTooLoud, match="100,000 bytes"):
        git(tmp_path, "yes 'remote: hello' >&2 & wait").run("fetch")


def test_a_git_that_is_silent_is_still_bounded_by_time(tmp_path: Path) -> None:
    with pytest.raises(GitLate):
        git(tmp_path, "sleep 60", deadline=0.2).run("fetch")


def test_what_is_within_the_bound_is_as_it_was(tmp_path: Path) -> None:
    assert git(tmp_path, "echo abc; echo hm >&2; exit 1").run("fetch", allowed=(1,)) == (1, b"abc\n")
