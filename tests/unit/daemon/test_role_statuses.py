"""Status files of role agents: written from the state, edited by agents and scripts meanwhile; no edit is lost (C4)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core import role_statuses
from orchestrator.daemon.core.role_statuses import PAUSE, RoleStatusFiles
from orchestrator.daemon.core.workflow_folder import DataFolder
from orchestrator.daemon.ingest.agent_feed import policy_of
from orchestrator.daemon.projections.role_files import RoleFiles
from orchestrator.formats.coordination.status import read_role_status
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import AgentActivity, PipelineRole, WaitingFor
from orchestrator.model.facts import EditsRefused, RoleStatusLanded
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Policy
from orchestrator.model.tool_request import ToolRequest, Workplace
from orchestrator.pm.permissions import judge
from orchestrator.ports.files import Files
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.formats.coordination.documents import BLOCKS
from tests.unit.pm.role_story import RoleStory, handoff

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "status-update.sh"
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


class Pipeline:
    """A task of roles whose implementer works, with its status files."""

    def __init__(self, files: Files, task: Path) -> None:
        self.disk, self.task = files, task
        files.make_folder(task)
        self.files = RoleStatusFiles(DataFolder(files, task))
        self.story = RoleStory()
        self.publish()
        self.story.hands_on("plan")
        self.publish()
        self.story.comes_alive("implement")
        self.publish()

    def publish(self) -> None:
        self.files.publish(self.story.state, self.story.at)

    def look(self, *, last: bool = False) -> list[tuple[str, ...]]:
        """Have what was written taken, as a daemon does; return what was refused, each with its agent."""
        self.story.at += PAUSE
        edits = self.files.look(self.story.state, self.story.at, last=last)
        for edit in edits:
            if edit.said is not None:
                self.story.feed(RoleStatusLanded(self.story.at, "n", edit.run, edit.said))
            if edit.refused:
                self.story.feed(EditsRefused(self.story.at, "n", edit.refused, f"{edit.agent}.json"))
        self.publish()
        return [(each.agent, *each.refused) for each in edits if each.refused]

    def path(self, agent: str = "implementer") -> Path:
        return self.task / "data" / "agent-status" / f"{agent}.json"

    def says(self, agent: str = "implementer") -> dict[str, Any]:
        return dict(json.loads(self.disk.read(self.path(agent))))

    def edits(self, agent: str = "implementer", **fields: Any) -> bytes:
        """Return the file as it is, with other fields."""
        return json.dumps({**self.says(agent), **fields}).encode()

    def update(self, *words: str, agent: str = "implementer", own: bool = True) -> None:
        """Run the script, as an agent does, or as a person."""
        env = {"PATH": os.environ["PATH"], "ORCHESTRATOR_TASK_DIR": str(self.task)}
        env |= {"ORCHESTRATOR_AGENT": agent} if own else {}
        subprocess.run([SCRIPT, agent, *words], env=env, cwd=self.task, check=True, timeout=60)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    role_statuses.forget()
    yield
    role_statuses.forget()


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return Pipeline(DiskFiles(), tmp_path)


def test_statuses_follow_the_state(pipeline: Pipeline) -> None:
    """Each role has one, by the document's fields: who works and on what, who handed on, to whom."""
    plan, at_work = pipeline.says("planner"), pipeline.says()
    assert set(at_work) == set(json.loads(BLOCKS["agent status"]))
    (handed,) = pipeline.story.state.handoffs
    assert (plan["status"], plan["handoffId"], plan["nextRole"]) == ("idle", handed, "IMPLEMENTER")
    assert (at_work["status"], at_work["handoffId"], at_work["nextRole"]) == ("active", handed, "AUDITOR")
    assert (at_work["agentId"], at_work["role"], at_work["currentTask"]) == (
        "implementer",
        "IMPLEMENTER",
        "Implement",
    )
    for agent in ("planner", "implementer", "auditor", "cleaner", "orchestrator"):
        status = read_role_status(pipeline.disk.read(pipeline.path(agent)), f"{agent}.json")
        assert status.activity is (AgentActivity.ACTIVE if agent == "implementer" else AgentActivity.IDLE)


def test_question_is_what_a_role_waits_for(pipeline: Pipeline) -> None:
    """While somebody is asked, the status says for what it waits, and why."""
    story = pipeline.story
    for _ in range(2):
        story.wants_replanning("implement", "no")
        story.hands_on("plan")
    story.wants_replanning("implement", "no")
    pipeline.publish()
    assert story.question().step == "implement"
    said = pipeline.says()
    assert (said["status"], said["waitingFor"]) == ("idle", "clarification")
    assert said["blockedBy"] == [story.question().text.split("\n")[0]]


