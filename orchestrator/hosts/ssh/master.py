"""The one connection to a box: ssh as a control master of our own, with a channel for every command.

The system's ssh, because only it honours all of the user's settings: Include, Match, ProxyJump, agents, certificates,
security keys. Settings that would change the user's machine, open a port, ask, or run a command of their own are
overridden here, by options that take precedence over every file.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from orchestrator.formats.scarcity import cause_of
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.processes import Process, alive, command_of, send, start_of
from orchestrator.hosts.ssh.child import run_child
from orchestrator.hosts.ssh.stderr import Stderr
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.files import Unreadable

CONNECT: Final = 8.0
"""Seconds in which a connection must be made, jumps and login included."""

ALIVE_EVERY: Final = 2
"""Seconds between two checks whether the box still answers, when nothing else was received from it."""

ALIVE_MISSED: Final = 3
"""Unanswered checks after which the connection is dead: that is noticed in less than 10 s."""

PROBE: Final = 2.0
"""Seconds in which the connection's own process must report that it runs."""

_LOOK: Final = 0.005  # seconds between two looks for the control socket
_OWNER: Final = 256  # bytes of what names the process that holds a connection
_SAID: Final = 16_384  # bytes of an answer of ssh's own process
_LAST_WORDS: Final = 1.0  # seconds for them, should something else hold its standard error open
_KILLED: Final = 2.0  # seconds in which a killed process must end
_SOCKET: Final = 104 - 18  # the shortest limit there is, less what ssh appends while it makes the socket

_ALWAYS: Final = {
    "AddKeysToAgent": "no",
    "BatchMode": "yes",
    "ClearAllForwardings": "yes",
    "ConnectionAttempts": "1",
    "ControlMaster": "yes",
    "ControlPersist": "no",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "LogLevel": "ERROR",  # a banner of the box would be mixed with ssh's own messages
    "PermitLocalCommand": "no",
    "RemoteCommand": "none",
    "ServerAliveCountMax": str(ALIVE_MISSED),
    "ServerAliveInterval": str(ALIVE_EVERY),
    "StrictHostKeyChecking": "yes",
    "Tunnel": "no",
    "UpdateHostKeys": "no",  # would write to the user's known_hosts
}

_FORKS: Final = (8, 7)
"""The version of OpenSSH from which on a setting can send ssh into the background; older ones refuse its name."""

_VERSION: Final = re.compile(rb"OpenSSH_(\d{1,3})\.(\d{1,3})")


class NoConnection(Unavailable):
    """ssh ended before the connection stood. `said` is what it wrote on standard error."""

    def __init__(self, said: str) -> None:
        self.said = said
        super().__init__(said)


def ssh_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of ssh: the user's, in the language that we parse, and with nobody to ask."""
    return {**environ, "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never"}


def forks_by_setting(environ: Mapping[str, str]) -> bool:
    """Return whether the user's settings can send ssh into the background, where nobody would see it end."""
    program = shutil.which("ssh", path=environ.get("PATH"))
    try:
        return program is not None and _forks(
            program, Path(program).stat().st_mtime_ns, environ.get("PATH", "")
        )
    except (OSError, Unavailable, Refused):
        return False


@lru_cache(maxsize=4)
def _forks(program: str, _changed: int, path: str) -> bool:
    ended = run_child([program, "-V"], stdin=b"", deadline=PROBE, most=_SAID, environ={"PATH": path})
    found = _VERSION.search(ended.err)
    return found is not None and (int(found[1]), int(found[2])) >= _FORKS


