"""The task's branch is sent to a box before a run begins there, and nobody's work there is lost by that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.daemon.actions.branch_there import BranchThere, Move, branch_there, move_of
from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.formats.preamble import AgentOrder, preamble
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.plan import Gate
from orchestrator.model.run import Life
from orchestrator.model.task import Bring, Location
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.boxes import CloneState, Relation
from orchestrator.ports.workspaces import Holder
from orchestrator.testing.fake_clone import Clone
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.unit.pm.story import Story

WHERE = TaskPaths(Path("/p"), Path("/pm/tasks/t-1"), Path("/p/tasks/t"), Path("/pm/worktrees/t-1"))
PLACE = "/repo"


class Killed(BaseException):
    """The daemon was killed."""


class Boxes:
    """One box with one clone. `ahead` is called before each thing that is asked of it, and may raise."""

    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.asked: list[str] = []
        self.brought: dict[str, str] = {}
        self.changed = False
        self.ahead: Callable[[str], None] = lambda _: None

    def clone_state(self, box: str, place: str, commit: str, ref: str) -> CloneState:
        self._ask("look")
        return replace(self.clone.state(place, commit, ref), changed=self.changed)

    def send_commit(self, box: str, place: str, project: Path, commit: str, ref: str) -> None:
        self._ask("send")
        self.clone.receive(place, commit, ref)

    def advance_head(self, box: str, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        self._ask("advance")
        self.clone.advance(place, seen, commit, ref, kept)

    def bring(self, box: str, place: str, project: Path, ref: str) -> str:
        self._ask("bring")
        self.clone.workspaces.fetch(self.clone.head(place))
        self.brought[ref] = self.clone.head(place)
        return self.brought[ref]

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        self.ahead(what)


class Far:
    """A task whose developer works on a box, and whose branch an agent here moves on."""

    def __init__(self) -> None:
        self.workspaces = FakeWorkspaces()
        self.base = self.workspaces.head(WHERE.code)
        self.story = Story(cwd=Location(PLACE, "me@box"), bring=Bring.BRANCH).planned("one")
        self.clone = Clone(self.workspaces, WHERE.code)
        self.boxes = Boxes(self.clone)
        self.tip = self.base

    @property
    def state(self) -> PMState:
        return replace(self.story.state, base=self.base, tip=self.tip)

    def moves_on(self) -> str:
        """Let an agent here commit, and the branch stand on that."""
        self.tip = self.workspaces.commit_elsewhere(self.tip, "here", "here.py")
        return self.tip

    def commits_there(self, *, brought: bool) -> str:
        made = self.clone.commit(PLACE, self.state.branch, self.base, "there", "there.py")
        if brought:
            self.workspaces.fetch(made)
            tree = tree_of(self.state, self.state.steps["dev:one"], WHERE)
            assert tree is not None
            self.workspaces.adopt(tree, 1, made)
        return made

    def begins(self, state: PMState | None = None, *, launched: bool = False) -> BranchThere | None:
        state = state or self.state
        run = self.story.run_of("dev:one")
        adapters: Any = SimpleNamespace(workspaces=self.workspaces, boxes=self.boxes)
        return branch_there(adapters, state, state.steps["dev:one"], run, WHERE, launched=launched)

    def having_worked(self) -> PMState:
        """Return the state in which an earlier run of the step lived on the box."""
        state, run = self.state, self.story.run_of("dev:one")
        return replace(state, runs=state.runs.with_run(replace(run, id="r-before", lasted=60.0)))


@pytest.fixture
def far() -> Far:
    return Far()


@pytest.mark.parametrize(
    ("relation", "holder", "changed", "goes_on", "mixed"),
    list(product([Relation.HAS, Relation.BEHIND, Relation.APART], Holder, *[[False, True]] * 3)),
)
def test_head_moves_only_where_nothing_can_be_lost(
    relation: Relation, holder: Holder, *, changed: bool, goes_on: bool, mixed: bool
) -> None:
    seen = CloneState(relation, "a" * 40, changed=changed, mixed=mixed)
    move = move_of(seen, "b" * 40, holder, goes_on=goes_on)
    if move is Move.FORWARD:
        assert not changed
        assert relation is Relation.BEHIND or holder in {Holder.TASK, Holder.OTHERS}
    if move is Move.NONE:
        assert relation is Relation.HAS
    if holder is Holder.OTHERS or (mixed and holder is Holder.NOBODY):
        assert move in {Move.FORWARD, Move.ASK}, "another task's work never comes along"
    elif goes_on:
        assert move is not Move.ASK, "its own work is for the agent to bring together"
    assert (move is Move.LEFT) <= goes_on
    assert move_of(seen, seen.head, holder, goes_on=goes_on) is Move.NONE


def test_a_run_there_begins_with_what_was_merged_here(far: Far) -> None:
    """Its next commit did not build on the branch, and a person was asked."""
    tip = far.moves_on()
    sent = far.begins()
    assert far.clone.head(PLACE) == tip
    assert far.boxes.asked == ["look", "send", "look", "advance"]
    assert sent is not None
    assert sent.in_head
    assert "HEAD has it" in str(sent)


def test_what_is_there_is_not_sent_again(far: Far) -> None:
    far.begins()
    far.moves_on()
    far.begins()
    far.boxes.asked.clear()
    far.begins()
    assert far.boxes.asked == ["look"]


@pytest.mark.parametrize("survives", range(4))
def test_killed_anywhere_it_is_finished_by_the_next_try(far: Far, survives: int) -> None:
    tip = far.moves_on()

    def ahead(_: str) -> None:
        if len(far.boxes.asked) > survives:
            raise Killed

    far.boxes.ahead = ahead
    with pytest.raises(Killed):
        far.begins()
    far.boxes.ahead = lambda _: None
    far.begins()
    assert far.clone.head(PLACE) == tip
    assert far.boxes.asked.count("send") == (2 if survives == 1 else 1)


@pytest.mark.parametrize("changed", [True, False])
def test_what_is_somebodys_there_is_asked_about(far: Far, *, changed: bool) -> None:
    """Uncommitted files, or commits that are not here: HEAD stays, and the question says where the commit is."""
    before = far.clone.head(PLACE) if changed else far.commits_there(brought=False)
    far.boxes.changed = changed
    tip = far.moves_on()
    why = "changed and not committed" if changed else "has commits that are none of the task's"
    with pytest.raises(Refused, match=why) as asked:
        far.begins()
    assert f"`git merge refs/orchestrator/{far.state.branch}/tip`" in str(asked.value)
    assert tip[:12] in str(asked.value)
    assert far.clone.head(PLACE) == before
    assert "advance" not in far.boxes.asked


def having_died(far: Far, **last: Any) -> PMState:
    """Return the state in which the agent of another step was the last on the box, and handed nothing in."""
    state, run, dev = far.state, far.story.run_of("dev:one"), far.state.steps["dev:one"]
    other = replace(dev, id="dev:two", subtask="two", workspace="two")
    ended = replace(
        run, id="r-before", step="dev:two", life=Life.GONE, lasted=60.0, opened_at=run.opened_at - 60, **last
    )
    return replace(state, steps=state.steps.with_step(other), runs=state.runs.with_run(ended))


def test_what_an_agent_left_that_died_there_is_fetched(far: Far) -> None:
    """It died between its commit and the fetch, and the branch moved on: a person was asked."""
    before, tip = far.commits_there(brought=False), far.moves_on()
    far.begins(having_died(far))
    assert far.clone.head(PLACE) == tip
    assert far.clone.refs[PLACE, f"refs/orchestrator/{far.state.branch}/kept/{before}"] == before
    assert far.boxes.brought == {f"refs/tasks/{far.state.branch}/two/left-{before}": before}


@pytest.mark.parametrize(
    "case", ["it handed in", "files are changed", "another task is in it", "it never lived"]
)
def test_what_may_be_a_persons_is_asked_about_nonetheless(far: Far, case: str) -> None:
    before = far.commits_there(brought=False)
    far.moves_on()
    state = having_died(far, **({"reported_at": 1.0} if case == "it handed in" else {}))
    far.boxes.changed = case == "files are changed"
    if case == "another task is in it":
        far.clone.refs[PLACE, "refs/orchestrator/task/t2/tip"] = before
    if case == "it never lived":
        state = far.state
    with pytest.raises(Refused):
        far.begins(state)
    assert far.clone.head(PLACE) == before
    assert not far.boxes.brought


def test_a_head_that_moves_while_it_is_fetched_is_tried_again(far: Far) -> None:
    before = far.commits_there(brought=False)
    far.moves_on()

    def ahead(what: str) -> None:
        if what == "bring":
            far.commits_there(brought=False)

    far.boxes.ahead = ahead
    with pytest.raises(Unavailable):
        far.begins(having_died(far))
    assert "advance" not in far.boxes.asked
    assert before not in far.boxes.brought.values()


def test_work_of_another_task_never_comes_along(far: Far) -> None:
    """Two tasks work in one repository there: what is no ancestor of this one's branch gives way, and is kept."""
    before = far.commits_there(brought=True)
    other = replace(far.state, name="t2", base=far.base, tip=far.base)
    assert other.branch != far.state.branch
    far.begins(other)
    assert far.clone.head(PLACE) == far.base
    assert far.clone.refs[PLACE, f"refs/orchestrator/{other.branch}/kept/{before}"] == before