def test_what_an_agent_says_is_taken(pipeline: Pipeline) -> None:
    """By the script: findings and blocks append, the rest is set, `""` clears; the user is told of a block."""
    pipeline.update("findings", "Created a class")
    pipeline.update("progress", "0.5")
    assert pipeline.look() == []
    pipeline.update("findings", "Added a test")
    pipeline.update("waitingFor", "dependency")
    pipeline.update("blockedBy", "No credentials")
    assert pipeline.look() == []
    status = pipeline.story.state.role_statuses["implementer"].status
    assert (status.findings, status.progress) == (("Created a class", "Added a test"), "0.5")
    assert (status.waiting_for, status.blocked_by) == (WaitingFor.DEPENDENCY, ("No credentials",))
    assert "implementer says that it is blocked: No credentials" in pipeline.story.state.notices[-1]
    pipeline.update("blockedBy", "")
    pipeline.update("waitingFor", "")
    assert pipeline.look() == []
    status = pipeline.story.state.role_statuses["implementer"].status
    assert (status.waiting_for, status.blocked_by) == (None, ())
    assert pipeline.says()["findings"] == ["Created a class", "Added a test"]


def test_nothing_new_is_no_fact(pipeline: Pipeline) -> None:
    """A second look finds nothing; one soon after something was taken waits, unless it is the last."""
    pipeline.update("progress", "0.5")
    now = pipeline.story.at + PAUSE
    assert [each.said is None for each in pipeline.files.look(pipeline.story.state, now)] == [False]
    pipeline.update("progress", "0.6")
    assert pipeline.files.look(pipeline.story.state, now + PAUSE / 2) == []
    (edit,) = pipeline.files.look(pipeline.story.state, now + PAUSE / 2, last=True)
    assert edit.said is not None
    assert edit.said.progress == "0.6"
    assert pipeline.look() == []
    assert pipeline.look() == []


def test_status_of_another_is_put_back(pipeline: Pipeline) -> None:
    """Nobody speaks for an agent that does not work: recorded and told once, and the file says what it said."""
    before = pipeline.says("auditor")
    pipeline.update("waitingFor", "clarification", agent="auditor", own=False)
    pipeline.update("blockedBy", "because I say so", agent="auditor", own=False)
    assert pipeline.look() == [
        (
            "auditor",
            'waitingFor was set to "clarification"; it is null',
            'blockedBy was set to ["because I say so"]; it is []',
        )
    ]
    assert "put back in auditor.json: waitingFor was set" in pipeline.story.state.notices[-1]
    assert {**pipeline.says("auditor"), "lastUpdate": ""} == {**before, "lastUpdate": ""}
    assert pipeline.look() == []
    assert "auditor" not in pipeline.story.state.role_statuses


def test_what_is_not_an_agents_to_say_is_put_back(pipeline: Pipeline) -> None:
    """Its id, its role, and what no reader takes. The rest of the same edit counts."""
    pipeline.path().write_bytes(
        pipeline.edits(role="PLANNER", progress="half", waitingFor="lunch", findings=["Found it"], mine=1)
    )
    ((agent, *refused),) = pipeline.look()
    assert (agent, [each.split()[0] for each in refused]) == (
        "implementer",
        ["role", "progress", "waitingFor"],
    )
    said = pipeline.says()
    assert (said["role"], said["progress"], said["waitingFor"]) == ("IMPLEMENTER", None, None)
    assert (said["findings"], said["mine"]) == (["Found it"], 1)
    assert pipeline.story.state.role_statuses["implementer"].status.role is PipelineRole.IMPLEMENTER


@pytest.mark.parametrize("what", ["no JSON", "10 MB", "a link", "a folder"])
def test_what_does_not_read_is_put_aside(pipeline: Pipeline, tmp_path: Path, what: str) -> None:
    """It is told, kept beside, and a status stands there again; a link's target stays as it is."""
    path, target = pipeline.path(), tmp_path / "target"
    target.write_text("mine\n")
    path.unlink()
    match what:
        case "no JSON":
            path.write_text("{")
        case "10 MB":
            path.write_bytes(b'{"findings": ["' + b"x" * 10_000_000 + b'"]}')
        case "a link":
            path.symlink_to(target)
        case _:
            path.mkdir()
    ((agent, fault),) = pipeline.look()
    assert (agent, "read" in fault) == ("implementer", True)
    assert pipeline.says()["status"] == "active"
    assert target.read_text() == "mine\n"
    assert len(list((tmp_path / "data" / "records").rglob("*implementer*"))) == 1
    assert pipeline.look() == []


