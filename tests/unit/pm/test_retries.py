"""What goes wrong with a run: blockers, crashes, losses, silence (H9, law 8)."""

from __future__ import annotations

import pytest

from orchestrator.model import facts as f
from orchestrator.model.errors import Fault
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.plan import StepState
from orchestrator.model.run import Ending, Exit, Life
from orchestrator.model.task import AgentOverrides, Location, Phase, TaskState
from orchestrator.pm.handlers.deadlines import wake_at
from tests.unit.pm.story import Story, plan_of

LOST = Exit(lost=True)


def started(**limits: float) -> Story:
    """A story whose explorer is ordered."""
    story = Story(limits=Limits(**limits))  # type: ignore[arg-type]
    story.starts()
    return story


# Blockers -----------------------------------------------------------------------------------------


def test_blocker_is_retried_once_then_asked_about() -> None:
    story = started()
    story.does("explore", ReportStatus.BLOCKED, blockers="No key for the API", skill_gaps="oauth")
    order = story.order_of("explore").instructions
    assert "No key for the API" in order
    assert "Missing skill or context: oauth" in order
    assert "Take a different approach" in order
    story.does("explore", ReportStatus.BLOCKED, blockers="Still no key")
    assert story.step("explore").state is StepState.BLOCKED
    assert "Still no key" in story.question().text
    assert (story.state.state, story.state.phase) == (TaskState.WAITING, Phase.BLOCKED)


def test_blocked_resumes_where_it_was() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a")
    story.does("dev:a")
    story.does("test:a", ReportStatus.BLOCKED, blockers="no device")
    assert story.phase() is Phase.BLOCKED
    story.answers("q1", "it is plugged in now")
    assert story.works_on() == {"test:a"}
    assert story.phase() is Phase.TESTING


def test_a_question_blocks_only_what_depends_on_it() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key")
    assert story.works_on() == {"dev:b"}
    assert story.task() is TaskState.RUNNING


def test_a_blocked_report_needs_no_artifacts_on_disk() -> None:
    story = started(max_blocks=0)
    story.comes_alive("explore")
    story.reports("explore", ReportStatus.BLOCKED, blockers="no key", missing=("artifacts/x",))
    assert "no key" in story.question().text


# Crashes ------------------------------------------------------------------------------------------


def test_crash_is_retried_with_growing_pauses() -> None:
    story = started(max_crashes=3, retry_pause=1, max_retry_pause=10)
    pauses = []
    for _ in range(3):
        story.comes_alive("explore")
        story.ends("explore", Exit(code=1))
        pauses.append(story.step("explore").not_before - story.at)
        assert story.works_on() == set()
        story.passes(pauses[-1])
        assert story.works_on() == {"explore"}
    story.ends("explore", Exit(code=7))
    assert pauses == [1, 4, 10]
    assert story.step("explore").state is StepState.FAILED
    assert "failed 4 times on 'Explore'; the last time it exited 7" in story.question().text
    story.answers("q1", "retry")
    assert story.works_on() == {"explore"}
    assert story.step("explore").tally.crashes == 0


@pytest.mark.parametrize(
    ("how", "crashes", "losses"),
    [
        (Exit(code=7), 1, 0),
        (Exit(signal=9), 1, 0),
        (Exit(signal=9, out_of_memory=True), 1, 0),
        (Exit(signal=1), 0, 1),
        (LOST, 0, 1),
    ],
)
def test_a_lost_terminal_is_not_the_agents_doing(how: Exit, crashes: int, losses: int) -> None:
    story = started()
    story.ends("explore", how)
    tally = story.step("explore").tally
    assert (tally.crashes, tally.losses) == (crashes, losses)


def test_a_terminal_lost_too_often_is_a_question() -> None:
    story = started(max_losses=2)
    for _ in range(3):
        story.passes(300)
        story.ends("explore", LOST)
    assert story.step("explore").state is StepState.FAILED
    assert f"lost its terminal 3 times on 'Explore'; the last time: {LOST}" in story.question().text


