import json
import os
import tomllib

import pytest

from orchestrator.cli import setup_agents as asked
from orchestrator.cli.agent_setup import ALL, FORMS, remove_agents, setup_agents
from orchestrator.formats.command_forms import read_command
from orchestrator.model.agents import Role
from orchestrator.model.errors import BadFile
from orchestrator.model.task import Config
from orchestrator.pm.plan.families.roles import AGENTS
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
    assert set(roster.agents) == {*Role, *AGENTS}
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
    setup_agents(tmp_path, list(FORMS), workflow=True)
    found = find_skills(tmp_path, None)
    assert {skill.name for skill in found.found} == OWN
    assert found.warnings == ()
    assert filling(found.found, "the multi-agent protocol, handoffs and review cycles") == ()
    assert filling(found.found, "a composite skill in phases, with memory files") == ()
    assert filling(found.found, "the agent-workflow with dependencies, verifiers and escalations") == ()


def test_the_slash_commands_are_written_where_a_cli_has_them(tmp_path):
    done = dict(setup_agents(tmp_path, list(FORMS)))
    names = sorted(path.stem for path in (shipped("agents") / "commands").glob("*.md"))
    assert names == ["task-answer", "task-skill", "task-start", "task-status"]
    for name in names:
        text = (tmp_path / f".claude/commands/{name}.md").read_text()
        assert "$ARGUMENTS" in text
        assert "argument-hint: " in text
        assert "$ARGUMENTS" in (tmp_path / f".opencode/command/{name}.md").read_text()
        reported = tomllib.loads((tmp_path / f".gemini/commands/{name}.toml").read_text())
        assert "{{args}}" in reported["prompt"]
        assert "$ARGUMENTS" not in reported["prompt"]
        assert reported["description"]
    assert not [path for path in done if "task-start" in path and path.startswith((".codex", ".kiro"))]


def test_a_command_whose_front_matter_does_not_read_is_refused():
    with pytest.raises(BadFile, match="front matter"):
        read_command(b"no front matter\n", "task-x")


def test_every_form_can_be_asked_for():
    assert (*FORMS, ALL) == asked.FORMS


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which nothing may be written: what is written belongs to a project."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def files_in(folder):
    """Return the content of each file below a folder, by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


INTERACTIVE = "plan-developer"
BOTH = "escalation-resolution"
WORKFLOW_FILES = {
    "claude": [
        f".claude/commands/persona-{INTERACTIVE}.md",
        f".claude/commands/persona-{BOTH}.md",
        f".claude/agents/{BOTH}.md",
        ".claude/agents/poc-decision.md",
        ".claude/skills/agent-workflow/SKILL.md",
        ".claude/protocols/orchestration_doer_agent_template.md",
    ],
    "codex": [
        f".codex/agents/{INTERACTIVE}.toml",
        f".codex/agents/{BOTH}.toml",
        ".agents/skills/agent-workflow/SKILL.md",
        ".codex/protocols/orchestration_verifier_agent_template.md",
    ],
    "gemini": [
        f".gemini/commands/persona-{INTERACTIVE}.toml",
        f".gemini/agents/{BOTH}.md",
        ".agents/skills/agent-workflow/references/plan.md",
        ".gemini/protocols/orchestration_doer_agent_template.md",
    ],
    "opencode": [
        f".opencode/command/persona-{INTERACTIVE}.md",
        f".opencode/agent/{BOTH}.md",
        ".opencode/protocols/orchestration_solution_architect_agent_template.md",
    ],
    "kiro": [
        f".kiro/agents/{INTERACTIVE}.json",
        ".kiro/skills/agent-workflow/references/files.md",
        ".kiro/protocols/orchestration_doer_agent_template.md",
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_workflow_personas_are_installed_kept_and_removed(house, task, home, form):
    """Installed, installed again, and removed: nothing is left, and nothing of the user's is touched."""
    mine = house.project / "README.md"
    mine.write_text("mine")
    words = ("setup-agents", "--project", str(house.project), "--workflow", "--form", form)
    first = task(*words)
    there = files_in(house.project)
    assert first.code == 0
    assert {*WORKFLOW_FILES[form], "README.md"} <= set(there)
    again = task(*words)
    assert files_in(house.project) == there
    assert again.out == first.out.replace("added ", "kept ")
    removed = task(*words, "--remove")
    assert (removed.code, removed.out) == (0, "".join(f"removed {path}\n" for path in there_in(first.out)))
    assert list(house.project.iterdir()) == [mine]


