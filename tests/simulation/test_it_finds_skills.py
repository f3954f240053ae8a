"""Composite skills are broken on purpose, in the family, the files and the ingest: the simulation finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.simulation import skill_breakages as breakages
from tests.simulation.engine import skill_agents
from tests.simulation.engine.law import Law
from tests.simulation.engine.run import Failed
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.skill_agents import PhaseAgent
from tests.simulation.skill_worlds import simulate_skills

MOST: int = 16
"""In how many worlds at most each is found."""


@dataclass(frozen=True)
class Breakage:
    """A way to break skills, and the laws of which one finds it.

    lies: what agents do that goes wrong, and beside their work, where that is rare in other worlds. back: commands
    take the sessions back.
    """

    break_it: Callable[[pytest.MonkeyPatch], None]
    laws: frozenset[Law] = frozenset({Law.PHASES})
    lies: tuple[Callable[[PhaseAgent], Life], Callable[[PhaseAgent], None]] | None = None
    back: bool = False


BREAKAGES = [
    Breakage(breakages.writes_no_state_file, frozenset({Law.PHASES, Law.SESSION_SHOWN})),
    Breakage(breakages.takes_the_claim_for_the_work),
    Breakage(breakages.ignores_whose_memory_it_is),
    Breakage(breakages.takes_silence_for_an_end),
    Breakage(
        breakages.takes_memories_of_before,
        lies=(skill_agents._leaves_no_memory, skill_agents._claims_what_comes_later),
    ),
    Breakage(breakages.leaves_what_is_read_as_it_is, frozenset({Law.PHASES, Law.SESSION_SHOWN})),
    Breakage(breakages.prepares_no_phase),
    Breakage(breakages.begins_phases_too_early),
    Breakage(breakages.forgets_who_works_alongside),
    Breakage(breakages.believes_the_state_file, frozenset({Law.SESSION_SHOWN})),
    Breakage(breakages.loses_memory_files_in_a_power_cut, frozenset({Law.SESSION_SHOWN})),
    Breakage(breakages.leaves_changed_files_at_the_end, frozenset({Law.SESSION_SHOWN})),
    Breakage(breakages.keeps_no_copies, frozenset({Law.PHASES, Law.SESSION_SHOWN})),
    Breakage(breakages.writes_what_it_has_given_back, frozenset({Law.SESSION_SHOWN}), back=True),
]


SLOW = pytest.mark.thorough(reason="it proves the simulation, not the daemon; one goes in CI")


@pytest.mark.parametrize(
    "breakage",
    [BREAKAGES[0], *(pytest.param(each, marks=SLOW) for each in BREAKAGES[1:])],
    ids=lambda each: each.break_it.__name__,
)
def test_it_finds_skills_of_a_daemon_that(breakage, monkeypatch) -> None:
    breakage.break_it(monkeypatch)
    if breakage.lies is not None:
        for kind, lie in zip(("BAD", "HARMS"), breakage.lies, strict=True):
            monkeypatch.setattr(skill_agents, kind, (lie,))
    with pytest.raises(Failed) as caught:
        _some_worlds(rough=breakage.lies is not None, back=breakage.back)
    assert Law.NO_CRASH not in caught.value.laws, caught.value
    assert breakage.laws & caught.value.laws, caught.value


def _some_worlds(*, rough: bool, back: bool) -> None:
    for number in range(MOST):
        simulate_skills(f"break.{number}", rough=rough, back=back)
