"""The skill that ships says what the program does: its examples are read, its commands are there."""

import re
import subprocess

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.formats.order import read_order
from orchestrator.formats.report import read_report
from orchestrator.formats.skill_file import read_skill
from orchestrator.formats.task_file import read_brief
from orchestrator.model.agents import Role
from orchestrator.shipped import shipped

FOLDER = shipped("agents") / "skills" / "multi-agent"
PAGES = sorted(FOLDER.rglob("*.md"))
SCRIPTS = sorted((FOLDER / "scripts").iterdir())


def blocks(page):
    return re.findall(r"```markdown\n(.*?)```", (FOLDER / page).read_text(), re.DOTALL)


def test_it_reads_as_a_skill():
    skill = read_skill((FOLDER / "SKILL.md").read_bytes(), "SKILL.md", "multi-agent")
    assert skill.name == FOLDER.name
    assert "Use when" in skill.description


def test_the_order_and_the_report_that_it_shows_are_read():
    order, report = blocks("references/protocol.md")
    read = read_order(order.encode(), "pm-20251127-153000.md")
    assert (read.target, read.skills) == ("dev", ("dds-testing",))
    assert read_report(report.encode(), "dev-20251127-154500.md").artifacts == ("artifacts/code/notes.md",)


def test_the_task_that_it_shows_is_read():
    (text,) = blocks("references/task-file.md")
    brief = read_brief(text.encode(), "task.md")
    assert brief.config.skills == ("dds-testing",)
    assert brief.config.architect
    assert len(brief.criteria) == 2


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_and_page_that_it_names_is_there(page):
    text = page.read_text()
    named = set(re.findall(r"(?:scripts/|`)task ([a-z-]+)", text)) - {"help"}
    assert named <= set(VERBS)
    for script in re.findall(r"scripts/([a-z_.-]+)", text):
        assert (FOLDER / "scripts" / script).is_file() or script == "task"
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / link).is_file()


def test_every_role_but_the_pm_is_described():
    text = (FOLDER / "references" / "pm.md").read_text()
    assert all(f"\n| {role} |" in text for role in Role if role is not Role.PM)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_each_script_is_a_front_of_the_command(script, tmp_path):
    reported = tmp_path / "agent-orchestrator"
    reported.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    reported.chmod(0o755)
    done = subprocess.run(
        ["bash", str(script), "a b", "--x"],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    *verb, first, second = done.stdout.splitlines()
    assert (first, second) == ("a b", "--x")
    assert set(verb) <= set(VERBS)


def test_without_the_command_a_script_says_so():
    done = subprocess.run(
        ["bash", str(FOLDER / "scripts" / "task"), "list"],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 127
    assert "agent-orchestrator is not on the PATH" in done.stderr
