"""Which files the command of a check names, as an agent could rewrite them: a verdict is worth what they are worth.

Only the command is read. What a script calls in turn, or an import of a test, is not known here.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST: Final = 50
"""How many names are taken from one command."""

_PYTEST: Final = ("conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_MAKE: Final = ("GNUmakefile", "makefile", "Makefile")
_READS: Final = {
    "make": _MAKE,
    "gmake": _MAKE,
    "just": ("justfile", "Justfile", ".justfile"),
    "npm": ("package.json",),
    "npx": ("package.json",),
    "pnpm": ("package.json",),
    "yarn": ("package.json",),
    "tox": ("tox.ini", "setup.cfg", "pyproject.toml"),
    "nox": ("noxfile.py",),
    "pytest": _PYTEST,
    "py.test": _PYTEST,
}
"""What well-known programs read in the folder where they start, by which they decide what to run."""


def files_named(command: Sequence[str]) -> tuple[str, ...]:
    """Return the paths that a command names or its programs read, relative to the folder in which it runs.

    Args:
        command: the words of the command. A word that is a command line itself (`sh -c "./check.sh && make"`) is taken
            apart as well.

    Returns:
        Each path once; whether there is such a file is not known. Paths that lead out of that folder are left out, as
        is the folder itself.

    """
    found = dict.fromkeys(path for name in _candidates(_words(command)) if (path := _inside(name)))
    return tuple(found)[:MOST]


def _words(command: Iterable[str]) -> Iterator[str]:
    for word in command:
        if any(sign.isspace() for sign in word):
            yield from _taken_apart(word)
        else:
            yield word


def _taken_apart(line: str) -> list[str]:
    """Return the words of a command line; of one that no shell would read, the parts between blanks."""
    try:
        parts = shlex.shlex(line, posix=True, punctuation_chars=True)
        parts.whitespace_split = True
        return list(parts)
    except ValueError:
        return line.split()


def _candidates(words: Iterable[str]) -> Iterator[str]:
    before = ""
    for word in words:
        name = word.rpartition("=")[2] if "=" in word else word
        if before == "-m" and "/" not in name:
            yield from (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__main__.py")
        elif not name.startswith("-"):
            yield name.partition("::")[0]  # pytest's tests/test_shop.py::test_greeting
        yield from _READS.get(PurePosixPath(name).name, ())
        before = word


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if not name.isprintable() or path.is_absolute() or ".." in path.parts or not path.parts:
        return ""
    return str(path)