def test_failed_launch_is_a_question_with_its_cause() -> None:
    """None was opened: to say that a terminal was lost would be false, and would not help."""
    story = started(max_losses=1)
    for _ in range(2):
        story.passes(300)
        story.feed(
            f.LaunchFailed(story.at, f"n-{story.at}", story.run_of("explore").id, "git's lock is held")
        )
    assert "could not be launched 2 times" in story.question().text
    assert "git's lock is held" in story.question().text


def test_clean_exit_without_handoff_is_asked_once() -> None:
    story = started(max_crashes=0)
    story.ends("explore", Exit(code=0))
    assert "left no handoff" in story.order_of("explore").instructions
    assert story.step("explore").keep_tree
    story.ends("explore", Exit(code=0))
    assert story.step("explore").state is StepState.FAILED
    assert "ended without a handoff" in story.question().text


def test_a_launch_that_fails_for_now_is_tried_again() -> None:
    story = started()
    run = story.run_of("explore")
    story.feed(f.LaunchFailed(story.at, "n", run.id, "tmux does not answer"))
    assert story.step("explore").tally.losses == 1
    story.passes(1)
    assert story.run_of("explore").id != run.id


def test_a_launch_that_can_never_be_is_a_question() -> None:
    story = started()
    story.feed(f.LaunchFailed(story.at, "n", story.run_of("explore").id, "no such agent", again=False))
    assert story.step("explore").state is StepState.BLOCKED
    assert "no such agent" in story.question().text


def test_a_launch_is_not_said_to_have_failed_once_it_lives() -> None:
    story = started()
    run = story.comes_alive("explore")
    story.feed(f.LaunchFailed(story.at, "n", run.id, "late word"))
    assert story.last.empty


def test_a_run_is_gone_only_once() -> None:
    story = started()
    run = story.comes_alive("explore")
    story.ends(run=run, how=Exit(code=1))
    story.ends(run=run, how=Exit(code=1))
    assert story.last.empty
    story.feed(f.RunStarted(story.at, run.id, 4711))
    assert story.last.empty


# Silence ------------------------------------------------------------------------------------------


def test_a_silent_run_is_ended_tried_again_and_then_asked_about() -> None:
    story = started(inactivity_timeout=1800, max_inactive_runs=2)
    for times in (1, 2):
        run = story.comes_alive("explore")
        story.passes(1799)
        assert story.state.runs[run.id].ending is Ending.NOT
        story.passes(1)
        assert story.state.runs[run.id].ending is Ending.SILENT
        story.ends(run=run, how=Exit(signal=15))
        assert story.step("explore").tally.silences == times
        story.passes(1)
    assert story.step("explore").state is StepState.BLOCKED
    assert "gave no sign of work (shows nothing and does nothing), 2 times" in story.question().text


def test_retry_after_inactivity_asks_for_signs_of_work() -> None:
    story = started()
    story.comes_alive("explore")
    story.passes(1800)
    story.ends("explore", Exit(signal=15))
    story.passes(1)
    assert "Give a sign of progress" in story.order_of("explore").instructions


def test_signs_of_work_keep_a_run_from_being_silent() -> None:
    story = started(inactivity_timeout=1800)
    run = story.comes_alive("explore")
    for _ in range(10):
        story.passes(600)
        story.checks_in(explore=story.at - 5)
    assert story.state.runs[run.id].ending is Ending.NOT


def test_signs_from_the_future_count_as_of_now() -> None:
    story = started(inactivity_timeout=1800)
    run = story.comes_alive("explore")
    story.checks_in(explore=story.at + 1_000_000)
    assert story.state.runs[run.id].progress_at == story.at


def test_a_run_may_not_last_for_ever_whatever_signs_it_gives() -> None:
    story = started(max_run_time=7200)
    run = story.comes_alive("explore")
    while story.at < run.opened_at + 7200:
        story.passes(600)
        story.checks_in(explore=story.at)
    assert story.state.runs[run.id].ending is Ending.OVERDUE
    story.ends(run=run, how=Exit(signal=15))
    assert story.step("explore").tally.silences == 1


