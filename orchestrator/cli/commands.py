"""Whether a command of task.md would start where its agent works, and what to type if not. It is never run.

Agents work in trees that are made of a commit: what is not committed is not there, however well it lies in the project.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.screen import typed
from orchestrator.runtimes.cli_inventory import program_on
from orchestrator.workspaces.repository import Repository

_HEAD: Final = 256
"""Bytes of a script's first line that count: the system reads no more of it."""

_INTERPRETER: Final = re.compile(r"(?:python|pypy)[0-9.]*|(?:ba|da|z|k|fi)?sh|node|bun|deno|ruby|perl|php")
_LARGEST: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class Lies:
    """What lies at a path: whether it is there, a file, executable; and how it begins."""

    there: bool = False
    file: bool = False
    runs: bool = False
    begins: bytes = b""


class CommandLocation(Protocol):
    """The place where a command is started."""

    @property
    def what(self) -> str:
        """Return what it is, as a person is told."""
        ...

    def lies(self, path: str) -> Lies:
        """Return what lies at a path beneath it, with no `..` in it."""
        ...

    def remedy(self, path: str, lies: Lies) -> tuple[str, str]:
        """Return what is wrong with what lies at a path, and what to type."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder as it is: the user's own tree, or a `cwd:`."""

    path: Path

    @property
    def what(self) -> str:
        """Return the folder."""
        return str(self.path)

    def lies(self, path: str) -> Lies:
        """Return what lies there now."""
        return lies_at(self.path / path)

    def remedy(self, path: str, lies: Lies) -> tuple[str, str]:
        """Return what is missing."""
        if not lies.there:
            return f"is not there: {self.path / path}", ""
        if not lies.file:
            return f"is no file: {self.path / path}", ""
        return "is not executable", typed("chmod", "+x", self.path / path)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, of which an agent's tree is made; `project` is the user's own tree of it."""

    repository: Repository
    project: Path
    commit: str

    @property
    def what(self) -> str:
        """Return the commit."""
        return f"a tree of {self.commit[:10]}"

    def lies(self, path: str) -> Lies:
        """Return what the commit has there."""
        git = self.repository.git
        said = git.ask(
            "ls-tree", "-z", "--long", self.commit, "--", f"{self.repository.prefix}{os.path.normpath(path)}"
        )
        mode, kind, _, size = said.partition("\t")[0].split() if said else ("", "", "", "0")
        if not mode:
            return Lies()
        small = kind == "blob" and size.isdigit() and int(size) <= _LARGEST
        begins = git.run("cat-file", "blob", said.split()[2])[1][:_HEAD] if small else b""
        link = mode == "120000"
        return Lies(
            there=True, file=kind == "blob", runs=mode == "100755" or link, begins=b"" if link else begins
        )

    def remedy(self, path: str, lies: Lies) -> tuple[str, str]:
        """Return what is missing in the commit that may lie in the user's own tree."""
        here, git = lies_at(self.project / path), ("git", "-C", self.project)
        if lies.there and not lies.file:
            return "is no file", ""
        if lies.there:
            made = typed("chmod", "+x", self.project / path)
            commit = typed(*git, "commit", "-m", f"Make {path} executable", "--", path)
            staged = typed(*git, "update-index", "--chmod=+x", "--", path)
            return f"is not executable in {self.commit[:10]}", f"{made}\n{staged}\n{commit}"
        if not here.there:
            return f"is not there: neither in {self.commit[:10]} nor in {self.project}", ""
        add = typed(*git, "add", "--force", "--", path)
        more = "" if here.runs else typed("chmod", "+x", self.project / path) + "\n"
        return (
            f"is not committed, so that no agent finds it: they work in trees of {self.commit[:10]}",
            f"{more}{add}\n{typed(*git, 'commit', '-m', f'Add {path}', '--', path)}",
        )


