"""What an agent of `hands: operations` is told ahead of its order."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.formats.operations.preamble import operations_preamble
from orchestrator.formats.operations.read import EXAMPLE, BadOperations, read_operations
from orchestrator.formats.preamble import report_form
from orchestrator.model.agents import Role
from orchestrator.model.hands import Deletes
from orchestrator.model.plan import Gate


def preamble_with(role: Role = Role.DEV, gates: tuple[str, ...] = (Gate.COMMIT,), **changed: Any) -> str:
    said: dict[str, Any] = {
        "agent": "dev",
        "task": "demo",
        "at": 1_764_254_100.0,
        "roots": ["/tree", "/artifacts/code"],
        "files": "- /tree/a.py",
        "form": report_form("dev", "r-1", "pm-20251127-140000.md", role, gates, ("It works",)),
        "writes": True,
        "deletes": Deletes.ASK,
        "order": "Do it.",
    }
    return operations_preamble(**said | changed)


def test_it_names_the_form_the_folders_the_files_and_the_order() -> None:
    text = preamble_with(definition="You are careful.", earlier="None is kept.")
    for part in ('"file_operations"', "lies below /tree/ or /artifacts/code/.", "- /tree/a.py", "Do it.\n"):
        assert part in text
    assert "you cannot, and need not. Say what you would do.)\n\nYou are careful." in text
    assert "## Earlier Work\nNone is kept." in text


def test_an_agent_cli_may_read() -> None:
    text = preamble_with(definition="You are careful.", reads=True)
    assert "You may read files, and change none. Your last message is your answer" in text
    assert "(Where this speaks of running or writing something yourself" in text
    assert "You touch no file" not in text


def test_its_example_is_none_that_could_be_carried_out() -> None:
    """A program that only repeats its order has handed in nothing."""
    with pytest.raises(BadOperations, match="No JSON object"):
        read_operations(preamble_with())
    assert EXAMPLE


@pytest.mark.parametrize(
    ("role", "gates", "part"),
    [
        (Role.DEV, (Gate.COMMIT,), "A handoff is written for you."),
        (Role.PLAN, (Gate.SUBTASKS,), "Behind that your answer must hold your handoff"),
        (Role.REVIEW, (Gate.VERDICT,), "**Verdict:**"),
        (Role.REVIEW, (Gate.CRITERIA,), "- [x] It works"),
    ],
)
def test_who_judges_or_plans_has_to_write_a_handoff(role: Role, gates: tuple[str, ...], part: str) -> None:
    assert part in preamble_with(role, gates)


def test_it_says_what_becomes_of_deletes() -> None:
    assert "A person confirms it first." in preamble_with()
    assert "Deletes are refused here." in preamble_with(deletes=Deletes.REFUSE)