def test_unknown_work_upon_another_tasks_branch_is_asked_about(far: Far) -> None:
    """Its agent died there before anything was fetched: it must not come along, and must not be moved away."""
    far.moves_on()
    far.begins()
    before = far.commits_there(brought=False)
    with pytest.raises(Refused, match="none of the task's"):
        far.begins(replace(far.state, name="t2", base=far.base, tip=far.base))
    assert far.clone.head(PLACE) == before


def test_brought_work_of_other_steps_gives_way_and_is_kept(far: Far) -> None:
    """It was put upon the branch, and so is another commit there than here."""
    before, tip = far.commits_there(brought=True), far.moves_on()
    far.begins()
    assert far.clone.head(PLACE) == tip
    assert far.clone.refs[PLACE, f"refs/orchestrator/{far.state.branch}/kept/{before}"] == before


@pytest.mark.parametrize("brought", [True, False])
def test_the_steps_own_work_stays_and_is_to_be_merged(far: Far, *, brought: bool) -> None:
    before, tip = far.commits_there(brought=brought), far.moves_on()
    sent = far.begins(far.having_worked())
    assert far.clone.head(PLACE) == before
    assert sent is not None
    assert f"is at {tip[:12]}" in str(sent)
    assert f"run `git merge refs/orchestrator/{far.state.branch}/tip` first" in str(sent)


