"""The definitions that ship say what is asked of each role (H4)."""

import re

import pytest

from orchestrator.formats.agent_file import (
    read_agent,
    read_kiro_agent,
    render_claude_agent,
    render_kiro_agent,
)
from orchestrator.formats.preamble import AgentOrder, preamble
from orchestrator.formats.report import read_report
from orchestrator.model.agents import REMOTE_ROLES, Role
from orchestrator.model.plan import Gate
from orchestrator.pm.plan.families.roles import AGENTS
from orchestrator.shipped import shipped

PATHS = {path.stem: path for path in shipped("agents").glob("*.md")}


@pytest.fixture(params=[*Role, *AGENTS], ids=str)
def agent(request):
    return read_agent(PATHS[request.param].read_bytes(), f"{request.param}.md", trusted=True)


def test_all_roles_ship():
    """The eight of the hub, and the five that hand on to each other."""
    assert set(PATHS) == {*Role, *AGENTS}


def test_each_is_named_for_its_role_and_has_all_fields(agent):
    assert agent.role == (agent.name if agent.name in list(Role) else None)
    assert agent.description
    assert agent.tools
    assert agent.model in {"haiku", "sonnet", "opus"}
    assert (agent.command, agent.check, agent.runtime) == ((), (), "auto")


def test_each_reads_back_in_both_forms_from_a_project(agent):
    name = f"{agent.name}.md"
    assert read_agent(render_claude_agent(agent).encode(), name, trusted=False) == agent
    assert read_kiro_agent(render_kiro_agent(agent).encode(), name, trusted=False) == agent


def test_who_only_looks_has_no_tool_to_write_with():
    for name in ("explore", "review"):
        agent = read_agent(PATHS[name].read_bytes(), name, trusted=True)
        assert not {"Write", "Edit"} & set(agent.tools)


def test_each_has_the_rules(agent):
    text = " ".join(agent.prompt.split())
    assert re.search(r"(data, even if it addresses you|is data)", text)
    assert re.search(r"(not talk to other agents|talk to nobody|Agents never talk to one another)", text)
    assert "at least every 20 minutes" in text
    assert re.search(r"(exactly one report|one report|One handoff per decision)", text)


@pytest.mark.parametrize("role", sorted(REMOTE_ROLES))
def test_box_worker_may_make_the_commits_asked_of_it(role):
    """Who may work on a box is not kept from the commits that are asked for there."""
    asked = preamble(
        AgentOrder(
            agent=role,
            role=Role(role),
            task="demo",
            at=0,
            cwd="/repo",
            task_dir="/repo/tasks/demo",
            artifacts="/repo/tasks/demo/artifacts/code",
            scratchpad="/repo/tasks/demo/scratchpad/dev",
            run="r-1",
            order_name="pm-1.md",
            order="Do it.",
            gates=(Gate.COMMIT,),
            remote_host="box",
        )
    )
    assert re.search(r"### Remote Setup\n[^#]*\nCommit your work with git", asked)
    text = " ".join(read_agent(PATHS[role].read_bytes(), role, trusted=True).prompt.split())
    against = re.findall(r"[^.:]*\b(?:not|never|nothing|no)\b[^.:]*\bcommit[^.:]*", text, re.IGNORECASE)
    assert [each for each in against if "unless the Remote Setup" not in each] == []


@pytest.mark.parametrize("name", ["review", "test"])
def test_judges_have_the_verdict_line(name):
    text = PATHS[name].read_text()
    assert "`**Verdict:** APPROVED` or `**Verdict:** REJECTED`" in text


@pytest.mark.parametrize(("name", "heading"), [("plan", "## Subtasks"), ("review", "## Success Criteria")])
def test_the_forms_that_they_are_shown_are_read(name, heading):
    block = re.search(rf"((?:    {heading}\n)(?:    .*\n)+)", PATHS[name].read_text())
    assert block
    example = "\n".join(line[4:] for line in block[1].splitlines())
    report = read_report(f"# Handoff: {name}\n**Status:** COMPLETE\n\n{example}\n".encode(), f"{name}.md")
    if name == "plan":
        assert [
            (each.id, each.agent, each.needs, bool(each.done_when)) for each in report.subtasks or ()
        ] == [
            ("parse-header", "dev", (), True),
            ("parse-body", "dev", ("parse-header",), True),
        ]
    else:
        assert [(mark.met, bool(mark.evidence), bool(mark.reason)) for mark in report.criteria or ()] == [
            (True, True, False),
            (False, False, True),
        ]


def test_the_pm_has_its_actions():
    text = PATHS["pm"].read_text()
    assert "`**Action:** ORDER`, `COMPLETE`, `ASK`, `REPLAN`, `WAIT` or `END`" in text
