"""One git command, with a deadline, that asks nobody anything, runs no hook and trusts no environment."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.model.errors import Unavailable

_SETTINGS: Final = {
    "color.ui": "false",
    "commit.gpgSign": "false",
    "core.filesRefLockTimeout": "1000",  # ms: the trees of one task are worked on side by side
    "core.fsmonitor": "false",
    "core.fsync": "committed,reference",  # a commit that the journal tells of outlives a power cut
    "core.fsyncMethod": "batch",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "gc.auto": "0",
    "i18n.commitEncoding": "utf-8",
    "log.showSignature": "false",  # it runs a program, and prints what it says among what was asked for
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "protocol.file.allow": "user",
    "submodule.recurse": "false",
    "worktree.useRelativePaths": "false",
}
_KEPT: Final = frozenset(
    {
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
    }
)
"""Where the user's own configuration lies, and how they reach their server (a partial clone may have to)."""

_PLACES: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Variables that name another repository than the one where git is run: of a hook from which `task` was called, say."""

_OURS: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS_REQUIRE": "never",
}


class GitFailed(Unavailable):
    """A git command ended with a status that was not asked for. `said` is what it wrote on standard error."""

    def __init__(self, message: str, said: str) -> None:
        self.said = said
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Git:
    """Git as seen from one place.

    Args:
        cwd: the folder to run in.
        deadline: seconds that one command may take.
        environ: the daemon's environment; of its GIT_… variables only the user's configuration counts.
        variables: GIT_DIR and the like, where the place is not to be found out from `cwd`: an agent may have
            put another repository there, whose configuration would name programs to run.

    """

    cwd: Path
    deadline: float
    environ: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str, stdin: bytes = b"", allowed: Sequence[int] = (0,)) -> tuple[int, bytes]:
        """Run `git ARGUMENTS` and return its exit status and output.

        Raises:
            GitFailed: the status is none of `allowed`.
            Unavailable: git is not there, or did not end by the deadline; then it was killed.

        """
        try:
            process = subprocess.Popen(
                self._command(arguments),
                cwd=self.cwd,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # no terminal to ask on, and one group to kill
            )
        except OSError as error:
            raise Unavailable(f"git cannot be run in {self.cwd}: {error.strerror}") from error
        with process:
            try:
                output, complaint = process.communicate(stdin, timeout=self.deadline)
            except subprocess.TimeoutExpired as error:
                raise Unavailable(
                    f"`git {arguments[0]}` in {self.cwd} did not end within {self.deadline:g} seconds (git.deadline)"
                ) from error
            finally:
                if process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        if process.returncode not in allowed:
            said = complaint.decode(errors="replace")
            raise GitFailed(f"`git {arguments[0]}` in {self.cwd} failed: {shown(said)}", said)
        return process.returncode, output

    def ask(self, *arguments: str, stdin: bytes = b"") -> str:
        """Return what `git ARGUMENTS` says, without the line's end. Bytes that are not UTF-8 are escaped.

        Raises:
            Unavailable: as `run`.

        """
        return self.run(*arguments, stdin=stdin)[1].decode(errors="surrogateescape").rstrip("\n")

    def find(self, *arguments: str) -> str:
        """Return what `git ARGUMENTS` says, or nothing if it ends with status 1: there is no such thing.

        Raises:
            Unavailable: as `run`.

        """
        return self.run(*arguments, allowed=(0, 1))[1].decode(errors="surrogateescape").rstrip("\n")

    def holds(self, *arguments: str) -> bool:
        """Tell whether `git ARGUMENTS` ends with status 0 rather than 1.

        Raises:
            Unavailable: as `run`.

        """
        return self.run(*arguments, allowed=(0, 1))[0] == 0

    def stream(self, *arguments: str, into: int | None = subprocess.PIPE) -> subprocess.Popen[bytes]:
        """Start `git ARGUMENTS` for somebody who looks on, and return the process; its complaints are theirs to see.

        It has no deadline. `into` is where its output goes: to us, or (None) where ours goes.

        Raises:
            Unavailable: git is not there.

        """
        try:
            return subprocess.Popen(
                self._command(arguments),
                cwd=self.cwd,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=into,
            )
        except OSError as error:
            raise Unavailable(f"git cannot be run in {self.cwd}: {error.strerror}") from error

    def _command(self, arguments: Sequence[str]) -> list[str]:
        options = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        return ["git", *options, *arguments]

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in self.environ.items()
            if not name.startswith("GIT_") or name in _KEPT
        }
        return kept | _OURS | dict(self.variables)


def as_the_user(cwd: Path, *arguments: str, environ: Mapping[str, str]) -> int:
    """Run `git ARGUMENTS` as if its user had typed it in `cwd`, and return its exit status.

    Their hooks, filters, signatures and settings count, and it may ask on their terminal. It is for what a user
    tells git by `task merge` to do with their own tree, and for nothing else: all that only looks, and all that the
    daemon does, goes through `Git`.

    Raises:
        Unavailable: git is not there.

    """
    kept = {name: value for name, value in environ.items() if name not in _PLACES}
    try:
        return subprocess.run(["git", *arguments], cwd=cwd, env=kept, check=False).returncode
    except OSError as error:
        raise Unavailable(f"git cannot be run in {cwd}: {error.strerror}") from error


def shown(said: str) -> str:
    """Return the line of git's complaint that tells most, without control characters."""
    lines = [line for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    line = (telling or lines or ["it gave no reason"])[0]
    return "".join(sign if sign.isprintable() else "?" for sign in line)[:300]
