"""Work that git cannot commit or merge just now is put off; that is not the step's fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.daemon.actions import finish
from orchestrator.daemon.actions.branch import tend
from orchestrator.daemon.actions.dispatcher import Dispatcher
from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.model.actions import Commit, Merge, Rebase, TendBranch
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.facts import WorkCommitted, WorkMerged
from orchestrator.model.plan import StepState
from orchestrator.model.settings import Settings
from orchestrator.model.task import Bring, Location
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.workspaces import LeftOut
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.unit.pm.story import Story

WHERE = TaskPaths(Path("/p"), Path("/pm/tasks/t-1"), Path("/p/tasks/t"), Path("/pm/worktrees/t-1"))
COMMIT, MERGE = Commit("a1", "dev:one", 1), Merge("a2", "dev:one", 1, "0" * 40)


class Git:
    """Workspaces that fail."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def commit(self, tree, message, *, attempt=0):
        raise self.error

    def restore(self, project, branch, base, accepted, known=()):
        raise self.error


def failing(error: Exception) -> Any:
    return cast("Any", Git(error))


def world_of(workspaces: Any, boxes: Any = None) -> Any:
    return SimpleNamespace(workspaces=workspaces, boxes=boxes)


@pytest.fixture
def state():
    story = Story()
    story.planned("one")
    return story.state


@pytest.mark.parametrize("error", [Unavailable("git is busy"), OSError(28, "No space left on device")])
def test_where_git_cannot_just_now_nothing_is_said_of_the_step(state, error):
    with pytest.raises(type(error)):
        finish.commit(world_of(failing(error)), state, COMMIT, WHERE, 1.0)
    with pytest.raises(type(error)):
        finish.merge(failing(error), state, MERGE, WHERE, 1.0)


def test_where_it_never_can_the_reason_is_the_outcome(state):
    never = Refused("it does not fit")
    committed = finish.commit(world_of(failing(never)), state, COMMIT, WHERE, 1.0)
    merged = finish.merge(failing(never), state, MERGE, WHERE, 1.0)
    assert isinstance(committed, WorkCommitted)
    assert isinstance(merged, WorkMerged)
    assert committed.reason == merged.reason == "it does not fit"


def test_what_no_commit_can_hold_is_in_the_outcome(state):
    shop = Shop()
    tree = shop.tree("one")
    shop.workspaces.prepare(tree, 1)
    shop.workspaces.apart[tree.path] = LeftOut(("build/",), ("web/",), ("lib",))
    empty = finish.commit(world_of(shop.workspaces), shop.state, COMMIT, WHERE, 1.0)
    assert (empty.ignored, empty.repositories, empty.submodules) == (("build/",), ("web/",), ("lib",))
    shop.workspaces.work(tree, "work", "one.py")
    made = finish.commit(world_of(shop.workspaces), shop.state, COMMIT, WHERE, 1.0)
    assert (made.ignored, made.repositories, made.submodules) == (("build/",), ("web/",), ())


def test_a_changed_check_is_in_the_outcome_of_a_commit():
    """The script that decides whether the work passes was rewritten by it, and nobody was told."""
    shop = Shop()
    agents = dict(shop.state.agents)
    agents["test"] = replace(agents["test"], check=("sh", "-c", "./check.sh && pytest tests"))
    shop.state = replace(shop.state, agents=agents)
    tree = shop.tree("one")
    shop.workspaces.prepare(tree, 1)
    for name in ("check.sh", "shop.py", "tests/test_new.py"):
        shop.workspaces.work(tree, "exit 0", name)
    made = finish.commit(world_of(shop.workspaces), shop.state, COMMIT, WHERE, 1.0)
    assert made.check_files == ("'check.sh' (+1 -0, new)",)


def test_many_changed_files_of_a_check_are_counted():
    shop = Shop()
    agents = dict(shop.state.agents)
    names = [f"check{number}.sh" for number in range(9)]
    agents["test"] = replace(agents["test"], check=tuple(names))
    shop.state = replace(shop.state, agents=agents)
    tree = shop.tree("one")
    shop.workspaces.prepare(tree, 1)
    for name in names:
        shop.workspaces.work(tree, "exit 0", name)
    made = finish.commit(world_of(shop.workspaces), shop.state, COMMIT, WHERE, 1.0)
    assert len(made.check_files) == 6
    assert made.check_files[-1] == "4 more"


