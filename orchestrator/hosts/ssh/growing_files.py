"""Files on a box that only grow, each read from its last offset on, all in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import BoxLink

EACH: Final = 1_048_576
"""Bytes that are read of one file at a time; the rest comes the next time."""

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


def grown(link: BoxLink, files: Sequence[tuple[str, int]], each: int = EACH) -> list[bytes]:
    """Return the content of each of these files there from an offset on: at most `each` bytes.

    A file that does not exist, or is shorter than the offset, has no new content.

    Raises:
        Unavailable: the box sent an unexpected answer.
        Unreachable, Cut, NotLetIn: as `Link.run` does.

    """
    if not files:
        return []
    words = [word for path, place in files for word in (path, str(place))]
    ended = link.run(["sh", "-c", _SCRIPT, "sh", str(each), *words], most=len(files) * (each + 32) + 65_536)
    _, begun, rest = ended.out.partition(_BEGIN)
    found = list[bytes]()
    for _ in files:
        count, line, rest = rest.partition(b"\n")
        if not (begun and line and count.strip().isdigit()) or int(count) > min(each, len(rest)):
            raise Unavailable(f"{link.address} did not send the new content of its files")
        found.append(rest[: int(count)])
        rest = rest[int(count) :]
    return found
