"""Escalated notes: who answers first, whose answer is checked, and what is written into the notes in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.model.escalation import CaseState, Via
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.question import QuestionKind
from orchestrator.model.task import TaskState
from orchestrator.model.turn_end import TurnEnd
from orchestrator.model.workflow import AgentKind, Bounds, EditKind, Escalation, PlanEdit, WorkflowAgent
from orchestrator.model.workflow_records import (
    AgentStatus,
    EscalationResolution,
    NoteKind,
    NoteStatus,
    ResolutionItem,
    Resolver,
    Route,
    Session,
)
from tests.unit.pm.workflows import EPOCH, JUDGE, WorkflowStory, doer, note, plan_of

ROOMY = Limits(max_concurrent_runs=10)


def on_call(name: str, **more: Any) -> WorkflowAgent:
    """Return an agent that answers escalations."""
    return doer(name, kind=AgentKind.ARCHITECT, outputs=(), evidence=(), **more)


class EscalationStory(WorkflowStory):
    """Two doers, of which b needs a, and whoever answers."""

    def __init__(self, *roles: str, bounds: Bounds | None = None, limits: Limits = ROOMY) -> None:
        named = replace(Escalation(), **{role: role for role in roles})  # type: ignore[arg-type]
        agents = (doer("a"), doer("b"), doer("c", "a"), *map(on_call, roles), JUDGE)
        super().__init__(plan_of(*agents, escalation=named, bounds=bounds or Bounds()), limits=limits)
        self.starts()

    def asks(self, agent: str, kind: NoteKind = NoteKind.NONE, text: str = "Which table names?") -> None:
        """An agent escalates a note; one that was answered before stays as it is."""
        known = self.state.records.get(agent)
        before = known.session.notes if known and known.session else ()
        asked = replace(note(len(before) + 1, NoteStatus.ESCALATED, kind=kind), description=text)
        self.leaves(f"do:{agent}", notes=(*before, asked), claim=AgentStatus.BLOCKED)

    def resolves(self, number: int, *items: ResolutionItem, by: str = "resolver") -> None:
        """A resolver answers an escalation."""
        said = EscalationResolution(f"{by}_{EPOCH}", EPOCH, items)
        turn = TurnEnd(session=Session(f"{by}_{EPOCH}", EPOCH), resolution=said if items else None)
        self.leaves(f"resolve:{number}", turn=turn)

    def note_of(self, agent: str) -> Any:
        """Return the last note of an agent."""
        session = self.state.records[agent].session
        assert session is not None
        return session.notes[-1]


def item(
    route: Route = Route.ANSWER, text: str = "Singular", agent: str = "a", **more: Any
) -> ResolutionItem:
    """Return a resolver's answer to the first note of a."""
    return ResolutionItem(agent, "note_001", route, text, **{"checked": ("c",), **more})


def test_resolver_answers_and_the_agent_works_on() -> None:
    """Only dependents wait meanwhile; the answer stands in the note, by the executor, and in the next order."""
    story = EscalationStory("resolver")
    story.asks("a")
    assert story.status("a") is AgentStatus.BLOCKED
    assert story.works_on() == {"do:b", "resolve:1"}
    assert "Which table names?" in story.order_of("resolve:1").instructions
    assert not story.state.open_questions
    story.resolves(1, item())
    assert (story.note_of("a").resolution, story.note_of("a").resolved_by) == ("Singular", Resolver.EXECUTOR)
    assert "Singular" in story.order_of("do:a").instructions
    assert story.status("a") is AgentStatus.WORKING
    assert story.state.cases["1"].state is CaseState.SETTLED


def test_answer_that_was_not_checked_comes_back() -> None:
    """c needs a: an answer to a that does not name c is written again, and then others are asked."""
    story = EscalationStory("resolver")
    story.asks("a")
    story.resolves(1, item(checked=()))
    assert "check the answer against c" in story.order_of("resolve:1").instructions
    assert story.note_of("a").status is NoteStatus.ESCALATED
    story.resolves(1, item(checked=()))
    assert story.question().step == "do:a"
    story.answers(story.question().id, "Plural")
    assert story.note_of("a").resolved_by is Resolver.USER


