"""Boxes to try SSH on: each a real sshd of its own, on this machine, with a link that can be cut.

A box has its own host key, settings, authorized key, home folder and folder of tmux sockets. Where the system
permits, it lies in a network namespace of its own behind a veth pair, with an address of its own; else on a
port of loopback, and `Box.cut` stops its processes instead of its link. Nothing of the machine's own ssh is
read or changed but `/run/sshd`, which sshd demands of root.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from orchestrator.hosts.processes import Process, send, start_of
from tests.cgroups import remove_groups
from tests.polling import wait_until

SSHD: Final = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or ""
MISSING: Final = [
    tool
    for tool, there in [("sshd", SSHD), ("rsync", shutil.which("rsync")), ("/proc", Path("/proc/1").exists())]
    if not there
]
_TRIES: Final = 50
_LISTENS: Final = "Server listening on"


@dataclass
class Box:
    """One machine as far as ssh can tell. `name` is its alias in the user's settings; `namespace` may be empty.

    `server` are lines of its sshd's settings, which count ahead of the usual ones;
    `inside` are the words ahead of its sshd's command, where that is to be in somebody else's network.
    """

    name: str
    folder: Path
    address: str
    port: int
    namespace: str = ""
    link: str = ""
    inside: tuple[str, ...] = ()
    server: str = ""
    sftp: bool = True
    sshd: Process | None = None
    _started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def environ(self) -> dict[str, str]:
        """What a program on the box finds in its environment, beside what sshd gives it."""
        return {"HOME": str(self.home), "TMUX_TMPDIR": str(self.folder / "tmux")}

    @property
    def known_name(self) -> str:
        return self.address if self.port == 22 else f"[{self.address}]:{self.port}"

    def known_line(self, key: str = "host") -> str:
        """Return the line of a known_hosts file that tells the box's key."""
        kind, blob = (self.folder / f"{key}.pub").read_text().split()[:2]
        return f"{self.known_name} {kind} {blob}\n"

    def start(self, key: str = "host") -> None:
        """Start its sshd, and wait until it listens."""
        config = self.folder / f"sshd_config.{key}"
        config.write_text(_sshd_config(self, key))
        inside = ["ip", "netns", "exec", self.namespace] if self.namespace else self.inside
        with (self.folder / "sshd.log").open("ab") as log:
            begun = self.log().count(_LISTENS)
            child = subprocess.Popen(
                [*inside, SSHD, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=log
            )
        self._started.append(child)
        self.sshd = Process(child.pid, start_of(child.pid))
        wait_until(lambda: self.log().count(_LISTENS) > begun if self.inside else self._listens(), within=20)

    def log(self) -> str:
        return (self.folder / "sshd.log").read_text()

    def logins(self) -> int:
        """Return how many connections got in so far."""
        return self.log().count("Accepted publickey")

    def processes(self) -> list[Process]:
        """Return its sshd and everything below it: connections, sessions and what they run."""
        return [] if self.sshd is None else _below(self.sshd)

    def sessions(self) -> list[Process]:
        """Return what its sshd started for connections and sessions, without the listener."""
        return self.processes()[1:]

    # What happens to boxes -------------------------------------------------------------------------

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Take the cable out for a while; the other end is told nothing."""
        if not self.link:
            with self.frozen():
                yield
            return
        _ip("link", "set", self.link, "down")
        try:
            yield
        finally:
            _ip("link", "set", self.link, "up")

    @contextmanager
    def frozen(self, *, sessions_only: bool = False) -> Iterator[None]:
        """Stop its sshd in its tracks for a while, with all below it; or that alone."""
        stopped = self.sessions() if sessions_only else self.processes()
        for process in stopped:
            send(process, signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                send(process, signal.SIGCONT)

    def kill_sessions(self) -> None:
        """Kill every connection and session; sshd goes on to listen."""
        for process in self.sessions():
            send(process, signal.SIGKILL)

    def stop(self) -> None:
        """Kill its sshd and all below it, as a power cut would; `start` boots it again."""
        for process in self.processes():
            send(process, signal.SIGCONT)
            send(process, signal.SIGKILL)
        for child in self._started:
            child.wait(timeout=10)
        self._started.clear()
        self.sshd = None

    def end(self) -> None:
        """End everything that it started, and take its link away."""
        self.stop()
        self.end_tmux()
        if self.namespace:
            _ip("link", "del", self.link)
            _ip("netns", "del", self.namespace)

    def end_tmux(self) -> None:
        """End every tmux server on it, with what runs in its panes."""
        tmux = self.folder / "tmux" / f"tmux-{os.getuid()}"
        for path in tmux.glob("*") if tmux.is_dir() else ():
            subprocess.run(["tmux", "-S", str(path), "kill-server"], check=False, capture_output=True)

    def _listens(self) -> bool:
        try:
            with socket.create_connection((self.address, self.port), timeout=1) as made:
                return made.recv(4) == b"SSH-"
        except OSError:
            return False


@dataclass
class Boxes:
    """A user with a key and settings of ssh, and the boxes that they reach. `config` is for `ssh -F`."""

    folder: Path
    config: Path
    known: Path
    boxes: list[Box] = field(default_factory=list)

    def add(
        self,
        name: str,
        *,
        extra: str = "",
        isolated: bool = True,
        inside: tuple[str, ...] = (),
        server: str = "",
        sftp: bool = True,
    ) -> Box:
        """Make a box and start it; it is known, and `name` is its alias, with `extra` lines of settings.

        It has a network of its own unless it is not to be `isolated`, or lies `inside` another. `sftp`: its sshd speaks
        SFTP.
        """
        folder = self.folder / name
        for each in (folder, folder / "home", folder / "tmux"):
            each.mkdir(mode=0o700)
        for key in ("host", "other"):
            _keygen(folder / key)
        if isolated and not inside and may_isolate():
            namespace, link, address = _namespace()
            box = Box(name, folder, address, 22, namespace, link, server=server, sftp=sftp)
        else:
            box = Box(name, folder, "127.0.0.1", _free_port(), inside=inside, server=server, sftp=sftp)
        self.boxes.append(box)
        box.start()
        self.know(box)
        lines = [f"Host {name}", f"HostName {box.address}", f"Port {box.port}", *extra.splitlines()]
        with (self.folder / "config.d" / "boxes").open("a") as settings:
            settings.write("\n    ".join(lines) + "\n")
        return box

    def login_shell(self, shell: str) -> str:
        """Return settings of an sshd whose account has this login shell: what it is asked to run goes through that."""
        front = self.folder / "login"
        text = (
            f'#!/bin/sh\ncd "$HOME"\nSHELL={shell}; export SHELL\nexec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"\n'
        )
        front.write_text(text)
        front.chmod(0o755)
        return f"ForceCommand {front}"

    def know(self, box: Box, key: str = "host") -> None:
        """Let this be the key that the user knows of a box; no other."""
        others = [
            line
            for line in self.known.read_text().splitlines(keepends=True)
            if line.split()[0] != box.known_name
        ]
        self.known.write_text("".join(others) + box.known_line(key))

    def forget(self) -> None:
        """Let the user know no box."""
        self.known.write_text("")

    def front(self, folder: Path, ahead: str = ":") -> Path:
        """Make a program `ssh` in a folder, for PATH, that goes by these settings; `ahead` is what it does first."""
        folder.mkdir(exist_ok=True)
        path = folder / "ssh"
        path.write_text(f'#!/bin/sh\n{ahead}\nexec {shutil.which("ssh")} -F {self.config} "$@"\n')
        path.chmod(0o755)
        return folder

    def ssh(self, *words: str, timeout: float = 30) -> subprocess.CompletedProcess[str]:
        """Run ssh as the user would, by their settings."""
        return subprocess.run(
            ["ssh", "-F", str(self.config), "-o", "BatchMode=yes", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@contextmanager
def boxes() -> Iterator[Boxes]:
    """Make a user with a key and settings; end all that was started, by its id."""
    # Not below tmp_path: the path of a socket must be short.
    folder = Path(tempfile.mkdtemp(prefix="box-", dir="/tmp"))
    made = Boxes(folder, folder / "config", folder / "known_hosts")
    (folder / "config.d").mkdir()
    (folder / "config.d" / "boxes").touch()
    made.known.touch()
    for key in ("user", "stranger"):
        _keygen(folder / key)
    made.config.write_text(_user_config(folder))
    try:
        yield made
    finally:
        for box in made.boxes:
            box.end()
        remove_groups(folder)
        shutil.rmtree(folder)


@cache
def may_isolate() -> bool:
    """Tell whether boxes can have a network of their own here; otherwise they are ports of loopback."""
    if os.geteuid() or not shutil.which("ip"):
        return False
    try:
        namespace, link, _ = _namespace()
    except subprocess.CalledProcessError:
        return False
    _ip("link", "del", link)
    _ip("netns", "del", namespace)
    return True


def _namespace() -> tuple[str, str, str]:
    """Make a namespace behind a link; return its name, our end of the link, and its address."""
    for _ in range(_TRIES):
        word = secrets.token_hex(4)
        third, fourth = secrets.randbelow(256), secrets.randbelow(64) * 4
        ours, theirs = f"198.18.{third}.{fourth + 1}", f"198.18.{third}.{fourth + 2}"
        if f" {ours}/" in _ip("-o", "-4", "addr"):
            continue
        namespace, link, peer = f"box-{word}", f"bx{word}", f"by{word}"
        _ip("netns", "add", namespace)
        try:
            _ip("link", "add", link, "type", "veth", "peer", "name", peer, "netns", namespace)
            _ip("addr", "add", f"{ours}/30", "dev", link)
            _ip("link", "set", link, "up")
            _ip("-n", namespace, "addr", "add", f"{theirs}/30", "dev", peer)
            _ip("-n", namespace, "link", "set", peer, "up")
            _ip("-n", namespace, "link", "set", "lo", "up")
            _ip("-n", namespace, "route", "add", "default", "via", ours)
        except subprocess.CalledProcessError:
            _ip("netns", "del", namespace)
            raise
        return namespace, link, theirs
    raise AssertionError("there is no free network for a box")


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout


def _keygen(path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)], check=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _below(first: Process) -> list[Process]:
    """Return a process and all below it, parents ahead of their children."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            after = stat.read_text().rpartition(")")[2].split()
            if len(after) > 1:  # what ends while it is read leaves an empty file
                parents.setdefault(int(after[1]), []).append(int(stat.parent.name))
    found, pids = list[Process](), [first.pid]
    for pid in pids:
        found.append(first if pid == first.pid else Process(pid, start_of(pid)))
        pids.extend(parents.get(pid, ()))
    return found


def _sshd_config(box: Box, key: str) -> str:
    if not os.geteuid():
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    given = " ".join(f"{name}={value}" for name, value in box.environ.items())
    return f"""\
{box.server}
Port {box.port}
ListenAddress {box.address}
HostKey {box.folder / key}
PidFile none
AuthorizedKeysFile {box.folder.parent / "user.pub"}
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
PrintMotd no
MaxSessions 10
MaxStartups 100:30:200
{"Subsystem sftp internal-sftp" if box.sftp else ""}
SetEnv {given}
"""


def _user_config(folder: Path) -> str:
    return f"""\
Include {folder}/config.d/*

Host *
    IdentityFile {folder}/user
    IdentitiesOnly yes
    IdentityAgent none
    UserKnownHostsFile {folder}/known_hosts
    GlobalKnownHostsFile none
"""
