"""Workflows are broken on purpose, in the family, the files and the ingest: the simulation finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.simulation import workflow_breakages as breakages
from tests.simulation.engine import workflow_agents
from tests.simulation.engine.law import Law
from tests.simulation.engine.run import Failed
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.workflow_player import Player
from tests.simulation.workflow_worlds import ANSWERED, BOXED, simulate_workflow


@dataclass(frozen=True)
class Breakage:
    """A way to break workflows, the laws of which one finds it, and in how many worlds at most.

    answered: whether agents answer what is escalated. boxed: whether agents work on boxes. lie: what a verifier does
    that goes wrong, where that is rare in other worlds.
    """

    break_it: Callable[[pytest.MonkeyPatch], None]
    laws: frozenset[Law]
    most: int = 10
    answered: bool = False
    boxed: bool = False
    lie: Callable[[Player], Life] | None = None


BREAKAGES = [
    Breakage(breakages.drops_the_last_need, frozenset({Law.NEEDS})),
    Breakage(breakages.needs_work_and_no_verdict, frozenset({Law.NEEDS})),
    Breakage(breakages.lets_any_verifier_judge, frozenset({Law.VERIFIED})),
    Breakage(breakages.forgets_the_groups, frozenset({Law.CAPS})),
    Breakage(breakages.allows_one_more_at_once, frozenset({Law.CAPS})),
    Breakage(breakages.claims_no_files, frozenset({Law.CAPS})),
    Breakage(breakages.passes_beside_a_results_file, frozenset({Law.VERIFIED})),
    Breakage(breakages.takes_silence_for_a_pass, frozenset({Law.VERIFIED})),
    Breakage(breakages.misses_no_evidence, frozenset({Law.VERIFIED})),
    Breakage(breakages.lets_authors_settle_everything, frozenset({Law.NOTES})),
    Breakage(
        breakages.ignores_whose_results_they_are,
        frozenset({Law.VERIFIED}),
        lie=workflow_agents._judges_another_task,
    ),
    Breakage(
        breakages.lets_a_verifier_change_what_it_judges,
        frozenset({Law.VERIFIED}),
        lie=workflow_agents._changes_what_it_judges,
    ),
    Breakage(breakages.takes_decisions_before_they_are_verified, frozenset({Law.ESCALATED}), answered=True),
    Breakage(breakages.keeps_answers_to_itself, frozenset({Law.ESCALATED}), answered=True),
    Breakage(breakages.takes_any_resolution, frozenset({Law.ESCALATED, Law.AUDITED}), answered=True),
    Breakage(breakages.shows_claims_as_truth, frozenset({Law.AUDITED, Law.STATE_SHOWN})),
    Breakage(breakages.brings_hand_ins_once, frozenset({Law.TAKEN_IN}), boxed=True),
    Breakage(breakages.forgets_what_was_handed_in_on_a_box, frozenset({Law.TAKEN_IN}), boxed=True),
]


@pytest.mark.thorough(reason="it proves the simulation, not the daemon")
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda each: each.break_it.__name__)
def test_it_finds_workflows_of_a_daemon_that(breakage, monkeypatch) -> None:
    breakage.break_it(monkeypatch)
    if breakage.lie is not None:
        monkeypatch.setattr(workflow_agents, "JUDGES", (breakage.lie,))
    with pytest.raises(Failed) as caught:
        _some_worlds(breakage)
    assert Law.NO_CRASH not in caught.value.laws, caught.value
    assert breakage.laws & caught.value.laws, caught.value


def _some_worlds(breakage: Breakage) -> None:
    for number in range(breakage.most):
        bad = 0.3 if breakage.lie or breakage.answered else None
        more = (ANSWERED if breakage.answered else "") + (BOXED if breakage.boxed else "")
        simulate_workflow(f"break.{number}{more}", most=6, bad=bad)
