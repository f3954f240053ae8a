"""What a journal says was decided from one line on: for what follows from it and was not written when it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from orchestrator.daemon.journal import codec
from orchestrator.daemon.journal.segments import MOST, first_line, segments, unpacked
from orchestrator.daemon.journal.store import replayed, unsealed
from orchestrator.pm.state.draft import Decision
from orchestrator.pm.state.transitions import IllegalMove

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


class Decided(NamedTuple):
    """One line of a journal: the state before it, the fact, and what was decided on it."""

    number: int
    before: PMState
    fact: Fact
    decision: Decision


def decided_since(files: Files, folder: Path, line: int) -> Iterator[Decided]:
    """Yield the lines of a journal after a line, in order. Nothing is decided again: they are folded (law 3).

    It begins later where older segments are gone or cannot be read, and ends at a line that cannot be read.

    Raises:
        Unreadable, OSError: a segment cannot be read now.

    """
    there = segments(entry.name for entry in files.entries(folder) if entry.is_file)
    starts = [*map(first_line, there)]
    number = 0
    for place, name in enumerate(there):
        if place + 1 < len(there) and starts[place + 1] <= line + 1:
            continue  # the next one begins before what is wanted
        for each in _lines(files, folder, name):
            if place + 1 < len(there) and each.number >= starts[place + 1]:
                break  # the next segment replaces the rest of this one
            if each.number > max(line, number):
                number = each.number
                yield each


def _lines(files: Files, folder: Path, name: str) -> Iterator[Decided]:
    try:
        first, *rest = unpacked(name, files.read(folder / name, MOST)).splitlines()
        content = unsealed(first)
        state, number = codec.decoded_state(content["snapshot"]), int(content["n"])
        for line in rest:
            content = unsealed(line)
            if content["n"] != number + 1:
                return
            changes = codec.decoded_changes(content["changes"])
            actions = codec.decoded_actions(content["actions"])
            after = replayed(state, changes, actions)
            yield Decided(
                number + 1, state, codec.decoded_fact(content["fact"]), Decision(after, changes, actions)
            )
            state, number = after, number + 1
    except (ValueError, KeyError, TypeError, IllegalMove):
        return
