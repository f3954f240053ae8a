"""What holds for every test."""

import os
import secrets
import signal

import pytest
from hypothesis import settings

# Under nohup, or in the background of a script, every child would ignore what some of them are to be ended by.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)

# Commands that tests start print as a user's do, kept back where they go into a pipe and nothing flushes.
os.environ.pop("PYTHONUNBUFFERED", None)

# A machine that is shared stalls now and then; how long things take is for the benchmarks to judge.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Which fresh worlds tests/simulation draws, in all workers: others in each run.
SEED = "SIMULATION_SEED"
os.environ.setdefault(SEED, f"fresh-{secrets.token_hex(4)}")


def pytest_report_header() -> str:
    """Say which worlds are drawn, so that they can be drawn again."""
    return f"fresh worlds of the simulation: {SEED}={os.environ[SEED]}"


# Their asserts say what they saw.
pytest.register_assert_rewrite("tests.integration.daemon.world")

pytest_plugins = ["tests.odd_files", "tests.tmux_server"]
