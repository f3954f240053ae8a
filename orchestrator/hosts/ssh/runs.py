"""What is asked of a box about its runs, in one round trip by a script of POSIX sh, and how its answer is read: pure.

Files of a run may hold anything: what does not read makes that run unknown, or lost as on any host, and no other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.hosts.claims import LIMIT, ended_by, launched_by, left_behind, standing
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Leftover
from orchestrator.ports.host import Observation

ROOT: Final = ".local/state/agent-orchestrator-box"
"""Where our own files lie on a box, beneath its user's home: mirrored like the PM's state folder here."""

PER_RUN: Final = 16 * LIMIT
"""Bytes that are read at most of what is told of one run: each line of a file comes under a word."""

_SCRIPT: Final = package_files("orchestrator.hosts.ssh").joinpath("runs.sh").read_text()
"""Read at the start, as `launch.sh` is."""

_BEGIN: Final = b"orchestrator-runs-1"
_END: Final = b"orchestrator-runs-end"
_LEFT: Final = re.compile(rb"left ([1-9][0-9]{0,9}) (.{0,64})")
_USED: Final = re.compile(rb"used ([0-9]{1,18}) ([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A run that is asked about: its folder beneath the root, and its launcher if it was seen alive before."""

    folder: str
    seen: Observation | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """What a box said: its user's home, and the lines after it. `whole`: the script came to its end."""

    home: str
    lines: list[bytes]
    whole: bool


def command(verb: str, *words: str) -> list[str]:
    """Return the command that asks; all words are arguments, none is read as shell."""
    return ["sh", "-c", _SCRIPT, "sh", ROOT, verb, *words]


def observing(asked: Sequence[RunQuery]) -> list[str]:
    """Return the command that tells how far runs are."""
    words = []
    for each in asked:
        pid = str(each.seen.pid) if each.seen and each.seen.pid else ""
        words += [each.folder, pid, each.seen.start if each.seen and pid else ""]
    return command("observe", *words)


def read_answer(out: bytes) -> Answered:
    """Return what the script printed, without what a login's own files print ahead of it.

    Raises:
        Unavailable: it is not what the script prints.

    """
    lines = out.split(b"\n")
    try:
        lines = lines[lines.index(_BEGIN) + 1 :]
        home = lines[0].removeprefix(b"home ").decode()
    except (ValueError, IndexError):
        raise Unavailable("the box did not answer what it was asked: is its shell a POSIX one?") from None
    if not home.startswith("/") or not home.isprintable():
        raise Unavailable(f"the box told {home[:80]!a} for its user's home")
    whole = lines[-2:] == [_END, b""]
    return Answered(home, lines[1:-2] if whole else lines[1:-1], whole)


def read_observations(answer: Answered, asked: Sequence[RunQuery]) -> list[Observation | None]:
    """Return how far each run is that was asked about; None for one of which nothing whole was told."""
    told: dict[int, list[bytes]] = {}
    for line in answer.lines:
        if line.startswith(b"run "):
            told[len(told)] = []
        elif told:
            told[len(told) - 1].append(line)
    if not answer.whole:
        # The last one may lack lines.
        told.pop(len(told) - 1, None)
    return [_observation(told.get(number), each) for number, each in enumerate(asked)]


def read_used(answer: Answered) -> float | None:
    """Return how many seconds of processor time were told; None if none were."""
    match = _USED.fullmatch(b"\n".join(answer.lines))
    return int(match[1]) / int(match[2]) if match and int(match[2]) else None


def _observation(lines: list[bytes] | None, asked: RunQuery) -> Observation | None:
    if lines is None:
        return None
    if lines == [b"lives"]:
        return asked.seen
    pid, exit_ = _file(lines, b"pid"), _file(lines, b"exit")
    ended = ended_by(exit_) if exit_ is not None else None
    launched = launched_by(pid) if pid is not None else None
    seen = standing(launched, ended, lives=b"lives" in lines, claimed=b"claimed" in lines)
    left = [match for line in lines if (match := _LEFT.fullmatch(line))]
    return left_behind(
        seen, [Leftover(int(each[1]), neutral(each[2].decode(errors="replace"))) for each in left]
    )


def _file(lines: Sequence[bytes], name: bytes) -> bytes | None:
    """Return what stands in a file that was told line by line, or None if there is none.

    A dot that the script adds stands behind its last byte.
    """
    told = [line[len(name) + 1 :] for line in lines if line.startswith(name + b" ")]
    return b"\n".join(told)[:-1] if told or name in lines else None
