"""Agents do not steer agents: one that hides where it comes from is found by the processes above it (U4)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from orchestrator.cli import caller
from orchestrator.cli.caller import run_around
from tests.unit.cli.test_main import CHANGING

PLAIN = {"PATH": os.environ["PATH"]}
MARKED = PLAIN | {"ORCHESTRATOR_RUN": "dev-run", "ORCHESTRATOR_LAUNCHER": "1@2"}
SCRUBBED = 'env -i HOME="$1" ORCHESTRATOR_HOME="$2" PATH="$PATH" "$3" -P -c "$4" $5\nexit $?\n'
"""A shell that runs `task` with nothing in its environment of where it comes from, and waits for it."""

TASK = "import sys; from orchestrator.cli.main import main; sys.exit(main(sys.argv[1:]))"


def asked(house, words, shell, environ=PLAIN):
    given = [str(house.root), str(house.state), sys.executable, TASK, " ".join(words)]
    return subprocess.run(
        [*shell, *given],
        env=environ,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def launcher(house):
    """Return how a run is opened: by its own copy of the launcher, in its own folder."""
    script = house.state / "tasks" / "tidy-0a1b2c3d" / "runs" / "r-77" / "launch.sh"
    script.parent.mkdir(parents=True)
    script.write_text(SCRUBBED)
    return ["/bin/sh", str(script)]


@pytest.mark.parametrize("words", CHANGING, ids=" ".join)
def test_process_below_a_launcher_may_change_nothing(house, words):
    """Even if the variables are gone."""
    house.task(questions=[house.question()])
    shell = launcher(house)
    before = sorted(str(path) for path in house.root.rglob("*"))
    said = asked(house, words, shell)
    assert (said.returncode, said.stdout) == (2, "")
    assert "is not for agents (this is run 'r-77')" in said.stderr
    assert sorted(str(path) for path in house.root.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="ps shows no environments: only launchers are found")
@pytest.mark.parametrize("words", CHANGING, ids=" ".join)
def test_below_a_process_of_a_run_nothing_can_be_changed(house, words):
    house.task(questions=[house.question()])
    said = asked(house, words, ["/bin/sh", "-c", SCRUBBED, "sh"], MARKED)
    assert said.returncode == 2
    assert "this is run 'dev-run'" in said.stderr


def test_below_a_launcher_everything_can_be_looked_at(house):
    house.task()
    said = asked(house, ["list"], launcher(house))
    assert (said.returncode, said.stderr) == (0, "")
    assert "tidy" in said.stdout


def test_a_user_is_no_agent(monkeypatch):
    monkeypatch.delenv("ORCHESTRATOR_RUN", raising=False)
    assert run_around() == ""


def test_a_variable_says_it_at_once(monkeypatch):
    monkeypatch.setattr(caller, "_from_proc", None)
    monkeypatch.setenv("ORCHESTRATOR_RUN", "r-1")
    assert run_around() == "r-1"
    monkeypatch.delenv("ORCHESTRATOR_RUN")
    monkeypatch.setenv("ORCHESTRATOR_LAUNCHER", "1@2")
    assert run_around() == "?"


def test_launchers_are_found_by_ps_without_proc(house, monkeypatch):
    script = launcher(house)[1]
    shown = {os.getpid(): (os.getppid(), "python"), os.getppid(): (1, f"/bin/sh {script}")}

    def ps(command, **_):
        parent, words = shown[int(command[-1])]
        return subprocess.CompletedProcess(command, 0, f"  {parent} {words}\n")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", ps)
    assert run_around() == "r-77"


DEEPER = 'if [ "$6" -gt 0 ]; then env -i PATH="$PATH" /bin/sh "$0" "$1" "$2" "$3" "$4" "$5" $(($6 - 1)); exit $?; fi\n'


@pytest.mark.skipif(sys.platform != "linux", reason="one call of ps for each shell takes too long")
def test_below_very_many_shells_nothing_can_be_changed(house, tmp_path):
    """An adversary's 110 nested shells, each with an empty environment, were more than the 100 that were looked at."""
    house.task()
    deep = tmp_path / "deep.sh"
    deep.write_text(DEEPER + SCRUBBED)
    first = tmp_path / "first.sh"
    first.write_text(f'/bin/sh {deep} "$@" 150\nexit $?\n')
    said = asked(house, ["stop", "tidy"], ["/bin/sh", str(first)], MARKED)
    assert said.returncode == 2
    assert "is not for agents" in said.stderr


def test_caller_nested_too_deep_counts_as_an_agent(monkeypatch):
    monkeypatch.setattr(caller, "_from_proc", lambda pid: (pid + 1, ""))
    monkeypatch.setattr(caller, "_from_ps", lambda pid: (pid + 1, ""))
    assert run_around() == "?"
