"""What a journal says, gathered: attempts, checks, questions, stretches of time."""

import json

import pytest

from orchestrator.reporting.build import report_of
from orchestrator.reporting.history import NOTABLE
from orchestrator.reporting.task_report import SpanKind
from tests.unit.reporting.journal import AT, Lines

VIEW = {"task": "tidy", "id": "tidy-0a1b2c3d", "project": "/shop", "state": "complete"}


@pytest.fixture
def lines():
    made = Lines()
    made.begin()
    return made


def report(lines, **view):
    return report_of(VIEW | view, lines.history(), made_at=lines[-1]["at"] + 60)


def lane(made, name):
    return next(each.spans for each in made.lanes if each.name == name)


def step(made):
    return {"id": made, "agent": "dev", "title": "Do it", "status": "passed", "why": ""}


def test_a_rejected_attempt_keeps_why_and_its_feedback(lines):
    lines.open("r-1")
    lines.end("r-1")
    fed = {"kind": "step_fed", "step": "dev:one", "feedback": ["FAIL: test_it"]}
    reopened = {
        "kind": "step_reopened",
        "step": "dev:one",
        "attempt": 2,
        "at": 0,
        "why": "rejected by test:one",
    }
    rejected = lines.say("time_passed", fed, reopened)
    lines.open("r-2", attempt=2)
    lines.say("work_committed", step="dev:one", attempt=2, commit="c0ffee")
    passed = lines.say("time_passed", {"kind": "step_moved", "step": "dev:one", "to": "passed", "at": 0})
    (story,) = report(lines, steps=[step("dev:one")]).steps
    first, second = story.attempts
    assert (first.outcome, first.why, first.line) == ("not accepted", "rejected by test:one", rejected)
    assert (second.outcome, second.feedback, second.commit, second.line) == (
        "passed",
        "FAIL: test_it",
        "c0ffee",
        passed,
    )


def test_a_task_ended_when_it_came_to_rest_whatever_came_later(lines):
    """Runs that end afterwards, or a clock that is set, do not move the end; a second life does."""
    lines.open("r-1")
    lines.say("time_passed", {"kind": "task_moved", "to": "complete", "why": "", "at": 0})
    end = lines[-1]["at"]
    lines.end("r-1")
    lines.say("clock_moved", slept=7200.0, put=0.0, after=7200.0)
    assert report(lines).ended == end
    lines.say("task_started", {"kind": "task_moved", "to": "running", "why": "", "at": 0})
    assert report(lines, state="running").ended is None
    lines.say("time_passed", {"kind": "task_moved", "to": "failed", "why": "", "at": 0})
    assert report(lines, state="failed").ended == lines[-1]["at"]


def test_work_that_passed_and_was_rejected_later_was_not_accepted(lines):
    """A developer's attempt passes when it is committed; then a tester rejects it."""
    lines.open("r-1")
    lines.say("time_passed", {"kind": "step_moved", "step": "dev:one", "to": "passed", "at": 0})
    lines.say(
        "time_passed",
        {"kind": "step_reopened", "step": "dev:one", "attempt": 2, "why": "rejected by test:one"},
    )
    (story,) = report(lines, steps=[step("dev:one")]).steps
    assert story.attempts[0].outcome == "not accepted"


def test_a_judge_that_rejects_is_not_itself_rejected(lines):
    """The tester's attempt was shown as "not accepted: rejected by" itself."""
    lines.open("r-1", step="test:one")
    again = {
        "kind": "step_reopened",
        "step": "test:one",
        "attempt": 2,
        "why": "rejected by test:one: 3 tests failed",
    }
    lines.say("time_passed", again)
    (story,) = report(lines, steps=[step("test:one")]).steps
    assert (story.attempts[0].outcome, "3 tests failed" in story.attempts[0].why) == (
        "rejected the work",
        True,
    )


