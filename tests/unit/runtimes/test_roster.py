import os
from pathlib import Path

import pytest

from orchestrator.model.agents import Agent, Role
from orchestrator.model.errors import BadName, Refused
from orchestrator.model.task import AgentOverrides, Config
from orchestrator.runtimes.roster import find_agents, undefined


@pytest.fixture
def project(tmp_path):
    for folder in (".claude/agents", ".kiro/agents"):
        (tmp_path / "project" / folder).mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def shipped(tmp_path):
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in ("dev", "review"):
        (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: Shipped\n---\nWork.\n")
    return folder


@pytest.fixture
def template(tmp_path):
    folder = tmp_path / "template"
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "dev.md").write_text(
        "---\nname: dev\nruntime: command\ncommand: '{python} {template}/dev.py'\ncheck: '{template}/check'\n---\nx\n"
    )
    return folder


def claude(project: Path, name: str, text: str) -> None:
    (project / ".claude" / "agents" / name).write_text(text)


def test_what_ships_is_there_without_anything_else(project, shipped):
    roster = find_agents(project, None, Config(), shipped)
    assert list(roster.agents) == ["dev", "review"]
    assert roster.agents["dev"].role is Role.DEV
    assert roster.warnings == ()


def test_project_overrides_shipped_and_template_both(project, shipped, template):
    claude(project, "dev.md", "---\nname: dev\ndescription: Ours\n---\nx\n")
    claude(project, "security.md", "---\nname: security\n---\nx\n")
    without = find_agents(project, None, Config(), shipped).agents
    assert (without["dev"].description, without["review"].description) == ("Ours", "Shipped")
    assert "security" in without
    with_it = find_agents(project, template, Config(), shipped, python="/py").agents["dev"]
    assert with_it.command == ("/py", f"{template}/dev.py")
    assert with_it.check == (f"{template}/check",)
    assert with_it.runtime == "command"


def test_kiros_form_is_found_and_claudes_goes_first(project, shipped):
    kiro = project / ".kiro" / "agents"
    (kiro / "dev.json").write_text('{"name": "dev", "description": "Kiro", "prompt": "x"}')
    (kiro / "ops.json").write_text('{"name": "ops", "description": "Kiro", "prompt": "x"}')
    claude(project, "dev.md", "---\nname: dev\ndescription: Claude\n---\nx\n")
    agents = find_agents(project, None, Config(), shipped).agents
    assert (agents["dev"].description, agents["ops"].description) == ("Claude", "Kiro")


@pytest.mark.parametrize("line", ["command: rm -rf /", "check: ./x", "runtime: command"])
def test_a_definition_in_a_project_cannot_name_a_program(project, shipped, line):
    claude(project, "dev.md", f"---\nname: dev\n{line}\n---\nx\n")
    roster = find_agents(project, None, Config(), shipped)
    assert roster.agents["dev"].description == "Shipped"
    assert "dev.md, line 3: " in roster.warnings[0]
    assert "names a program, which only a template, the settings or task.md may" in roster.warnings[0]


def test_what_does_not_read_is_passed_over_with_a_warning(project, shipped):
    folder = project / ".claude" / "agents"
    (folder / "a.md").write_bytes(b"\xff\xfe")
    (folder / "b.md").symlink_to("/etc/passwd")
    os.mkfifo(folder / "c.md")
    (folder / "d.md").mkdir()
    (folder / "e.md").write_text("no front matter")
    (folder / "f.md").write_text("---\nname: ../x\n---\n")
    (folder / "g.md").write_text("x" * 300_000)
    (folder / "notes.txt").write_text("x")
    roster = find_agents(project, None, Config(), shipped)
    assert list(roster.agents) == ["dev", "review"]
    assert len(roster.warnings) == 7
    assert all(f"/{name}.md" in reported for name, reported in zip("abcdefg", roster.warnings, strict=True))


def test_folder_that_is_none_is_reported(project, shipped):
    (project / ".claude" / "agents").rmdir()
    (project / ".claude" / "agents").write_text("x")
    assert "does not read as a folder" in find_agents(project, None, Config(), shipped).warnings[0]


