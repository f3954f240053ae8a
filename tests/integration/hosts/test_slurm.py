"""Agents as jobs of a real Slurm of one node: the suite of host kinds, the queue, outcomes, and kills."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.hosts.slurm.host import SlurmKind
from orchestrator.ports.host import Standing
from orchestrator.testing.contracts.hosts import SESSION, Bench, HostKindContract
from tests.polling import wait_until
from tests.slurm import MISSING, Slurm, own_slurm, slurm_is_missing

pytestmark = pytest.mark.skipif(slurm_is_missing(), reason=MISSING)

ALIVE = "echo up >up; while :; do sleep 0.1; done"


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with own_slurm(Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))) as made:
        yield made


@pytest.fixture(autouse=True)
def own(slurm, monkeypatch) -> None:
    for name, value in slurm.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ORCHESTRATOR_SLURM__CORES", "1")
    monkeypatch.setenv("ORCHESTRATOR_SLURM__MEMORY", "100M")


class Jobs(HostKindContract):
    kind = "slurm"
    partition = ""

    def name(self, folder: Path) -> str:
        return self.partition


class TestSlurm(Jobs):
    """The suite, as it is published."""


class Closed(Jobs):
    partition = "closed"


def kill_own(bench: Bench, *programs: str) -> None:
    """Kill the processes of the test's world that run one of these programs."""
    for path in Path("/proc").iterdir():
        try:
            words = (path / "cmdline").read_bytes().split(b"\0") if path.name.isdigit() else []
        except OSError:
            continue
        named = words and Path(words[0].decode()).name in programs
        if named and str(bench.root).encode() in b"\0".join(words):
            with suppress(ProcessLookupError):
                os.kill(int(path.name), signal.SIGKILL)


# The queue ----------------------------------------------------------------------------------------


def test_pending_job_says_why_and_is_cancelled(slurm) -> None:
    """It has no pid yet, and Slurm's reason; ended, it never begins, and nothing of it is left in the queue."""
    with Closed().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until(folder, lambda seen: seen.queued == "PartitionDown")
        seen = bench.host.observe(folder)
        assert (seen.standing, seen.pid) == (Standing.ALIVE, None)
        assert bench.host.observe(folder).pane
        bench.host.end(folder, kill=False)
        assert bench.until_gone(folder).pid is None
        assert not (bench.tree / "up").exists()
    wait_until(lambda: slurm.jobs() == [])


def test_pending_job_begins_when_it_may(slurm) -> None:
    with Closed().bench() as bench:
        folder = bench.run("r1", "echo up >up; exit 3")
        bench.until(folder, lambda seen: seen.queued)
        slurm.call("scontrol", "update", "PartitionName=closed", "State=UP")
        try:
            seen = bench.until_gone(folder)
        finally:
            slurm.call("scontrol", "update", "PartitionName=closed", "State=DOWN")
        assert seen.exit is not None
        assert (seen.exit.code, seen.exit.cause) == (3, "")


# Outcomes -----------------------------------------------------------------------------------------


def test_cancelled_job_says_so(slurm) -> None:
    with Jobs().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        (name,) = slurm.jobs()
        slurm.call("scancel", "--name", name)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert str(seen.exit) == "ended: its job was cancelled in Slurm"


# Ending -------------------------------------------------------------------------------------------


def test_program_has_its_grace_after_term(slurm) -> None:
    """A program that takes a second to finish on TERM is let finish, and gets TERM once."""
    script = (
        "trap 'echo heard >>heard; sleep 1; echo done >finished; exit 3' TERM; echo up >up; "
        "while :; do sleep 0.1; done"
    )
    with Jobs().bench() as bench:
        folder = bench.run("r1", script)
        bench.until_there(bench.tree / "up")
        for _ in range(2):
            bench.host.end(folder, kill=False)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert (seen.exit.code, seen.exit.cause) == (3, "")
        assert [(bench.tree / name).read_text() for name in ("heard", "finished")] == ["heard\n", "done\n"]


# Kills --------------------------------------------------------------------------------------------


@pytest.mark.thorough(reason="the test of a forgotten job kills it too; Slurm takes 6 s")
def test_job_ends_with_its_srun(slurm) -> None:
    """`srun` is killed: its job is cancelled, and the run is gone."""
    with Jobs().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        kill_own(bench, "srun")
        bench.until(folder, lambda seen: seen.standing is not Standing.ALIVE)
        bench.host.end(folder, kill=True)
        assert bench.until_gone(folder).exit is not None
    wait_until(lambda: slurm.jobs() == [])


@pytest.mark.thorough(reason="unit tests hold what is decided; Slurm takes 6 s")
def test_job_that_nobody_waits_for_is_named_and_cancelled(slurm) -> None:
    """All that waits for a job is killed: it counts as left behind, until it is cancelled."""
    with Jobs().bench() as bench:
        folder = bench.run("r1", 'trap "" TERM HUP; echo up >up; while :; do sleep 0.1; done')
        bench.until_there(bench.tree / "up")
        kill_own(bench, "sh", "srun")
        left = bench.until(folder, lambda seen: seen.left if seen.standing is Standing.LEFT else None)
        assert left
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)
    wait_until(lambda: slurm.jobs() == [])


@pytest.mark.thorough(reason="as when srun is killed; Slurm takes 4 s")
def test_hang_up_ends_a_job(slurm) -> None:
    """Without its terminal a program ends, as it does on this machine."""
    with Jobs().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        bench.host.close_session(SESSION)
        bench.until(folder, lambda seen: seen.standing is not Standing.ALIVE)
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)
    wait_until(lambda: slurm.jobs() == [])


def test_forgotten_job_is_not_taken_for_gone(monkeypatch) -> None:
    """The controller is killed and has forgotten a job: its process is found here by its marks, and ended.

    It is a Slurm of its own: one that forgot gives the number of a job that it does not know to another.
    """
    with own_slurm(Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))) as slurm:
        monkeypatch.setenv("SLURM_CONF", slurm.variables["SLURM_CONF"])
        with Jobs().bench() as bench:
            folder = bench.run("r1", 'trap "" TERM HUP; echo up >up; while :; do sleep 0.1; done')
            bench.until_there(bench.tree / "up")
            slurm.kill("slurmctld")
            slurm.kill("slurmd")
            for path in (slurm.root / "state").iterdir():
                path.unlink()
            kill_own(bench, "srun")
            slurm.start_controller()
            wait_until(lambda: slurm.call("squeue", "--noheader", "--states", "all") == "")
            assert bench.host.observe(folder).standing is not Standing.GONE
            bench.host.end(folder, kill=True)
            bench.until_gone(folder)


# What is missing ----------------------------------------------------------------------------------


def test_partition_that_is_not_there_is_reported() -> None:
    assert "invalid partition" in SlurmKind().lacks("nowhere").lower()