def test_old_copy_takes_nothing_back(pipeline: Pipeline) -> None:
    """Somebody writes a copy that was read before others wrote: each keeps what it wrote, and lists have both."""
    old = pipeline.edits(findings=["by hand"])
    pipeline.update("findings", "by the script")
    pipeline.update("progress", "0.5")
    assert pipeline.look() == []
    pipeline.path().write_bytes(old)
    assert pipeline.look() == []
    said = pipeline.says()
    assert (said["findings"], said["progress"]) == (["by the script", "by hand"], "0.5")


@pytest.mark.parametrize("step", ["write", "rename"])
def test_edit_in_the_midst_of_a_publish_stays(step: str) -> None:
    """The agent writes between any two steps of the daemon's write. Both are in the file."""
    files = MemoryFiles()
    pipeline = Pipeline(files, Path("/task"))
    left = [pipeline.edits(findings=["just now"])]

    def before(at: str, path: Path) -> None:
        if at == step and path == pipeline.path() and left:
            data = left.pop()
            files.delete(path)
            files.put(path, data)

    story = pipeline.story
    known = read_role_status(files.read(pipeline.path()), "implementer.json")
    run = story.run_of("implement").id
    story.feed(RoleStatusLanded(story.at, "n", run, replace(known, progress="0.3", findings=("before",))))
    files.before = before
    pipeline.publish()
    files.before = None
    assert not left
    pipeline.look(last=True)
    assert (pipeline.says()["findings"], pipeline.says()["progress"]) == (["before", "just now"], "0.3")


def test_new_order_begins_with_a_clean_status(pipeline: Pipeline) -> None:
    """What was said of the last order is no news of the next one, but what its agent writes at once is."""
    pipeline.update("findings", "of the first order")
    pipeline.update("progress", "0.9")
    pipeline.look(last=True)
    pipeline.story.hands_on("implement")
    pipeline.publish()
    said = pipeline.says()
    assert (said["status"], said["progress"], said["findings"]) == ("idle", "0.9", ["of the first order"])
    pipeline.story.hands_back("audit", "it leaks")
    pipeline.story.comes_alive("implement")
    pipeline.update("findings", "of the second")  # before the daemon wrote the new status
    assert pipeline.look(last=True) == []
    said = pipeline.says()
    assert (said["status"], said["progress"], said["findings"]) == ("active", None, ["of the second"])


def test_killed_before_it_wrote_a_new_orders_status(pipeline: Pipeline) -> None:
    """The file still has what was said of the last order: the next daemon took it for the word of the new run."""
    pipeline.update("findings", "of the first order")
    pipeline.update("progress", "0.9")
    pipeline.look(last=True)
    pipeline.story.hands_on("implement")
    pipeline.publish()
    pipeline.story.hands_back("audit", "it leaks")
    pipeline.story.comes_alive("implement")
    role_statuses.forget()
    assert pipeline.look(last=True) == []
    assert (pipeline.says()["progress"], pipeline.says()["findings"]) == (None, [])
    pipeline.update("findings", "of the second")
    role_statuses.forget()
    assert pipeline.look(last=True) == []
    assert pipeline.story.state.role_statuses["implementer"].status.findings == ("of the second",)


def test_agent_may_speak_until_its_run_ends(pipeline: Pipeline) -> None:
    """It hands on first, and then says that it is idle, as the document has it: that is its own word."""
    run = pipeline.story.hands_in("implement", handoff("implement"))
    pipeline.update("status", "idle")
    pipeline.update("findings", "Last words")
    assert pipeline.look(last=True) == []
    assert pipeline.story.state.role_statuses["implementer"].status.findings == ("Last words",)
    pipeline.story.ends(run=run)
    pipeline.publish()
    assert pipeline.look(last=True) == []
    assert (pipeline.says()["status"], pipeline.says()["findings"]) == ("idle", ["Last words"])


def test_new_daemon_takes_what_was_written_meanwhile(pipeline: Pipeline) -> None:
    """It does not know what was written last, and takes the agent's own words all the same."""
    pipeline.update("findings", "while it was down")
    pipeline.update("status", "idle")
    role_statuses.forget()
    assert pipeline.look() == []
    assert pipeline.story.state.role_statuses["implementer"].status.findings == ("while it was down",)
    assert (pipeline.says()["status"], pipeline.says()["findings"]) == ("active", ["while it was down"])


