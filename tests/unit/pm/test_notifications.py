"""What is news to the user, and that each is told by one rule only."""

from dataclasses import replace

from orchestrator.model import facts as f
from orchestrator.model.actions import Notify
from orchestrator.model.event import Event, EventKind, Failure
from orchestrator.model.handoff import ReportStatus, Verdict
from orchestrator.model.limits import Limits
from orchestrator.model.notification import NotificationRule
from orchestrator.model.plan import StepState
from orchestrator.model.question import Question
from orchestrator.model.task import AfterRejections, TaskState
from orchestrator.model.usage_limit import Reset
from orchestrator.pm.decide import decide
from orchestrator.pm.policies.notifications import notify
from orchestrator.pm.state.changes import QuestionAsked
from orchestrator.pm.state.draft import Draft
from tests.unit.pm.story import AT, MET, Story, plan_of


class Notifying(Story):
    """A story that remembers what was told."""

    def __init__(self, **config: object) -> None:
        self.news: list[Notify] = []
        super().__init__(**config)  # type: ignore[arg-type]

    def _work(self, action):
        if isinstance(action, Notify):
            self.news.append(action)
        super()._work(action)

    def rules(self):
        return [each.rule for each in self.news]


def notifying(*subtasks: str, **config: object) -> Notifying:
    story = Notifying(**config)
    story.planned(*subtasks)
    return story


def asks(story, step="dev:a"):
    """An agent is blocked as often as it takes until somebody is asked."""
    for _ in range(story.limits.max_blocks + 1):
        story.does(step, ReportStatus.BLOCKED, blockers="There is no key.")


def test_successful_task_sends_one_notification():
    story = notifying("a")
    story.finishes("a")
    assert story.news == []
    story.does("accept", verdict=Verdict.APPROVED, criteria=MET)
    assert story.task() is TaskState.COMPLETE
    (news,) = story.news
    assert (news.rule, news.title) == (NotificationRule.COMPLETE, "demo is complete")
    assert "/project" in news.text
    assert story.state.outbox == {}


def test_question_notification_has_its_options():
    story = notifying("a")
    asks(story)
    (news,) = story.news
    question = story.question()
    assert (news.rule, news.question, news.at) == (NotificationRule.QUESTION, question.id, question.asked_at)
    assert news.title == "demo asks: q1"
    assert "There is no key." in news.text
    assert "options: 1 retry, 2 begin-anew, 3 replan, 4 set-aside, 5 abandon" in news.text
    assert "It is about 'Do a'" in news.text


def test_standstill_is_notified_separately():
    story = notifying("a", "b")
    asks(story)
    story.finishes("b")
    assert story.rules() == [NotificationRule.QUESTION, NotificationRule.BLOCKED]
    assert story.news[1].title == "demo waits for q1"


def test_standstill_for_the_same_questions_has_one_id():
    story = notifying("a", "b")
    asks(story)
    story.finishes("b")
    story.spawns("explore")
    step = next(run.step for run in story.state.live_runs)
    story.does(step)
    waits = [each.id for each in story.news if each.title == "demo waits for q1"]
    assert len(waits) == 2
    assert len(set(waits)) == 1


def test_the_same_question_text_asked_again_is_another_question():
    story = notifying("a")
    asks(story)
    story.answers("q1", "retry")
    while not story.state.open_questions:
        story.does("dev:a", ReportStatus.BLOCKED, blockers="There is no key.")
    assert [each.question for each in story.news] == ["q1", "q2"]
    assert len({each.id for each in story.news}) == 2


def test_steps_set_aside_share_one_notification():
    story = notifying("a", "b", after_rejections=AfterRejections.SET_ASIDE)
    for _ in range(story.limits.max_rejections):
        story.does("dev:a")
        story.rejects("test:a")
    assert story.step("dev:a").state is StepState.SET_ASIDE
    (news,) = story.news
    assert news.rule is NotificationRule.BLOCKED
    assert news.title == "demo: dev:a does not go on"
    first = news.text.splitlines()[0]
    assert first.startswith("dev:a is set aside: rejected 3 times")
    assert first.endswith("; with it test:a, review:a"), "the reviewer was never asked, and rejected nothing"


