"""A network with nothing in it but loopback, for programs that would otherwise call home.

Made by `unshare -n`, which takes privileges; without them programs run in the machine's network, and `why_open` says
so.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clis.model_server import LOOPBACK

_HOLD: Final = "ip link set lo up && echo up && exec cat"
_CLONE_NEWNET: Final = 0x40000000


@dataclass(frozen=True, slots=True)
class Network:
    """A network namespace, or, with `why_open`, none."""

    namespace: Path | None = None
    why_open: str = ""

    def inside(self, command: list[str]) -> list[str]:
        """Return the command that runs `command` in this network."""
        return command if self.namespace is None else ["nsenter", f"--net={self.namespace}", "--", *command]

    def listener(self) -> socket.socket:
        """Return a listening socket in this network, for a server that itself runs outside of it."""
        made: list[socket.socket] = []

        def make() -> None:
            if self.namespace is not None:
                _enter(self.namespace)
            made.append(socket.create_server((LOOPBACK, 0)))

        # A namespace is entered by a thread, and this one is thrown away with it.
        maker = threading.Thread(target=make)
        maker.start()
        maker.join()
        return made[0]


def _enter(namespace: Path) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    with namespace.open("rb") as opened:
        if library.setns(opened.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns: {os.strerror(ctypes.get_errno())}")


@contextmanager
def a_network() -> Iterator[Network]:
    """Make a loopback-only network; it is gone with its last process."""
    try:
        holder = subprocess.Popen(
            ["unshare", "-n", "--", "sh", "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    except OSError as fault:
        yield Network(why_open=f"no network of its own: {fault}")
        return
    with holder:
        if holder.stdout is not None and holder.stdout.readline() == "up\n":
            yield Network(Path(f"/proc/{holder.pid}/ns/net"))
        else:
            said = holder.stderr.read().strip() if holder.stderr else ""
            yield Network(why_open=f"no network of its own: {said}")
        if holder.stdin is not None:
            holder.stdin.close()
