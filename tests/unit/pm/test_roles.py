"""The family `roles`: who hands on to whom, what is sent back, and where that ends (C2, C3)."""

from __future__ import annotations

import re

import pytest

from orchestrator.formats.coordination.fields import is_handoff_id
from orchestrator.model.actions import Merge
from orchestrator.model.coordination import HandoffStatus
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.plan import StepState
from orchestrator.model.task import AfterRejections, TaskState
from tests.unit.pm.role_story import RoleStory, handoff, issue
from tests.unit.pm.story import MET

COMPLETED, REJECTED, ACCEPTED, PENDING = (
    HandoffStatus.COMPLETED,
    HandoffStatus.REJECTED,
    HandoffStatus.ACCEPTED,
    HandoffStatus.PENDING,
)


# Onward -------------------------------------------------------------------------------------------


def test_line_of_roles_ends_complete() -> None:
    """Each role hands on to the next; the orchestrator marks the criteria."""
    story = RoleStory()
    for step in ("plan", "implement", "audit", "clean"):
        assert story.works_on() == {step}
        story.hands_on(step)
    story.closes()
    assert story.task() is TaskState.COMPLETE
    assert story.handoffs() == [
        ("PLANNER", "ready_for_implementation", COMPLETED),
        ("IMPLEMENTER", "ready_for_audit", COMPLETED),
        ("AUDITOR", "ready_for_cleanup", COMPLETED),
        ("CLEANER", "complete", COMPLETED),
    ]


def test_receiver_accepts_when_it_starts_and_completes_later() -> None:
    """A handoff is accepted with its receiver's order, and completed with its receiver's report."""
    story = RoleStory()
    story.hands_on("plan")
    assert story.handoffs() == [("PLANNER", "ready_for_implementation", ACCEPTED)]
    story.hands_on("implement")
    assert [status for *_, status in story.handoffs()] == [COMPLETED, ACCEPTED]


def test_handoff_is_pending_while_the_check_of_it_runs() -> None:
    """The daemon's check comes before the receiver: until it has passed, nobody has accepted."""
    story = RoleStory(checks=("auditor",))
    story.reaches("audit")
    assert story.handoffs()[-1] == ("IMPLEMENTER", "ready_for_audit", PENDING)
    story.checked("audit", 0)
    assert story.handoffs()[-1] == ("IMPLEMENTER", "ready_for_audit", ACCEPTED)


def test_order_repeats_what_was_handed_on() -> None:
    """The receiver reads the next steps in its order."""
    story = RoleStory()
    story.hands_on("plan")
    context = story.order_of("implement").context
    assert "- do what follows plan" in context
    assert "- all tests pass" in context


def test_moment_task_and_roles_are_the_daemons() -> None:
    """Agents copy times and ids from examples: what the daemon knows does not rest on what they say."""
    story = RoleStory()
    head = {"type": "ready_for_implementation", "timestamp": "2025-12-11T14:30:00Z", "status": "completed"}
    story.hands_on("plan", handoff=head)
    (record,) = story.state.handoffs.values()
    assert record.handoff.head.timestamp == "2025-11-27T14:36:00Z"
    assert (record.handoff.head.source, record.handoff.head.target) == ("PLANNER", "IMPLEMENTER")
    assert record.handoff.context is not None
    assert record.handoff.context.task == "demo-1"


def test_hub_markdown_is_understood() -> None:
    """An agent that writes the hub's markdown, with the sections for it, hands on as well."""
    story = RoleStory()
    story.does(
        "plan",
        completed="The plan is made.",
        artifacts=("artifacts/plan.md",),
        others=(
            ("Next Steps", "- Write it"),
            ("Acceptance Criteria", "- It runs"),
            ("Coordination", '```json\n{"context": {"dependencies": ["pkg/a.py"]}}\n```'),
        ),
    )
    assert story.works_on() == {"implement"}
    story.does(
        "implement",
        artifacts=("pkg/a.py",),
        completed="Written.",
        others=(("Next Steps", "- Read it"), ("Acceptance Criteria", "- No fault")),
    )
    assert story.works_on() == {"audit"}
    story.does("audit", verdict=Verdict.REJECTED, completed="It never ends.")
    assert story.works_on() == {"implement"}
    assert "It never ends." in story.order_of("implement").instructions


