"""`task start --check` of a task of skills: its session, the agents of its phases, and their programs (S4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.formats.skill.state import read_session
from tests.unit.skill_sessions import define_agents, put

CONFIG = """\
name: make
match: [make*]
phases:
  - {id: look, agent: looker}
  - {id: work, agent: maker}
"""


@pytest.fixture
def handed(house, task, daemon, monkeypatch):
    """Return the state file of a session that its task is to drive; the daemon has not begun it."""
    folder = house.project / "protocols/skill/composite/make"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG)
    define_agents(house, "looker", "maker")
    monkeypatch.chdir(house.project)
    assert task("skill", "run", "--daemon", "make me a greeting").code == 0
    (path,) = (house.project / "skill-orchestration/state").glob("*.json")
    return path


def checked(task, state: Path, *config: str) -> dict[str, str]:
    """Return what is missing, or doubtful, for the task of a session, by topic, with these lines in its task.md."""
    name = read_session(state.read_bytes(), "").task
    brief = layout.task_brief(state.parents[2] / "tasks" / name)
    brief.write_text(brief.read_text().replace("family:", "\n".join((*config, "family:")), 1))
    said = task("start", "--check", name, "--json")
    assert said.out, said
    found = said.json["findings"]
    return {each["topic"]: each["text"] for each in found if each["severity"] in {"missing", "warn"}}


def test_agents_of_phases_are_looked_for(task, handed, monkeypatch) -> None:
    """Each phase's agent is to have a definition, and its program is to be there."""
    found = checked(
        task,
        handed,
        "looker.runtime: command",
        "looker.command: nowhere-to-be-found",
        "maker.runtime: codex",
    )
    assert "nowhere-to-be-found" in found["looker.command: nowhere-to-be-found"]
    assert "maker.runtime" in found


def test_agent_without_a_definition_is_missing(house, task, handed) -> None:
    (house.project / ".claude/agents/maker.md").unlink()
    found = checked(task, handed, "looker.command: true")
    assert any("maker" in topic for topic in found), found


def test_phases_may_work_by_host_kinds(task, handed) -> None:
    """What the kind itself lacks is said; a box is for dev and architect, of whom this skill has none."""
    found = checked(task, handed, "maker.host: podman:nothing:1", "cwd: user@far:/shop")
    assert "host podman" in found
    assert "`cwd:`" in found["session"]
    assert "maker.host" not in found["session"]


def test_session_that_commands_drive_is_not_started(task, handed) -> None:
    """The phases' agents are checked all the same."""
    session = read_session(handed.read_bytes(), "")
    name = session.task
    put(handed, replace(session, task=""))
    found = task("start", "--check", name, "--json").json["findings"]
    missing = {each["topic"] for each in found if each["severity"] == "missing"}
    assert "session" in missing


def test_missing_session_is_said(task, handed) -> None:
    name = read_session(handed.read_bytes(), "").task
    handed.unlink()
    said = task("start", "--check", name, "--json")
    assert (said.code, said.json["can_run"]) == (1, False)
    assert "session" in {each["topic"] for each in said.json["findings"]}


def test_begun_task_keeps_its_session(house, task, handed) -> None:
    """Wherever that stands: it is no fault that a phase of it has ended; once commands drive it, it is."""
    name = read_session(handed.read_bytes(), "").task
    house.task(f"{name}-0a1b2c3d", state="stopped")
    assert "session" not in checked(task, handed)
    put(handed, replace(read_session(handed.read_bytes(), ""), task=""))
    found = task("start", "--check", name, "--json").json["findings"]
    assert "session" in {each["topic"] for each in found if each["severity"] == "missing"}
