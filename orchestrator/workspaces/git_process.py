"""The one door to git: with a deadline, it asks nobody anything, runs no hook and no program of a repository's choice.

What a repository's configuration names as programs (filters, drivers, helpers) is overridden as `git_config` says.
The configuration is looked at right ahead of each command; who changes it between the two is not held off.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from orchestrator.formats import git_config
from orchestrator.formats.scarcity import cause_of
from orchestrator.model.errors import Unavailable
from orchestrator.workspaces.bounded_output import PrintsTooMuch, read_to_end

_SETTINGS: Final = {
    "color.ui": "false",
    "commit.gpgSign": "false",
    "core.filesRefLockTimeout": "1000",  # ms: the trees of one task are worked on side by side
    "core.fsync": "committed,reference",  # a commit that the journal tells of outlives a power cut
    "core.fsyncMethod": "batch",
    "core.quotePath": "false",
    "fetch.fsckObjects": "true",
    "gc.auto": "0",
    "i18n.commitEncoding": "utf-8",
    "maintenance.auto": "false",
    "protocol.file.allow": "user",
    "submodule.recurse": "false",
    "worktree.useRelativePaths": "false",
    **git_config.FIXED,
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


PLACE: Final = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix")
"""Asks in which repository a folder lies. It opens no object, no index and no remote: there is no program to run."""

_BLOCK: Final = 512
_KIB: Final = 1024
_BOUNDED: Final = """\
[ "$1" = 0 ] || ulimit -f "$1" || exit
[ "$2" = 0 ] || ulimit -d "$2" 2>/dev/null
shift 2
exec "$@"
"""
"""Runs a command that the system ends when it writes a larger file than so many blocks, and that is granted no more
KiB of memory than that, files that it maps not counted; 0: any. A limit of memory that is lower already stays.
"""

_AT_REST: Final = 2.0
"""Seconds without a change after which a file's times tell whether it is changed: they go by ticks of the kernel."""

_PATH_BYTES: Final = 4096

_harmless: dict[tuple[int, ...], tuple[int, ...]] = {}
"""Files of configuration that were seen to name no program, by device and inode, and how each stood then.

All worktrees of a repository have the same: none that names a file for one worktree alone is noted here.
"""


class GitFailed(Unavailable):
    """A git command ended with a status that was not asked for. `said` is what it wrote on standard error."""

    def __init__(self, message: str, said: str) -> None:
        self.said = said
        super().__init__(message)


class GitTooLoud(Unavailable):
    """A git command printed more than it may, and was killed."""


class GitLate(Unavailable):
    """A git command did not end by its deadline, and was killed."""