# Incomplete ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "parts", "reason"),
    [
        ("plan", {"nextSteps": {"instructions": ["Do it"]}}, "acceptanceCriteria` is empty"),
        ("plan", {"nextSteps": None}, "instructions` is empty"),
        ("plan", {"context": {"scope": "A greeting"}}, "context.dependencies` is empty"),
        ("plan", {"context": {"taskId": "task_20251211_001", "dependencies": ["a"]}}, "write demo-1"),
        ("plan", {"handoff": {"type": "ready_for_audit"}}, "with which the PLANNER does not hand on"),
        (
            "plan",
            {"handoff": {"from": "AUDITOR", "type": "ready_for_cleanup"}},
            "this is the order of the PLANNER",
        ),
        ("implement", {"deliverable": {"type": "plan", "summary": "Done"}}, "deliverable.type` is not"),
        (
            "implement",
            {"deliverable": {"location": "a.py", "summary": "Done", "artifacts": ["b.py", "c.py"]}},
            "is not among `deliverable.artifacts`",
        ),
        ("audit", {"issues": [issue("It leaks")]}, "an audit passes only without"),
    ],
)
def test_incomplete_handoff_is_rejected_and_asked_for(step: str, parts: dict, reason: str) -> None:  # type: ignore[type-arg]
    """Its source is told why, once; it is kept as rejected, with the reasons as issues."""
    story = RoleStory()
    story.reaches(step)
    story.hands_on(step, **parts)
    assert story.works_on() == {step}
    assert reason in story.order_of(step).instructions
    record = list(story.state.handoffs.values())[-1]
    assert record.handoff.head.status is REJECTED
    assert any(reason in each.description for each in record.handoff.issues or ())
    story.hands_on(step)
    assert step not in story.works_on()


def test_incomplete_handoffs_end_in_a_question() -> None:
    """Whoever hands on incompletely again and again has somebody asked."""
    story = RoleStory()
    story.hands_on("plan", nextSteps=None)
    story.hands_on("plan", nextSteps=None)
    assert story.step("plan").state is StepState.BLOCKED
    assert "instructions` is empty" in story.question().text


def test_id_is_used_once() -> None:
    """A handoff under the id of another one is no change of that."""
    story = RoleStory()
    head = {"type": "ready_for_implementation", "handoffId": "handoff_1702311000000_a1b2c3d4"}
    story.hands_on("plan", handoff=head)
    story.hands_on("implement", handoff=head | {"type": "ready_for_audit"})
    assert "was used already" in story.order_of("implement").instructions
    assert story.state.handoffs["handoff_1702311000000_a1b2c3d4"].step == "plan"
    assert len(story.state.handoffs) == 2


# Back ---------------------------------------------------------------------------------------------


def test_failed_audit_goes_back_to_the_implementer() -> None:
    """Its issues are the feedback, and stand in the handoff that was rejected."""
    story = RoleStory()
    story.reaches("audit")
    story.hands_back("audit", "the loop never ends", "no test covers it")
    assert story.works_on() == {"implement"}
    order = story.order_of("implement").instructions
    assert "the loop never ends" in order
    assert "no test covers it" in order
    rejected = [
        each.handoff for each in story.state.handoffs.values() if each.handoff.head.status is REJECTED
    ]
    assert [each.description for each in rejected[0].issues or ()] == [
        "high: the loop never ends\nhigh: no test covers it"
    ]
    assert story.handoffs()[-1] == ("IMPLEMENTER", "ready_for_audit", REJECTED)


def test_third_failed_audit_replans() -> None:
    """Then the line begins anew with its counts, and the plan is told why."""
    story = RoleStory()
    story.reaches("audit")
    for number in range(3):
        story.hands_back("audit", f"fault {number}")
        if number < 2:
            story.hands_on("implement")
    assert story.works_on() == {"plan"}
    assert "rejected 3 times" in story.order_of("plan").instructions
    assert "fault 2" in story.order_of("plan").instructions
    story.hands_on("plan")
    assert story.step("implement").tally.rejections == 0


def test_audits_that_never_pass_end_in_a_question() -> None:
    """Two replans are the bound: the ninth failed audit asks."""
    story = RoleStory()
    for number in range(9):
        story.reaches("audit")
        story.hands_back("audit", f"fault {number}")
    assert story.works_on() == set()
    assert story.question().step == "implement"
    assert story.task() is TaskState.WAITING


def test_task_may_ask_in_place_of_replanning() -> None:
    """`rejections: ask` holds here, too."""
    story = RoleStory(after_rejections=AfterRejections.ASK)
    for number in range(3):
        story.reaches("audit")
        story.hands_back("audit", f"fault {number}")
    assert "fault 2" in story.question().text


@pytest.mark.parametrize("step", ["implement", "audit", "clean"])
def test_three_roles_may_require_replanning(step: str) -> None:
    """The planner gets the issues, and all after it is done again."""
    story = RoleStory()
    story.reaches(step)
    story.wants_replanning(step, "the store has no locks")
    assert story.works_on() == {"plan"}
    assert "the store has no locks" in story.order_of("plan").instructions
    assert story.handoffs()[-1][1:] == ("requires_replanning", ACCEPTED)
    assert story.step("implement").state is StepState.PENDING
    for each in ("plan", "implement", "audit", "clean"):
        story.hands_on(each)
    story.closes()
    assert story.task() is TaskState.COMPLETE


def test_replanning_without_a_reason_is_incomplete() -> None:
    """The planner would not know what to change."""
    story = RoleStory()
    story.reaches("implement")
    story.says("implement", handoff("implement", handoff={"type": "requires_replanning"}))
    assert "say why the plan does not hold" in story.order_of("implement").instructions


