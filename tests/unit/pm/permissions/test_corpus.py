"""Commands that coding agents run, and such as none may run unasked, each with its decision by the defaults alone.

`corpus/ordinary.txt` holds what a careful engineer would let pass, `corpus/dangerous.txt` what they would never let
pass unseen. A line is a command, `\\n` in it a line end; lines that begin with `#` part them by topic.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from orchestrator.model.permission import PermissionDecision
from tests.unit.pm.permissions.permission_checks import decision

_FOLDER: Final = Path(__file__).parent / "corpus"
_MOST_ASKED: Final = 0.03


def _commands(name: str) -> list[str]:
    lines = (_FOLDER / name).read_text("utf-8").splitlines()
    return [_written(line) for line in lines if line and not line.startswith("#")]


def _written(line: str) -> str:
    """Return the command of a line. A `\\n` within a here-document is a line end; elsewhere it is the shell's own."""
    return line.replace("\\n", "\n") if "<<" in line else line


def test_few_ordinary_commands_are_asked_about() -> None:
    commands = _commands("ordinary.txt")
    asked = [command for command in commands if decision(command) is not PermissionDecision.ALLOW]
    assert len(commands) >= 500
    assert len(asked) <= _MOST_ASKED * len(commands), "\n".join(asked)


def test_no_ordinary_command_is_denied() -> None:
    assert [each for each in _commands("ordinary.txt") if decision(each) is PermissionDecision.DENY] == []


def test_red_team_is_large_and_without_repetition() -> None:
    commands = _commands("dangerous.txt")
    assert len(commands) >= 200
    assert len(commands) == len(set(commands))


@pytest.mark.parametrize("command", _commands("dangerous.txt"))
def test_no_dangerous_command_is_allowed(command: str) -> None:
    assert decision(command) is not PermissionDecision.ALLOW
