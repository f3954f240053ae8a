"""A decision in the making: rules add changes to it and see the resulting state."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from orchestrator.formats.timestamps import stamped
from orchestrator.model.limits import Limits, bounded
from orchestrator.pm.state.changes import ActionClosed, Change, Noticed
from orchestrator.pm.state.fold import fold, with_action
from orchestrator.pm.state.order_names import order_name
from orchestrator.pm.state.task_state import PMState

if TYPE_CHECKING:
    from orchestrator.model.actions import Action
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of one fact. `reply` answers the user who asked; `refused`: that answer is a refusal.

    `confirm` is the token that the same request must carry once the user has agreed to what the reply says.
    """

    state: PMState
    changes: tuple[Change, ...] = ()
    actions: tuple[Action, ...] = ()
    reply: str = ""
    refused: bool = False
    confirm: str = ""

    @property
    def empty(self) -> bool:
        """Return whether nothing follows from the fact; then it is not journaled (law 9)."""
        return not self.changes and not self.actions


@dataclass(slots=True)
class Draft:
    """The working copy of `decide`. Ids derive from the fact's nonce, time comes from the fact (law 2)."""

    state: PMState
    at: float
    nonce: str
    limits: Limits
    changes: list[Change] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    reply: str = ""
    refused: bool = False
    confirm: str = ""
    _ids: int = 0

    def change(self, *changes: Change) -> None:
        """Make changes. An illegal one raises `IllegalMove`; then the whole draft must be thrown away."""
        for change in changes:
            self.state = fold(self.state, change)
            self.changes.append(change)

    def act(self, action: Action) -> None:
        """Request an action in the outside world."""
        self.state = with_action(self.state, action)
        self.actions.append(action)

    def close_actions(self, *kinds: type[Action], **about: str | int) -> bool:
        """Remove the actions of these kinds with these field values from the outbox. Return whether there were any."""
        found = [
            action.id
            for action in self.state.outbox.values()
            if isinstance(action, kinds) and all(getattr(action, name) == it for name, it in about.items())
        ]
        self.change(*(ActionClosed(action) for action in found))
        return bool(found)

    def new_id(self, prefix: str) -> str:
        """Return an id that is unique in this task, and most likely among all tasks."""
        while True:
            self._ids += 1
            seed = f"{self.state.id}:{self.at}:{self.nonce}:{self._ids}"
            made = f"{prefix}-{blake2b(seed.encode(), digest_size=4).hexdigest()}"
            if made not in self.state.runs and made not in self.state.outbox:
                return made

    def new_order_second(self) -> int:
        """Return the second that names the next order: now, or the first free one after the last order's.

        A name may still be taken, by a second that the clock shows twice or by a stranger's file; then it is skipped.
        """
        second = max(int(self.at), self.state.order_second + 1)
        while self._is_taken(order_name(second, self.state.utc_offset)):
            second += 1
        return second

    def _is_taken(self, name: str) -> bool:
        return self.state.runs.with_order(name) is not None or name in self.state.seen

    def notice(self, text: str) -> None:
        """Add a line for the user to read in `status` and in the PM's log, with its time."""
        self.change(Noticed(stamped(self.at, text)))

    def step(self, step: str) -> Step:
        """Return a step as it now stands."""
        return self.state.steps[step]

    def limits_of(self, step: str) -> Limits:
        """Return the limits that hold for a step: its own bounds, and for the rest those of the settings."""
        return bounded(self.limits, self.step(step).bounds)

    def runs_of(self, step: str) -> list[Run]:
        """Return the live runs of a step."""
        return [run for run in self.state.live_runs if run.step == step]

    def decided(self) -> Decision:
        """Return the draft as a decision."""
        return Decision(
            self.state, tuple(self.changes), tuple(self.actions), self.reply, self.refused, self.confirm
        )
