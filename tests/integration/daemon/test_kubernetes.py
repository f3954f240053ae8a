"""A whole task with an agent as a pod, by a real kubectl and an API server of the test."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.integration.daemon.world import World
from tests.kubernetes_api.server import Server, own_kubernetes

pytestmark = [
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed"),
    pytest.mark.thorough(
        reason="the same way as a job of Slurm, whose queue CI shows; a whole task takes 15 s"
    ),
]

DEV = r"""
echo x >>"$ORCHESTRATOR_SCRATCHPAD/lives"
while [ -e "$ORCHESTRATOR_TASK_DIR/hold" ]; do sleep 0.05; done
echo "NAME = 1" >"$ORCHESTRATOR_WORKSPACE/pkg/job.py"
{
    printf '# Handoff: dev\n**Status:** COMPLETE\n**Run:** %s\n\n' "$ORCHESTRATOR_RUN"
    printf '## Completed Work\nIn the pod %s.\n' "$TEST_POD_UID"
} >"$ORCHESTRATOR_SCRATCHPAD/part"
mv "$ORCHESTRATOR_SCRATCHPAD/part" "$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-20260101-120000.md"
"""


@pytest.fixture
def cluster(world: World, tmp_path: Path) -> Iterator[Server]:
    (world.root / "dev.sh").write_text(DEV)
    with own_kubernetes(tmp_path) as (server, variables):
        server.cluster.add_template("small", {"containers": [{"name": "agent", "image": "agents:1"}]})
        world.environ |= variables
        yield server


def agents(world: World) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", world.state_shown()["agents"])


def test_pending_pod_is_shown_and_begins_once(world, cluster) -> None:
    """Status shows the reason, a killed daemon changes nothing, and another run follows one that was preempted."""
    cluster.cluster.full = True
    (world.project / "tasks" / "t1").mkdir(parents=True)
    hold = world.project / "tasks" / "t1" / "hold"
    hold.touch()
    world.begin(config=["dev.host: k8s:agents/small"], dev=f"sh {world.root / 'dev.sh'}")
    world.until(lambda: [each for each in agents(world) if "Unschedulable" in each["evidence"]])
    assert world.believed("dev:greet") == "queued"
    world.kill_daemon()
    cluster.cluster.make_room()
    world.daemon()
    lives = world.project / "tasks" / "t1" / "scratchpad" / "dev" / "lives"
    world.until(lives.exists)
    (name,) = cluster.cluster.pods
    cluster.cluster.disrupt(name, "PreemptionByScheduler", "Preempted")
    world.until(lambda: lives.read_text() == "x\nx\n")
    hold.unlink()
    world.until_is("complete")
    assert lives.read_text() == "x\nx\n"
    (report,) = (world.project / "tasks" / "t1" / "handoffs").glob("dev-*.md")
    assert "In the pod " in report.read_text()
    assert "preempted" in world.task("why", "t1", "dev:greet").out
    world.check_nobody_is_left()
    world.until(lambda: not cluster.cluster.pods)
    assert cluster.cluster.faults == []
