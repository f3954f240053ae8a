"""Shell command lines as trees: what bash, dash and zsh would run, where all three read a line alike.

Nothing is expanded and nothing is run. What the shells could read in two ways raises Doubt, and is never guessed.

Written by hand after a comparison: `python -m tests.integration.permissions.parsers` prints its figures, and
ARCHITECTURE says what came of it (Dependencies).
"""

from __future__ import annotations

from orchestrator.formats.shell.grammar import LONGEST, read_script
from orchestrator.formats.shell.source import Doubt

__all__ = ["LONGEST", "Doubt", "read_script"]
