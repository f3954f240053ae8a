import json
import os
import tomllib

import pytest

from orchestrator.cli import setup_agents as asked
from orchestrator.cli.agent_setup import ALL, FORMS, setup_agents
from orchestrator.formats.command_forms import read_command
from orchestrator.model.agents import Role
from orchestrator.model.errors import BadFile
from orchestrator.model.task import Config
from orchestrator.pm.plan.skills import OWN, filling
from orchestrator.runtimes.roster import find_agents
from orchestrator.runtimes.skills import find_skills
from orchestrator.shipped import shipped

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
    monkeypatch.setattr("orchestrator.cli.agent_setup.shipped", lambda _name: folder)


def test_every_form_is_written(house, task, agents):
    said = task("setup-agents", "--project", str(house.project), "--form", "all")
    assert said.code == 0
    assert said.out.splitlines()[:5] == [
        "added .claude/agents/dev.md",
        "added .codex/agents/dev.toml",
        "added .gemini/agents/dev.md",
        "added .opencode/agent/dev.md",
        "added .kiro/agents/dev.json",
    ]
    assert "opencode has its own agents explore and plan" in said.out
    assert "description: Implement code changes" in (house.project / ".claude/agents/dev.md").read_text()
    assert json.loads((house.project / ".kiro/agents/dev.json").read_text())["tools"] == ["read", "write"]


@pytest.mark.parametrize(
    ("installed", "written"),
    [
        ([], [".claude/agents/dev.md"]),
        (["aider"], [".claude/agents/dev.md"]),
        (["claude", "codex"], [".claude/agents/dev.md", ".codex/agents/dev.toml"]),
        (["kiro-cli"], [".claude/agents/dev.md", ".kiro/agents/dev.json"]),
    ],
)
def test_by_itself_it_writes_for_the_clis_that_are_installed(
    house, task, agents, monkeypatch, installed, written
):
    path = house.root / "bin"
    path.mkdir()
    for name in installed:
        (path / name).write_text("#!/bin/sh\n")
        (path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(path))
    said = task("setup-agents", "--project", str(house.project))
    found = [str(file.relative_to(house.project)) for file in house.project.rglob("*") if file.is_file()]
    assert sorted(found) == written
    assert said.out.splitlines()[: len(written)] == [f"added {each}" for each in written]
    assert f"written for {', '.join(each.split('/')[0][1:] for each in written)};" in said.out


def test_nothing_is_overwritten(house, task, agents):
    mine = house.project / ".claude" / "agents" / "dev.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said = task("setup-agents", "--project", str(house.project), "--form", "all")
    assert said.out.startswith("kept .claude/agents/dev.md\nadded .codex/agents/dev.toml\n")
    assert mine.read_text() == "mine"


def test_a_project_that_is_not_there(house, task, agents):
    assert task("setup-agents", "--project", "/nowhere").code == 2


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("claude", ".claude/agents/dev.md"),
        ("codex", ".codex/agents/dev.toml"),
        ("gemini", ".gemini/agents/dev.md"),
        ("opencode", ".opencode/agent/dev.md"),
        ("kiro", ".kiro/agents/dev.json"),
    ],
)
def test_one_form_alone(house, task, agents, form, written):
    assert task("setup-agents", "--project", str(house.project), "--form", form).code == 0
    files = [str(path.relative_to(house.project)) for path in house.project.rglob("*") if path.is_file()]
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


def test_the_skill_is_installed_whole_where_each_cli_looks(tmp_path):
    done = dict(setup_agents(tmp_path, list(FORMS)))
    ships = sorted(path for path in (shipped("agents") / "skills").rglob("*") if path.is_file())
    for folder in (".claude/skills", ".agents/skills", ".kiro/skills"):
        written = sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file())
        assert [path.read_bytes() for path in written] == [path.read_bytes() for path in ships]
        assert done[f"{folder}/multi-agent/SKILL.md"] == "added"
        assert os.access(tmp_path / folder / "multi-agent" / "scripts" / "task", os.X_OK)
        assert not os.access(tmp_path / folder / "multi-agent" / "SKILL.md", os.X_OK)


def test_multi_agent_skill_is_not_named_in_orders(tmp_path):
    setup_agents(tmp_path, list(FORMS))
    found = find_skills(tmp_path, None)
    assert [skill.name for skill in found.found] == [OWN]
    assert found.warnings == ()
    assert filling(found.found, "the multi-agent protocol, handoffs and review cycles") == ()


def test_the_slash_commands_are_written_where_a_cli_has_them(tmp_path):
    done = dict(setup_agents(tmp_path, list(FORMS)))
    names = sorted(path.stem for path in (shipped("agents") / "commands").glob("*.md"))
    assert names == ["task-answer", "task-start", "task-status"]
    for name in names:
        text = (tmp_path / f".claude/commands/{name}.md").read_text()
        assert "$ARGUMENTS" in text
        assert "argument-hint: " in text
        assert "$ARGUMENTS" in (tmp_path / f".opencode/command/{name}.md").read_text()
        told = tomllib.loads((tmp_path / f".gemini/commands/{name}.toml").read_text())
        assert "{{args}}" in told["prompt"]
        assert "$ARGUMENTS" not in told["prompt"]
        assert told["description"]
    assert not [path for path in done if "task-start" in path and path.startswith((".codex", ".kiro"))]


def test_a_command_whose_front_matter_does_not_read_is_refused():
    with pytest.raises(BadFile, match="front matter"):
        read_command(b"no front matter\n", "task-x")


def test_every_form_can_be_asked_for():
    assert (*FORMS, ALL) == asked.FORMS