def test_a_refused_handoff_is_an_incident(lines):
    """A handoff was sent back three times, and below "Incidents" stood "Nothing"."""
    lines.open("r-1")
    why = "asked again: test-20251127.md, line 3: the status is none"
    lines.say(
        "report_landed", {"kind": "step_moved", "step": "dev:one", "to": "pending", "at": 0, "why": why}
    )
    lines.say(
        "time_passed", {"kind": "step_moved", "step": "dev:one", "to": "pending", "at": 0, "why": "later"}
    )
    (incident,) = report(lines, steps=[step("dev:one")]).incidents
    assert (
        incident.text
        == "dev:one was asked for its handoff again: test-20251127.md, line 3: the status is none"
    )


def test_work_that_passed_and_was_given_up_is_set_aside(lines):
    """The subtask was rejected as often as allowed, and `rejections: set-aside` gave it up."""
    lines.open("r-1")
    for to in ("passed", "set_aside"):
        lines.say(
            "time_passed",
            {"kind": "step_moved", "step": "dev:one", "to": to, "at": 0, "why": "rejected 3 times"},
        )
    (story,) = report(lines, steps=[step("dev:one")]).steps
    assert (story.attempts[0].outcome, story.attempts[0].why) == ("set aside", "rejected 3 times")


def test_work_that_is_only_checked_again_was_not_rejected(lines):
    lines.open("r-1")
    lines.say("time_passed", {"kind": "step_moved", "step": "dev:one", "to": "passed", "at": 0})
    again = {
        "kind": "step_reopened",
        "step": "dev:one",
        "attempt": 2,
        "why": "others merged",
        "recheck": True,
    }
    lines.say("time_passed", again)
    (story,) = report(lines, steps=[step("dev:one")]).steps
    assert story.attempts[0].outcome.startswith("passed")


def test_a_run_is_a_span_from_its_opening_to_its_end(lines):
    opened = lines.open("r-1")
    lines.end("r-1", after=300)
    (span,) = lane(report(lines), "dev")
    assert (span.kind, span.until - span.since, span.line) == (SpanKind.WORK, 300.0, opened)


def test_a_run_that_lives_has_no_end(lines):
    lines.open("r-1")
    (span,) = lane(report(lines, state="running"), "dev")
    assert span.until is None


def test_a_run_that_was_never_launched_is_no_work(lines):
    lines.open("r-1")
    failed = lines.say("launch_failed", run="r-1", reason="tmux is not installed")
    made = report(lines)
    assert not [each for each in made.lanes if each.name == "dev"]
    assert [(each.line, "tmux is not installed" in each.text) for each in made.incidents] == [(failed, True)]


def test_a_check_of_the_daemon_has_exit_and_output(lines):
    lines.open("r-1", purpose="check")
    line = lines.end("r-1", 1, ("FAILED (failures=1)",))
    (check,) = report(lines).checks
    assert (check.exit, check.passed, check.output, check.line) == (1, False, ("FAILED (failures=1)",), line)


def test_a_preparation_is_no_work_of_an_agent(lines):
    """It stood in the time line as an agent's work, in a lane of an agent that nobody had defined."""
    lines.open("r-1", purpose="prepare", instance="dev-prepare")
    lines.end("r-1")
    made = report(lines)
    (span,) = lane(made, "preparations")
    assert (span.text, made.checks) == ("preparation of dev:one, attempt 1", ())


def test_a_limit_lasts_until_the_step_is_tried_again(lines):
    lines.open("r-1")
    limit = {"words": "resets at 5pm"}
    lines.say("time_passed", {"kind": "step_limited", "step": "dev:one", "limit": limit})
    lines.end("r-1")
    lines.say("time_passed", {"kind": "step_limited", "step": "dev:one", "limit": limit}, after=600)
    lines.open("r-2")
    (span,) = lane(report(lines), "usage limits")
    assert (span.until - span.since, "resets at 5pm" in span.text) == (720.0, True)


