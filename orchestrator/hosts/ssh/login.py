"""The environment that a login on a box has: what an agent there gets of it is for the allow-list to say (U4)."""

from __future__ import annotations

from typing import Final

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

_MARK: Final = b"orchestrator-login-1"
# A login shell, for PATH is set in its files: a plain command over ssh has less. It reads nothing that we lay down.
_COMMAND: Final = ("sh", "-lc", f"printf '\\0{_MARK.decode()}\\0'; exec env -0")


def login_environment(link: Link) -> dict[str, str]:
    """Return the environment of a login shell there; a value that is not UTF-8 is left out.

    Raises:
        Unavailable: the box did not tell, or tells no HOME that is a path; as `Link.run` besides.

    """
    ended = link.run(list(_COMMAND))
    # What a login's own files print comes ahead of the mark.
    _, mark, told = ended.out.rpartition(b"\0" + _MARK + b"\0")
    found: dict[str, str] = {}
    for each in told.split(b"\0"):
        name, sign, value = each.partition(b"=")
        try:
            if sign:
                found[name.decode()] = value.decode()
        except UnicodeDecodeError:
            continue
    if ended.status or not mark or not found.get("HOME", "").startswith("/"):
        raise Unavailable(f"{link.address} did not tell the environment of a login: does `sh -l` work there?")
    return found
