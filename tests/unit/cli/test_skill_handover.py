"""`task skill run --daemon`: a session becomes a task, or goes back to the commands if it cannot (S4)."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.formats.skill.state import read_session
from orchestrator.formats.task_file import read_brief
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE
from tests.unit.skill_sessions import define_agents, memory, memory_path, put

CONFIG = """\
name: make
match: [make*]
phases:
  - {id: look, agent: scout}
  - {id: work, agent: maker}
"""


@pytest.fixture
def project(house, monkeypatch):
    """A project with a skill of its own, in no git repository, and the user in it."""
    folder = house.project / "protocols/skill/composite/make"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG)
    define_agents(house, "scout", "maker")
    monkeypatch.chdir(house.project)
    return house.project


def state_of(project: Path) -> Path:
    (path,) = (project / "skill-orchestration/state").glob("*.json")
    return path


def session_of(project: Path):
    return read_session(state_of(project).read_bytes(), "state.json")


def test_request_becomes_a_task(task, project, daemon):
    """Four steps are done, the state file names the task, and its task.md names the state file."""
    said = task("skill", "run", "--daemon", "make me a greeting")
    assert said.code == 0, said
    session = session_of(project)
    assert session.task == f"make-{session.session}"
    assert session.phase is not None
    assert session.phase.id == "look"
    brief = read_brief(layout.task_brief(project / "tasks" / session.task).read_bytes())
    assert brief.criteria == (MEMORIES_COMPLETE,)
    assert brief.config.session == str(state_of(project).relative_to(project))
    assert brief.config.workspace is WorkspaceKind.SHARED
    assert [each["verb"] for each in daemon.heard] == ["start"]
    assert task("skill", "entry", "--state", str(state_of(project))).code == 2


def test_session_is_taken_over_where_it_stands(task, project, daemon):
    """A phase whose memory file is complete is ended; the same command again goes on with the same task."""
    assert task("skill", "run", "make", "make it").code == 0
    state = str(state_of(project))
    for command in (
        "step_1_generate_task_id",
        "step_2_classify_domain",
        "step_3_read_skill",
        "step_4_create_memory",
    ):
        assert task("skill", command, "--state", state).code == 0
    session = session_of(project)
    memory_path(session.phase, session.task_id, project).write_bytes(memory(session.phase, session.task_id))
    for _ in range(2):
        assert task("skill", "run", "--daemon", "--state", state).code == 0
        assert [each.phase for each in session_of(project).phases_completed] == ["look"]
    assert len({each["arguments"]["name"] for each in daemon.heard}) == 1


def test_what_the_daemon_refuses_goes_back_to_the_commands(task, project, daemon):
    """The task.md stays, so that it can be mended, and the command repeated."""
    daemon.reply = lambda _home, _request: (False, "there is no agent scout")
    said = task("skill", "run", "--daemon", "make me a greeting")
    assert (said.code, "there is no agent scout" in said.err) == (1, True)
    session = session_of(project)
    assert session.task == ""
    assert task("skill", "entry", "--state", str(state_of(project))).code == 0
    brief = layout.task_brief(project / f"tasks/make-{session.session}")
    brief.write_text(
        brief.read_text().replace("family:", "scout.command: true\nmaker.command: true\nfamily:")
    )
    daemon.reply = lambda _home, _request: (True, "it begins")
    assert task("skill", "run", "--daemon", "--state", str(state_of(project))).code == 0
    assert session_of(project).task == f"make-{session.session}"


def test_task_md_of_another_task_is_not_taken(task, project, daemon):
    assert task("skill", "run", "make", "make it").code == 0
    session = session_of(project)
    folder = project / f"tasks/make-{session.session}"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text("# Task: other\n\n## Goal\nX\n\n## Success Criteria\n- it\n")
    said = task("skill", "run", "--daemon", "--state", str(state_of(project)))
    assert (said.code, "of another task" in said.err) == (2, True)
    assert session_of(project).task == ""
    assert daemon.heard == []


def driven(house, task, project, state: str) -> Path:
    """Return the state file of a session whose task is in a state."""
    assert task("skill", "run", "--daemon", "make me a greeting").code == 0
    house.task(f"{session_of(project).task}-0a1b2c3d", state=state)
    return state_of(project)


def test_session_comes_back_from_a_task_at_rest(house, task, project, daemon):
    """The daemon is asked, and writes the state file; then the directive of the phase at work is due."""
    path = driven(house, task, project, "stopped")

    def lets_go(_home, request):
        put(path, replace(session_of(project), task=""))
        return True, "so be it"

    daemon.reply = lets_go
    said = task("skill", "run", "--state", str(path))
    assert (said.code, "step_5_trigger_agents" in said.out) == (0, True), said
    assert [each["verb"] for each in daemon.heard] == ["start", "give-back"]
    assert task("skill", "run", "--state", str(path)).code == 0
    assert len(daemon.heard) == 2


def test_session_stays_with_a_task_at_work(house, task, project, daemon):
    path = driven(house, task, project, "waiting")
    said = task("skill", "run", "--state", str(path))
    assert (said.code, "drives this session" in said.err) == (2, True), said
    assert [each["verb"] for each in daemon.heard] == ["start"]


def test_daemon_that_refuses_keeps_the_session(house, task, project, daemon):
    path = driven(house, task, project, "partial")
    daemon.reply = lambda _home, _request: (False, "no phase is left")
    assert task("skill", "run", "--state", str(path)).code == 1
    assert session_of(project).task


def test_session_of_a_deleted_task_is_anybodys(task, project, daemon):
    """There is nobody to ask, and nobody who would write the state file."""
    assert task("skill", "run", "--daemon", "make me a greeting").code == 0
    for home in (project.parent / "state/tasks").glob("*"):
        shutil.rmtree(home)
    daemon.heard.clear()
    assert task("skill", "run", "--state", str(state_of(project))).code == 0
    assert (session_of(project).task, daemon.heard) == ("", [])


def test_session_that_came_back_gets_a_new_task(house, task, project, daemon):
    """The task that has given it back is over: the next one has the next name."""
    path = driven(house, task, project, "stopped")
    put(path, replace(session_of(project), task=""))
    first = f"make-{session_of(project).session}"
    assert task("skill", "run", "--daemon", "--state", str(path)).code == 0
    assert session_of(project).task == f"{first}-2"
    assert (project / f"tasks/{first}-2/task.md").is_file()


def test_worktrees_without_earlier_work_are_refused(task, project, daemon):
    """A task.md from before phases worked in the user's own tree says `worktree`: their work would not be in it."""
    daemon.reply = lambda _home, _request: (False, "there is no agent scout")
    assert task("skill", "run", "--daemon", "make me a greeting").code == 1
    session, path = session_of(project), state_of(project)
    brief = layout.task_brief(project / f"tasks/make-{session.session}")
    brief.write_text(brief.read_text().replace("workspace: shared", "workspace: worktree"))
    memory_path(session.phase, session.task_id, project).write_bytes(memory(session.phase, session.task_id))
    assert task("skill", "advance_phase", "--state", str(path)).code == 0
    said = task("skill", "run", "--daemon", "--state", str(path))
    assert (said.code, "workspace: shared" in said.err) == (2, True), said
    assert session_of(project).task == ""


@pytest.mark.parametrize(
    "words", [("run", "--daemon"), ("entry", "--daemon", "--state", "x"), ("list", "--daemon")]
)
def test_wrong_usage_is_refused(task, project, words):
    assert task("skill", *words).code == 2


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("running", "drives this session: `task status"),
        ("stopped", "and is stopped: `task skill run --daemon"),
        ("", "was deleted or archived: `task skill run --daemon"),
    ],
)
def test_commands_say_how_it_stands_with_the_task(house, task, project, daemon, state, said):
    """It drives the session, and `task status` shows how far it is, was said of deleted and stopped tasks too."""
    assert task("skill", "run", "--daemon", "make me a greeting").code == 0
    if state:
        house.task(f"{session_of(project).task}-0a1b2c3d", state=state)
    refused = task("skill", "entry", "--state", str(state_of(project)))
    assert (refused.code, said in refused.err) == (2, True), refused.err
