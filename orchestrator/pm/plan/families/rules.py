"""What holds for every step of a plan family; what holds for one step stands in the step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FamilyRules:
    """How the engine treats the tasks of a family. The defaults are those of `delivery`.

    `one_run_per_agent`: a second run of the same agent waits for the first; otherwise it is another instance of it.
    `fresh_conversations`: each run begins a conversation of its own, even if it goes on with the work of the last one.
    """

    one_run_per_agent: bool = False
    fresh_conversations: bool = False


DEFAULTS = FamilyRules()
