"""Whole tasks with agents as jobs, by a real Slurm of one node: the queue is shown, and nothing is started twice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.integration.daemon.world import World
from tests.slurm import MISSING, Slurm, own_slurm, slurm_is_missing

pytestmark = pytest.mark.skipif(slurm_is_missing(), reason=MISSING)

DEV = r"""
echo x >>"$ORCHESTRATOR_SCRATCHPAD/lives"
while [ -e "$ORCHESTRATOR_TASK_DIR/hold" ]; do sleep 0.05; done
echo "NAME = 1" >"$ORCHESTRATOR_WORKSPACE/pkg/job.py"
{
    printf '# Handoff: dev\n**Status:** COMPLETE\n**Run:** %s\n\n' "$ORCHESTRATOR_RUN"
    printf '## Completed Work\nJob %s.\n' "$SLURM_JOB_NAME"
} >"$ORCHESTRATOR_SCRATCHPAD/part"
mv "$ORCHESTRATOR_SCRATCHPAD/part" "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-20260101-120000.md"
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with own_slurm(Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))) as made:
        yield made


@pytest.fixture
def clustered(world: World, slurm) -> World:
    (world.root / "dev.sh").write_text(DEV)
    world.environ |= slurm.variables | {
        "ORCHESTRATOR_SLURM__MEMORY": "100M",
        "ORCHESTRATOR_SLURM__CORES": "1",
    }
    return world


def agents(world: World) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", world.state_shown()["agents"])


@pytest.mark.thorough(
    reason="the test of a stop shows the queue, unit tests the rest; a whole task takes 10 s"
)
def test_pending_agent_is_shown_and_begins_once(clustered, slurm) -> None:
    """Status shows the queue's reason, no start counts as late, and a killed daemon changes nothing."""
    slurm.call("scontrol", "update", "PartitionName=all", "State=DOWN")
    clustered.begin(config=["dev.host: slurm:all"], dev=f"sh {clustered.root / 'dev.sh'}")
    clustered.until(lambda: clustered.believed("dev:greet") == "queued")
    (agent,) = clustered.until(lambda: [each for each in agents(clustered) if "Down" in each["evidence"]])
    assert (agent["state"], agent["evidence"]) == ("queued", "pending: PartitionDown")
    assert " queued " in clustered.task("status", "t1").out
    clustered.kill_daemon()
    slurm.call("scontrol", "update", "PartitionName=all", "State=UP")
    clustered.daemon()
    clustered.until_is("complete")
    lives = clustered.project / "tasks" / "t1" / "scratchpad" / "dev" / "lives"
    assert lives.read_text() == "x\n"
    (report,) = (clustered.project / "tasks" / "t1" / "handoffs").glob("dev-*.md")
    assert "Job orchestrator-" in report.read_text()
    clustered.check_nobody_is_left()
    assert slurm.jobs() == []


def test_stop_takes_a_pending_agent_out_of_the_queue(clustered, slurm) -> None:
    slurm.call("scontrol", "update", "PartitionName=all", "State=DOWN")
    clustered.begin(config=["dev.host: slurm:default"], dev=f"sh {clustered.root / 'dev.sh'}")
    clustered.until(lambda: [each for each in agents(clustered) if "Down" in each["evidence"]])
    assert clustered.believed("dev:greet") == "queued"
    assert clustered.task("stop", "t1").code == 0
    clustered.until_is("stopped")
    assert slurm.jobs() == []
    slurm.call("scontrol", "update", "PartitionName=all", "State=UP")
    clustered.check_nobody_is_left()
