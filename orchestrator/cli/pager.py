"""Shows git's output about a task on the user's terminal: through their pager, in colour, and harmless.

Agents wrote what it shows. So the guarded git runs, which starts no program that the repository names, and each line is
made harmless before it is coloured: git's own colours would look the same as those in a file. If the output is no
terminal, the bytes are git's own, fit for `git apply`.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Final

from orchestrator.cli.screen import coloured, paint
from orchestrator.formats.text import neutral
from orchestrator.workspaces.git_process import Git

_HUNK: Final = re.compile(r"(@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@)(.*)")
_STAT: Final = re.compile(r"(.* \| +\d+ )(\+*)(-*)")
_TRUSTED: Final = frozenset({"system", "global"})
"""Scopes of git's settings that are the user's own. An agent may have written those of a repository."""

_NEVER: Final = frozenset({"false", "never", "no", "off", "0"})
_LESS: Final = {"LESS": "FRX", "LV": "-c"}


def show(git: Git, *words: str) -> int:
    """Run a git command that prints differences, and return its exit status."""
    if not sys.stdout.isatty():
        sys.stdout.flush()
        return git.stream(*words, into=None).wait()
    process = git.stream(*words)
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    with process:
        colour = coloured(sys.stdout) and _own(git, "color.diff", "color.ui") not in _NEVER
        lines = (neutral(line.decode(errors="replace").rstrip("\n")) for line in process.stdout)
        with _paged(git) as out, suppress(BrokenPipeError):
            for line in painted(lines) if colour else lines:
                out.write(f"{line}\n")
        process.terminate()  # the user closed the pager
    return 0


def painted(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a diff, or of its statistics, in git's usual colours."""
    old = new = 0
    for line in lines:
        if old > 0 or new > 0:
            kind = line[:1]
            old, new = old - (kind in {" ", "-"}), new - (kind in {" ", "+"})
            yield paint(line, "green" if kind == "+" else "red") if kind in {"+", "-"} else line
        elif hunk := _HUNK.fullmatch(line):
            old, new = (1 if count is None else int(count) for count in hunk.group(2, 3))
            yield paint(hunk[1], "cyan") + hunk[4]
        elif stat := _STAT.fullmatch(line):
            yield stat[1] + paint(stat[2], "green") + paint(stat[3], "red")
        else:
            yield line if line.startswith(("\\", " ")) or not line else paint(line, "bold")


@contextmanager
def _paged(git: Git) -> Iterator[IO[str]]:
    """Open the user's pager, chosen as git chooses it; standard output if there is none."""
    import shutil  # only at a terminal: it imports what unpacks archives

    wanted = os.environ.get("GIT_PAGER") or _own(git, "core.pager") or os.environ.get("PAGER") or "less"
    program = next(iter(wanted.split()), "cat")
    if program == "cat" or not shutil.which(program):
        yield sys.stdout
        return
    pager = subprocess.Popen(
        ["sh", "-c", wanted],
        stdin=subprocess.PIPE,
        env=_LESS | dict(os.environ),
        encoding="utf-8",
        errors="replace",
    )
    assert pager.stdin is not None  # noqa: S101 (it is a pipe)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        yield pager.stdin
    finally:
        with suppress(BrokenPipeError):
            pager.stdin.close()
        pager.wait()
        signal.signal(signal.SIGINT, before)


def _own(git: Git, *keys: str) -> str:
    """Return the first of these git settings that the user set, not the repository; else an empty string."""
    for key in keys:
        said = git.find("config", "--show-scope", "--get-all", key)
        mine = [
            value
            for scope, _, value in (line.partition("\t") for line in said.splitlines())
            if scope in _TRUSTED
        ]
        if mine:
            return mine[-1].lower() if key.startswith("color") else mine[-1]
    return ""
