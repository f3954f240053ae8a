"""The text of a service unit: a template of `deploy/` with the program, its environment and its log filled in."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.model.environment import PASSED
from orchestrator.runtimes.environment import passed
from orchestrator.shipped import shipped

MARK: Final = "Written by `task daemon install`"
"""Marks each unit that we wrote. A file without it belongs to somebody else and stays untouched."""

Words: TypeAlias = tuple[str, ...]

_FROM_MANAGER: Final = frozenset({"COLORTERM", "HOME", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER"})
_PLACE: Final = re.compile(r"\{(program|environment|log)\}")


class Spelling(Protocol):
    """How a kind of unit escapes values, so that its manager reads them back byte for byte."""

    def words(self, words: Sequence[str]) -> list[str]:
        """Return the words of a command, on one or several lines."""
        ...

    def assignment(self, name: str, value: str) -> str:
        """Return the line that sets a variable for the daemon."""
        ...

    def path(self, path: str) -> str:
        """Return a path on its own."""
        ...


def unit(template: str, spelling: Spelling, state: str, environ: Mapping[str, str]) -> str:
    """Return the unit for a daemon with this state folder, started from this environment.

    Raises:
        CommandError: a path or a variable holds characters that no unit can.

    """
    program = _program()
    variables = {layout.HOME_VARIABLE: state, **kept(environ)}
    if len(program) > 1 and "PYTHONPATH" in environ:  # the package may be importable only through it
        variables["PYTHONPATH"] = environ["PYTHONPATH"]
    for word in (*program, *variables.values()):
        if not word.isprintable():
            raise CommandError(Exit.USAGE, f"{word[:60]!a} cannot be written into a unit: change it first")
    values = {
        "program": spelling.words(program),
        "environment": [spelling.assignment(name, value) for name, value in variables.items()],
        "log": [spelling.path(layout.daemon_log(state))],
    }
    text = (shipped("deploy") / template).read_text(encoding="utf-8")
    return "".join(f"{_filled(line, values)}\n" for line in text.splitlines())


def kept(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a unit holds: what the daemon reads, and what agents may get; no secrets."""
    own = {
        name: value
        for name, value in environ.items()
        if name in {"TMUX_TMPDIR", layout.CONFIG_VARIABLE}
        or (name.startswith("ORCHESTRATOR_") and "__" in name)
    }
    found = passed(environ, [name for name in PASSED if name not in _FROM_MANAGER]) | own
    if "PATH" in found:
        found["PATH"] = ":".join(folder for folder in found["PATH"].split(":") if folder.startswith("/"))
    return dict(sorted(found.items()))


def left_out(environ: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Return the variables that the settings pass to agents but a unit omits, as they may be secrets."""
    return sorted(set(passed(environ, names)) - set(kept(environ)) - _FROM_MANAGER)


def _program() -> Words:
    """Return the command that starts the program. Not `task`: in a system's bin folder that may be another program."""
    command = Path(sys.executable).with_name(layout.APPLICATION)
    if command.is_file() and os.access(command, os.X_OK):
        return (str(command),)
    return (sys.executable, "-P", "-m", "orchestrator.cli")


def _filled(line: str, values: Mapping[str, list[str]]) -> str:
    """Return a template's line with its placeholder filled in; several values give several lines."""
    found = _PLACE.search(line)
    if found is None:
        return line
    before, after = line[: found.start()], line[found.end() :]
    return "\n".join(f"{before}{value}{after}" for value in values[found[1]])
