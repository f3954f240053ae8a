"""The command that another command runs."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.pm.permissions.fields import Field


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: the words of one command, or a shell's `text` with its `arguments`.

    `assignments` apply to it, `also` is run in addition. `module`: it is a Python module, and so a program of the
    project. With a `doubt` it is not certain; without words, text or doubt nothing is run.
    """

    fields: tuple[Field, ...] = ()
    text: str = ""
    arguments: tuple[Field, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    module: bool = False
    also: Inner | None = None
    doubt: str = ""
