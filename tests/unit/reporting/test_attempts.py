"""What the report calls an attempt that was followed by another, and an incident that stands twice in the journal."""

import pytest

from tests.unit.reporting.journal import Lines


@pytest.fixture
def lines():
    made = Lines()
    made.begin()
    return made


def reopened(why, **other):
    return {"kind": "step_reopened", "step": "dev:one", "attempt": 2, "why": why} | other


def moved(to, why=""):
    return {"kind": "step_moved", "step": "dev:one", "to": to, "why": why}


@pytest.mark.parametrize(
    ("ended", "again", "outcome", "why"),
    [
        (None, reopened("the task was started again"), "interrupted", "the task was started again"),
        (None, reopened("blocked: No key"), "blocked", "blocked: No key"),
        (None, reopened("more is to be planned: x"), "found the task not done", "more is to be planned: x"),
        (None, reopened("rejected by test:one: 3 failed"), "not accepted", "rejected by test:one: 3 failed"),
        (None, reopened("rejected 3 times, last: x"), "not accepted", "rejected 3 times, last: x"),
        (
            "passed",
            reopened("does not fit to what was merged meanwhile: x"),
            "not accepted",
            "does not fit to what was merged meanwhile: x",
        ),
        ("passed", reopened("others merged", recheck=True), "passed, then checked again", "others merged"),
        (
            "passed",
            reopened("rejected by test:one: x", queued=True),
            "passed, then checked again",
            "rejected by test:one: x",
        ),
        (
            "passed",
            reopened("task.md asks for something else now"),
            "done again, though it had passed",
            "task.md asks for something else now",
        ),
        ("blocked", reopened("goes on, because q1 was answered"), "blocked", "for its reason"),
        ("failed", reopened("the task was started again"), "failed", "for its reason"),
    ],
)
def test_an_attempt_is_called_what_came_of_it(lines, ended, again, outcome, why):
    """One that was interrupted was called "not accepted", and so was one that had been blocked or had failed."""
    lines.open("r-1")
    if ended:
        lines.say("time_passed", moved(ended, "for its reason"))
    lines.say("time_passed", again)
    attempt = lines.history().attempts["dev:one", 1]
    assert (attempt.outcome, attempt.why) == (outcome, why)


def test_an_attempt_that_passed_ended_then(lines):
    """A plan that took a second, and was asked for again an hour later, was shown as an hour of work."""
    lines.open("r-1")
    lines.say("time_passed", moved("passed"))
    passed_at = lines.history().attempts["dev:one", 1].ended
    lines.say("time_passed", moved("pending"))
    lines.say("time_passed", reopened("task.md asks for something else now"))
    assert lines.history().attempts["dev:one", 1].ended == passed_at


TROUBLED = {
    "kind": "step_troubled",
    "step": "baseline",
    "cause": {"what": "the check exited 1", "lines": ["1 failed"]},
}
CHECKED = {"kind": "step_checked", "step": "baseline", "exit": 1}
NOTICED = {"kind": "noticed", "text": "2025-11-27T14:35:00Z the check exited 1 before anything was changed"}
PASSED = {"kind": "step_moved", "step": "baseline", "to": "passed"}


@pytest.mark.parametrize("changes", [(TROUBLED, CHECKED, NOTICED, PASSED), (TROUBLED, NOTICED, PASSED)])
def test_a_failed_check_is_one_incident(lines, changes):
    """A check that failed before any change stood there twice: its cause, and the notice of it."""
    line = lines.say("run_gone", *changes, run="r-1", exit={"code": 1})
    (incident,) = lines.history().incidents
    assert (incident.text, incident.output, incident.line) == (
        "the check exited 1 before anything was changed",
        ("1 failed",),
        line,
    )


def test_a_notice_of_something_else_is_another_incident(lines):
    lines.say("run_gone", TROUBLED, PASSED, NOTICED, run="r-1", exit={"code": 1})
    lines.say("time_passed", CHECKED, NOTICED)
    said = [each.text for each in lines.history().incidents]
    notice = "the check exited 1 before anything was changed"
    assert said == ["baseline: the check exited 1", notice, notice]
