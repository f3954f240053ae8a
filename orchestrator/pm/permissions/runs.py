"""What one command runs in turn."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.pm.permissions.fields import Field


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper runs: the words of one command, or a shell's `text` with its `arguments`.

    `assignments` hold for it, `also` is run besides. `module`: it is a module of python's, which is a program of the
    project's. With a `doubt` it is not certain; with no words, text or doubt nothing is run.
    """

    fields: tuple[Field, ...] = ()
    text: str = ""
    arguments: tuple[Field, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    module: bool = False
    also: Inner | None = None
    doubt: str = ""
