"""Edits of a running plan are validated like a new one: bounded, acyclic, unique ids, known agents (H4)."""

from __future__ import annotations

from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orchestrator.model.agents import Agent
    from orchestrator.model.handoff import Subtask


def faults_of(
    subtasks: Sequence[Subtask], *, known: Collection[str], agents: Mapping[str, Agent], most: int
) -> list[str]:
    """Return every reason why these subtasks make no valid plan; an empty list if they do.

    `known` are the subtasks that there are already; naming one again leaves it as it is.
    """
    faults = []
    if len(subtasks) > most:
        faults.append(f"{len(subtasks)} subtasks are more than the {most} that one plan may have")
    ids = [subtask.id for subtask in subtasks]
    faults += [f"the subtask id {each} is used {n} times" for each, n in Counter(ids).items() if n > 1]
    everyone = set(ids).union(known)
    for subtask in subtasks:
        if subtask.agent not in agents:
            faults.append(
                f"subtask {subtask.id} names the agent {subtask.agent}, and there is none of that name"
            )
        faults += [
            f"subtask {subtask.id} needs {need}, and there is no such subtask"
            for need in subtask.needs
            if need not in everyone
        ]
    try:
        TopologicalSorter({subtask.id: subtask.needs for subtask in subtasks}).prepare()
    except CycleError as error:
        faults.append(f"the subtasks wait for each other in a circle: {' -> '.join(error.args[1])}")
    return faults
