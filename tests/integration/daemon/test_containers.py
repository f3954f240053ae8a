"""Whole tasks with agents in containers, by a real Podman: what they hand in counts, and nothing is started twice."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.workflow_designs import check_folder, design
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

PHASE = r"""
[[ $(cat "$ORCHESTRATOR_ORDER") =~ ([0-9a-f]{12})-$ORCHESTRATOR_AGENT-memory.md ]]
memory=${ORCHESTRATOR_TASK_DIR%/tasks/*}/.claude/memory
echo "$ORCHESTRATOR_STEP" >"$ORCHESTRATOR_WORKSPACE/$ORCHESTRATOR_AGENT.txt"
{
    printf '**Task:** %s\n**Agent:** %s\n' "${BASH_REMATCH[1]}" "$ORCHESTRATOR_AGENT"
    printf '**Phase:** %s\n\n## Summary\nRead %s.\n' "${ORCHESTRATOR_STEP#phase:}" "$(cd "$memory"; echo *-memory.md)"
    printf '\n## Output\nIt.\n\n**Status:** COMPLETE\n'
} >"$memory/part"
mv "$memory/part" "$memory/${BASH_REMATCH[1]}-$ORCHESTRATOR_AGENT-memory.md"
"""
SKILL = """\
name: make
match: [make]
phases: [{id: look, agent: looker}, {id: work, agent: maker}]
"""


HANDS_IN = r"""
folder=$ORCHESTRATOR_TASK_DIR/orchestration subject=${ORCHESTRATOR_STEP#*:}
was=ready_for_verification now=verified
if [ "${ORCHESTRATOR_STEP%%:*}" = do ]; then
    own=$folder/agents/$subject was=working now=ready_for_verification
    said='{"task_id": "%s_task_1764254000", "session_start": 1764254000, "notes": []}'
    printf "$said" "$subject" >"$own/completion_drive/session_current.json"
    for name in "$subject.md" run.log; do echo made >"$own/task_output/$name"; done
    echo "$subject" >"$ORCHESTRATOR_WORKSPACE/$subject.txt"
fi
text=$(cat "$folder/shared_status.json")
entry="\"$subject\": {"
rest=${text#*"$entry"}
printf '%s\n' "${text%%"$entry"*}$entry${rest/$was/$now}" >"$folder/part"
mv "$folder/part" "$folder/shared_status.json"
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


@pytest.mark.thorough(
    reason="what a phase's container is given is shown by unit tests; two of them take 10 s"
)
def test_phases_of_a_skill_work_in_containers(contained, variables) -> None:
    """Each sees the memory files of the project, writes its own, and works in a tree that has what came before."""
    script = contained.root / "dev.sh"
    script.write_text(PHASE)
    folder = contained.project / "protocols/skill/composite/make"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(SKILL)
    assert contained.task("skill", "run", "make", "make it", cwd=contained.project).code == 0
    (state,) = (contained.project / "skill-orchestration/state").glob("*.json")
    task = f"make-{json.loads(state.read_text())['session_id']}"
    text = "# Task: make\n\n## Goal\nIt.\n\n## Success Criteria\n- Every phase of the skill has ended with a complete "
    text += (
        f"memory file.\n\n## Agent Config\nfamily: skills\nsession: {state.relative_to(contained.project)}\n"
    )
    text += "".join(
        f"{each}.command: bash {script}\n{each}.host: podman:{IMAGE}\n" for each in ("looker", "maker")
    )
    (contained.project / "tasks" / task).mkdir(parents=True)
    (contained.project / "tasks" / task / "task.md").write_text(text)
    contained.let({})
    contained.daemon()
    said = contained.task("skill", "run", "--daemon", "--state", str(state), cwd=contained.project)
    assert said.code == 0, said
    contained.until(lambda: contained.stands(task) == "complete")
    contained.until(lambda: json.loads(state.read_text())["fsm"]["state"] == "COMPLETE")
    outputs = json.loads(state.read_text())["step_outputs"]
    assert f"## work (maker)\n\nRead {outputs['1']['task_id']}-looker-memory.md." in outputs["6"]["summary"]
    assert contained.git("diff", "--name-only", "main", f"task/{task}").split() == ["looker.txt", "maker.txt"]
    hosts = {run.get("host", "local") for run in contained.story(task).runs.values()}
    assert hosts == {f"podman://{IMAGE}"}
    assert podman(variables, "ps", "--all", "--quiet") == ""


@pytest.mark.thorough(
    reason="unit/pm/test_workflow_places.py allows it; where agents hand in is the same folder"
)
def test_workflow_is_carried_out_in_containers(contained, variables) -> None:
    """Agents and verifier hand in by the workflow's files, which a container sees as those here."""
    script = contained.root / "dev.sh"
    script.write_text(HANDS_IN)
    folder = design(contained, {}, {"one": "", "two": "one"})
    page = folder.parent / "task.md"
    lines = [line for line in page.read_text().splitlines() if not line.startswith("worker.command:")]
    page.write_text("\n".join([*lines, f"worker.command: bash {script}", f"host: podman:{IMAGE}", ""]))
    for words in (("workflow", "approve", "t1"), ("start", "t1")):
        said = contained.task(*words, "--project", str(contained.project))
        assert said.code == 0, said
    contained.until_is("complete")
    assert contained.git("diff", "--name-only", "main", "task/t1").split() == ["one.txt", "two.txt"]
    assert {run.get("host") for run in contained.story().runs.values()} == {f"podman://{IMAGE}"}
    check_folder(contained)
    assert podman(variables, "ps", "--all", "--quiet") == ""
