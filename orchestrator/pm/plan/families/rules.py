"""What holds for every step of a plan family; what holds for one step stands in the step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FamilyRules:
    """How the engine treats the tasks of a family. The defaults are those of `delivery`.

    `finishes_first`: no more subtasks are under way than agents may work, so that what was begun is finished before
    anything new begins. Otherwise everything may run that waits for nothing.
    `keeps_claims`: a run keeps the files that its step claims until it has left, also if it said before that it waits
    for an answer. Otherwise its subtask gives them up at once.
    `one_run_per_agent`: a second run of the same agent waits for the first; otherwise it is another instance of it.
    `fresh_conversations`: each run begins a conversation of its own, even if it goes on with the work of the last one.
    `follows_versions`: what is done again takes only its judges back with it. Who builds on it goes on, and follows
    once another version of its outputs is verified (`pm.policies.input_versions`). Otherwise all begin anew.
    `handoffs`: the format of reports where task.md names none; empty for what everybody writes.
    """

    finishes_first: bool = True
    keeps_claims: bool = False
    one_run_per_agent: bool = False
    fresh_conversations: bool = False
    follows_versions: bool = False
    handoffs: str = ""


DEFAULTS: Final = FamilyRules()


@dataclass(frozen=True, slots=True)
class Caps:
    """How many runs a plan wants at once: in all (0: as many as the settings allow), and by group of steps."""

    all: int = 0
    groups: tuple[tuple[str, int], ...] = ()
