"""Tasks of roles by fresh seeds: what roles hand on, whatever happens. `SIMULATION_SEED` draws them again."""

from __future__ import annotations

import pytest

from orchestrator.daemon.actions import workflow_launch
from orchestrator.daemon.projections.role_files import RoleFiles
from tests.simulation import role_breakages
from tests.simulation.engine import fresh_worlds
from tests.simulation.engine.law import Law
from tests.simulation.engine.run import Failed
from tests.simulation.role_worlds import simulate_roles

FRESH = 24
ENDS = {"complete", "partial", "failed"}


def checked(seed: str, simulated) -> None:
    try:
        outcome = simulate_roles(seed)
    except Failed as failed:
        pytest.fail(f"{failed}\nagain: tests.simulation.role_worlds.simulate_roles({seed!r})", pytrace=False)
    assert set(outcome.tasks.values()) <= ENDS
    simulated(outcome)


@pytest.mark.parametrize("seed", ["c.1", "d.2"])
def test_roles_hand_on_whatever_happens(seed, simulated) -> None:
    """A task that is often sent back, and two at the same time; the daemon is killed a dozen times."""
    checked(seed, simulated)


@pytest.mark.thorough(reason="two worlds of the same kind go in CI")
@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_roles(number, simulated) -> None:
    """Worlds of the same kind that nobody has seen: each takes some seven seconds of one core."""
    checked(f"{fresh_worlds.drawn_seed()}.{number}", simulated)


@pytest.mark.parametrize("part", ["_show_handoffs", "_show_statuses"])
def test_records_that_are_not_written_are_found(part, monkeypatch) -> None:
    """A daemon that writes no archive, or no statuses, breaks the law of roles."""
    monkeypatch.setattr(RoleFiles, part, lambda *_: None)
    monkeypatch.setattr(workflow_launch, "_show_statuses", lambda *_: None)
    with pytest.raises(Failed) as failed:
        simulate_roles("c.1")
    assert Law.HANDED_ON in failed.value.laws


SLOW = pytest.mark.thorough(reason="it proves the simulation, not the daemon; one goes in CI")


@pytest.mark.parametrize(
    ("break_it", "seed"),
    [
        (role_breakages.hears_no_edit, "c.1"),
        pytest.param(role_breakages.refuses_nothing, "d.2", marks=SLOW),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_it_finds_edits_of_the_archive_with(break_it, seed, monkeypatch) -> None:
    """Agents edit the archive, legally or not: each edit has to be taken or refused."""
    break_it(monkeypatch)
    with pytest.raises(Failed) as failed:
        simulate_roles(seed)
    assert Law.HANDED_ON in failed.value.laws