def test_once_launched_nothing_is_done_there(far: Far) -> None:
    far.moves_on()
    sent = far.begins(launched=True)
    assert far.boxes.asked == []
    assert sent is not None
    assert "HEAD may not have it" in str(sent)


def test_a_judge_there_begins_with_what_it_judges(far: Far) -> None:
    tip = far.moves_on()
    work = far.workspaces.commit_elsewhere(tip, "work", "work.py")
    state, dev = far.state, far.state.steps["dev:one"]
    judged = replace(far.state.steps["test:one"], id="dev:two", commit=work)
    judge = replace(dev, judges="dev:two", gates=(Gate.VERDICT,))
    sent = far.begins(replace(state, steps=state.steps.with_step(judged).with_step(judge)))
    assert far.clone.head(PLACE) == work
    assert sent is not None
    assert str(sent).startswith(f"The work that you judge is at {work[:12]}")


def test_where_code_stays_on_its_box_nothing_is_sent() -> None:
    far = Far()
    far.story = Story(cwd=Location(PLACE, "me@box")).planned("one")
    far.moves_on()
    assert far.begins() is None
    assert far.boxes.asked == []


def test_a_box_that_denies_what_it_took_is_not_believed(far: Far) -> None:
    far.moves_on()
    far.boxes.clone = Clone(far.workspaces, WHERE.code)
    far.boxes.send_commit = lambda *_: None  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="which it took"):
        far.begins()


def test_order_says_where_the_branch_lies() -> None:
    sent = BranchThere("the task's branch task/t1", "a" * 40, "refs/orchestrator/task/t1/tip", in_head=False)
    order = AgentOrder(
        agent="dev",
        role=None,
        task="t1",
        at=0.0,
        cwd="/repo",
        task_dir="/repo/tasks/t1",
        artifacts="/a",
        scratchpad="/s",
        run="r",
        order_name="o",
        order="Do it.",
        remote_host="me@box",
        branch=str(sent),
        gates=[Gate.COMMIT],
    )
    text = preamble(order)
    assert "The task's branch task/t1 is at aaaaaaaaaaaa, here also refs/orchestrator/task/t1/tip" in text
    assert "run `git merge refs/orchestrator/task/t1/tip` first" in text
