"""Queries to a box about its runs, in one round trip by a script of POSIX sh, and the parsing of its answer: pure.

Files of a run may contain anything: what cannot be parsed makes that run unknown, or lost as on any host, and no other.
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
"""Where our own files are on a box, below its user's home: mirrored like the PM's state folder here."""

PER_RUN: Final = 16 * LIMIT
"""The maximum number of bytes read about one run: each line of a file is preceded by a word."""

_SCRIPT: Final = package_files("orchestrator.hosts.ssh").joinpath("runs.sh").read_text()
"""Read at the start, as `launch.sh` is."""

_BEGIN: Final = b"orchestrator-runs-1"
_END: Final = b"orchestrator-runs-end"
_LEFT: Final = re.compile(rb"left ([1-9][0-9]{0,9}) (.{0,64})")
_USED: Final = re.compile(rb"used ([0-9]{1,18}) ([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A run to ask about: its folder below the root, and its launcher if it was seen alive before."""

    folder: str
    seen: Observation | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A box's answer: its user's home, and the lines after it. `whole`: the script ran to its end."""

    home: str
    lines: list[bytes]
    whole: bool


def command(verb: str, *words: str) -> list[str]:
    """Return the command that asks; all words are arguments, none is interpreted by a shell."""
    return ["sh", "-c", _SCRIPT, "sh", ROOT, verb, *words]


def observing(asked: Sequence[RunQuery]) -> list[str]:
    """Return the command that asks for the states of runs."""
    words = []
    for each in asked:
        pid = str(each.seen.pid) if each.seen and each.seen.pid else ""
        words += [each.folder, pid, each.seen.start if each.seen and pid else ""]
    return command("observe", *words)


def read_answer(out: bytes) -> Answered:
    """Return the script's output, without the output of the login's own files before it.

    Raises:
        Unavailable: it is not the script's output.

    """
    lines = out.split(b"\n")
    try:
        lines = lines[lines.index(_BEGIN) + 1 :]
        home = lines[0].removeprefix(b"home ").decode()
    except (ValueError, IndexError):
        raise Unavailable("the box did not answer what it was asked: is its shell a POSIX one?") from None
    if not home.startswith("/") or not home.isprintable():
        raise Unavailable(f"the box answered {home[:80]!a} for its user's home")
    whole = lines[-2:] == [_END, b""]
    return Answered(home, lines[1:-2] if whole else lines[1:-1], whole)


def read_observations(answer: Answered, asked: Sequence[RunQuery]) -> list[Observation | None]:
    """Return the state of each queried run; None if its answer is incomplete."""
    sections: dict[int, list[bytes]] = {}
    for line in answer.lines:
        if line.startswith(b"run "):
            sections[len(sections)] = []
        elif sections:
            sections[len(sections) - 1].append(line)
    if not answer.whole:
        # The last section may be incomplete.
        sections.pop(len(sections) - 1, None)
    return [_observation(sections.get(number), each) for number, each in enumerate(asked)]


def read_used(answer: Answered) -> float | None:
    """Return the seconds of processor time in the answer; None if there are none."""
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
    """Return the content of a file that was sent line by line, or None if there is none.

    The script adds a dot after its last byte.
    """
    content = [line[len(name) + 1 :] for line in lines if line.startswith(name + b" ")]
    return b"\n".join(content)[:-1] if content or name in lines else None