def test_time_without_a_program_names_what_it_waited_for(lines):
    lines.open("r-1")
    lines.end("r-1")
    asked = {"id": "q-1", "text": "Keep the name?", "step": "dev:one", "asked_at": lines[-1]["at"]}
    line = lines.say("time_passed", {"kind": "question_asked", "question": asked}, after=0)
    lines.say(
        "answered", {"kind": "question_answered", "question": "q-1", "text": "keep", "by": ""}, after=3600
    )
    lines.open("r-2")
    lines.end("r-2")
    made = report(lines)
    idle, start = [span for span in lane(made, "nobody at work") if span.since > AT + 60]
    assert (idle.line, "Keep the name?" in idle.text, idle.until - idle.since) == (line, True, 3600.0)
    assert (start.line, start.text, start.until - start.since) == (0, "no program ran", 60.0)
    (question,) = made.questions
    assert (question.answer, question.answered_at - question.asked_at) == ("keep", 3600.0)
    assert [each.until - each.since for each in made.waits] == [3600.0, 60.0, 60.0], "each wait is said once"


def test_a_cause_explains_no_longer_than_it_went_on(lines):
    """A minute without a box is not why nothing ran for four hours."""
    lines.open("r-1")
    lines.end("r-1")
    lines.say("box_lost", box="alpha", why="no route", after=3600)
    lines.say("box_back", box="alpha", after=60)
    lines.open("r-2")
    lines[-1]["at"] += 10800
    lines[-1]["changes"][0]["run"]["opened_at"] += 10800
    lines.end("r-2")
    made = report(lines)
    idle = [
        (span.text, span.until - span.since) for span in lane(made, "nobody at work") if span.since > AT + 60
    ]
    assert idle == [
        ("no program ran", 3600.0),
        ("no program ran: alpha did not answer", 60.0),
        ("no program ran", 10860.0),
    ]
    assert [(span.text, span.until - span.since) for span in made.waits[:3]] == [
        ("no program ran", 10860.0),
        ("no program ran", 3600.0),
        ("alpha did not answer", 60.0),
    ]


def test_an_open_question_has_no_answer(lines):
    lines.say("time_passed", {"kind": "question_asked", "question": {"id": "q-1", "text": "Which?"}})
    (question,) = report(lines, state="waiting").questions
    assert (question.answered_at, question.answer) == (None, "")


def test_a_box_that_was_away_is_a_span(lines):
    lines.say("box_lost", box="alpha", why="no route")
    lines.say("box_back", box="alpha", after=120)
    (span,) = lane(report(lines), "boxes")
    assert (span.kind, span.until - span.since) == (SpanKind.BOX, 120.0)


def test_rest_before_the_end_is_no_idleness(lines):
    lines.open("r-1")
    lines.end("r-1")
    lines.say("stop_asked", {"kind": "task_moved", "to": "stopped"}, after=0)
    lines.say("task_started", {"kind": "task_moved", "to": "running"}, after=7200)
    lines.open("r-2")
    lines.end("r-2")
    made = report(lines)
    assert lane(made, "stopped")[0].until - lane(made, "stopped")[0].since == 7200.0
    assert all(span.until - span.since < 300 for span in lane(made, "nobody at work"))


def test_what_agents_reviews_alone_speak_for_is_named(lines):
    lines.open("r-1", step="test:two", purpose="check")
    lines.end("r-1")
    steps = [
        step("dev:one") | {"commit": "a", "subtask": "one"},
        step("dev:two") | {"commit": "b", "subtask": "two"},
        step("test:two") | {"subtask": "two"},
    ]
    trust = report(lines, steps=steps).trust
    assert [("dev:one" in each, "dev:two" in each) for each in trust if "only agents" in each] == [
        (True, False)
    ]
    assert "review" not in "".join(trust), "nobody has reviewed it"


def test_a_check_before_any_change_proves_no_work(lines):
    lines.open("r-1", step="baseline", purpose="check")
    lines.end("r-1", 1)
    steps = [step("dev:one") | {"commit": "a", "subtask": "one"}]
    trust = report(lines, steps=steps).trust
    assert any("Before anything was changed" in each for each in trust)
    assert any("dev:one" in each and "only agents" in each for each in trust)


