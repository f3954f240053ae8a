"""What is kept of runs that are gone, and what they came to."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.daemon.journal import codec
from orchestrator.model.run import Exit, Life, Purpose, Run, Turn
from orchestrator.model.task import AfterRejections
from orchestrator.model.usage import Usage
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.task_state import PMState
from tests.unit.pm.story import Story

USED = Usage(input=1000, output=200, cost=0.5)
FIRST = Run("r-1", "explore-1", 1, "explore", "explore", Purpose.WORK, 100.0, order="pm-1.md")
ALIVE = replace(
    FIRST, life=Life.ALIVE, turn=Turn.BUSY, evidence="process 7", since=110.0, pid=7, pane="%7", session="c-1"
)
GONE = replace(
    ALIVE,
    life=Life.GONE,
    evidence="exited 0",
    since=160.0,
    exit=Exit(code=0),
    lasted=50.0,
    usage=USED,
    progress_at=150.0,
    reported_at=150.0,
)
NEXT = Run("r-2", "explore-2", 1, "explore", "explore", Purpose.WORK, 200.0, order="pm-2.md")
OTHER = replace(NEXT, id="r-3", instance="explore-2", order="pm-3.md")


def through(*runs: Run) -> Runs:
    folded = Runs()
    for run in runs:
        folded = folded.with_run(run)
    return folded


def test_of_a_run_that_was_succeeded_stays_what_it_came_to() -> None:
    runs = through(FIRST, ALIVE, GONE)
    assert runs["r-1"] == GONE, "its end is shown"
    runs = runs.with_run(NEXT)
    past = runs["r-1"]
    assert (past.evidence, past.since, past.pid, past.pane, past.progress_at) == ("", 0.0, None, "", 0.0)
    kept = (
        "id",
        "step",
        "attempt",
        "agent",
        "instance",
        "order",
        "life",
        "exit",
        "session",
        "lasted",
        "usage",
    )
    assert [getattr(past, name) for name in (*kept, "reported_at")] == [
        getattr(GONE, name) for name in (*kept, "reported_at")
    ]
    assert runs.with_order("pm-1.md") == runs.last_at_work_on("explore-1") == past
    assert (runs.spent["explore"].runs, runs.spent["explore"].usage) == (2, USED)


def test_live_run_is_kept_whole_until_it_ends() -> None:
    runs = through(FIRST, ALIVE, OTHER, NEXT)
    assert runs["r-1"] == ALIVE
    assert runs.with_run(GONE)["r-1"].evidence == ""
    assert runs.with_run(GONE).usage == USED


def test_late_usage_is_counted_once() -> None:
    runs = through(FIRST, ALIVE, GONE, NEXT)
    more = replace(runs["r-1"], usage=replace(USED, input=1500))
    assert runs.with_run(more).usage.input == 1500


def test_runs_are_the_same_after_a_restart() -> None:
    runs = through(FIRST, ALIVE, GONE, OTHER, NEXT)
    again = Runs(runs.values())
    assert again == runs
    assert (again.spent, again.latest, again.live) == (runs.spent, runs.latest, runs.live)
    assert Runs([GONE, OTHER, NEXT]) == runs, "a snapshot of an older version holds them whole"
    assert "exited 0" not in codec.dumped_state(PMState(runs=runs))


def test_an_attempt_that_nobody_began_is_no_try() -> None:
    """A step that was opened again for a question was said to be at its fourth attempt, after three."""
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    for _ in range(story.limits.max_rejections):
        story.does("dev:a")
        story.rejects("test:a", "it leaks")
    assert story.step("dev:a").attempt == story.limits.max_rejections + 1
    assert story.state.runs.tries("dev:a") == story.limits.max_rejections
    assert story.state.runs.tries("review:a") == 0


def test_runs_of_one_attempt_are_one_try_also_after_a_restart() -> None:
    runs = [replace(FIRST, step="dev:a"), replace(NEXT, step="dev:a")]
    runs.append(replace(OTHER, step="dev:a", attempt=4))
    assert through(*runs).tries("dev:a") == Runs(runs).tries("dev:a") == 2


def test_check_ahead_of_work_is_a_try_and_no_work() -> None:
    """The check before any change has a run of its own, ahead of the agent's."""
    check = replace(FIRST, step="dev:a", purpose=Purpose.CHECK, order="")
    work = replace(NEXT, step="dev:a")
    for runs in (through(check), Runs([check])):
        assert (runs.tries("dev:a"), runs.last_at_work_on("dev:a")) == (1, None)
    for runs in (through(check, work), Runs([check, work])):
        assert (runs.tries("dev:a"), runs.last_at_work_on("dev:a")) == (1, work)


def test_runs_of_one_step_are_summed_up_in_one_entry() -> None:
    runs = through(*(replace(FIRST, id=f"r-{number}", attempt=number) for number in range(1, 50)))
    assert len(runs._by_step) == 1
    assert runs.tries("explore-1") == 49


def test_orders_count_attempts_as_status_does() -> None:
    """After a question an order said "attempt 5" of what status showed as the fourth try."""
    story = Story(after_rejections=AfterRejections.ASK).planned("a")
    for _ in range(story.limits.max_rejections):
        story.does("dev:a")
        story.rejects("test:a", "it leaks")
    story.answers("q1", "retry")
    tries = story.state.runs.tries("dev:a")
    assert tries < story.step("dev:a").attempt
    assert f"This is attempt {tries}." in story.order_of("dev:a").instructions
