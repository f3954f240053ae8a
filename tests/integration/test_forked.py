"""A fork is what a new interpreter would be, as far as a test can see."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked import INTERPRETER, Forked, may_be_forked
from tests.polling import wait_until


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    own = {"HOME": str(tmp_path), "ORCHESTRATOR_HOME": str(tmp_path / "state"), "TZ": "Asia/Tokyo"}
    return {"PATH": os.environ["PATH"], **INTERPRETER, **own}


@pytest.mark.parametrize(
    "words", [["--version"], ["list"], ["lits"], ["status", "t\udcff1"], ["help", "start"]]
)
def test_a_command_says_and_ends_the_same(tmp_path: Path, environ: dict[str, str], words: list[str]) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    made = Forked("cli", words, environ=environ, cwd=tmp_path, out=out, err=err)
    code = made.wait(timeout=60)
    command = [sys.executable, "-P", "-m", "orchestrator.cli", *words]
    new = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, check=False, timeout=60)
    assert (code, out.read_bytes(), err.read_bytes()) == (new.returncode, new.stdout, new.stderr)


def test_a_daemon_has_a_session_and_an_output_of_its_own(tmp_path: Path, environ: dict[str, str]) -> None:
    log, state = tmp_path / "log", tmp_path / "state"
    made = Forked("daemon", environ=environ, cwd="/", out=log, err=log, session=True)
    try:
        wait_until(lambda: log.exists() and "INFO up, pid" in log.read_text(), within=30)
        assert f"pid {made.pid}," in log.read_text()
        assert os.getsid(made.pid) == made.pid
        assert (state / "daemon.lock").exists()
        assert made.poll() is None
    finally:
        os.kill(made.pid, signal.SIGKILL)
    assert made.wait(timeout=20) == -signal.SIGKILL
    assert made.returncode == -signal.SIGKILL


def test_what_an_interpreter_reads_at_its_start_wants_a_new_one(environ: dict[str, str]) -> None:
    assert may_be_forked(environ)
    for name in ("PYTHONPATH", "PYTHONWARNINGS", "LC_ALL", "LD_PRELOAD", "COVERAGE_PROCESS_START"):
        assert not may_be_forked(environ | {name: "other"})
    assert not may_be_forked({name: value for name, value in environ.items() if name != "LANG"})