def test_criteria_met_without_evidence_are_named(lines):
    criteria = [
        {"text": "It is fast", "met": True, "evidence": []},
        {"text": "It works", "met": True, "evidence": ["x"]},
    ]
    trust = report(lines, criteria=criteria).trust
    assert any("word alone" in each and "It is fast" in each and "It works" not in each for each in trust)


@pytest.mark.parametrize(
    ("view", "part"),
    [
        ({"usage": {"partial": True}}, "tokens"),
        ({"usage": {"unpriced": ["some-model"]}}, "some-model"),
        ({"state": "running"}, "not over"),
        ({"boxes": [{"address": "alpha", "missing": [{"instance": "dev-2"}]}]}, "dev-2"),
    ],
)
def test_what_is_not_known_is_listed(lines, view, part):
    assert any(part in each for each in report(lines, **view).unknown)
    assert not any(part in each for each in report(lines).unknown)


def test_secrets_and_control_characters_are_not_in_it(lines):
    secret = "sk-ant-api03-" + "a" * 40
    lines.say("time_passed", {"kind": "noticed", "text": f"\x1b[2J key {secret}"})
    (incident,) = report(lines).incidents
    assert secret not in incident.text
    assert "\x1b" not in incident.text


def test_every_line_that_matters_is_read(lines):
    """A line that `NOTABLE` leaves out changes nothing but the list of decisions."""
    kept = [each for each in ("event_landed", "usage_seen", "activity_seen") if NOTABLE.search(_raw(each))]
    assert kept == []
    for kind in (
        "run_opened",
        "step_moved",
        "step_fed",
        "question_asked",
        "noticed",
        "task_moved",
        "step_troubled",
    ):
        assert NOTABLE.search(_raw("event_landed", kind))
    for kind in ("run_gone", "report_landed", "work_committed", "box_lost", "launch_failed", "answered"):
        assert NOTABLE.search(_raw(kind))


def _raw(fact, *changes):
    line = {"n": 1, "at": AT, "fact": {"kind": fact}, "changes": [{"kind": each} for each in changes]}
    return json.dumps(line, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "damage", [{}, {"fact": None}, {"fact": {}, "changes": [{}]}, {"changes": [{"kind": "run_opened"}]}]
)
def test_a_line_that_lacks_fields_ends_nothing(lines, damage):
    lines.append({"n": 9, "at": AT} | damage)
    assert report(lines).name == "tidy"


def test_attempt_that_asked_waited_for_an_answer(lines):
    lines.open("r-1")
    why = "dev is blocked on 'Do it': which name?"
    lines.say("time_passed", {"kind": "step_moved", "step": "dev:one", "to": "blocked", "why": why, "at": 0})
    answered = {"kind": "step_reopened", "step": "dev:one", "attempt": 2, "why": "goes on in answer to q1"}
    lines.say("time_passed", answered)
    (story,) = report(lines, steps=[step("dev:one")]).steps
    assert story.attempts[0].outcome == "waited for an answer"


def test_criteria_without_a_verdict_are_counted(lines):
    lines.open("r-1")
    criteria = [{"text": "It works", "met": True, "evidence": ["x"]}]
    said = " ".join(report(lines, criteria=criteria, counts={"criteria": 3}).trust)
    assert "1 of 3 success criteria are met" in said
    assert "2 of them were not judged yet" in said


def test_a_criterion_that_the_user_accepted_was_not_looked_up(lines):
    """ "the evidence of 1 of them was looked up" was said of a criterion that the user had accepted as it was."""
    criteria = [
        {"text": "It works", "met": True, "evidence": ["greet.py"]},
        {"text": "It is kind", "met": True, "evidence": ["accepted by the user in answer to q2"]},
    ]
    trust = report(lines, criteria=criteria).trust
    assert "2 of 2 success criteria are met; the evidence of 1 of them was looked up." in trust
    assert "Accepted by the user: It is kind." in trust
