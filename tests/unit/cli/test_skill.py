"""`task skill`: skills of a project, a whole session on a real disk, and the document's own commands and `jq` lines."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.skill import ACTIONS
from orchestrator.cli.skill_driver import DONE, STEP_NAMES
from orchestrator.formats.skill.state import read_session
from orchestrator.shipped import shipped
from tests.unit.skill_sessions import memory, memory_path

EXAMPLES = (Path(__file__).parents[2] / "fixtures/skill/examples.md").read_text(encoding="utf-8")
CONFIG = """\
name: develop-project
match: [develop*]
phases:
  - id: clarification
    agent: clarification
  - id: research
    agent: research
"""
FRONTS = shipped("scripts") / "skill-orchestration"


@pytest.fixture
def project(house, monkeypatch):
    """A project with a skill of its own, and the user in it."""
    folder = house.project / "protocols/skill/composite/develop-project"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG)
    monkeypatch.chdir(house.project)
    return house.project


def next_command(said):
    """Return the command of the last directive, as words behind `task`."""
    return re.findall(r"^    task (skill \S+ --state \S+)$", said, re.MULTILINE)[-1].split()


def begun(task, project):
    said = task("skill", "run", "develop-project", "Develop a parser")
    assert (said.code, said.err) == (0, "")
    (path,) = (project / "skill-orchestration/state").glob("skill-orchestration-*.json")
    return said, path


def followed(task, project, said, path):
    """Follow the directives to the end, as agents would that write their memory; yield each command."""
    while DONE not in said.out:
        words = next_command(said.out)
        session = read_session(path.read_bytes(), "state.json")
        if (phase := session.phase) and session.task_id:
            memory_path(phase, session.task_id, project).write_bytes(memory(phase, session.task_id))
        said = task(*words)
        assert (said.code, said.err) == (0, "")
        yield words[1]


def test_directives_lead_from_a_request_to_the_end(task, project):
    said, path = begun(task, project)
    commands = list(followed(task, project, said, path))
    assert commands == [*STEP_NAMES[:5], "advance_phase", "advance_phase", STEP_NAMES[5], "complete"]
    document = json.loads(path.read_bytes())
    assert (document["fsm"], list(document["step_outputs"])) == (
        {"state": "COMPLETE", "phase": None},
        [*"123456"],
    )
    assert document["step_outputs"]["6"]["summary"].startswith("Workflow completed successfully")
    task_id = document["step_outputs"]["1"]["task_id"]
    assert sorted(each.name for each in (project / ".claude/memory").iterdir()) == [
        f"{task_id}-clarification-memory.md",
        f"{task_id}-research-memory.md",
        f"{task_id}-workflow-context.md",
    ]
    assert (path.parent / ".gitignore").read_text() == "*\n"


def test_a_session_goes_on_by_entry(task, project):
    said, path = begun(task, project)
    assert task("skill", "run", "--state", str(path)).out == said.out
    task("skill", STEP_NAMES[0], "--state", str(path))
    assert STEP_NAMES[1] in task("skill", "entry", "--state", str(path)).out


def test_a_phase_without_memory_is_refused_and_says_how_to_go_on(task, project):
    said, path = begun(task, project)
    for name in STEP_NAMES[:4]:
        task("skill", name, "--state", str(path))
    before = path.read_bytes()
    said = task("skill", "advance_phase", "--state", str(path))
    assert said.code == 1
    assert "clarification-memory.md: is missing" in said.err
    assert f"task skill step_5_trigger_agents --state {path}" in said.err
    assert path.read_bytes() == before


def test_no_option_gets_round_a_phase(task, project):
    """There is no word for it, in any action."""
    _, path = begun(task, project)
    for option in ("--force", "--skip", "--yes"):
        assert task("skill", "advance_phase", "--state", str(path), option).code == 2
    document = json.loads(path.read_bytes())
    document["fsm"]["state"] = "VALIDATE"
    path.write_text(json.dumps(document))
    said = task("skill", "complete", "--state", str(path))
    assert said.code == 2
    assert "was changed by hand or damaged" in said.err


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_documents_own_jq_lines_read_a_state_file(task, project):
    said, path = begun(task, project)
    list(followed(task, project, said, path))
    session = path.stem.removeprefix("skill-orchestration-")
    lines = [line for line in EXAMPLES.splitlines() if line.startswith("cat ") and "| jq" in line]
    assert len(lines) == 5
    said = [
        subprocess.run(
            line.replace("{session_id}", session), shell=True, capture_output=True, check=True, cwd=project
        )
        for line in lines
    ]
    whole, outputs, config, phases, state = (json.loads(each.stdout) for each in said)
    assert whole == json.loads(path.read_bytes())
    assert (outputs, config) == (whole["step_outputs"], outputs["3"]["skill_config"])
    assert [each["phase_id"] for each in phases] == ["clarification", "research"]
    assert state == "COMPLETE"


def test_a_request_finds_its_skill_or_asks(task, project):
    said = task("skill", "run", "Develop a thing")
    assert said.out.startswith("develop-project (LIKELY): the request says develop*\n")
    asked = task("skill", "run", "Hello")
    assert asked.code == 3
    assert "task skill run develop-project Hello" in asked.out
    assert "task skill run write-document Hello" in asked.out
    assert len(list((project / "skill-orchestration/state").glob("*.json"))) == 1


def test_a_projects_skill_goes_before_the_one_that_ships(task, project):
    listed = task("skill", "list").out
    assert f"{project}/protocols/skill/composite/develop-project/config.yaml" in listed
    assert "write-document" in listed
    shown = task("skill", "show", "develop-project").out
    assert "2. research  research  reads the memory of clarification" in shown


def test_skills_are_documents_too(task, project):
    own = str(project / "protocols/skill/composite/develop-project/config.yaml")
    listed = {skill["name"]: skill for skill in task("skill", "list", "--json").json["skills"]}
    assert listed["develop-project"] == {
        "name": "develop-project",
        "description": "",
        "path": own,
        "fault": "",
    }
    assert listed["write-document"]["description"]
    assert task("skill", "show", "develop-project", "--json").json == {
        "name": "develop-project",
        "description": "",
        "path": own,
        "match": ["develop*"],
        "domain": None,
        "phases": [
            {"id": "clarification", "agent": "clarification", "instructions": "", "reads": []},
            {"id": "research", "agent": "research", "instructions": "", "reads": ["clarification"]},
        ],
    }
    for name in listed:
        assert task("skill", "show", name, "--json").json["path"] == listed[name]["path"]


def test_a_skill_that_cannot_be_used_is_listed_with_its_fault(task, project):
    (project / "protocols/skill/composite/develop-project/config.yaml").write_text("name: other\nphases: 3\n")
    listed = task("skill", "list", "--json").json["skills"]
    (fault,) = [skill["fault"] for skill in listed if skill["name"] == "develop-project"]
    assert "`phases` is the number 3" in fault
    assert [skill["name"] for skill in listed if skill["fault"]] == ["develop-project"]
    said = task("skill", "show", "develop-project", "--json")
    assert (said.code, said.out) == (2, "")


def test_a_skill_that_does_not_read_is_named_and_not_replaced(task, project):
    (project / "protocols/skill/composite/develop-project/config.yaml").write_text("name: other\nphases: 3\n")
    assert "cannot be used" in task("skill", "list").out
    said = task("skill", "run", "develop-project", "Develop it")
    assert said.code == 2
    assert "`phases` is the number 3" in said.err


def test_learnings_of_the_domain_reach_the_agents(task, project):
    task("memory", "add", "Name the grammar", "--tag", "technical", "--project", str(project))
    task("memory", "add", "Rhyme less", "--tag", "creative", "--project", str(project))
    _, path = begun(task, project)
    for name in STEP_NAMES[:4]:
        task("skill", name, "--state", str(path))
    (context,) = (project / ".claude/memory").glob("*-workflow-context.md")
    assert "- Name the grammar" in context.read_text()
    assert "Rhyme" not in context.read_text()


def test_a_projects_own_text_of_a_step_is_shown(task, project):
    (project / "skill-orchestration/content").mkdir(parents=True)
    (project / "skill-orchestration/content/step_1_generate_task_id.md").write_text("Ours\n")
    _, path = begun(task, project)
    assert task("skill", STEP_NAMES[0], "--state", str(path)).out.startswith("Ours\n")


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "develop-project", "  "),
        ("run", "a", "b", "c"),
        ("run", "nothing-such", "Do it"),
        ("dispatcher", "develop-project", "Do it"),
        ("entry",),
        ("entry", "--state", "missing.json"),
        ("list", "--state", "x"),
        ("run", "develop-project", "Do it", "--domain", "personal"),
        ("run", "develop-project", "Do it", "--project", "/nowhere"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_refused(task, project, words):
    assert task("skill", *words).code == 2
    assert not (project / "skill-orchestration").exists()


def test_each_name_of_the_document_has_a_front():
    fronts = {path.stem: path for path in (*FRONTS.glob("*.py"), *FRONTS.glob("steps/*.py"))}
    fronts["dispatcher"] = FRONTS.parent / "dispatcher.py"
    assert set(fronts) == set(ACTIONS) - {"list", "show", "run"}
    for name, path in fronts.items():
        text = path.read_text()
        assert f'"skill", "{name}", *sys.argv[1:]' in text
        (back,) = re.findall(r'parents\[(.)\] / "task"', text)
        assert (path.parents[int(back)] / "task") == FRONTS.parent / "task"
    assert {path.stem for path in (FRONTS / "content").glob("*.md")} == set(STEP_NAMES)


def test_a_front_starts_the_program(task, project, tmp_path):
    """By a `task` of its own, that says what it was given: the whole program starts in a test of the scripts."""
    for name in ("task", "skill-orchestration/entry.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(FRONTS.parent / name, tmp_path / name)
    (tmp_path / "task").write_text('#!/bin/sh\necho "$@"\n')
    done = subprocess.run(
        [sys.executable, tmp_path / "skill-orchestration/entry.py", "--state", "a b"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "skill entry --state a b\n"