def test_what_is_planned_anew_is_not_notified_as_held_up():
    """It went on: the plan reaches the goal in another way, and the task ended complete."""
    story = notifying("a")
    for _ in range(story.limits.max_rejections):
        story.does("dev:a")
        story.rejects("test:a")
    assert story.step("dev:a").replaced
    assert [each.title for each in story.news] == []
    story.does("plan", subtasks=plan_of("b"))
    story.finishes("b")
    story.does("accept", verdict=Verdict.APPROVED, criteria=MET)
    assert story.task() is TaskState.COMPLETE
    assert story.state.why == "every step passed or was planned anew, every criterion is met"


def test_own_requests_are_not_notified():
    story = notifying("a", "b")
    asks(story)
    before = len(story.news)
    story.answers("q1", "set-aside")
    assert len(story.news) == before
    story.stops()
    assert len(story.news) == before


def test_abandoned_task_notification_says_what_is_done():
    """One of two subtasks is on the branch: the task is complete in part, not failed."""
    story = notifying("a", "b")
    asks(story)
    story.answers("q1", "set-aside")
    story.finishes("b")
    unmet = tuple(replace(mark, met=False, reason="it is not") for mark in MET)
    for _ in range(story.limits.max_replans):
        story.does("accept", verdict=Verdict.APPROVED, criteria=unmet)
        story.does("plan", subtasks=())
    story.does("accept", verdict=Verdict.APPROVED, criteria=unmet)
    assert story.news[-1].title == "demo asks: q2"
    assert "All tests pass (it is not)" in story.news[-1].text
    story.answers("q2", "abandon")
    assert story.task() is TaskState.PARTIAL
    assert (story.news[-1].rule, story.news[-1].title) == (
        NotificationRule.COMPLETE,
        "demo is complete in part",
    )


def test_question_with_a_deadline_names_its_default():
    story = notifying("a")
    draft = Draft(story.state, AT, "n", Limits())
    asked = Question("q1", "dev:a", "Go on?", ("yes", "no"), AT, default="no", deadline=AT + 3600)
    draft.change(QuestionAsked(asked))
    notify(draft, story.state, f.TimePassed(AT, "n"))
    (news,) = draft.actions
    assert isinstance(news, Notify)
    assert (news.until, news.default) == (AT + 3600, "no")


def test_damaged_journal_is_notified_as_its_question():
    story = notifying("a")
    story.feed(f.JournalDamaged(story.at, "n", 7, "journal.damaged"))
    (news,) = story.news
    assert news.rule is NotificationRule.QUESTION
    assert "journal.damaged" in news.text
    assert "the whole task" in news.text


def test_usage_limit_is_notified_once():
    story = notifying("a")
    story.comes_alive("dev:a")
    limited = Event(
        EventKind.FAILED, text="until 14:00", failure=Failure.LIMIT, reset=Reset((story.at + 600,))
    )
    story.emits("dev:a", limited)
    (news,) = story.news
    assert (news.rule, news.title) == (NotificationRule.LIMITED, "demo: dev is limited")
    assert "until 14:00" in news.text
    assert news.until == story.step("dev:a").not_before == story.at + 570
    story.ends("dev:a")
    story.passes(3600)
    story.comes_alive("dev:a")
    story.emits("dev:a", limited)
    assert len(story.news) == 1


def test_unspooled_notification_does_not_block_waiting():
    story = notifying("a")
    story.works = False
    asks(story)
    assert [action.kind for action in story.state.outbox.values()] == ["notify"]
    story.passes(60)
    assert story.task() is TaskState.WAITING
    (action,) = story.state.outbox
    story.feed(f.Notified(story.at, action))
    assert story.state.outbox == {}
    assert decide(story.state, f.Notified(story.at, action), story.limits).empty


def test_every_notification_names_the_project():
    """Two projects had a task of one name, and both notifications read `demo asks: q1`."""
    story = notifying("a")
    asks(story)
    assert all("project: /project" in news.text for news in story.news)
    assert story.news
