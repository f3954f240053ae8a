"""Writing files on a box, by paramiko's SFTP over a channel of the shared connection: no name reaches a shell.

If the box has no SFTP, a plain command does it [plain_put.py].
"""

from __future__ import annotations

import errno
import logging
import secrets
import stat
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol

from orchestrator.hosts.ssh.paths import encoded
from orchestrator.hosts.ssh.plain_put import PlainPut
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.ports.box_link import DEADLINE, BoxLink, NoSubsystem
from orchestrator.ports.files import TEMPORARY

if TYPE_CHECKING:
    from paramiko.sftp_client import SFTPClient


class Puts(Protocol):
    """Writes files on one box. Paths are absolute."""

    def put(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Put `data` at `path`, whole or not at all."""
        ...

    def make_folder(self, path: str, mode: int = 0o700) -> None:
        """Make a folder and its missing parents, with this mode; no error if it exists."""
        ...


class Sftp:
    """Files of one box, while its channel is held. Paths are absolute; bytes that are not UTF-8 are surrogates.

    Every call raises as `Link.run` does, and Unavailable if the box refuses (no room, no right, no folder).
    """

    def __init__(self, client: SFTPClient, box: str) -> None:
        self._client = client
        self._box = box

    def put(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Put `data` at `path`, whole or not at all: a temporary file beside it, then a rename over an existing one.

        A broken connection may leave the temporary file behind, which nobody reads.
        """
        end = encoded(path)
        folder, _, _ = end.rpartition(b"/")
        beside = folder + f"/{TEMPORARY}{secrets.token_hex(8)}".encode()
        with self._asking("write", path):
            try:
                with self._client.open(beside, "wxb") as file:
                    file.set_pipelined(True)
                    file.chmod(mode)
                    file.write(data)
                    _check_taken(file.stat().st_size, len(data))
                self._client.posix_rename(beside, end)
            except OSError:
                with suppress(OSError):
                    self._client.remove(beside)
                raise

    def make_folder(self, path: str, mode: int = 0o700) -> None:
        """Make a folder and its missing parents, with this mode; no error if it exists."""
        missing = []
        for each in (PurePosixPath(path), *PurePosixPath(path).parents):
            if self._is_folder(str(each)):
                break
            missing.append(str(each))
        for name in reversed(missing):
            with self._asking("make", name):
                try:
                    self._client.mkdir(encoded(name), mode)
                except OSError:
                    # Two callers may make it at once; SFTP has no error for "it exists".
                    if not self._is_folder(name):
                        raise

    def _is_folder(self, path: str) -> bool:
        """Return whether there is a folder, or a link to one: a home may be on another disk."""
        with self._asking("look at", path):
            try:
                return stat.S_ISDIR(self._client.stat(encoded(path)).st_mode or 0)
            except OSError as error:
                if error.errno == errno.ENOENT:
                    return False
                raise

    @contextmanager
    def _asking(self, deed: str, path: str) -> Iterator[None]:
        """Replace library errors by our own words; errors of the link itself pass through."""
        try:
            yield
        except OrchestratorError:
            raise
        except _faults() as problem:
            raise Unavailable(f"{self._box} could not {deed} {path!a}: {problem}") from problem


@contextmanager
def opened(link: BoxLink, deadline: float = DEADLINE) -> Iterator[Puts]:
    """Yield a writer of files on a box: SFTP, or plain commands if there is none.

    `deadline`, in seconds, is for everything done with it. Raises as `spoken` does, except for NoSubsystem.
    """
    with ExitStack() as held:
        there: Puts
        try:
            there = held.enter_context(spoken(link, deadline))
        except NoSubsystem:
            there = PlainPut(link, deadline)
        yield there


@contextmanager
def spoken(link: BoxLink, deadline: float = DEADLINE) -> Iterator[Sftp]:
    """Hold a channel for SFTP. `deadline`, in seconds, is for everything done with it.

    Raises:
        Unreachable: there is no connection, and none could be made, or tried, now. Nothing was done.
        Cut: the connection ended, or time was up: whether the last operation was done is unknown.
        NotLetIn: the box or our ssh refuses, until `Link.again` is called.
        NoSubsystem: it does not speak SFTP.

    """
    # Imported here: 50 ms and 16 MB, only for users with a box.
    from paramiko.sftp_client import SFTPClient

    # It logs every channel that it opens and closes.
    logging.getLogger("paramiko").setLevel(logging.ERROR)
    with link.subsystem("sftp", deadline) as stream:
        socket: Any = stream
        try:
            client = SFTPClient(socket)
        except OrchestratorError:
            raise
        except _faults() as problem:
            raise NoSubsystem(f"{link.address} does not speak SFTP as it should: {problem}") from problem
        yield Sftp(client, str(link.address))


def _check_taken(taken: int | None, sent: int) -> None:
    """Raise OSError if a file is shorter than what was written to it: pipelined writes report no error."""
    if taken != sent:
        raise OSError(errno.ENOSPC, f"{taken} of {sent} bytes were taken: is its disk full?")


def _faults() -> tuple[type[Exception], ...]:
    """Return paramiko's exceptions: when the box refuses, and when its answer is not SFTP."""
    from paramiko.sftp import SFTPError
    from paramiko.ssh_exception import SSHException

    return (OSError, EOFError, ValueError, struct.error, SFTPError, SSHException)
