"""Files on a box that only grow, read on from where each was read to, all in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Unavailable

EACH: Final = 1_048_576
"""Bytes that are read of one file at a time; what is left comes the next time."""

_BEGIN: Final = b"orchestrator-growing-1\n"
_SCRIPT: Final = """
most=$1
shift
echo orchestrator-growing-1
while [ $# -gt 0 ]; do
    size=0
    if [ -f "$1" ]; then size=$(wc -c <"$1") || size=0; fi
    count=$((size - $2))
    if [ "$count" -lt 0 ]; then count=0; fi
    if [ "$count" -gt "$most" ]; then count=$most; fi
    echo "$count"
    if [ "$count" -gt 0 ]; then tail -c "+$(($2 + 1))" -- "$1" | head -c "$count"; fi
    shift 2
done
"""


def grown(link: Link, files: Sequence[tuple[str, int]], each: int = EACH) -> list[bytes]:
    """Return what stands in each of these files there from a place on: at most `each` bytes.

    A file that is not there, or shorter than that, has grown by nothing.

    Raises:
        Unavailable: the box answered something else.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    if not files:
        return []
    words = [word for path, place in files for word in (path, str(place))]
    ended = link.run(["sh", "-c", _SCRIPT, "sh", str(each), *words], most=len(files) * (each + 32) + 65_536)
    _, begun, told = ended.out.partition(_BEGIN)
    found = list[bytes]()
    for _ in files:
        count, line, told = told.partition(b"\n")
        if not (begun and line and count.strip().isdigit()) or int(count) > min(each, len(told)):
            raise Unavailable(f"{link.address} did not tell by what its files have grown")
        found.append(told[: int(count)])
        told = told[int(count) :]
    return found
