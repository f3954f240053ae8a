import json

import pytest

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
    assert "wrote .claude/agents/dev.md\nwrote .kiro/agents/dev.json\n" in said.out
    assert "description: Implement code changes" in (house.project / ".claude/agents/dev.md").read_text()
    assert json.loads((house.project / ".kiro/agents/dev.json").read_text())["tools"] == ["read", "write"]


def test_nothing_is_overwritten(house, task, agents):
    mine = house.project / ".claude" / "agents" / "dev.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said = task("setup-agents", "--project", str(house.project))
    assert "wrote .kiro/agents/dev.json\nkept 1 that were there\n" in said.out
    assert mine.read_text() == "mine"


def test_a_project_that_is_not_there(house, task, agents):
    assert task("setup-agents", "--project", "/nowhere").code == 2
