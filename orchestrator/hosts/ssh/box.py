"""What a box is like, found out in one round trip: a script of POSIX sh asks, and what it printed is read strictly.

Asking runs nothing of the user's but `--version` of the programs named; reading is pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.model.errors import Refused, Unavailable

LEAST_DISK: Final = 1_073_741_824
"""Bytes that should be free where the agent works; a worktree and its build want as much soon."""

MOST_OFFSET: Final = 120.0
"""Seconds that the box's clock may differ; more is told, for logs and reports will seem out of order."""

LEAST_TMUX: Final = (3, 0)
LEAST_RSYNC: Final = (3, 1)
_LINE: Final = re.compile(r"([a-z_]{1,20})=(.{0,400})")
_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_BEGIN: Final = "orchestrator-box-1"
_END: Final = "orchestrator-box-end"
_REQUIRED: Final = ("home", "uname", "clock", "cwd", "disk", "linger")

SCRIPT: Final = r"""
cwd=$1
shift
first() { sed -n 1p | tr -d '\r' | cut -c 1-200; }
echo orchestrator-box-1
echo "home=$HOME"
echo "uname=$(uname -sm)"
echo "clock=$(date +%s)"
if [ ! -d "$cwd" ]; then echo cwd=missing; elif [ ! -w "$cwd" ]; then echo cwd=readonly; else echo cwd=writable; fi
there=$cwd
[ -d "$there" ] || there=$HOME
echo "disk=$(df -P -k -- "$there" 2>/dev/null | awk 'END { print $4 }')"
echo "tmux=$(tmux -V 2>/dev/null | first)"
echo "rsync=$(rsync --version 2>/dev/null | first)"
echo "git=$(git --version 2>/dev/null | first)"
linger=no
if [ ! -d /run/systemd/system ]; then linger=unneeded
elif [ -e "/var/lib/systemd/linger/$(id -un)" ]; then linger=yes; fi
echo "linger=$linger"
for program; do
    found=$(command -v -- "$program" 2>/dev/null)
    if [ -n "$found" ]; then echo "program=$program $("$program" --version </dev/null 2>/dev/null | first)"
    else echo "missing=$program"; fi
done
echo orchestrator-box-end
"""


@dataclass(frozen=True, slots=True)
class Box:
    """What a box told. `cwd` is writable, readonly or missing; versions are as printed, empty where there is none.

    `offset` is how many seconds its clock is ahead of ours, `disk` the free bytes where the agent works.
    `programs` has the version of each program asked for, and None for one that is not there.
    """

    home: str
    uname: str
    cwd: str
    disk: int
    offset: float
    tmux: str
    rsync: str
    git: str
    linger: str
    programs: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about a box, as a person is told it. `stops`: nothing can be started there until it is mended."""

    what: str
    stops: bool = False
    advice: str = ""


def question(cwd: str, programs: Sequence[str]) -> list[str]:
    """Return the command that asks a box about itself: all from outside are arguments, none a word of the script.

    Raises:
        Refused: a program's name could be taken for something else.

    """
    for program in programs:
        if not _PROGRAM.fullmatch(program):
            raise Refused(f"{program[:40]!a} cannot be the name of a program on a box")
    return ["sh", "-c", SCRIPT, "sh", cwd, *programs]


def read_box(text: str, programs: Sequence[str], asked: float, answered: float) -> Box:
    """Return what a box told of itself; `asked` and `answered` are our clock around it, in seconds since the epoch.

    Raises:
        Unavailable: it is not what the script prints; the message has the first line that is not.

    """
    lines = text.splitlines()
    try:
        # What a login's own files print comes ahead of it.
        lines = lines[lines.index(_BEGIN) + 1 : lines.index(_END)]
    except ValueError:
        raise Unavailable("the box did not answer what it was asked: is its shell a POSIX one?") from None
    told: dict[str, str] = {}
    found: dict[str, str | None] = {}
    for line in lines:
        match = _LINE.fullmatch(neutral(line))
        if not match:
            raise Unavailable(f"the box told {line[:80]!a}, which is no answer")
        key, value = match[1], match[2].strip()
        program, _, version = value.partition(" ")
        if key in {"program", "missing"} and program in programs:
            found[program] = version if key == "program" else None
        elif key in told:
            raise Unavailable(f"the box told `{key}` twice")
        else:
            told[key] = value
    missing = [key for key in _REQUIRED if key not in told] + [each for each in programs if each not in found]
    if missing or not told["home"].startswith("/"):
        raise Unavailable(f"the box did not tell its {missing[0] if missing else 'home'}")
    return Box(
        told["home"],
        told["uname"],
        told["cwd"],
        _number(told["disk"]) * 1024,
        _offset(_number(told["clock"]), asked, answered),
        told.get("tmux", ""),
        told.get("rsync", ""),
        told.get("git", ""),
        told["linger"],
        found,
    )


def findings(box: Box, cwd: str) -> list[Finding]:
    """Return what is to be said of a box: what stops a start first, then what is only to be known."""
    said = [
        _tool("tmux", box.tmux, LEAST_TMUX),
        _tool("rsync", box.rsync, LEAST_RSYNC),
        Finding(box.git) if box.git else Finding("git is missing", stops=True, advice="install git there"),
        *(_program(name, version) for name, version in box.programs.items()),
        _folder(box, cwd),
        _disk(box),
    ]
    if abs(box.offset) > MOST_OFFSET:
        ahead = "ahead" if box.offset > 0 else "behind"
        said.append(
            Finding(
                f"its clock is {abs(box.offset):.0f} s {ahead}: nothing is missed", advice="set its clock"
            )
        )
    if box.linger == "no":
        said.append(Finding("a logout may end its tmux", advice="run `loginctl enable-linger` there, once"))
    return sorted(said, key=lambda each: (not each.stops, not each.advice))


def _tool(name: str, version: str, least: tuple[int, int]) -> Finding:
    wanted = ".".join(map(str, least))
    if not version:
        return Finding(f"{name} is missing", stops=True, advice=f"install {name} {wanted} or later there")
    found = _VERSION.search(version)
    if found and (int(found[1]), int(found[2])) < least:
        return Finding(
            f"{name} is too old: {version}", stops=True, advice=f"install {name} {wanted} or later there"
        )
    return Finding(version)


def _program(name: str, version: str | None) -> Finding:
    if version is None:
        return Finding(
            f"{name} is not on the PATH of a command over ssh",
            stops=True,
            advice=f"install {name} there, or set PATH in a file that `ssh HOST env` reads",
        )
    return Finding(f"{name} {version}".strip())


def _folder(box: Box, cwd: str) -> Finding:
    match box.cwd:
        case "writable":
            return Finding(f"{cwd} is there")
        case "readonly":
            return Finding(
                f"{cwd} may not be written", stops=True, advice="give this user the right to write it"
            )
        case _:
            return Finding(
                f"{cwd} is no folder there", stops=True, advice="make it, or mend `cwd:` in task.md"
            )


def _disk(box: Box) -> Finding:
    free = f"{box.disk / 1024**3:.1f} GiB free"
    return Finding(free, advice="make room there") if box.disk < LEAST_DISK else Finding(free)


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise Unavailable(f"the box told {text[:40]!a} where a number was asked for")
    return int(text)


def _offset(clock: int, asked: float, answered: float) -> float:
    """Return by how much a clock that tells whole seconds is off for certain: 0 if it may be right."""
    if clock > answered:
        return clock - answered
    return min(0.0, clock + 1 - asked)
