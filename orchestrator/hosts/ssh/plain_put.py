"""Writing files on a box by a plain command, if its sshd has no SFTP: also whole or not at all."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Final

from orchestrator.hosts.ssh.paths import encoded
from orchestrator.model.errors import Unavailable
from orchestrator.ports.files import TEMPORARY

if TYPE_CHECKING:
    from orchestrator.ports.box_link import BoxLink

# Everything from outside is an argument. On a disk that fills up, `cat` may write a part without an error.
_PUT: Final = """
umask 077
path=$1 beside=$2 mode=$3 size=$4
if [ -d "$path" ]; then echo 'it is a folder' >&2; exit 1; fi
trap 'rm -f -- "$beside"' EXIT
cat >"$beside" || exit
if [ "$(wc -c <"$beside")" -ne "$size" ]; then echo 'not all of it was taken: is the disk full?' >&2; exit 1; fi
chmod "$mode" "$beside" && mv -f -- "$beside" "$path"
"""
_MAKE: Final = 'umask "$2" && mkdir -p -- "$1"'


class PlainPut:
    """Files of one box, by commands over the link. Paths are absolute.

    Every call raises as `Link.run` does, and Unavailable if the box refuses (no room, no right, no folder). `deadline`
    is how many seconds all of them may take together.
    """

    def __init__(self, link: BoxLink, deadline: float) -> None:
        self._link = link
        self._until = time.monotonic() + deadline

    def put(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Put `data` at `path`: a temporary file beside it, then a rename over what is there."""
        folder, _, _ = path.rpartition("/")
        beside = f"{folder}/{TEMPORARY}{secrets.token_hex(8)}"
        self._run("write", _PUT, path, beside, f"{mode:o}", str(len(data)), stdin=data)

    def make_folder(self, path: str, mode: int = 0o700) -> None:
        """Make a folder and its missing parents, with this mode; no error if it exists."""
        self._run("make", _MAKE, path, f"{0o777 & ~mode:03o}")

    def _run(self, deed: str, script: str, path: str, *words: str, stdin: bytes = b"") -> None:
        encoded(path)
        left = max(0.0, self._until - time.monotonic())
        ended = self._link.run(["sh", "-c", script, "sh", path, *words], stdin=stdin, deadline=left)
        if ended.status:
            message = " ".join(ended.err.decode(errors="backslashreplace").split())[-200:]
            raise Unavailable(f"{self._link.address} could not {deed} {path!a}: {message}")