def test_older_state_writes_nothing(pipeline: Pipeline) -> None:
    """A projection that comes after the next launch does not say that the new run's agent is idle."""
    older = pipeline.story.state
    pipeline.story.hands_on("implement")
    pipeline.story.comes_alive("audit")
    pipeline.publish()
    pipeline.files.publish(older, pipeline.story.at)
    assert (pipeline.says("auditor")["status"], pipeline.says()["status"]) == ("active", "idle")


def shell(pipeline: Pipeline, commands: str) -> str:
    """Run commands of the document in the task's folder, as the implementer: only its root and its name differ."""
    text = commands.replace("/path/to/project", str(pipeline.task)).replace("agent-impl-001", "implementer")
    (path,) = (pipeline.task / "data" / "handoffs").glob("*/handoff_*.json")
    text = text.replace("handoffs/2025-12-11/", f"handoffs/{path.parent.name}/")
    env = {"PATH": os.environ["PATH"], "ORCHESTRATOR_AGENT": "implementer", "HANDOFF_ID": path.stem}
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=pipeline.task,
        env={**env, "HANDOFF_FILE": str(path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


SETTINGS = Policy()
DENIED = Policy((PermissionRule(PermissionDecision.DENY, Act.RUN, "*status-update.sh *"),))


@pytest.mark.parametrize(
    ("settings", "family", "line", "decision"),
    [
        (
            SETTINGS,
            "roles",
            "{script} implementer findings 'It reads $5; both forms'",
            PermissionDecision.ALLOW,
        ),
        (SETTINGS, "roles", "{script} implementer progress 0.5 && sudo id", PermissionDecision.DENY),
        (SETTINGS, "roles", '{script} implementer findings "$(curl http://x)"', PermissionDecision.ASK),
        (SETTINGS, "roles", "/tmp/status-update.sh implementer progress 1", PermissionDecision.ASK),
        (DENIED, "roles", "{script} implementer progress 0.5", PermissionDecision.DENY),
        (SETTINGS, "program", "{script} implementer progress 0.5", PermissionDecision.ASK),
    ],
)
def test_the_script_of_its_order_needs_no_question(
    pipeline: Pipeline, settings: Policy, family: str, line: str, decision: PermissionDecision
) -> None:
    """It was not to be run without one, and a night's agent asked for each word about its work."""
    state, (run,) = pipeline.story.state, pipeline.story.state.live_runs
    config = replace(state.brief.config, family=family)
    policy = policy_of(settings, replace(state, brief=replace(state.brief, config=config)), run)
    request = ToolRequest("Bash", Act.RUN, command=line.format(script=SCRIPT), cwd="/w/tree")
    assert judge(policy, request, Workplace(("/w/tree",))).decision is decision


@needs_jq
def test_documents_commands_in_a_running_task(pipeline: Pipeline) -> None:
    """As they stand, with its jq: what they write into a status is taken, and what they look for is there."""
    (pipeline.task / "scripts").mkdir()
    for script in ("status-update.sh", "memory-write.sh"):
        shutil.copy(SCRIPT.with_name(script), pipeline.task / "scripts")
    RoleFiles(pipeline.disk, pipeline.task).show(pipeline.story.state, pipeline.story.at)
    for title in ("commands 8", "commands 9", "commands 13"):  # acceptance, execution, blocked progress
        shell(pipeline, BLOCKS[title])
        assert pipeline.look() == []
    status = pipeline.story.state.role_statuses["implementer"].status
    assert (status.current_task, status.progress) == ("Implementing Firebase activation", "0.5")
    assert [each.split()[0] for each in status.findings] == ["Created", "Added"]
    assert status.waiting_for is WaitingFor.DEPENDENCY
    assert status.blocked_by == ("Firebase service account JSON not configured",)
    file = pipeline.path()
    shell(pipeline, f"jq '.progress = \"0.75\"' {file} > {file}.tmp && mv {file}.tmp {file}")
    assert pipeline.look() == []
    assert pipeline.story.state.role_statuses["implementer"].status.progress == "0.75"
    assert shell(pipeline, "jq -r .currentTask data/agent-status/implementer.json").startswith("Implementing")
    looks = BLOCKS["commands 6"].replace("grep -r", "! grep -r")
    assert "Avg duration:" in shell(pipeline, looks)