@pytest.mark.parametrize(
    "wrong",
    [(item(agent="b"),), (item(), item()), (item(Route.ARCHITECT),), ()],
    ids=["of another", "twice", "no architect", "nothing"],
)
def test_resolution_that_does_not_hold_is_asked_again(wrong: tuple[ResolutionItem, ...]) -> None:
    story = EscalationStory("resolver")
    story.asks("a")
    story.resolves(1, *wrong)
    assert story.step("resolve:1").tally.asks == 1
    assert story.works_on() == {"do:b", "resolve:1"}


def test_requirements_go_to_the_user_then_to_the_resolver() -> None:
    """The user's words stand in the note as they are; what the resolver adds is marked as its own."""
    story = EscalationStory("resolver")
    story.asks("a", NoteKind.REQUIREMENTS, "Are emails unique?")
    assert "Are emails unique?" in story.question().text
    assert "The answer touches: c" in story.question().text
    story.answers(story.question().id, "Yes, unique")
    assert story.step("do:a").state is StepState.BLOCKED
    assert "Yes, unique" in story.order_of("resolve:1").instructions
    story.resolves(1, item(text="c reads them in lower case"))
    assert story.note_of("a").resolved_by is Resolver.USER
    assert story.note_of("a").resolution == "Yes, unique\n(resolver: c reads them in lower case)"


def test_architect_gets_a_task_of_its_own_for_each_question() -> None:
    """Its work is verified before it counts; the second question has another task id and session."""
    story = EscalationStory("architect")
    story.asks("a", NoteKind.TECHNOLOGY, "Which driver?")
    assert story.works_on() == {"do:b", "do:architect"}
    assert "Which driver?" in story.order_of("do:architect").instructions
    story.leaves("do:architect", answer="Use psycopg", version="v1")
    assert story.status("a") is AgentStatus.BLOCKED
    story.judges("verify:architect")
    assert story.note_of("a").resolution == "Use psycopg"
    story.asks("b", NoteKind.SECURITY, "Which hash?")
    task_id = story.state.records["architect"].task_id
    assert task_id not in {"", f"architect_{EPOCH}"}
    assert "Which driver?" not in story.order_of("do:architect").instructions
    assert story.status("architect") is AgentStatus.WORKING


def test_first_come_first_served() -> None:
    story = EscalationStory("resolver")
    story.asks("a")
    story.asks("b")
    assert story.works_on() == {"resolve:1"}
    story.resolves(1, item())
    assert {"resolve:2", "do:a"} <= story.works_on()


def test_resolver_routes_a_note_to_the_user() -> None:
    story = EscalationStory("resolver")
    story.asks("a")
    story.resolves(1, item(Route.USER, "Singular or plural, in all tables?"))
    assert "Singular or plural" in story.question().text
    story.answers(story.question().id, "Plural")
    story.resolves(1, item(text="Plural"))
    assert (story.note_of("a").resolution, story.note_of("a").resolved_by) == ("Plural", Resolver.USER)


def test_passing_on_is_bounded_by_depth() -> None:
    """A resolver that sends the question round and round is asked no more: the user's answer counts."""
    story = EscalationStory("resolver", bounds=Bounds(depth=1))
    story.asks("a")
    for _ in range(2):
        story.resolves(1, item(Route.USER, "Which?"))
        story.answers(story.question().id, "Plural")
    assert story.note_of("a").resolution == "Plural"


def test_third_similar_question_goes_to_the_loop_agent() -> None:
    """With the whole history, and not the normal way any more."""
    story = EscalationStory("resolver", "loop")
    for text in ("Should table names be singular?", "Should the table names be in singular?"):
        story.asks("a", text=text)
        number = len(story.state.cases)
        story.resolves(number, item(agent="a", text="Singular") if number == 1 else _second("Singular"))
    story.asks("a", text="Shall table names be singular?")
    case = story.state.cases["3"]
    assert (case.loop, case.to) == (True, Via.LOOP)
    assert story.step("resolve:3").agent == "loop"
    assert story.order_of("resolve:3").instructions.count("Singular") >= 2


def _second(text: str) -> ResolutionItem:
    return ResolutionItem("a", "note_002", Route.ANSWER, text, checked=("c",))


