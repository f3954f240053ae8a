"""What `prepare:` and `prepare.…:` of task.md say: commands, files, and variables for caches and ports."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import neutral
from orchestrator.model.environment import NEVER_PASSED
from orchestrator.model.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS: Final = 20
NAMED: Final = 50
"""How many commands, and how many files or variables, one key may name."""

PATH_LENGTH: Final = 300

_AND: Final = "&&"
_OF_SHELLS: Final = frozenset({"||", ";", "|", "&", "<", ">", ">>", "2>", "2>&1"})
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TAKEN: Final = frozenset(
    {
        *(
            "HOME",
            "PATH",
            "SHELL",
            "USER",
            "LOGNAME",
            "TERM",
            "TMPDIR",
            "TZ",
            "IFS",
            "ENV",
            "BASH_ENV",
            "CDPATH",
        ),
        *("NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5OPT", "PERL5LIB", "RUBYOPT"),
    }
)
"""Variables that say what programs do, or which ones run: no folder of a cache and no port."""


def read_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the commands of a line, which `&&` parts; each is split as in a shell, but run by none.

    Raises:
        Refused: it does not read as commands, or holds what only a shell would understand.

    """
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise Refused(f"does not read as a command: {problem}") from None
    if found := next((word for word in words if word in _OF_SHELLS or word.endswith(";")), ""):
        raise Refused(
            f"holds {found[:40]!a}, and no shell reads it: write `sh -c '…'`, or part commands by `&&`"
        )
    commands, rest = list[tuple[str, ...]](), words
    while rest:
        end = rest.index(_AND) if _AND in rest else len(rest)
        commands.append(tuple(rest[:end]))
        if rest[end:] == [_AND]:
            commands.append(())
        rest = rest[end + 1 :]
    if not commands or not all(each and each[0] for each in commands):
        raise Refused("names no command before or after a `&&`")
    if len(commands) > COMMANDS:
        raise Refused(f"holds {len(commands)} commands: write {COMMANDS} at most, or a script")
    return tuple(commands)


def read_files(text: str) -> tuple[str, ...]:
    """Return the paths that a line names, parted by commas: each relative, in one spelling, and below the project.

    Raises:
        Refused: one leads elsewhere, into git's own folder, or is no path.

    """
    return _each(text, _path)


def read_variables(text: str) -> tuple[str, ...]:
    """Return the variables that a line names, parted by commas.

    Raises:
        Refused: one is no name of a variable, or says which programs run and how.

    """
    return _each(text, _variable)


def _each(text: str, read: Callable[[str], str]) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    if len(names) > NAMED:
        raise Refused(f"names {len(names)}: name {NAMED} at most")
    return tuple(dict.fromkeys(read(name) for name in names))


def _path(text: str) -> str:
    parts = text.split("/")
    if not text or neutral(text) != text or "\n" in text or len(text) > PATH_LENGTH:
        raise Refused(f"names {text[:40]!a}: write a path below the project, such as `.env`")
    if text.startswith(("/", "~", "-")) or any(part in {"", ".", ".."} for part in parts):
        raise Refused(f"names {text[:40]!a}: write a path below the project, without `..`, such as `.env`")
    if any(part.lower() == ".git" or part.startswith(".orchestrator") for part in parts):
        raise Refused(f"names {text[:40]!a}, which is git's or the orchestrator's own")
    return text


def _variable(text: str) -> str:
    if not _VARIABLE.fullmatch(text):
        raise Refused(f"names {text[:40]!a}: write names of variables, such as `PIP_CACHE_DIR`")
    if text in _TAKEN or text.startswith((*NEVER_PASSED, "GIT_")):
        raise Refused(f"names {text[:40]!a}, which says what programs do: name another variable")
    return text
