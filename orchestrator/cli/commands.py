"""Checks whether a command of task.md could be started where its agent works, and what to type if not. Runs nothing.

Agents work in trees made from a commit: files that are not committed are not there, even if the project has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from orchestrator import plain_files
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.screen import typed
from orchestrator.runtimes.cli_inventory import program_on
from orchestrator.workspaces.repository import Repository

_HEAD: Final = 256
"""Bytes of a script's first line that count: the kernel reads no more of it."""

_INTERPRETER: Final = re.compile(r"(?:python|pypy)[0-9.]*|(?:ba|da|z|k|fi)?sh|node|bun|deno|ruby|perl|php")
_LARGEST: Final = 1_048_576


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a path leads to: whether it exists, is a file, is executable; and its first bytes."""

    there: bool = False
    file: bool = False
    runs: bool = False
    begins: bytes = b""


class CommandLocation(Protocol):
    """The place where a command is started."""

    @property
    def what(self) -> str:
        """Return its name for messages."""
        ...

    def facts(self, path: str) -> FileFacts:
        """Return the facts about a path below it; the path has no `..` in it."""
        ...

    def remedy(self, path: str, facts: FileFacts) -> tuple[str, str]:
        """Return what is wrong with a path, and what to type."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder as it is: the user's own tree, or a `cwd:`."""

    path: Path

    @property
    def what(self) -> str:
        """Return the folder's path."""
        return str(self.path)

    def facts(self, path: str) -> FileFacts:
        """Return the present facts about a path."""
        return facts_at(self.path / path)

    def remedy(self, path: str, facts: FileFacts) -> tuple[str, str]:
        """Return what is wrong with the path in this folder, and what to type."""
        if not facts.there:
            return f"is missing: {self.path / path}", ""
        if not facts.file:
            return f"is not a file: {self.path / path}", ""
        return "is not executable", typed("chmod", "+x", self.path / path)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit from which an agent's tree is made; `project` is the user's own tree.

    `task`: the task on whose own branch the commit is. What is committed elsewhere reaches that by a rebase.
    """

    repository: Repository
    project: Path
    commit: str
    task: str = ""

    @property
    def what(self) -> str:
        """Return a name for the tree."""
        return f"a tree of {self.commit[:10]}"

    def facts(self, path: str) -> FileFacts:
        """Return the facts about a path in the commit."""
        git = self.repository.git
        said = git.ask(
            "ls-tree", "-z", "--long", self.commit, "--", f"{self.repository.prefix}{os.path.normpath(path)}"
        )
        mode, kind, _, size = said.partition("\t")[0].split() if said else ("", "", "", "0")
        if not mode:
            return FileFacts()
        small = kind == "blob" and size.isdigit() and int(size) <= _LARGEST
        begins = git.run("cat-file", "blob", said.split()[2])[1][:_HEAD] if small else b""
        link = mode == "120000"
        return FileFacts(
            there=True, file=kind == "blob", runs=mode == "100755" or link, begins=b"" if link else begins
        )

    def remedy(self, path: str, facts: FileFacts) -> tuple[str, str]:
        """Return what is wrong with the path in the commit, and how to commit it from the user's own tree."""
        wrong, mend = self._uncommitted(path, facts)
        if mend and self.task:
            committed = Commit(self.repository, self.project, "HEAD").facts(path)
            rebase = typed("task", "rebase", self.task, "--project", self.project)
            mend = rebase if committed.runs else f"{mend}\n{rebase}"
        return wrong, mend

    def _uncommitted(self, path: str, facts: FileFacts) -> tuple[str, str]:
        here, git = facts_at(self.project / path), ("git", "-C", self.project)
        if facts.there and not facts.file:
            return "is not a file", ""
        if facts.there:
            made = typed("chmod", "+x", self.project / path)
            commit = typed(*git, "commit", "-m", f"Make {path} executable", "--", path)
            staged = typed(*git, "update-index", "--chmod=+x", "--", path)
            return f"is not executable in {self.commit[:10]}", f"{made}\n{staged}\n{commit}"
        if not here.there:
            return f"is missing in {self.commit[:10]} and in {self.project}", ""
        add = typed(*git, "add", "--force", "--", path)
        more = "" if here.runs else typed("chmod", "+x", self.project / path) + "\n"
        branch = f" on task/{self.task}" if self.task else ""
        return (
            f"is not committed{branch}, so no agent finds it: agents work in trees of {self.commit[:10]}",
            f"{more}{add}\n{typed(*git, 'commit', '-m', f'Add {path}', '--', path)}",
        )


