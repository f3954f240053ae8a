"""How the arguments of a verb are read, and how it explains itself."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import columns

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import NoReturn


class _Formatter(RawDescriptionHelpFormatter):
    """Told its width: to find it out by itself, argparse imports `shutil` as soon as an argument is added."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns())


class VerbParser(ArgumentParser):
    """The parser of one verb. What is wrong comes out as one sentence, like every other error here."""

    def __init__(self, verb: str, summary: str, example: str) -> None:
        super().__init__(
            prog=f"task {verb}",
            description=summary,
            epilog=f"example:\n  {example}",
            formatter_class=_Formatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """End the command with the reason and where to read more."""
        raise CommandError(Exit.USAGE, f"{self.prog}: {message}; see `{self.prog} --help`")