def test_a_file_whose_name_differs_is_read_with_a_warning(project, shipped):
    claude(project, "developer.md", "---\nname: dev\ndescription: Ours\n---\nx\n")
    roster = find_agents(project, None, Config(), shipped)
    assert roster.agents["dev"].description == "Ours"
    assert roster.warnings[0].endswith("developer.md defines dev, not developer: rename one of the two")


def test_task_md_overrides_definitions(project, shipped, template):
    overrides = {
        "dev": AgentOverrides(command=("{python}", "mine.py"), model="opus"),
        "review": AgentOverrides(check=("true",)),
    }
    agents = find_agents(project, template, Config(agents=overrides), shipped, python="/py").agents
    assert agents["dev"].command == ("/py", "mine.py")
    assert (agents["dev"].model, agents["dev"].check) == ("opus", (f"{template}/check",))
    assert (agents["review"].check, agents["review"].runtime) == (("true",), "auto")


def test_command_in_task_md_defines_an_agent(project, shipped):
    overrides = {"lint": AgentOverrides(command=("ruff",))}
    assert find_agents(project, None, Config(agents=overrides), shipped).agents["lint"] == Agent(
        "lint", runtime="command", command=("ruff",), source="task.md"
    )


def test_override_of_an_undefined_agent_is_refused(project, shipped):
    with pytest.raises(Refused, match="speaks of the agent lint, which nobody defines"):
        find_agents(project, None, Config(agents={"lint": AgentOverrides(model="opus")}), shipped)
    with pytest.raises(BadName):
        find_agents(project, None, Config(agents={"../x": AgentOverrides(command=("x",))}), shipped)


def test_the_tasks_runtime_is_for_agents_that_have_none(project, shipped, template):
    agents = find_agents(project, template, Config(runtime="claude"), shipped).agents
    assert (agents["dev"].runtime, agents["review"].runtime) == ("command", "claude")


def test_a_place_in_a_template_needs_a_template(project, shipped):
    overrides = {"dev": AgentOverrides(command=("{template}/x",))}
    with pytest.raises(Refused, match=r"dev asks for \{template\}, but task.md names no template"):
        find_agents(project, None, Config(agents=overrides), shipped)


def test_auto_is_a_command_or_the_first_installed_cli(project, shipped, tmp_path):
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    for name in ("codex", "claude"):
        (bin_folder / name).write_text("#!/bin/sh\n")
        (bin_folder / name).chmod(0o755)
    config = Config(agents={"test": AgentOverrides(command=("pytest",))})
    agents = find_agents(project, None, config, shipped, path=f"relative:{bin_folder}").agents
    assert (agents["dev"].runtime, agents["dev"].receipts) == ("claude", True)
    assert (agents["test"].runtime, agents["test"].receipts) == ("command", False)
    assert find_agents(project, None, Config(), shipped, path="/nowhere").agents["dev"].runtime == "auto"


def test_task_md_says_what_the_pm_agent_runs_as(project, shipped):
    (shipped / "pm.md").write_text("---\nname: pm\ndescription: Leads\n---\nLead.\n")
    assert find_agents(project, None, Config(), shipped).agents["pm"].runtime == "auto"
    led = find_agents(project, None, Config(pm="claude"), shipped).agents["pm"]
    assert (led.runtime, led.role, led.receipts) == ("claude", Role.PM, True)
    overrides = {"pm": AgentOverrides(command=("lead",))}
    scripted = find_agents(project, None, Config(pm="command", agents=overrides), shipped).agents["pm"]
    assert (scripted.runtime, scripted.command) == ("command", ("lead",))


def test_how_to_define_an_agent_is_said_where_it_is_missing(project, shipped):
    """Those that ship are found without a file in the project, so that writing them there helps nobody."""
    assert "dev" in find_agents(project, None, Config(), shipped).agents
    said = undefined("scout", project)
    assert "'scout'" in said
    assert f"{project}/.claude/agents" in said
    assert "setup-agents" not in said