def test_replanning_ends_in_a_question() -> None:
    """A plan that is wanted anew for the third time is a question; retry goes on with the plan that there is."""
    story = RoleStory()
    for number in range(3):
        story.reaches("implement")
        story.wants_replanning("implement", f"reason {number}")
    assert "reason 2" in story.question().text
    story.answers(story.question().id, "Use the store as it is")
    assert "Use the store as it is" in story.order_of("implement").instructions


@pytest.mark.parametrize(
    ("step", "goes_to"), [("implement", "plan"), ("audit", "implement"), ("clean", "implement")]
)
def test_receiver_may_hand_back(step: str, goes_to: str) -> None:
    """What was handed on inadequately goes back to the plan, or to the work that was audited."""
    story = RoleStory()
    story.reaches(step)
    story.hands_back(step, "nobody could follow this")
    assert story.works_on() == {goes_to}
    assert "nobody could follow this" in story.order_of(goes_to).instructions


def test_handing_back_needs_a_reason() -> None:
    """Without an issue the auditor is asked for one."""
    story = RoleStory()
    story.reaches("audit")
    story.hands_back("audit")
    assert story.works_on() == {"audit"}
    assert "say what is wrong" in story.order_of("audit").instructions


def test_audit_cannot_pass_and_fail() -> None:
    """A type that says one thing and a status that says another decide nothing."""
    story = RoleStory()
    story.reaches("audit")
    story.hands_on(
        "audit", handoff={"type": "ready_for_cleanup", "status": "rejected"}, issues=[issue("Bad")]
    )
    assert story.works_on() == {"audit"}
    assert "say one of the two" in story.order_of("audit").instructions


# Commands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "step", "goes_to"),
    [
        ("implementer", "implement", "plan"),
        ("auditor", "audit", "implement"),
        ("cleaner", "clean", "implement"),
        ("orchestrator", "close", "clean"),
    ],
)
def test_failed_command_refuses_the_handoff(agent: str, step: str, goes_to: str) -> None:
    """No agent is spent on work that its own command refuses: it goes back with what the command printed."""
    story = RoleStory(checks=(agent,))
    story.reaches(step)
    story.checked(step, 1)
    assert story.works_on() == {goes_to}
    assert "the check that the PM ran exited 1" in story.order_of(goes_to).instructions
    assert story.handoffs()[-1][2] is REJECTED


# The end ------------------------------------------------------------------------------------------


def test_unmet_criterion_replans() -> None:
    """What the orchestrator finds unmet goes back to the planner, as often as it may."""
    story = RoleStory()
    for _ in range(3):
        for step in ("plan", "implement", "audit", "clean"):
            story.hands_on(step)
        unmet = MET[0].__class__(MET[0].text, met=False, reason="two tests fail")
        story.closes((unmet, MET[1]))
    assert "two tests fail" in story.question().text


def test_accepted_criteria_still_merge_the_cleanup() -> None:
    """A person's word is evidence for the criteria, and no merge: one that fails is found as otherwise."""
    story = RoleStory(after_rejections=AfterRejections.ASK)
    for step in ("plan", "implement", "audit", "clean"):
        story.hands_on(step)
    unmet = MET[0].__class__(MET[0].text, met=False, reason="two tests fail")
    story.closes((unmet, MET[1]))
    story.undone = (Merge,)
    story.answers(story.question().id, "accept")
    (merge,) = [each for each in story.state.outbox.values() if isinstance(each, Merge)]
    assert (merge.step, merge.commit) == ("close", story.state.steps["clean"].commit)
    assert story.state.steps["close"].state is StepState.CHECKING
    assert story.state.state is TaskState.RUNNING


def test_blocked_role_tries_another_way_then_asks() -> None:
    """A blocker that is no fault of the plan is treated as everywhere."""
    story = RoleStory()
    story.reaches("implement")
    story.does("implement", ReportStatus.BLOCKED, blockers="No key for the API")
    assert story.works_on() == {"implement"}
    story.does("implement", ReportStatus.BLOCKED, blockers="Still no key")
    assert "Still no key" in story.question().text


def test_order_beside_the_line_is_not_of_it() -> None:
    """`task spawn` looks around; it neither hands on nor replans."""
    story = RoleStory()
    story.spawns("explore")
    story.hands_on("plan")
    assert story.works_on() == {"explore-1", "implement"}
    story.does("explore-1")
    assert story.works_on() == {"implement"}
    assert len(story.state.handoffs) == 1


def test_ids_that_the_pm_gives_are_the_documents() -> None:
    """Milliseconds and eight hexadecimal digits; ids that it reads may have any letter in their place."""
    story = RoleStory()
    story.hands_on("plan")
    (identifier,) = story.state.handoffs
    assert re.fullmatch(r"handoff_[0-9]{13}_[0-9a-f]{8}", identifier)
    assert is_handoff_id(identifier)
    assert is_handoff_id("handoff_1702200000000_wxyz7890")
    assert not is_handoff_id("handoff_1702200000000_WXYZ7890")