@dataclass(frozen=True, slots=True)
class Git:
    """Git as seen from one place.

    Args:
        cwd: the folder to run in.
        deadline: seconds that one command may take.
        environ: the daemon's environment; of its GIT_… variables only the user's configuration counts.
        variables: GIT_DIR and the like, where the place is not to be found out from `cwd`: an agent may have
            put another repository there, whose configuration would name programs to run.
        largest: bytes of the largest file that a command may write; 0: any.
        prints: bytes that a command without input may print; 0: any.
        memory: bytes of memory that each process of a command may take, without files that it maps; 0: any. A system
            that knows no such limit (macOS) grants any.

    """

    cwd: Path
    deadline: float
    environ: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    largest: int = 0
    prints: int = 0
    memory: int = 0

    def run(self, *arguments: str, stdin: bytes = b"", allowed: Sequence[int] = (0,)) -> tuple[int, bytes]:
        """Run `git ARGUMENTS` and return its exit status and output.

        Raises:
            GitFailed: the status is none of `allowed`.
            GitLate: it did not end by the deadline, and was killed.
            GitTooLoud: it printed more than `prints`, and was killed.
            Unavailable: git is not there.
            Refused: the repository names more programs than can be overridden.

        """
        status, output, said = self._ended(arguments[0], arguments, stdin, self._guarded(arguments))
        if status not in allowed:
            raise self._failed(arguments[0], said)
        return status, output

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
        environment = self._guarded(arguments)
        try:
            return subprocess.Popen(
                self._command(arguments),
                cwd=self.cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=into,
            )
        except OSError as error:
            raise Unavailable(f"git cannot be run in {self.cwd}: {cause_of(error)}") from error

    def _ended(
        self, asked: str, arguments: Sequence[str], stdin: bytes, environment: Mapping[str, str]
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end, for the one that was `asked`; return its status, output and complaints.

        Raises:
            GitLate, GitTooLoud, Unavailable: as `run`.

        """
        try:
            process = subprocess.Popen(
                self._command(arguments),
                cwd=self.cwd,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # no terminal to ask on, and one group to kill
            )
        except OSError as error:
            raise Unavailable(f"git cannot be run in {self.cwd}: {cause_of(error)}") from error
        with process:
            try:
                if self.prints and not stdin:
                    output, complaint = read_to_end(process, self.deadline, self.prints)
                else:
                    output, complaint = process.communicate(stdin, timeout=self.deadline)
            except PrintsTooMuch:
                raise GitTooLoud(
                    f"`git {asked}` in {self.cwd} printed more than {self.prints:,} bytes, and was ended"
                ) from None
            except subprocess.TimeoutExpired as error:
                raise GitLate(
                    f"`git {asked}` in {self.cwd} did not end within {self.deadline:g} seconds (git.timeout)"
                ) from error
            finally:
                if process.returncode is None:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, output, complaint

    def _failed(self, command: str, complaint: bytes) -> GitFailed:
        said = complaint.decode(errors="replace")
        return GitFailed(f"`git {command}` in {self.cwd} failed: {shown(said)}", said)

    def _guarded(self, arguments: Sequence[str]) -> dict[str, str]:
        """Return the environment in which `git ARGUMENTS` runs no program that the repository names.

        Raises:
            GitFailed: the configuration cannot be read; then the command would fail as well.
            Refused, Unavailable: as `run`.

        """
        environment = self._environment()
        folder = self.variables.get("GIT_DIR", "")
        stands = standing(folder) if folder else ()
        runs_nothing = arguments[0] == git_config.LIST[0] or tuple(arguments) == PLACE
        if runs_nothing or (stands and _harmless.get(stands[:2]) == stands):
            return environment
        status, listed, complaint = self._ended(arguments[0], git_config.LIST, b"", environment)
        if status:
            raise self._failed(arguments[0], complaint)
        guards, whole = git_config.overriding(listed)
        if stands and whole and not guards and time.time_ns() - max(stands[-2:]) > _AT_REST * 1e9:
            _harmless[stands[:2]] = stands
        return environment | guards

    def _command(self, arguments: Sequence[str]) -> list[str]:
        options = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = ["git", *options, *arguments]
        if not (self.largest or self.memory):
            return command
        bounds = (str(-(-self.largest // _BLOCK)), str(-(-self.memory // _KIB)))
        return ["sh", "-c", _BOUNDED, "sh", *bounds, *command]

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
        raise Unavailable(f"git cannot be run in {cwd}: {cause_of(error)}") from error


def standing(folder: str) -> tuple[int, ...]:
    """Return what tells whether the configuration of a git folder is changed; nothing if that cannot be told."""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            descriptor = os.open(f"{folder}/commondir", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                common = os.fsdecode(os.read(descriptor, _PATH_BYTES)).strip()
            finally:
                os.close(descriptor)
            folder = os.path.join(folder, common)  # noqa: PTH118 (as git does it)
        found = os.stat(f"{folder}/config")  # noqa: PTH116 (no Path is at hand)
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def shown(said: str) -> str:
    """Return the line of git's complaint that tells most, without control characters."""
    lines = [line for line in said.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal: ", "error: "))]
    line = (telling or lines or ["it gave no reason"])[0]
    return "".join(sign if sign.isprintable() else "?" for sign in line)[:300]
