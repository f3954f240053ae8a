import shlex
from typing import Any

import pytest

from orchestrator.formats.handoff import read_report
from orchestrator.formats.preamble import AgentOrder, preamble, remote_setup
from orchestrator.formats.skill.preamble import PhaseOrder, skill_preamble
from orchestrator.formats.workflow_preamble import WorkflowOrder, workflow_preamble
from orchestrator.model.agents import Role
from orchestrator.model.errors import BadFile
from orchestrator.model.plan import Gate
from tests.unit.formats.texts import HUB
from tests.unit.pm.workflows import doer

TASK = "/p/tasks/dds"
GIVEN: dict[str, Any] = {
    "agent": "dev-2",
    "role": Role.DEV,
    "task": "dds",
    "at": 1764286200.0,
    "cwd": "/w/dds",
    "task_dir": TASK,
    "artifacts": f"{TASK}/artifacts/code",
    "scratchpad": f"{TASK}/scratchpad/dev-2",
    "run": "r-1",
    "order_name": "pm-20251127-153000.md",
    "order": "# Handoff: pm\n{braces} stay\n",
}


def preamble_with(**changes: Any) -> str:
    return preamble(AgentOrder(**(GIVEN | changes)))


def form(text: str) -> str:
    """Return the form of the report that a preamble shows."""
    return text.partition("```markdown\n")[2].partition("```\n")[0]


@pytest.mark.usefixtures("_pacific")
def test_the_documents_preamble_is_in_it_line_by_line():
    document = (HUB / "preamble.md").read_text()
    for blank, value in {
        "{agent_type}-{YYYYMMDD}": "dev-2-{YYYYMMDD}",
        "{cwd}/tasks/{task}/artifacts/{agent_type}": f"{TASK}/artifacts/code",
        "{cwd}/tasks/{task}": TASK,
        "{agent_type}": "dev-2",
        "{task_name}": "dds",
        "{timestamp}": "2025-11-27 15:30:00 PST",
        "{cwd}": "/w/dds",
        "Write handoff to: handoffs/": f"Write handoff to: {TASK}/handoffs/",
        "{contents of PM's handoff file}": GIVEN["order"].strip(),
    }.items():
        document = document.replace(blank, value)
    lines = iter(preamble_with().split("\n"))
    for line in document.split("\n"):
        assert line in lines  # found after the one before it: the order is the document's


def test_who_has_a_status_reads_how_to_write_it():
    assert "status-update.sh" not in preamble_with()
    text = preamble_with(status_script="/opt/my tools/status-update.sh")
    lines = [line.strip() for line in text.splitlines() if "status-update.sh" in line]
    told = [shlex.split(line)[:3] for line in lines]
    script = "/opt/my tools/status-update.sh"
    assert told == [[script, "dev-2", key] for key in ("currentTask", "progress", "findings", "blockedBy")]


def test_the_order_ends_it_as_it_is():
    assert preamble_with().endswith("\n---\n\n## Your Instructions\n# Handoff: pm\n{braces} stay\n")


def test_a_sign_of_progress_is_asked_for():
    assert "at least every 20 minutes" in preamble_with()


def test_the_remote_addition_is_the_documents():
    text = preamble_with(remote_host="user@box", task_dir="/repo/tasks/dds/")
    document = (HUB / "preamble_remote.md").read_text()
    document = document.replace("{remote_host}", "user@box").replace(
        "{remote_cwd}/tasks/{task}", "/repo/tasks/dds"
    )
    assert document.replace("(cron every 2 min)", "(every 2 min)") in text
    assert "Remote Setup" not in preamble_with()


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({}, set()),
        ({"role": Role.TEST}, {"**Verdict:**"}),
        ({"role": Role.REVIEW}, {"**Verdict:**"}),
        ({"role": None, "gates": (Gate.VERDICT,)}, {"**Verdict:**"}),
        ({"role": Role.PLAN}, {"## Subtasks"}),
        ({"gates": (Gate.SUBTASKS,)}, {"## Subtasks"}),
        (
            {"gates": (Gate.CRITERIA,), "criteria": ("A", "B")},
            {"## Success Criteria", "- [x] A (", "- [x] B ("},
        ),
    ],
)
def test_each_role_is_asked_for_its_part(changes, parts):
    shown = form(preamble_with(**changes))
    every = {"**Verdict:**", "## Subtasks", "## Success Criteria", "- [x] A (", "- [x] B ("}
    assert {part for part in every if part in shown} == parts


def filled_in(text: str) -> str:
    for asked, answer in {
        "(one word: COMPLETE, BLOCKED or NEEDS_REVIEW)": "COMPLETE",
        "(one word: APPROVED or REJECTED)": "APPROVED",
        "- (the full path of a file that you wrote, one line for each; or None)": "- /w/a.py",
        "(instead, for each that is not met: - [ ] the criterion (reason: why it is not met))": "",
        "(evidence: (paths))": "(evidence: a.md)",
    }.items():
        text = text.replace(asked, answer)
    return text


@pytest.mark.parametrize("role", [*Role, None])
def test_the_form_filled_in_is_a_report(role):
    shown = form(preamble_with(role=role, gates=(Gate.CRITERIA,), criteria=("All pass ```x", "B")))
    report = read_report(filled_in(shown).encode(), "r")
    assert (report.run, report.in_reply_to) == ("r-1", "pm-20251127-153000.md")
    assert report.artifacts == ("/w/a.py",)
    assert (report.verdict is not None) == (role in {Role.TEST, Role.REVIEW})
    assert [subtask.id for subtask in report.subtasks or ()] == (
        ["first-id", "second-id"] if role is Role.PLAN else []
    )
    assert [mark.text for mark in report.criteria or ()] == ["All pass '''x", "B"]


def test_the_form_copied_as_it_stands_is_no_report():
    with pytest.raises(BadFile):
        read_report(form(preamble_with(role=Role.REVIEW)).encode(), "r")


def test_memories_come_ahead_of_the_order():
    text = preamble_with(learned="- mem_1 (semantic, 2025-12-11): it holds")
    assert "\n## What Was Learned Here\n" in text.partition("\n---\n")[0]
    assert "mem_1" in text
    assert "Learned" not in preamble_with()


def test_agent_on_a_box_is_told_to_commit():
    """What HEAD has is brought home: whatever it hands in by, an agent whose work is committed has to know that."""
    said = remote_setup("me@alpha", "/srv/tasks/t", "", (Gate.COMMIT,))
    assert "me@alpha" in said
    assert "Commit your work" in said
    assert "Commit" not in remote_setup("me@alpha", "/srv/tasks/t", "", (Gate.CHANGED,))
    phase = PhaseOrder(
        agent="a", task="t", at=0.0, cwd="/w", scratchpad="/s", order="o", memory="m", remote=said
    )
    assert said in skill_preamble(phase)
    worker = WorkflowOrder(doer("a"), (), (), "t", 0.0, "/w", "/o", "/s", "o", remote=said)
    assert said in workflow_preamble(worker)