def test_loop_agent_is_asked_again_until_it_says_how() -> None:
    """A file that does not hold is written again once; then the user is asked, with the history."""
    story = _looping()
    story.resolves(3, by="loop")
    assert story.step("resolve:3").tally.asks == 1
    assert story.works_on() == {"do:b", "resolve:3"}
    story.resolves(3, _third(checked=()), by="loop")
    question = story.question()
    assert (question.step, question.kind) == ("do:a", QuestionKind.LOOP)
    assert question.text.count("Singular") >= 2
    story.answers(question.id, "Singular, and do not ask again")
    assert story.note_of("a").resolved_by is Resolver.USER


def test_loop_agent_changes_the_plan_and_the_count_begins_anew() -> None:
    story = _looping()
    edit = PlanEdit(EditKind.REINSTRUCT, "a", instructions="Table names are singular.")
    story.resolves(3, _third(Route.EDIT, edits=(edit,)), by="loop")
    assert [record.by for record in story.state.adaptations] == ["loop"]
    assert (story.note_of("a").status, story.note_of("a").resolution) == (NoteStatus.RESOLVED, "Singular")
    assert "note_003: Singular" in story.order_of("do:a").instructions
    story.asks("a", text="Should table names be singular?")
    assert not story.state.cases["4"].loop


def test_loop_that_its_agent_does_not_end_goes_to_the_user() -> None:
    """As often as a question may repeat it is asked; whatever it answers, the next time is the user's."""
    story = _looping()
    for number in (3, 4, 5):
        assert story.state.cases[str(number)].to is Via.LOOP
        story.resolves(
            number, ResolutionItem("a", f"note_{number:03}", Route.ANSWER, "Yes", ("c",)), by="loop"
        )
        story.asks("a", text="Should table names be singular?")
    assert story.state.cases["6"].to is Via.USER
    story.answers(story.question().id, "Singular, and do not ask again")
    story.asks("a", text="Should table names be singular?")
    assert not story.state.cases["7"].loop


def _looping() -> EscalationStory:
    """An agent has asked the same three times: its loop agent is asked."""
    story = EscalationStory("resolver", "loop")
    for number in (1, 2):
        story.asks("a", text="Should table names be singular?")
        story.resolves(number, item() if number == 1 else _second("Singular"))
    story.asks("a", text="Shall table names be singular?")
    return story


def _third(route: Route = Route.ANSWER, **more: Any) -> ResolutionItem:
    return ResolutionItem("a", "note_003", route, "Singular", **{"checked": ("c",), **more})


QUESTIONS = (
    "Which column holds the birthday?",
    "May invoices be deleted?",
    "How long are sessions kept?",
    "Is the currency euro everywhere?",
    "Who reads the audit log?",
)


def test_different_question_each_time_reaches_the_user() -> None:
    """No two are alike, and the resolver edits the plan for each: the third is the user's, with what was answered.

    Then the count begins anew.
    """
    story = EscalationStory("resolver", limits=replace(ROOMY, max_escalations=2))
    for number, text in enumerate(QUESTIONS[:2], start=1):
        story.asks("a", text=text)
        edit = PlanEdit(EditKind.REINSTRUCT, "a", instructions=f"Answer {number}")
        said = ResolutionItem("a", f"note_{number:03}", Route.EDIT, f"answer {number}", ("c",), edits=(edit,))
        story.resolves(number, said)
    story.asks("a", text=QUESTIONS[2])
    case, question = story.state.cases["3"], story.question()
    assert (case.bounded, case.loop, case.to) == (True, False, Via.USER)
    assert question.kind is QuestionKind.LOOP
    assert all(text in question.text for text in (*QUESTIONS[:3], "answer 1", "answer 2", "max_escalations"))
    story.answers(question.id, "Ask me no more: decide such things yourself")
    assert story.note_of("a").resolved_by is Resolver.USER
    assert story.step("do:a").state is StepState.WORKING
    story.asks("a", text=QUESTIONS[3])
    assert story.state.cases["4"].to is Via.RESOLVER


def test_escalations_of_each_agent_are_counted_apart() -> None:
    story = EscalationStory("resolver", limits=replace(ROOMY, max_escalations=1))
    story.asks("a", text=QUESTIONS[0])
    story.resolves(1, item())
    story.asks("b", text=QUESTIONS[1])
    assert story.state.cases["2"].to is Via.RESOLVER


