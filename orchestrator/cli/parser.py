"""Parses the arguments of a verb, and prints its help."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import columns

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import Action, Namespace
    from typing import Any, NoReturn


PROGRAM = "agent-orchestrator"
ALIAS = "task"


def called_as() -> str:
    """Return the name under which the program was started; `task` if that was another one."""
    name = sys.argv[0].rpartition("/")[2] if sys.argv else ""
    return name if name in {PROGRAM, ALIAS} else ALIAS


def as_called(text: str) -> str:
    """Return a text with `task VERB` replaced by the name under which the program was started."""
    name = called_as()
    if name == ALIAS:
        return text
    import re  # needed only under the long name

    from orchestrator.cli.main import VERBS

    # "the task list" is not a command: a command follows punctuation, two spaces or the start of a line.
    return re.sub(rf"(?<![a-z] )\b{ALIAS} (?=(?:{'|'.join(VERBS)}|VERB)\b)", f"{name} ", text)


class _Formatter(RawDescriptionHelpFormatter):
    """Gets its width as an argument: to find it out, argparse imports `shutil` for each added argument."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns())

    def add_usage(self, usage: str | None, *others: Any, **named: Any) -> None:  # noqa: ANN401 (argparse's own)
        super().add_usage(usage and as_called(usage), *others, **named)

    def _format_text(self, text: str) -> str:
        return super()._format_text(as_called(text))

    def _get_help_string(self, action: Action) -> str | None:
        return as_called(action.help or "")


class VerbParser(ArgumentParser):
    """The parser of one verb. Errors come out as one sentence, like all others here."""

    def __init__(self, verb: str, summary: str, example: str) -> None:
        super().__init__(
            prog=f"{called_as()} {verb}",
            description=summary,
            epilog=f"example:\n  {example}",
            formatter_class=_Formatter,
            allow_abbrev=False,
        )

    def read(self, words: list[str]) -> Namespace:
        """Return what the words after the verb say. Positional words may stand behind options, too."""
        # Where `--` parts them, argparse would part them twice.
        return self.parse_args(words) if "--" in words else self.parse_intermixed_args(words)

    def error(self, message: str) -> NoReturn:
        """End the command with the reason and where to read more."""
        raise CommandError(Exit.USAGE, f"{self.prog}: {message}; see `{self.prog} --help`")