class Shop:
    """A task whose subtask `one` is merged by its review, in a repository where others move the branch."""

    def __init__(self) -> None:
        self.workspaces = FakeWorkspaces()
        self.state = replace(Story().planned("one", "two").state, base=self.workspaces.head(WHERE.code))
        self.branch = self.state.branch

    def tip(self) -> str:
        return self.workspaces.ref(WHERE.code, self.branch)

    def makes(self, subtask: str, text: str = "work") -> str:
        """Commit the work of a subtask, upon what the branch is at."""
        tree = self.tree(subtask)
        self.workspaces.prepare(tree, 1)
        self.workspaces.work(tree, text, f"{subtask}.py")
        commit, _ = self.workspaces.commit(tree, subtask)
        return commit

    def tree(self, subtask: str) -> Tree:
        tree = tree_of(self.state, self.state.steps[f"dev:{subtask}"], WHERE)
        assert tree is not None
        return tree

    def strays(self) -> str:
        """Move the branch forward, as anybody may who works in the repository."""
        stray = self.workspaces.commit_elsewhere(self.tip(), "never reviewed", "stray.py")
        self.workspaces.rebase(WHERE.code, self.branch, self.tip(), stray)
        return stray

    def merges(self, subtask: str, commit: str) -> WorkMerged:
        """Merge a commit, and note where that left the branch."""
        done = finish.merge(
            self.workspaces, self.state, Merge("a3", f"review:{subtask}", 1, commit), WHERE, 1.0
        )
        self.state = replace(self.state, tip=done.tip or self.state.tip)
        return done

    def contents(self) -> set[str]:
        return set(self.workspaces.commits[self.tip()].contents)


@pytest.fixture
def shop():
    return Shop()


def test_a_merge_brings_nothing_that_somebody_else_put_there(shop):
    """What was on the branch by then came along with the next work, and was part of the whole from then on."""
    first = shop.makes("one")
    stray = shop.strays()
    done = shop.merges("one", first)
    assert (done.reason, done.tip, done.astray) == ("", first, stray)
    assert shop.workspaces.ref(WHERE.code, done.kept) == stray
    assert (shop.tip(), "stray.py" in shop.contents()) == (first, False)


def test_work_upon_a_stray_commit_is_merged_without_it(shop):
    """Only what the commit itself changed is put upon the branch, and tested there before it is merged."""
    shop.makes("one")
    shop.strays()
    upon = shop.makes("one")
    done = shop.merges("one", upon)
    assert (done.onto, shop.tip()) == (shop.state.base, shop.state.base)
    assert shop.merges("one", done.commit).tip == done.commit
    assert shop.contents() == {"readme.txt", "one.py"}


def test_the_work_of_two_is_merged_one_upon_the_other(shop):
    """A commit onto which the branch is just being moved by another step is no stray."""
    first = shop.makes("one")
    assert shop.merges("one", first).tip == first
    second = shop.makes("two")
    third = shop.makes("one", "more")
    pending = Merge("a9", "review:two", 1, second)
    shop.workspaces.merge(shop.tree("two"), second)
    shop.state = replace(shop.state, outbox={"a9": pending})
    done = shop.merges("one", third)
    assert (done.onto, shop.tip(), done.kept, done.astray) == (second, second, "", "")


def test_what_is_on_the_branch_already_stays_below_its_tip(shop):
    first = shop.makes("one")
    shop.merges("one", first)
    second = shop.makes("two")
    shop.merges("two", second)
    assert shop.merges("one", first).tip == second


