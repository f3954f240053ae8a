"""What is said of a task in five lines holds, whatever became of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.daemon.projections.outcome import first_answer, outcome_of
from orchestrator.daemon.projections.progress_view import pm_view
from orchestrator.daemon.projections.work_done import BranchLook
from orchestrator.model import facts as f
from orchestrator.model.agents import Role
from orchestrator.model.event import Event, EventKind
from orchestrator.model.handoff import ReportStatus
from orchestrator.model.limits import Limits
from orchestrator.model.permission import Act, PermissionDecision
from orchestrator.model.question import Question
from orchestrator.model.run import Exit
from orchestrator.model.task import AfterRejections, AgentOverrides, Location, TaskState, WorkspaceKind
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.model.workflow_records import AgentStatus, NoteStatus
from orchestrator.ports.workspaces import BranchSurvey, CommitSeen
from tests.unit.pm.role_story import RoleStory
from tests.unit.pm.story import MET, Story, plan_of
from tests.unit.pm.workflows import WorkflowStory, doer, note
from tests.unit.pm.workflows import plan_of as plan_with

SEEN = BranchSurvey("c1", 1, (CommitSeen("c" * 40, "demo: Do a", 1.0),), 2, 3, 1, merged=False)
LOOK = BranchLook(1.0, SEEN)
EMPTY = BranchLook(1.0, replace(SEEN, count=0, commits=(), files=0, added=0, removed=0, merged=True))


def finished(**config: object) -> Story:
    story = Story(**config).planned("a")  # type: ignore[arg-type]
    story.finishes("a")
    story.does("accept", criteria=MET)
    return story


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        (
            "Take away faults, and\nchange nothing else. Ask first.",
            "Take away faults, and change nothing else.",
        ),
        ("- Greet\n- Wave", "Greet"),
        ("\n\nA goal without an end", "A goal without an end"),
    ],
)
def test_what_was_asked_is_a_whole_sentence(goal: str, said: str) -> None:
    """Lines of a goal are broken anywhere: the first one alone ended in the middle of its sentence."""
    state = finished().state
    state = replace(state, brief=replace(state.brief, goal=goal))
    assert outcome_of(state, LOOK).asked == f"Title: {said}"


def test_a_complete_task() -> None:
    shown = outcome_of(finished().state, LOOK)
    assert shown.asked == "Title: Make it so"
    assert shown.outcome == "complete; 6 of 6 steps passed, 2 of 2 success criteria met"
    assert "branch `task/demo` at c1: 1 commit, 2 files changed, +3 -1" in shown.work
    assert "the PM has run no check" in shown.work
    assert shown.branch_seen == LOOK.at
    assert shown.not_done == "nothing"
    assert shown.next == "`task diff demo-1` shows what is done, `task merge demo-1` takes it over"


def test_a_partial_task_says_what_is_missing() -> None:
    limits = Limits(max_rejections=1)
    story = Story(limits=limits, after_rejections=AfterRejections.SET_ASIDE).planned("a", "b")
    story.does("dev:a")
    story.rejects("test:a", "it leaks")
    story.finishes("b")
    story.does("accept", criteria=MET)
    shown = outcome_of(story.state, LOOK)
    assert shown.outcome.startswith(
        "complete in part: 1 subtask set aside: Do a; 6 of 9 steps passed, 3 set aside"
    )
    assert "Do a (rejected once, last: it leaks)" in shown.not_done
    assert "`task start demo --project /project` tries again" in shown.next
    assert "`task merge demo-1 --anyway` takes it over" in shown.next


def test_a_branch_with_nothing_on_it_is_not_offered_to_be_merged() -> None:
    """A task whose developer works on a box without `bring:` has no commit here, and no line says that it has."""
    story = finished(cwd=Location("/srv/shop", "me@box"))
    shown = outcome_of(story.state, EMPTY)
    assert "it is in /project, on no branch of the task" in shown.work
    assert "nothing is on the branch `task/demo`" in shown.work
    assert "task merge" not in shown.next


def test_a_branch_that_was_set_back_is_said_to_lack_accepted_work() -> None:
    """ "nothing is on the branch" was said at work as if nothing had been accepted."""
    story = Story().planned("a", "b")
    state = replace(story.state, base="b0", tip="t1")
    assert "left it at t1" in outcome_of(state, BranchLook(1.0, replace(SEEN, tip="b0", count=0))).work
    for tip in ("", "b0"):
        said = outcome_of(replace(state, tip=tip), BranchLook(1.0, replace(SEEN, tip="b0", count=0))).work
        assert "left it at" not in said


def test_missing_or_unreadable_branch_is_reported() -> None:
    state = finished().state
    assert "there is no branch `task/demo`" in outcome_of(state, BranchLook(1.0)).work
    assert "could not be looked at: git hangs" in outcome_of(state, BranchLook(1.0, fault="git hangs")).work
    assert "has not been looked at yet" in outcome_of(state, None).work


def test_what_is_merged_already_is_said_to_be() -> None:
    shown = outcome_of(finished().state, BranchLook(1.0, replace(SEEN, merged=True)))
    assert "all of it in your tree's HEAD" in shown.work
    assert shown.next == "it is merged already"


def test_outcome_lists_checks_before_and_after() -> None:
    story = Story(checks=("test",), agents={"test": AgentOverrides(check=("make", "test"))})
    story.starts()
    before = story.comes_alive("baseline")
    story.feed(f.RunGone(story.at, "n", before.id, Exit(code=1), ("1 failed, 3 passed",)))
    story.does("explore")
    story.does("plan", subtasks=())
    assert (
        "check before: exited 1 (1 failed, 3 passed), check after: none on accepted work so far"
        in outcome_of(story.state, EMPTY).work
    )


def test_a_check_that_was_rewritten_is_said_to_be() -> None:
    """It exited 0 because the developer had rewritten what it runs; the result said no word of that."""
    story = Story(checks=("test",)).planned("a")
    story.odds["dev:a"] = {"check_files": ("'check.sh' (+1 -9)",)}
    story.does("dev:a")
    story.ends("test:a", Exit(code=0), run=story.comes_alive("test:a"))
    story.approves("test:a")
    story.approves("review:a")
    said = (
        "check after: exited 0, by a check whose command names what the task has changed: 'check.sh' (+1 -9)"
    )
    assert said in outcome_of(story.state, None).work
    assert any("'check.sh' (+1 -9)" in check.what for check in pm_view(story.state, 1.0).checks)


def test_a_check_of_older_work_is_no_check_of_what_lies_there() -> None:
    story = Story(checks=("test",)).planned("a")
    story.does("dev:a")
    story.ends(run=story.comes_alive("test:a"))
    story.approves("test:a")
    story.approves("review:a")
    later = BranchLook(1.0, replace(SEEN, tip="c2"))
    assert "on c1 and not on what came after it" in outcome_of(story.state, later).work


def test_a_shared_tree_is_named() -> None:
    """Who works there may commit: "no commit of it is here" was said without a look."""
    shown = outcome_of(finished(workspace=WorkspaceKind.SHARED).state, None)
    assert "it is in /project, on no branch of the task" in shown.work


def test_a_question_says_what_to_type() -> None:
    story = Story(limits=Limits(max_crashes=0), agents={Role.DEV.value: AgentOverrides()})
    story.starts()
    story.comes_alive("explore")
    story.ends("explore", Exit(code=1))
    assert outcome_of(story.state, None).next == "`task answer demo-1 q1 retry`"


def test_what_is_missing_of_a_partial_task_is_not_called_nothing() -> None:
    """Every step passed, and nothing was changed: beside `complete in part` stood `not done: nothing`."""
    story = Story().planned()
    story.does("accept", criteria=MET)
    assert story.task() is TaskState.PARTIAL
    assert "nothing was changed" in outcome_of(story.state, EMPTY).not_done


def test_commits_without_a_change_are_not_offered_for_a_merge() -> None:
    look = BranchLook(1.0, replace(SEEN, files=0, added=0, removed=0))
    assert "task merge" not in outcome_of(finished().state, look).next


def test_a_check_ahead_of_the_work_is_not_passed_over() -> None:
    """`dev.check` had failed, and beside that stood that the PM had run no check."""
    story = Story(checks=("dev",)).planned("a")
    check = story.comes_alive("dev:a")
    story.ends("dev:a", Exit(code=3), run=check)
    assert "only ahead of dev:a: exited 3" in outcome_of(story.state, EMPTY).work


def test_a_start_is_said_to_try_again_only_what_was_set_aside() -> None:
    """Where every step passed, a start alone does nothing: what has to change is said."""
    story = Story().planned()
    story.does("accept", criteria=MET)
    shown = outcome_of(story.state, EMPTY)
    assert story.task() is TaskState.PARTIAL
    assert "set aside" not in shown.next
    assert "task.md" in shown.next


def test_a_branch_that_nobody_could_look_at_is_not_called_empty() -> None:
    state = finished().state
    for look in (None, BranchLook(1.0, fault="git hangs")):
        assert "there is nothing to merge" not in outcome_of(state, look).next


def test_an_answer_can_be_typed_as_it_is_shown() -> None:
    asked = Question("q1", "dev:a", "Which?", options=("Keep the old name", "retry"), asked_at=1.0)
    assert first_answer(asked) == "1"
    assert first_answer(replace(asked, options=("set-aside",))) == "set-aside"
    assert first_answer(replace(asked, options=())) == "TEXT"


def test_rebase_onto_the_work_itself_leaves_no_commits() -> None:
    """The work was merged; that nothing is on the branch reads as if none had been done."""
    shown = outcome_of(finished().state, EMPTY)
    assert "nothing is on the branch `task/demo` beyond base" in shown.work


def test_of_a_branch_that_is_gone_the_way_back_is_named() -> None:
    """`nothing is there to be merged` was said of commits that one command brings back."""
    assert (
        outcome_of(finished().state, BranchLook(1.0)).next
        == "`task diff demo-1` says how to get the branch back"
    )


@pytest.mark.parametrize("seen", [SEEN, EMPTY.seen])
def test_branch_that_was_moved_after_the_end_is_not_as_accepted(seen: BranchSurvey) -> None:
    """A branch that was set back to its base had "nothing to merge", and no word of the work that was accepted."""
    story = finished()
    shown = outcome_of(story.state, BranchLook(1.0, replace(seen, tip="d" * 40)))
    assert "dddddddddd" in shown.work
    assert story.state.tip in shown.work
    assert "task merge demo-1" in shown.next
    assert "takes it over" not in shown.next


def test_acceptance_that_was_set_aside_is_no_subtask() -> None:
    """ "1 subtask set aside: Success criteria" was said of a task whose only subtask had passed."""
    story = Story(after_rejections=AfterRejections.SET_ASIDE).planned("a")
    story.finishes("a")
    unmet = tuple(replace(mark, met=False, evidence=(), reason="it is not") for mark in MET)
    story.does("accept", criteria=unmet)
    assert story.state.state is TaskState.PARTIAL
    assert "subtask" not in outcome_of(story.state, LOOK).outcome


def test_not_done_counts_what_it_does_not_name() -> None:
    """Of twelve criteria that were not met five were listed, as if they were all."""
    story = finished()
    marks = tuple(replace(MET[0], text=f"c{number}", met=False) for number in range(12))
    brief = replace(story.state.brief, criteria=tuple(mark.text for mark in marks))
    state = replace(story.state, brief=brief, criteria=marks, state=TaskState.PARTIAL)
    assert "7 more criteria not met" in outcome_of(state, LOOK).not_done


def test_next_is_the_answer_while_others_work() -> None:
    """A question was open beside other work, and `next` said that nothing has to be done."""
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.does("dev:a", ReportStatus.BLOCKED, blockers="no key for the API")
    assert (story.task(), story.works_on()) == (TaskState.RUNNING, {"dev:b"})
    assert story.question().id in outcome_of(story.state, None).next


def test_next_is_the_answer_to_a_permission_request() -> None:
    """A run waited for permission: the task was at work, and nothing had to be done."""
    story = Story().planned("a")
    story.comes_alive("dev:a")
    asks = Event(EventKind.ASKED, tool_request=ToolRequest("Bash", Act.RUN, command="make all"))
    story.emits(
        "dev:a", asks, waits=True, judgement=Judgement(PermissionDecision.ASK, "no rule covers it", 600.0)
    )
    assert story.task() is TaskState.RUNNING
    assert "`task answer" in outcome_of(story.state, None).next


def test_next_counts_the_other_open_questions() -> None:
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    for step in ("dev:a", "dev:b"):
        story.does(step, ReportStatus.BLOCKED, blockers=f"no key for {step}")
    shown = outcome_of(story.state, None).next
    assert "q1" in shown
    assert "shows 1 more" in shown


def test_next_names_no_agents_where_none_works() -> None:
    story = Story()
    story.starts()
    story.comes_alive("explore")
    story.ends("explore", Exit(code=1))
    assert (story.task(), story.works_on()) == (TaskState.RUNNING, set())
    assert "attach" not in outcome_of(story.state, None).next


def test_abandoned_part_says_what_is_left_and_how_to_go_on() -> None:
    """Its steps are not set aside: a start goes on with them."""
    story = Story(limits=Limits(max_blocks=0)).planned("a", "b")
    story.finishes("a")
    story.does("dev:b", ReportStatus.BLOCKED, blockers="no key for the API")
    story.answers("q1", "abandon")
    shown = outcome_of(story.state, LOOK)
    assert story.task() is TaskState.PARTIAL
    assert "Do b (not finished)" in shown.not_done
    assert "tries again" not in shown.next
    assert "task start demo --project /project" in shown.next


def test_what_a_stopped_task_has_not_done_is_named() -> None:
    """ "Not done: nothing was given up so far", of a task that had been stopped before any work."""
    story = Story().planned("a")
    story.stops()
    shown = outcome_of(story.state, EMPTY)
    assert "Do a (not finished)" in shown.not_done
    assert (
        "criterion not judged: All tests pass" in shown.not_done
    )  # "not met" was said, and nobody had looked
    assert "nothing" not in shown.not_done
    assert "Next: `task start demo" in dict(shown.lines())["Cost"]


def checked_and_rebased(refused: str = "") -> Story:
    """Two subtasks whose checks passed, moved onto another commit; their last test is to be done again."""
    story = Story(checks=("test",), agents={"test": AgentOverrides(check=("make", "test"))})
    story.starts()
    story.ends(run=story.comes_alive("baseline"))
    story.does("explore")
    story.does("plan", subtasks=plan_of("a", "b"))
    for subtask in ("a", "b"):
        story.commit = f"c-{subtask}-"
        story.does(f"dev:{subtask}")
        story.ends(run=story.comes_alive(f"test:{subtask}"))
        story.approves(f"test:{subtask}")
        story.approves(f"review:{subtask}")
    story.does("accept", criteria=MET)
    story.rebase_refused = refused
    story.rebases(**{"c-a-1": "x", "c-b-1": "y"})
    return story


def test_check_is_said_to_have_run_on_the_commit_it_ran_on() -> None:
    """After a rebase an earlier test stood with the new commit, on which its check had never run."""
    story = checked_and_rebased()
    said = outcome_of(story.state, BranchLook(1.0, replace(SEEN, tip="y" * 40))).work
    assert "check before: exited 0, on base," in said
    assert "check after: exited 0, on c-a-1 and not on what came after it: the work was rebased" in said
    assert " x" not in said
    assert all("before the rebase" in check.what for check in pm_view(story.state, 1.0).checks)


def test_check_that_ran_again_is_of_the_rebased_work() -> None:
    story = checked_and_rebased()
    story.starts()
    story.ends(run=story.comes_alive("test:b"))
    story.approves("test:b")
    said = outcome_of(story.state, BranchLook(1.0, replace(SEEN, tip="y"))).work
    assert said.endswith("check after: exited 0")


def test_rebase_that_failed_leaves_the_checks_as_they_were() -> None:
    story = checked_and_rebased(refused="conflicts")
    said = outcome_of(story.state, LOOK).work
    assert said.endswith("check after: exited 0, on c-a-1 and not on what came after it")


def test_question_of_an_agents_notes_is_answered_in_words() -> None:
    """The command that was shown answered "May the text name the company?" with "retry"."""
    story = WorkflowStory(plan_with(doer("a")))
    story.starts()
    story.leaves("do:a", notes=(note(1, NoteStatus.ESCALATED),), claim=AgentStatus.BLOCKED)
    assert "q1 TEXT" in outcome_of(story.state, None).next
    assert pm_view(story.state, story.at).questions[0].command.endswith("q1 TEXT")


def test_outputs_of_a_workflow_are_said_to_lie_in_its_folder() -> None:
    """They are on no branch: "nothing is on the branch" was all that was said of them."""
    story = WorkflowStory(plan_with(doer("a")))
    story.starts()
    assert "handed in" not in outcome_of(story.state, None).work
    story.leaves("do:a")
    said = outcome_of(story.state, None).work
    assert "2 files handed in by 1 agent in tasks/demo/orchestration/agents/*/task_output" in said
    story.feed(f.FolderLost(story.at, story.nonce(), "/project/tasks/demo", "is gone", "/pm/reports"))
    said = outcome_of(story.state, None).work
    assert "2 files handed in by 1 agent" in said
    assert "task_output" not in said, "it is not there"


def test_unfinished_work_is_named_by_itself_and_not_by_its_judges() -> None:
    """Of roles, whose judges have titles of their own, "Audit (not finished)" stood for the implementation."""
    story = RoleStory()
    story.reaches("implement")
    story.stops()
    assert outcome_of(story.state, EMPTY).not_done.startswith(
        "Implement (not finished); Clean up (not finished); criterion"
    )
