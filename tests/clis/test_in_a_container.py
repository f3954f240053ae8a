"""A real agent CLI in a container of Podman, in a network in which there is nothing but its model."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from tests.clis.house import a_house
from tests.clis.pinned import default_cache
from tests.clis.players import Cast
from tests.clis.playing import played
from tests.podman import IMAGE, own_podman, podman, podman_is_there

pytestmark = [
    pytest.mark.skipif(not podman_is_there(), reason="podman is missing: scripts/setup --boxes installs it"),
    pytest.mark.thorough(reason="agents by script work in containers in CI, and this CLI here and on a box"),
]

PROGRAMS = ("/bin", "/usr/bin", "/lib/x86_64-linux-gnu", "/lib64")
"""What the image lacks that a CLI and its hooks want: `/bin/sh`, libraries."""


@pytest.mark.parametrize("installed", ["claude"], indirect=True)
def test_task_with_a_real_cli_in_a_container_completes(installed: str) -> None:
    """It starts there, is heard by its hooks, asks, is answered and rejected, and completes; its daemon is killed.

    The network is that of the daemon, in which only the scripted model server listens.
    """
    with (
        own_podman(Path(tempfile.mkdtemp(prefix="podman-", dir="/tmp"))) as variables,
        a_house(installed, played(Cast().turn), limits__termination_grace="5 s") as house,
    ):
        world = house.world
        home = Path(world.environ["HOME"])
        (home / ".claude").mkdir(exist_ok=True)
        (home / ".claude.json").write_text("{}")
        mounts = [*PROGRAMS, str(default_cache()), str(world.root / "bin")]
        mounts += [f"{home}/.claude:rw", f"{home}/.claude.json:rw"]
        world.environ |= variables | {
            "ORCHESTRATOR_CONTAINERS__MOUNTS": json.dumps(
                [each for each in mounts if Path(each.split(":")[0]).exists()]
            ),
            "ORCHESTRATOR_CONTAINERS__NETWORK": "host",
            "ORCHESTRATOR_CONTAINERS__OPTIONS": json.dumps(["--env", f"PATH={world.root}/bin:/usr/bin"]),
        }
        house.daemon()
        house.begin("t1", "claude", f"dev.host: podman:{IMAGE}")
        world.until(lambda: world.agent("dev:one", "t1"), within=240)
        world.until(lambda: podman(variables, "ps", "--quiet"), within=60)
        world.kill_daemon()
        house.daemon()
        world.until(lambda: world.stands("t1") in {"complete", "failed", "waiting"}, within=240)
        assert world.stands("t1") == "complete", house.screens()
        story = world.story("t1")
        opened = [run for run in story.runs.values() if run["step"] == "dev:one"]
        assert {run["host"] for run in opened} == {f"podman://{IMAGE}"}
        assert len(opened) == 3, opened  # blocked, rejected, accepted
        assert {change["delivery"] for change in story.changes("run_delivered")} <= {"delivered"}
        assert world.git("show", "task/t1:greet.py") == "def greet():\n    return 'greet'"
        assert not house.server.faults
        world.check_nobody_is_left()