@pytest.mark.parametrize("lost", [False, True])
def test_moved_branch_is_restored_to_what_was_accepted(shop, lost):
    first = shop.makes("one")
    shop.merges("one", first)
    if lost:
        shop.workspaces.rebase(WHERE.code, shop.branch, first, shop.state.base)
    found = shop.tip() if lost else shop.strays()
    done = tend(shop.workspaces, passed(shop.state, first), TendBranch("a4", "accept", 1), WHERE, 1.0)
    assert (done.tip, done.wanted, done.reason) == (found, first, "")
    assert shop.tip() == first
    assert bool(done.kept) is not lost


def test_reopened_judge_takes_no_merge_back(shop):
    """What was merged stays on the branch, also while the step that had it merged is not passed any more."""
    first = shop.makes("one")
    shop.merges("one", first)
    second = shop.makes("two")
    assert shop.merges("two", second).tip == second
    state = passed(shop.state, first)  # the judge of `two` was reopened
    done = tend(shop.workspaces, state, TendBranch("a5", "accept", 1), WHERE, 1.0)
    assert (done.tip, done.wanted, done.kept, shop.tip()) == (second, second, "", second)


def passed(state: PMState, commit: str) -> PMState:
    """Return a state in which the work of `one` is accepted."""
    work = replace(state.steps["dev:one"], commit=commit, state=StepState.PASSED)
    review = replace(state.steps["review:one"], state=StepState.PASSED)
    return replace(state, steps=state.steps.with_step(work).with_step(review))


class Bringing:
    """Boxes from which commits can be brought. `left`: whether work lies uncommitted there, or why nobody can tell."""

    def __init__(self, *, left: bool | Exception = False) -> None:
        self.left = left

    def bring(self, box, place, project, ref):
        assert (box, place, project) == ("me@box", "/repo", WHERE.code)
        assert ref.startswith("refs/tasks/task/demo/one/")
        return "b" * 40

    def uncommitted(self, box, place):
        assert (box, place) == ("me@box", "/repo")
        if isinstance(self.left, Exception):
            raise self.left
        return self.left


class Adopting:
    """Workspaces that take what was made elsewhere, and commit nothing themselves. `new`: they did not have it yet."""

    def __init__(self, *, new: bool = True) -> None:
        self.new = new

    def adopt(self, tree, attempt, commit):
        return (commit, attempt + 1) if self.new else ("", 0)


@pytest.fixture
def far():
    """A task whose developer works on a box."""
    return Story(cwd=Location("/repo", "me@box"), bring=Bring.BRANCH).planned("one").state


def test_work_on_a_box_is_what_was_committed_there(far):
    done = finish.commit(world_of(Adopting(), Bringing(left=True)), far, COMMIT, WHERE, 1.0)
    assert (done.commit, done.files, done.reason, done.left) == ("b" * 40, 2, "", "")


@pytest.mark.parametrize(("left", "reported"), [(True, "me@box:/repo"), (False, "")])
def test_uncommitted_work_on_a_box_is_reported(far, left, reported):
    done = finish.commit(world_of(Adopting(new=False), Bringing(left=left)), far, COMMIT, WHERE, 1.0)
    assert (done.commit, done.reason, done.left) == ("", "", reported)


@pytest.mark.parametrize(("before", "left"), [("b" * 40, "me@box:/repo"), ("c" * 40, "")])
def test_commit_of_an_earlier_attempt_is_not_new(far, before, left):
    """What mends it may lie there uncommitted."""
    step = replace(far.steps["dev:one"], attempt=2, last_commit=before)
    again = replace(far, steps=far.steps.with_step(step))
    action = replace(COMMIT, attempt=2)
    done = finish.commit(world_of(Adopting(), Bringing(left=True)), again, action, WHERE, 1.0)
    assert (done.commit, done.reason, done.left) == ("b" * 40, "", left)
    clean = finish.commit(world_of(Adopting(), Bringing(left=False)), again, action, WHERE, 1.0)
    assert (clean.commit, clean.left) == ("b" * 40, "")


def test_unreadable_box_tree_leaves_the_step_open(far):
    lost = Bringing(left=Unavailable("me@box is unreachable"))
    with pytest.raises(Unavailable):
        finish.commit(world_of(Adopting(new=False), lost), far, COMMIT, WHERE, 1.0)


