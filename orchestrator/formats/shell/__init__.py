"""Shell command lines as trees: what bash, dash and zsh would run, where all three read a line alike.

Nothing is expanded and nothing is run. What the shells could read in two ways raises Doubt, and is never guessed.

It is written by hand: what is judged must be what bash, dash and zsh all read, and parsers of one shell neither tell
where the others differ nor refuse a line that is only nearly read.
"""

from __future__ import annotations

from orchestrator.formats.shell.grammar import LONGEST, read_script
from orchestrator.formats.shell.source import Doubt

__all__ = ["LONGEST", "Doubt", "read_script"]