def facts_at(path: Path) -> FileFacts:
    """Return the facts about a path of this machine."""
    try:
        begins = plain_files.head(path, _HEAD)
        return FileFacts(there=True, file=True, runs=os.access(path, os.X_OK), begins=begins)
    except IsADirectoryError:
        return FileFacts(there=True)
    except OSError:
        return FileFacts(there=os.path.lexists(path), file=path.is_file(), runs=os.access(path, os.X_OK))


def judged(key: str, argv: Sequence[str], ground: CommandLocation, search: str) -> Iterator[Finding]:
    """Yield what is wrong with a command; nothing if it could be started.

    Args:
        key: its key in task.md, such as `dev.command`.
        argv: the command.
        ground: the place where it is started.
        search: the `PATH` of an agent.

    """
    word = argv[0]
    named = f"{key}: {typed(*argv)}"
    if word.startswith("~"):
        home = typed(os.path.expanduser(word), *argv[1:])  # noqa: PTH111 (as a shell would)
        yield Finding(
            named, Severity.MISSING, "no shell expands the `~`: write out the folder", f"{key}: {home}"
        )
    elif "/" not in word:
        yield from _by_name(named, word, search)
    elif (facts := _facts_of(word, ground)) is None:
        yield Finding(named, Severity.MISSING, f"leads out of {ground.what}: give an absolute path")
    elif not facts.runs or not facts.file:
        text, mend = (
            _absolute(word, facts) if word.startswith("/") else ground.remedy(os.path.normpath(word), facts)
        )
        yield Finding(named, Severity.MISSING, text, mend)
    else:
        yield from _by_first_line(named, facts.begins, search)
    yield from _script(named, argv, ground)


def _facts_of(word: str, ground: CommandLocation) -> FileFacts | None:
    """Return the facts about a path; None if it leads out of the place."""
    if word.startswith("/"):
        return facts_at(Path(word))
    inside = os.path.normpath(word)
    return None if inside.startswith("..") else ground.facts(inside)


def _absolute(word: str, facts: FileFacts) -> tuple[str, str]:
    if not facts.there:
        return "is missing", ""
    return ("is not executable", typed("chmod", "+x", word)) if facts.file else ("is not a file", "")


def _by_name(named: str, word: str, search: str) -> Iterator[Finding]:
    if program_on(search, word) is None:
        yield Finding(
            named,
            Severity.MISSING,
            f"{word} is not on the PATH that an agent gets",
            "install it, or write its path",
        )


def _by_first_line(named: str, begins: bytes, search: str) -> Iterator[Finding]:
    """Yield a finding if the program named by a script's first line is missing."""
    if not begins.startswith(b"#!"):
        return
    line = begins[2:].split(b"\n", 1)[0]
    if line.endswith(b"\r"):
        yield Finding(
            named,
            Severity.MISSING,
            "its first line ends with CR LF, so the kernel finds no such program: save it with LF line ends",
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
            named, Severity.MISSING, f"its first line names {wanted or 'nothing'}, which is not installed"
        )


def _script(named: str, argv: Sequence[str], ground: CommandLocation) -> Iterator[Finding]:
    """Yield a finding if a script given to an interpreter is missing; its other words are not checked."""
    program = argv[0].rpartition("/")[2]
    if not _INTERPRETER.fullmatch(program) or len(argv) == 1 or argv[1].startswith("-"):
        return
    script = os.path.normpath(argv[1])
    if not argv[1].startswith(("/", "~")) and not script.startswith("..") and not ground.facts(script).there:
        text, mend = ground.remedy(script, FileFacts())
        yield Finding(named, Severity.WARN, f"{argv[1]} {text}", mend)