@pytest.mark.parametrize(("commit", "brought"), [("", ["b" * 40]), ("c" * 40, [])])
def test_work_under_review_is_fetched_before_its_commit(far, commit, brought):
    """Else the reviewer's tree is not there: what it is to look at lies on the box alone."""
    seen: list[str] = []
    workspaces = SimpleNamespace(adopt=lambda _tree, _attempt, brought: seen.append(brought))
    made = replace(far.steps["dev:one"], commit=commit)
    state = replace(far, steps=far.steps.with_step(made))
    judge = replace(far.steps["review:one"], judges="dev:one")
    tree = tree_of(state, judge, WHERE)
    assert tree is not None
    finish.bring_judged(world_of(workspaces, Bringing()), state, judge, tree)
    assert seen == brought
    finish.bring_judged(world_of(workspaces, Bringing()), state, replace(judge, judges=""), tree)
    assert seen == brought


class Later:
    """Hands that keep what they are given until they are let."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def do(self, key, work):
        self.given.append(work)

    def work(self):
        given, self.given = self.given, []
        for each in given:
            each()


class Counting:
    """Workspaces that commit, or cannot just now."""

    def __init__(self) -> None:
        self.commits = 0
        self.busy = False

    def commit(self, tree, message, *, attempt=0):
        if self.busy:
            raise Unavailable("git is busy")
        self.commits += 1
        return f"{self.commits:040}", 1

    def left_out(self, tree):
        return LeftOut()

    def rebase(self, project, branch, old, new):
        return ""


@pytest.fixture
def desk(tmp_path):
    executor, git, posted = Later(), Counting(), list[Any]()
    context = SimpleNamespace(
        adapters=SimpleNamespace(workspaces=git, settings=Settings()),
        clock=FakeClock(),
        executor=executor,
        executor_for=lambda *_: executor,
        post=posted.append,
    )
    return SimpleNamespace(
        doing=Dispatcher(cast("Any", context), "t-1", tmp_path), executor=executor, git=git, posted=posted
    )


@pytest.mark.parametrize("action", [COMMIT, Rebase("a4", "1" * 40, "2" * 40, "3" * 40)])
def test_nothing_is_under_way_after_an_outcome(desk, state, action):
    """After a rebase, `task archive` and `task delete` said of the task that work for it was still under way."""
    desk.doing.act(state, WHERE, action)
    assert desk.doing.busy
    desk.executor.work()
    desk.doing.heard(desk.posted[-1].fact)
    assert not desk.doing.busy


def test_commit_is_not_repeated_before_its_outcome(desk, state):
    desk.doing.act(state, WHERE, COMMIT)
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    assert (desk.git.commits, len(desk.posted)) == (1, 1)


def test_commit_without_outcome_is_repeated(desk, state):
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    desk.doing.heard(desk.posted[0].fact)
    desk.doing.act(state, WHERE, COMMIT)
    desk.doing.forget()
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    assert desk.git.commits == 3


def test_a_commit_that_was_put_off_is_tried_again(desk, state):
    desk.git.busy = True
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    desk.git.busy = False
    desk.doing.act(state, WHERE, COMMIT)
    desk.executor.work()
    assert desk.git.commits == 1


def test_a_short_title_is_the_first_line():
    assert finish.message("shop: Mend it", "Subtask a.") == "shop: Mend it\n\nSubtask a."


def test_a_long_title_is_cut_visibly_and_stands_whole_beneath():
    title = f"shop: Mend {'many ' * 20}things"
    first, blank, whole, *_, about = finish.message(title, "Subtask a.").split("\n")
    assert len(first) <= finish.SUBJECT
    assert first.endswith("many…")
    assert (blank, whole, about) == ("", title, "Subtask a.")


def test_a_deleted_branch_is_made_again_at_what_was_accepted(far):
    """It was made at the task's first commit: the next agent began without the work of those before it."""
    step = far.steps["dev:one"]
    for tip, base in (("", far.base), ("d" * 40, "d" * 40)):
        tree = tree_of(replace(far, tip=tip), step, WHERE)
        assert tree is not None
        assert tree.base == base