@dataclass(frozen=True, slots=True)
class MasterPlace:
    """The box to connect to, and the folder, 0700 and ours, of the connection's socket.

    `config` replaces the user's own settings, as `ssh -F` does. `connect` is how many seconds a connection may take.
    """

    address: Address
    folder: Path
    config: Path | None = None
    connect: float = CONNECT

    @property
    def socket(self) -> Path:
        """The path of the control socket. Raises Refused if it would be too long for the system."""
        name = hashlib.sha256(str(self.address).encode()).hexdigest()[:12]
        path = self.folder / name
        if len(os.fsencode(path)) > _SOCKET:
            raise Refused(f"{self.folder} is too long a path for a socket of ssh: set a shorter state folder")
        return path

    @property
    def owner(self) -> Path:
        """The file that says which process holds the connection."""
        return self.socket.with_suffix(".pid")

    def command(self, *, forks: bool = False) -> list[str]:
        """Return the arguments of the master. `forks`: this ssh knows a setting that would send it away from us."""
        # A little earlier than our own limit, so that ssh reports the cause.
        always = {**_ALWAYS, "ConnectTimeout": str(max(1, int(self.connect) - 1))}
        always |= {"ForkAfterAuthentication": "no"} if forks else {}
        settings = [word for name, value in always.items() for word in ("-o", f"{name}={value}")]
        config = ["-F", str(self.config)] if self.config else []
        return ["ssh", *config, "-N", "-T", *self._control(), *settings, *self.address.words()]

    def is_master(self, command: str) -> bool:
        """Return whether this is the command of a master of this place, as `command_of` returns it."""
        program = command.replace("\0", " ").partition(" ")[0]
        return program.rpartition("/")[2] == "ssh" and self._control()[1] in command

    def channel(self, command: str) -> list[str]:
        """Return the arguments that run a command line there over the connection, and never open another one."""
        return [*self.channel_words(), "--", self.address.host, command]

    def subsystem(self, name: str) -> list[str]:
        """Return the arguments that talk to a subsystem of the sshd there, likewise."""
        return [*self.channel_words(), "-s", "--", self.address.host, name]

    def channel_words(self, *, terminal: bool = False) -> list[str]:
        """Return those arguments up to the host, which has no effect while the connection stands.

        `terminal`: the program there gets a terminal of its own.
        """
        # With a master no settings are needed; without one there must be no connection besides ours.
        only = ["-F", "none", "-o", "ProxyCommand=false", *self._control(), "-o", "LogLevel=ERROR"]
        return ["ssh", *only, "-tt" if terminal else "-T"]

    def question(self) -> list[str]:
        """Return the arguments that ask the master whether it runs."""
        return ["ssh", "-F", "none", *self._control(), "-O", "check", "--", self.address.host]

    def _control(self) -> list[str]:
        """Return the socket as an option: ssh splits its value at blanks like a line of settings, and expands it."""
        path = str(self.socket).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
        return ["-o", f'ControlPath="{path}"']


class Master:
    """A connection that stands, until it is closed or found dead."""

    def __init__(self, place: MasterPlace, child: subprocess.Popen[bytes], words: Stderr) -> None:
        self._place = place
        self._child = child
        self._words = words

    @classmethod
    def connect(
        cls, place: MasterPlace, environ: Mapping[str, str], given_up: Callable[[], bool] = lambda: False
    ) -> Master:
        """Open the connection; one that an earlier process of ours left behind is ended first, by its id.

        `given_up` returns whether nobody waits for it any more.

        Raises:
            NoConnection: ssh ended, or did not connect in time.
            Unavailable: ssh could not be started.

        """
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _end_left_behind(place)
        forks = forks_by_setting(environ)
        until = time.monotonic() + place.connect
        words = Stderr()
        try:
            child = subprocess.Popen(
                place.command(forks=forks),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=words.writer,
                env=ssh_environment(environ),
                start_new_session=True,
            )
        except OSError as error:
            words.close()
            raise Unavailable(f"ssh could not be started: {error}") from error
        words.follow(child)
        made = cls(place, child, words)
        try:
            owner = str(Process(child.pid, start_of(child.pid)))
            DiskFiles().write(place.owner, owner.encode(), durable=False)
        except OSError as error:
            made.close()
            raise Unavailable(f"{place.owner} cannot be written: {cause_of(error)}") from error
        try:
            while not place.socket.exists():
                late = time.monotonic() > until or given_up()
                if late or child.poll() is not None:
                    said = made.close()
                    raise NoConnection(f"no answer within {place.connect:g} s" if late else said)
                time.sleep(_LOOK)
        except KeyboardInterrupt:
            # ssh has a session of its own: no typed key reaches it.
            made.close()
            raise
        return made

    def stands(self) -> bool:
        """Return whether the connection stands, as far as ssh knows."""
        return self._child.poll() is None and self._place.socket.exists()

    def answers(self, environ: Mapping[str, str]) -> bool:
        """Return whether the connection's own process answers; a hanging one does not."""
        try:
            asked = self._place.question()
            return run_child(asked, stdin=b"", deadline=PROBE, most=_SAID, environ=environ).status == 0
        except (Unavailable, Refused):
            return False

    def close(self) -> str:
        """End the connection with everything that uses it; return ssh's last words."""
        if self._child.poll() is None:
            with suppress(ProcessLookupError):
                # Its jumps are children of it.
                os.killpg(self._child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            # A process in an uninterruptible call outlives its kill; it is reaped later.
            self._child.wait(_KILLED)
        said = self._words.said(_LAST_WORDS).decode(errors="replace")
        self._words.close()
        with suppress(OSError):  # something else may be in their place
            self._place.socket.unlink(missing_ok=True)
            self._place.owner.unlink(missing_ok=True)
        return said


def _end_left_behind(place: MasterPlace) -> None:
    """End the master of a process of ours that was killed: it may hang, and nobody else would close it.

    Whatever the file says, nothing is ended but an ssh with our socket.
    """
    with suppress(OSError, ValueError, Unreadable):
        pid, _, start = DiskFiles().read(place.owner, _OWNER).decode().partition("@")
        left = Process(int(pid), start)
        if place.is_master(command_of(left.pid)):
            send(left, signal.SIGKILL)
            until = time.monotonic() + 1
            while alive(left) and time.monotonic() < until:
                time.sleep(_LOOK)
    with suppress(OSError):
        place.socket.unlink(missing_ok=True)
