import json

import pytest

from orchestrator.cli.setup_agents import setup_agents
from orchestrator.model.agents import Role
from orchestrator.model.task import Config
from orchestrator.runtimes.roster import find_agents

AGENT = """\
---
name: dev
description: Implement code changes according to plan
tools: Read, Write
model: sonnet
---

Do it.
"""


@pytest.fixture
def agents(house, monkeypatch):
    """The agents that ship, here only one."""
    folder = house.root / "agents"
    folder.mkdir()
    (folder / "dev.md").write_text(AGENT)
    monkeypatch.setattr("orchestrator.cli.setup_agents.shipped", lambda _name: folder)


def test_both_forms_are_written(house, task, agents):
    said = task("setup-agents", "--project", str(house.project))
    assert said.code == 0
    assert "added .claude/agents/dev.md\nadded .kiro/agents/dev.json\n" in said.out
    assert "description: Implement code changes" in (house.project / ".claude/agents/dev.md").read_text()
    assert json.loads((house.project / ".kiro/agents/dev.json").read_text())["tools"] == ["read", "write"]


def test_nothing_is_overwritten(house, task, agents):
    mine = house.project / ".claude" / "agents" / "dev.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said = task("setup-agents", "--project", str(house.project))
    assert "kept .claude/agents/dev.md\nadded .kiro/agents/dev.json\n" in said.out
    assert mine.read_text() == "mine"


def test_a_project_that_is_not_there(house, task, agents):
    assert task("setup-agents", "--project", "/nowhere").code == 2


@pytest.mark.parametrize(
    ("form", "written"), [("claude", ".claude/agents/dev.md"), ("kiro", ".kiro/agents/dev.json")]
)
def test_one_form_alone(house, task, agents, form, written):
    assert task("setup-agents", "--project", str(house.project), "--form", form).code == 0
    files = [str(path.relative_to(house.project)) for path in house.project.rglob("*/agents/*")]
    assert files == [written]


def test_a_form_that_there_is_not(house, task, agents):
    assert task("setup-agents", "--project", str(house.project), "--form", "other").code == 2


def test_a_second_time_keeps_everything(tmp_path):
    forms = ["claude", "kiro"]
    first = setup_agents(tmp_path, forms)
    assert {outcome for _, outcome in first} == {"added"}
    assert [path for path, _ in first] == [path for path, _ in setup_agents(tmp_path, forms)]
    assert {outcome for _, outcome in setup_agents(tmp_path, forms)} == {"kept"}


def test_a_link_is_kept_and_not_followed(tmp_path):
    (tmp_path / ".claude" / "agents").mkdir(parents=True)
    (tmp_path / ".claude" / "agents" / "dev.md").symlink_to(tmp_path / "elsewhere.md")
    assert (".claude/agents/dev.md", "kept") in setup_agents(tmp_path, ["claude"])
    assert not (tmp_path / "elsewhere.md").exists()


def test_what_is_written_is_found_again(tmp_path):
    setup_agents(tmp_path, ["claude", "kiro"])
    roster = find_agents(tmp_path, None, Config(), tmp_path / "nothing")
    assert set(roster.agents) == set(Role)
    assert roster.warnings == ()
