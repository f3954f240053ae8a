"""The steps of a plan, indexed by everything that is asked of them at each fact, so that no query scans all steps.

Sets of steps are whole numbers: the step at place n of the plan is the bit 1 << n. That keeps them in plan order. A
query like "pending, and not in a tree that is taken" is a combination by `&` and `~`, at eight steps per byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Self, TypeAlias

from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.state.claims import above
from orchestrator.pm.state.persistent_map import PersistentMap

Marks: TypeAlias = int
"""A set of steps."""

Group: TypeAlias = tuple[str, str]
"""What steps have in common: `("subtask", "a")`, or `("needs", "dev:a")`."""

REPORTED: Final = frozenset({StepState.PASSED, StepState.CHECKING})
"""The states in which a step can be judged."""

_RELATIONS: Final = ("needs", "judges", "after")
_RESTS: Final = frozenset({StepState.BLOCKED, StepState.FAILED})
_OWN: Final = (
    "pending",
    "unsettled",
    "begun",
    "resting",
    "pausing",
    "again",
    "free",
    "passed",
    "given_up",
    "replaced",
    "consultations",
    "queued",
    "claiming",
    "baselines",
    "joint",
)
_DERIVED: Final = ("ready", "hopeless", "under_way", "_groups", "_lacks")


class Steps(PersistentMap[str, Step]):
    """A plan's steps by id, in plan order; a step that is planned anew keeps its place.

    ready: everything that the step needs, comes after or judges is done; its own state is not considered.
    hopeless: it needs a step that was set aside; its own state is not considered.
    under_way: the subtasks between their first and their last step. A subtask that waits for an answer does not count
        (law 10). One whose agent writes its handoff again does, because its work is in its tree.
    free: it belongs to no subtask, or judges: it need not wait for a subtask's turn.
    again: it begins a subtask (unless it judges) and was opened before.
    given_up: it was set aside, and its goal is not reached in another way; `replaced`: it is.
    queued: the work that it judges waits to be merged. claiming: its work may change files that others may not.
    baselines: it is a check that runs before anything is changed.
    joint: it has no run of its own: its verdict is given at a checkpoint.
    """

    __slots__ = (*_OWN, *_DERIVED)

    pending: Marks
    unsettled: Marks
    begun: Marks
    resting: Marks
    pausing: Marks
    again: Marks
    free: Marks
    passed: Marks
    given_up: Marks
    replaced: Marks
    consultations: Marks
    queued: Marks
    claiming: Marks
    baselines: Marks
    joint: Marks
    ready: Marks
    hopeless: Marks
    under_way: frozenset[str]
    _groups: PersistentMap[Group, Marks]
    _lacks: PersistentMap[str, int]

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        super().__init__()
        for name in (*_OWN, "ready", "hopeless"):
            setattr(self, name, 0)
        self.under_way, self._groups, self._lacks = frozenset(), PersistentMap(), PersistentMap()
        for step in steps:
            grown = self.with_step(step)
            for name in (*PersistentMap.__slots__, *_OWN, *_DERIVED):
                setattr(self, name, getattr(grown, name))

    # Reading --------------------------------------------------------------------------------------

    def among(self, marks: Marks) -> Iterator[Step]:
        """Yield the steps of a set, in plan order."""
        while marks:
            lowest = marks & -marks
            yield self.placed(lowest.bit_length() - 1)
            marks ^= lowest

    def first(self, marks: Marks) -> Step | None:
        """Return the first step of a set in plan order, or None if it is empty."""
        return self.placed((marks & -marks).bit_length() - 1) if marks else None

    @property
    def all(self) -> Marks:
        """Return the set of all steps."""
        return (1 << len(self)) - 1

    def mark(self, step: str) -> Marks:
        """Return the set of one step."""
        return 1 << self.place(step)

    def of_subtask(self, subtask: str) -> Marks:
        """Return the steps of a subtask."""
        return self._groups.get(("subtask", subtask), 0)

    def of_agent(self, agent: str) -> Marks:
        """Return the steps of an agent."""
        return self._groups.get(("agent", agent), 0)

    def of_tree(self, kind: WorkspaceKind, workspace: str) -> Marks:
        """Return the steps that share a tree."""
        return self._groups.get(("tree", f"{kind}:{workspace}"), 0)

    def rivals(self, step: Step) -> Marks:
        """Return the steps whose claims overlap with those of a step, among them the step itself."""
        found = 0
        for claim in step.claims:
            found |= self._groups.get(("claim", claim), 0) | self._groups.get(("beneath", claim), 0)
            for wider in above(claim):
                found |= self._groups.get(("claim", wider), 0)
        return found

    def of_group(self, group: str) -> Marks:
        """Return the steps of a group of the plan."""
        return self._groups.get(("group", group), 0)

    def judges_of(self, step: str) -> Marks:
        """Return the steps that judge a step."""
        return self._groups.get(("judges", step), 0)

    def dependents(self, step: str) -> Marks:
        """Return the steps that need or judge a step, directly or not, and whose work may have begun.

        A pending step ends the search: nothing that needs it can have begun.
        """
        found = mark = self.mark(step)
        fresh = found
        while fresh:
            reached = 0
            for each in self.among(fresh):
                reached |= self._groups.get(("needs", each.id), 0) | self.judges_of(each.id)
            fresh = reached & ~found & ~self.pending
            found |= fresh
        return found & ~mark

    def waiting(self, step: str) -> Marks:
        """Return the steps that wait for a step in any way, directly or not, begun or not."""
        found = fresh = mark = self.mark(step)
        while fresh:
            reached = 0
            for each in self.among(fresh):
                for relation in _RELATIONS:
                    reached |= self._groups.get((relation, each.id), 0)
            fresh = reached & ~found
            found |= fresh
        return found & ~mark

    # Changed copies -------------------------------------------------------------------------------

    def with_step(self, step: Step) -> Self:
        """Return a copy with one step set."""
        was = self.get(step.id)
        copy = self.with_entry(step.id, step)
        place = copy.place(step.id)
        if was is None or was.state is not step.state:
            copy._notify_dependents(was.state if was else StepState.PENDING, step)
        rewired = copy._rewire(was, step, 1 << place)
        changed = copy._mark(was, step, place)
        if rewired or changed:
            copy._see_under_way({step.subtask, was.subtask if was else ""})
        return copy

    def _copy(self) -> Self:
        copy = super()._copy()
        copy.pending, copy.unsettled, copy.begun = self.pending, self.unsettled, self.begun
        copy.resting, copy.pausing, copy.again = self.resting, self.pausing, self.again
        copy.free, copy.ready, copy.hopeless = self.free, self.ready, self.hopeless
        copy.passed, copy.given_up, copy.replaced = self.passed, self.given_up, self.replaced
        copy.consultations, copy.queued, copy.claiming = self.consultations, self.queued, self.claiming
        copy.baselines, copy.joint = self.baselines, self.joint
        copy.under_way, copy._groups, copy._lacks = self.under_way, self._groups, self._lacks
        return copy

    def _mark(self, was: Step | None, step: Step, place: int) -> bool:
        """Put a step into the sets that its own fields determine. Return whether any of these sets changed."""
        before, now = _own(was) if was else _NONE, _own(step)
        if before == now:
            return False
        for name, old, new in zip(_OWN, before, now, strict=True):
            if old is not new:
                setattr(self, name, getattr(self, name) ^ (1 << place))
        return True

    def _rewire(self, was: Step | None, step: Step, mark: Marks) -> bool:
        """Put a step into its groups, and count what it waits for. Return whether anything changed."""
        if was is not None and _wires(was) == _wires(step):
            return False
        old, new = set(_groups_of(was) if was else ()), set(_groups_of(step))
        for group in old ^ new:
            self._groups = self._groups.with_entry(group, self._groups.get(group, 0) ^ mark)
        lacks = sum(not self._has_passed(need) for need in set(step.needs))
        lacks += sum(not self._is_settled(before) for before in set(step.after))
        lacks += bool(step.judges) and not self._is_reported(step.judges)
        self._count(step.id, mark, lacks)
        self._see_hopeless(step, mark)
        return True

    def _notify_dependents(self, was: StepState, step: Step) -> None:
        """Update the steps that wait for a step after its state changed."""
        for relation, before, now in (
            ("needs", was is StepState.PASSED, step.state is StepState.PASSED),
            ("judges", was in REPORTED, step.state in REPORTED),
            ("after", _is_over(was), _is_over(step.state)),
        ):
            if before is not now:
                for other in self.among(self._groups.get((relation, step.id), 0)):
                    lacks = self._lacks[other.id] + (1 if before else -1)
                    self._count(other.id, self.mark(other.id), lacks)
        if StepState.SET_ASIDE in {was, step.state}:
            for other in self.among(self._groups.get(("needs", step.id), 0)):
                self._see_hopeless(other, self.mark(other.id))

    def _count(self, step: str, mark: Marks, lacks: int) -> None:
        self._lacks = self._lacks.with_entry(step, lacks)
        self.ready = self.ready & ~mark if lacks else self.ready | mark

    def _see_hopeless(self, step: Step, mark: Marks) -> None:
        lost = any(
            (need := self.get(each)) is not None and need.state is StepState.SET_ASIDE for each in step.needs
        )
        self.hopeless = self.hopeless | mark if lost else self.hopeless & ~mark

    def _see_under_way(self, subtasks: Iterable[str]) -> None:
        for subtask in subtasks:
            if subtask:
                steps = self.of_subtask(subtask)
                is_under_way = steps & self.begun and steps & self.unsettled and not steps & self.resting
                if bool(is_under_way) is not (subtask in self.under_way):
                    self.under_way ^= {subtask}

    def _has_passed(self, step: str) -> bool:
        there = self.get(step)
        return there is not None and there.state is StepState.PASSED

    def _is_settled(self, step: str) -> bool:
        there = self.get(step)
        return there is not None and there.settled

    def _is_reported(self, step: str) -> bool:
        there = self.get(step)
        return there is not None and there.state in REPORTED


_NONE: Final = (False,) * len(_OWN)


def _own(step: Step) -> tuple[bool, ...]:
    """Return which of the sets `_OWN` a step belongs to."""
    pending = step.state is StepState.PENDING
    free = not step.subtask or bool(step.judges)
    return (
        pending,
        not _is_over(step.state),
        not pending or step.keep_tree,
        step.state in _RESTS,
        pending and bool(step.not_before),
        not free and step.attempt > 1,
        free,
        step.state is StepState.PASSED,
        step.state is StepState.SET_ASIDE and not step.replaced,
        step.replaced,
        Gate.DECISION in step.gates,
        bool(step.queued_at),
        bool(step.claims),
        step.only_check,
        Gate.JOINT in step.gates,
    )


def _is_over(state: StepState) -> bool:
    return state is StepState.PASSED or state is StepState.SET_ASIDE


def _wires(step: Step) -> tuple[object, ...]:
    """Return the fields of a step that determine its groups and what it waits for."""
    return (
        step.needs,
        step.after,
        step.judges,
        step.subtask,
        step.agent,
        step.kind,
        step.workspace,
        step.claims,
        step.group,
    )


def _groups_of(step: Step) -> Iterator[Group]:
    yield from (("needs", need) for need in step.needs)
    yield from (("after", before) for before in step.after)
    yield from ((name, of) for name, of in (("judges", step.judges), ("subtask", step.subtask)) if of)
    yield "agent", step.agent
    if step.group:
        yield "group", step.group
    yield "tree", f"{step.kind}:{step.workspace}"
    for claim in step.claims:
        yield "claim", claim
        yield from (("beneath", wider) for wider in above(claim))
