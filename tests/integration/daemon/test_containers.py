"""Whole tasks with agents in containers, by a real Podman: what they hand in counts, and nothing is started twice."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import World
from tests.podman import IMAGE, own_podman, podman, podman_is_there

pytestmark = pytest.mark.skipif(
    not podman_is_there(), reason="podman is missing: scripts/setup --boxes installs it"
)

DEV = r"""
echo x >>"$ORCHESTRATOR_SCRATCHPAD/lives"
while [ -e "$ORCHESTRATOR_TASK_DIR/hold" ]; do sleep 0.05; done
echo "NAME = 1" >"$ORCHESTRATOR_WORKSPACE/pkg/boxed.py"
said=$(
    cd "$ORCHESTRATOR_WORKSPACE"
    git status --short
    git config user.name planted && echo "can configure git"
    cat "$ORCHESTRATOR_TASK_DIR/task.md" >/dev/null || echo "cannot read its task"
    echo x >>"$ORCHESTRATOR_TASK_DIR/task.md" && echo "can write its task"
    echo x >"$ORCHESTRATOR_TASK_DIR/artifacts/planted" && echo "can write beside its folder"
    ls "${ORCHESTRATOR_TASK_DIR%/tasks/*}/notes.txt" && echo "sees the project"
    echo x >"${ORCHESTRATOR_ORDER%/runs/*}/requests/planted.json"
    echo x >"${ORCHESTRATOR_ORDER%/runs/*}/journal/planted"
    cat .env
) 2>"$ORCHESTRATOR_SCRATCHPAD/errors"
report=$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-20260101-120000.md
{
    printf '# Handoff: dev\n**Status:** COMPLETE\n**Run:** %s\n\n' "$ORCHESTRATOR_RUN"
    printf '## Completed Work\nSaid: %s.\n' "$said"
} >"$ORCHESTRATOR_SCRATCHPAD/part"
mv "$ORCHESTRATOR_SCRATCHPAD/part" "$report"
"""


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    with own_podman(Path(tempfile.mkdtemp(prefix="podman-", dir="/tmp"))) as made:
        yield made


@pytest.fixture
def contained(world: World, variables) -> World:
    script = world.root / "dev.sh"
    script.write_text(DEV)
    world.environ |= variables | {"ORCHESTRATOR_CONTAINERS__MOUNTS": json.dumps([str(script)])}
    return world


def test_agent_in_a_container_does_its_step(contained, variables) -> None:
    """It works in its tree, made ready, sees its task and git, and changes neither; its work is judged as any."""
    (contained.project / ".git" / "info" / "exclude").write_text(".env\n/tasks\n")
    (contained.project / ".env").write_text("A=1\n")
    config = [f"dev.host: podman:{IMAGE}", "prepare.copy: .env"]
    contained.begin(config=config, dev=f"sh {contained.root / 'dev.sh'}")
    contained.until_is("complete")
    assert contained.git("show", "task/t1:pkg/boxed.py") == "NAME = 1"
    (report,) = (contained.project / "tasks" / "t1" / "handoffs").glob("dev-*.md")
    assert "Said: ?? pkg/boxed.py\nA=1.\n" in report.read_text()
    assert not [*contained.home().rglob("*planted*")]
    hosts = {run.get("host", "local") for run in contained.story().runs.values()}
    assert hosts == {"local", f"podman://{IMAGE}"}
    contained.check_nobody_is_left()
    assert podman(variables, "ps", "--all", "--quiet") == ""


def test_container_outlives_the_daemon_and_is_not_doubled(contained, variables) -> None:
    hold = contained.project / "tasks" / "t1" / "hold"
    hold.parent.mkdir(parents=True)
    hold.touch()
    contained.begin(config=[f"dev.host: podman:{IMAGE}"], dev=f"sh {contained.root / 'dev.sh'}")
    lives = hold.parent / "scratchpad" / "dev" / "lives"
    contained.until(lives.exists)
    contained.kill_daemon()
    assert len(podman(variables, "ps", "--quiet").split()) == 1
    contained.daemon()
    hold.unlink()
    contained.until_is("complete")
    assert lives.read_text() == "x\n"
    assert podman(variables, "ps", "--all", "--quiet") == ""


@pytest.mark.thorough(reason="a kill of a host of a kind, and a stop of a task, are tested each alone")
def test_stop_ends_containers(contained, variables) -> None:
    hold = contained.project / "tasks" / "t1" / "hold"
    hold.parent.mkdir(parents=True)
    hold.touch()
    contained.begin(config=[f"dev.host: podman:{IMAGE}"], dev=f"sh {contained.root / 'dev.sh'}")
    contained.until((hold.parent / "scratchpad" / "dev" / "lives").exists)
    assert contained.task("stop", "t1").code == 0
    contained.until_is("stopped")
    contained.check_nobody_is_left()
    assert podman(variables, "ps", "--all", "--quiet") == ""


@pytest.mark.parametrize("words", [("start",), ("start", "--check")])
def test_missing_image_is_refused_at_start(contained, words) -> None:
    contained.let({})
    contained.brief("t1", "dev.host: podman:nothing:1")
    said = contained.task(*words, "t1", "--project", str(contained.project))
    assert said.code != 0
    assert "podman pull nothing:1" in " ".join((said.out + said.err).split())