def test_run_that_waits_for_its_tree_is_not_inactive() -> None:
    """It has its whole time afterwards."""
    story = started(inactivity_timeout=1800, max_run_time=7200)
    run = story.run_of("explore")
    story.passes(7000)
    assert story.state.runs[run.id].ending is Ending.NOT
    story.comes_alive("explore")
    story.passes(1799)
    assert story.state.runs[run.id].ending is Ending.NOT
    while story.at < run.opened_at + 7000 + 7200 - 1:
        story.checks_in(explore=story.at)
        story.passes(100)
    story.passes(1)
    assert story.state.runs[run.id].ending is Ending.OVERDUE


def test_a_run_that_never_comes_alive_is_given_up() -> None:
    story = started(max_run_time=7200)
    run = story.run_of("explore")
    story.passes(2 * 7200)
    assert story.state.runs[run.id].ending is Ending.OVERDUE


def test_a_check_has_only_the_longer_bound() -> None:
    story = Story(checks=("explore",), limits=Limits(inactivity_timeout=60, max_run_time=600))
    story.starts()
    run = story.comes_alive("explore")
    story.passes(599)
    assert story.state.runs[run.id].ending is Ending.NOT
    story.passes(1)
    assert story.state.runs[run.id].ending is Ending.OVERDUE


def checks(**bounds: object) -> Story:
    """A task whose tester's check is at work on the first subtask; none was run before any change."""
    story = Story(checks=("test",), limits=Limits(max_run_time=3600, **bounds)).planned("a")  # type: ignore[arg-type]
    story.does("dev:a")
    return story


def hangs(story: Story, step: str) -> None:
    """The check of a step prints a line, then nothing more, and is ended."""
    run = story.comes_alive(step)
    story.passes(3600)
    assert story.state.runs[run.id].ending is Ending.OVERDUE
    story.feed(f.RunGone(story.at, story.nonce(), run.id, Exit(signal=15), ("test_loop ...",)))


def test_work_whose_check_does_not_end_goes_back() -> None:
    """It was run again for as long, then a person was asked about a tester who "exceeded the time limit"."""
    story = checks()
    hangs(story, "test:a")
    assert story.works_on() == {"dev:a"}
    said = story.order_of("dev:a").instructions
    assert "the check did not end within 1 h 0 min (limits.max_run_time)" in said
    assert "test_loop ..." in said
    assert "sign of progress" not in said
    cause = story.step("test:a").cause
    assert cause is None or "signal" not in cause.what


def test_a_check_has_a_shorter_limit_than_a_run() -> None:
    """A check that hung cost the four hours that an agent may take, and was then blamed on the work."""
    story = Story(checks=("test",), limits=Limits(max_check_time=600)).planned("a")
    story.does("dev:a")
    check = story.comes_alive("test:a")
    story.passes(599)
    assert story.state.runs[check.id].ending is Ending.NOT
    story.passes(1)
    assert story.state.runs[check.id].ending is Ending.OVERDUE
    story.feed(f.RunGone(story.at, story.nonce(), check.id, Exit(signal=15)))
    said = story.order_of("dev:a").instructions
    assert "the check did not end within 10 min (limits.max_check_time)" in said


def test_a_check_that_never_ended_is_asked_about() -> None:
    """Without any change it does not end either: no developer can be blamed, and only a person knows what to do."""
    overrides = {"test": AgentOverrides(check=("check",))}
    story = Story(checks=("test",), agents=overrides, limits=Limits(max_run_time=3600))
    story.starts()
    story.does("explore")
    hangs(story, "baseline")
    assert any(
        "its check did not end within the time limit of a check" in each for each in story.state.notices
    )
    story.does("plan", subtasks=plan_of("a"))
    story.does("dev:a")
    hangs(story, "test:a")
    asked = story.question().text
    assert "did not end within 1 h 0 min (limits.max_run_time)" in asked
    assert "before any change either" in asked
    assert "test_loop ..." in asked