def test_agent_that_asks_too_often_may_be_given_up() -> None:
    story = EscalationStory("resolver", limits=replace(ROOMY, max_escalations=0))
    story.asks("a", text=QUESTIONS[0])
    story.answers(story.question().id, "set-aside")
    assert story.step("do:a").state is StepState.SET_ASIDE
    assert story.state.cases["1"].state is CaseState.SETTLED


def test_loop_without_a_loop_agent_asks_the_user() -> None:
    story = EscalationStory("resolver")
    for number in (1, 2):
        story.asks("a")
        story.resolves(number, item() if number == 1 else _second("Singular"))
    story.asks("a")
    assert story.question().kind is QuestionKind.LOOP
    story.answers(story.question().id, "Singular, and do not ask again")
    assert story.note_of("a").resolved_by is Resolver.USER


def test_question_that_a_resolver_put_otherwise_is_counted_as_it_was_asked() -> None:
    """Two passed on to the user in other words are still the same question: the third is a loop."""
    story = EscalationStory("resolver", bounds=Bounds(depth=1))
    for number, words in ((1, "Is the deadline midnight UTC?"), (2, "Who may read the log of payments?")):
        story.asks("a", text="Should table names be singular?")
        passed_on = ResolutionItem("a", f"note_{number:03}", Route.USER, words)
        story.resolves(number, passed_on)
        assert words in story.question().text
        story.answers(story.question().id, "Singular")
        story.resolves(number, replace(passed_on, route=Route.ANSWER, text="Singular", checked=("c",)))
    story.asks("a", text="Shall table names be singular?")
    assert story.state.cases["3"].loop


def test_question_of_an_abandoned_task_is_asked_again_by_a_start() -> None:
    story = EscalationStory("resolver")
    story.asks("a", NoteKind.REQUIREMENTS, "Are emails unique?")
    story.answers(story.question().id, "abandon")
    assert story.task() is TaskState.FAILED
    assert not story.state.open_questions
    story.starts()
    assert "Are emails unique?" in story.question().text
    story.answers(story.question().id, "Yes, unique")
    story.resolves(1, item(text="Yes, unique"))
    assert story.note_of("a").resolution == "Yes, unique"


def test_resolver_that_escalates_itself_is_passed_over() -> None:
    story = EscalationStory("resolver")
    story.asks("a")
    lost = note(1, NoteStatus.ESCALATED)
    turn = TurnEnd(session=Session(f"resolver_{EPOCH}", EPOCH, (lost,)))
    story.leaves("resolve:1", turn=turn)
    assert story.question().step == "do:a"
    assert story.step("resolve:1").state is StepState.SET_ASIDE


def test_agent_that_is_given_up_settles_its_escalation() -> None:
    story = EscalationStory("resolver")
    story.asks("a", NoteKind.REQUIREMENTS)
    story.answers(story.question().id, "set-aside")
    assert story.state.cases["1"].state is CaseState.SETTLED
    story.verified("b")
    assert story.task() is TaskState.PARTIAL


def test_gap_in_the_plan_is_closed_by_an_edit() -> None:
    """The resolver edits the plan, and the agent that asked reads that it was."""
    story = EscalationStory("resolver")
    story.asks("a", NoteKind.WORKFLOW, "I need what b makes")
    edit = PlanEdit(EditKind.SET_BOUNDS, "a", bounds=(("verifications", 4),))
    story.resolves(1, item(Route.EDIT, "", edits=(edit,)))
    assert [record.by for record in story.state.adaptations] == ["resolver"]
    assert story.note_of("a").status is NoteStatus.RESOLVED


def test_edit_that_lowers_the_bar_waits_for_the_user() -> None:
    story = EscalationStory("resolver")
    story.asks("a", NoteKind.WORKFLOW, "I need more tries")
    edit = PlanEdit(EditKind.SET_BOUNDS, "a", bounds=(("verifications", 40),))
    story.resolves(1, item(Route.EDIT, "More tries", edits=(edit,)))
    assert not story.state.adaptations
    assert "approve" in story.question().options
    story.answers(story.question().id, "approve")
    assert [record.by for record in story.state.adaptations] == ["user"]
    assert dict(story.step("do:a").bounds)["max_rejections"] == 40
    assert story.note_of("a").status is NoteStatus.RESOLVED
