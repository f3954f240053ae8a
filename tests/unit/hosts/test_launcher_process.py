"""Which process is the launcher of a run, where that ends between two looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.hosts import launcher_process
from orchestrator.hosts.claims import Launched
from orchestrator.hosts.processes import Process

SAID = Launched(Process(4_000_001, "100@boot"), 4_000_001, "%1", "")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What the looks for the launcher find, one after the other; its script is seen of none."""
    found = list[bool]()
    monkeypatch.setattr(launcher_process, "alive", lambda _: found.pop(0))
    monkeypatch.setattr(launcher_process, "runs_script", lambda *_: False)
    return found


def test_launcher_that_ends_between_two_looks_is_no_stranger(looks: list[bool]) -> None:
    """It was taken for one: the run was gone, and nobody looked for the processes that it had left."""
    looks += [True, False]
    assert launcher_process.confirmed(Path("/run"), SAID) == SAID


def test_process_of_another_script_is_a_stranger(looks: list[bool]) -> None:
    looks += [True, True]
    assert launcher_process.confirmed(Path("/run"), SAID) is None


def test_session_that_the_launcher_does_not_lead_counts_for_nothing(
    looks: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launcher_process, "runs_script", lambda pid, _: pid == SAID.process.pid)
    monkeypatch.setattr(launcher_process, "row_of", lambda _: None)
    looks += [True, True]
    confirmed = launcher_process.confirmed(Path("/run"), SAID)
    assert confirmed is not None
    assert (confirmed.process, confirmed.session) == (SAID.process, 0)