def test_order_after_an_overdue_run_names_its_limit() -> None:
    """It was told to give a sign of progress every 20 minutes, which it had given."""
    story = started(max_run_time=7200)
    run = story.comes_alive("explore")
    while story.at < run.opened_at + 7200:
        story.passes(600)
        story.checks_in(explore=story.at)
    story.ends(run=run, how=Exit(signal=15))
    story.passes(1)
    said = story.order_of("explore").instructions
    assert "Each run is ended after 2 h 0 min" in said
    assert "sign of progress" not in said


# Deadlines ----------------------------------------------------------------------------------------


def test_expired_pause_is_no_deadline_while_waiting() -> None:
    story = Story(limits=Limits(max_concurrent_runs=1))
    story.starts()
    story.ends("explore", Exit(code=1))
    story.spawns("dev")
    assert story.works_on() == {"dev-1"}
    story.comes_alive("dev-1")
    moment = wake_at(story.state, story.limits)
    assert moment is not None
    assert moment > story.step("explore").not_before


def test_nothing_changed_nothing_decided() -> None:
    story = started()
    story.comes_alive("explore")
    for _ in range(2):
        story.at += 600
        assert story.checks_in().empty


def far(launches: int = 3) -> Story:
    """Tell the story up to a developer that is to be launched on a box."""
    return Story(cwd=Location("/repo", "me@box"), limits=Limits(max_failed_launches=launches)).planned("a")


def fails_to_launch(story: Story, reason: str = "the disk there is full") -> None:
    """The launch of the developer's newest run fails, and may not the next time."""
    story.feed(f.LaunchFailed(story.at, story.nonce(), story.run_of("dev:a").id, reason))


def test_launches_that_fail_on_a_box_are_a_question_with_cause() -> None:
    story = far()
    for _ in range(2):
        fails_to_launch(story)
        assert story.step("dev:a").state is StepState.PENDING
        story.passes(60)
    fails_to_launch(story)
    assert story.step("dev:a").state is StepState.BLOCKED
    text = story.question().text
    assert "the disk there is full" in text
    assert "task doctor me@box" in text
    assert story.step("dev:a").tally.losses == 0
    story.answers(story.question().id, "retry")
    assert story.run_of("dev:a").life is Life.STARTING


def test_run_that_came_alive_ends_the_count_of_failed_launches() -> None:
    story = far()
    fails_to_launch(story)
    story.passes(60)
    story.comes_alive("dev:a")
    assert story.step("dev:a").tally.launches == 0


@pytest.mark.parametrize("who", ["user", "heartbeat"])
def test_asked_check_in_tries_a_failed_launch_at_once(who: str) -> None:
    story = far(launches=5)
    for _ in range(3):
        fails_to_launch(story)
        story.passes(16)
    fails_to_launch(story)
    story.feed(f.CheckedIn(story.at, story.nonce(), asked=who == "user"))
    assert ("dev:a" in story.works_on()) is (who == "user")


def test_check_in_leaves_the_pause_after_a_crash_alone() -> None:
    story = started()
    for _ in range(2):
        story.ends("explore", Exit(code=1))
        story.passes(1)
    assert "explore" not in story.works_on()
    story.feed(f.CheckedIn(story.at, story.nonce(), asked=True))
    assert "explore" not in story.works_on()


def test_launch_known_to_have_failed_counts_while_box_is_lost() -> None:
    story = far()
    story.loses("me@box")
    fails_to_launch(story)
    assert story.step("dev:a").tally.launches == 1


def test_instructions_to_an_agent_are_quoted_in_the_question() -> None:
    """The reasons speak to the agent: a person must not read them as spoken to them."""
    story = started()
    story.lands("explore", faults=(Fault(3, "says no status"),))
    story.ends("explore")
    story.comes_alive("explore")
    story.lands("explore", faults=(Fault(4, "your file is missing"),))
    assert "it was told: " in story.question().text
    unasked = started(max_report_requests=0, max_fresh_starts=0)
    unasked.lands("explore", faults=(Fault(3, "says no status"),))
    assert "told" not in unasked.question().text