def lies_at(path: Path) -> Lies:
    """Return what lies at a path of this machine."""
    try:
        with path.open("rb") as file:
            return Lies(
                there=True, file=path.is_file(), runs=os.access(path, os.X_OK), begins=file.read(_HEAD)
            )
    except IsADirectoryError:
        return Lies(there=True)
    except OSError:
        return Lies(there=os.path.lexists(path), file=path.is_file(), runs=os.access(path, os.X_OK))


def judged(key: str, argv: Sequence[str], ground: CommandLocation, search: str) -> Iterator[Finding]:
    """Yield what is wrong with a command; nothing if it would start.

    Args:
        key: where it stands, as `dev.command`.
        argv: the command.
        ground: where it is started.
        search: the `PATH` of an agent.

    """
    word = argv[0]
    named = f"{key}: {typed(*argv)}"
    if word.startswith("~"):
        home = typed(os.path.expanduser(word), *argv[1:])  # noqa: PTH111 (as a shell would)
        yield Finding(
            named, Severity.MISSING, "no shell reads it: `~` is a folder of that name", f"{key}: {home}"
        )
    elif "/" not in word:
        yield from _by_name(named, word, search)
    elif (lies := _looked_up(word, ground)) is None:
        yield Finding(named, Severity.MISSING, f"leads out of {ground.what}: give an absolute path")
    elif not lies.runs or not lies.file:
        text, mend = (
            _absolute(word, lies) if word.startswith("/") else ground.remedy(os.path.normpath(word), lies)
        )
        yield Finding(named, Severity.MISSING, text, mend)
    else:
        yield from _by_first_line(named, lies.begins, search)
    yield from _script(named, argv, ground)


def _looked_up(word: str, ground: CommandLocation) -> Lies | None:
    """Return what lies where a path leads; None if it leads out of the ground."""
    if word.startswith("/"):
        return lies_at(Path(word))
    inside = os.path.normpath(word)
    return None if inside.startswith("..") else ground.lies(inside)


def _absolute(word: str, lies: Lies) -> tuple[str, str]:
    if not lies.there:
        return "is not there", ""
    return ("is not executable", typed("chmod", "+x", word)) if lies.file else ("is no file", "")


def _by_name(named: str, word: str, search: str) -> Iterator[Finding]:
    if program_on(search, word) is None:
        yield Finding(
            named,
            Severity.MISSING,
            f"{word} is not on the PATH that an agent gets",
            "install it, or give its path",
        )


def _by_first_line(named: str, begins: bytes, search: str) -> Iterator[Finding]:
    """Yield whether what a script's first line names is there."""
    if not begins.startswith(b"#!"):
        return
    line = begins[2:].split(b"\n", 1)[0]
    if line.endswith(b"\r"):
        yield Finding(
            named,
            Severity.MISSING,
            "its first line ends as on Windows, and names no program so: save it with LF ends",
        )
        return
    words = line.decode(errors="replace").split()
    wanted = words[0] if words else ""
    if wanted.rpartition("/")[2] == "env" and len(words) > 1:
        name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "")
        there = not name or program_on(search, name) is not None
        wanted = name or wanted
    else:
        there = os.access(wanted, os.X_OK)
    if not there:
        yield Finding(
            named, Severity.MISSING, f"its first line asks for {wanted or 'nothing'}, which is not there"
        )


def _script(named: str, argv: Sequence[str], ground: CommandLocation) -> Iterator[Finding]:
    """Yield whether the script that an interpreter is given would be there; what it makes of its words, who knows."""
    program = argv[0].rpartition("/")[2]
    if not _INTERPRETER.fullmatch(program) or len(argv) == 1 or argv[1].startswith("-"):
        return
    script = os.path.normpath(argv[1])
    if not argv[1].startswith(("/", "~")) and not script.startswith("..") and not ground.lies(script).there:
        text, mend = ground.remedy(script, Lies())
        yield Finding(named, Severity.WARN, f"{argv[1]} {text}", mend)