def there_in(printed):
    """Return the paths that a first installation printed."""
    return [line.removeprefix("added ") for line in printed.splitlines() if line.startswith("added ")]


@pytest.mark.parametrize("workflow", [False, True])
def test_the_two_sets_share_no_file(tmp_path, workflow):
    """So that one can be removed and the other stays."""
    kept = {path for path, _ in setup_agents(tmp_path, list(FORMS), workflow=workflow)}
    setup_agents(tmp_path, list(FORMS), workflow=not workflow)
    assert {outcome for _, outcome in remove_agents(tmp_path, list(FORMS), workflow=not workflow)} == {
        "removed"
    }
    assert set(files_in(tmp_path)) == kept


def test_interactive_personas_are_commands_not_agents(tmp_path):
    """Only interactive personas are no agents where commands exist."""
    done = {path for path, _ in setup_agents(tmp_path, list(FORMS), workflow=True)}
    agents = {
        path
        for path in done
        if path.endswith((f"/{INTERACTIVE}.md", f"/{INTERACTIVE}.toml", f"/{INTERACTIVE}.json"))
    }
    assert agents == {f".codex/agents/{INTERACTIVE}.toml", f".kiro/agents/{INTERACTIVE}.json"}
    assert not [
        path for path in done if "persona-" in path and path.startswith((".codex", ".kiro", ".agents"))
    ]


def test_personas_that_run_by_themselves_are_found_by_the_pm(tmp_path):
    setup_agents(tmp_path, ["claude"], workflow=True)
    roster = find_agents(tmp_path, None, Config(), tmp_path / "nothing")
    assert {"workflow-doer", "workflow-verifier", "solution-architect", "poc-decision", BOTH} <= set(
        roster.agents
    )
    assert INTERACTIVE not in roster.agents
    assert roster.warnings == ()


def test_removing_keeps_what_was_changed(house, task, home):
    words = ("setup-agents", "--project", str(house.project), "--form", "claude", "--workflow")
    task(*words)
    changed = house.project / ".claude/agents/poc-decision.md"
    changed.write_text("mine")
    link = house.project / ".claude/agents/workflow-doer.md"
    link.unlink()
    link.symlink_to(house.root / "elsewhere.md")
    (house.root / "elsewhere.md").write_text("theirs")
    (house.project / ".claude/agents/workflow-verifier.md").unlink()
    said = task(*words, "--remove")
    assert said.code == 0
    assert "kept .claude/agents/poc-decision.md\n" in said.out
    assert "kept .claude/agents/workflow-doer.md\n" in said.out
    assert "workflow-verifier" not in said.out
    assert sorted(path.name for path in (house.project / ".claude").rglob("*") if not path.is_dir()) == [
        "poc-decision.md",
        "workflow-doer.md",
    ]
    assert link.is_symlink()
    assert (house.root / "elsewhere.md").read_text() == "theirs"


def test_removing_one_form_keeps_what_another_shares(tmp_path):
    setup_agents(tmp_path, ["codex", "gemini"])
    done = remove_agents(tmp_path, ["codex"])
    assert {path.split("/")[0] for path, _ in done} == {".codex"}
    assert (tmp_path / ".agents/skills/multi-agent/SKILL.md").is_file()
    remove_agents(tmp_path, ["gemini"])
    assert list(tmp_path.iterdir()) == []


def test_removing_concerns_every_form_unless_one_is_named(house, task, home):
    setup_agents(house.project, list(FORMS))
    assert task("setup-agents", "--project", str(house.project), "--remove").code == 0
    assert list(house.project.iterdir()) == []
