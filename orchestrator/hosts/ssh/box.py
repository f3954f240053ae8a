"""The properties of a box, found out in one round trip: a script of POSIX sh asks, and its output is parsed strictly.

Asking runs nothing of the user's but `--version` of the agent CLIs named; parsing is pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from orchestrator.formats.text import neutral
from orchestrator.hosts.ssh import LEAST_RSYNC
from orchestrator.hosts.ssh.login import LOGIN_SHELL
from orchestrator.model.errors import Refused, Unavailable

LEAST_DISK: Final = 1_073_741_824
"""Bytes that should be free where the agent works; a worktree and its build soon need that much."""

MOST_OFFSET: Final = 120.0
"""Seconds that the box's clock may differ; a larger difference is reported, as logs will seem out of order."""

LEAST_TMUX: Final = (3, 0)
SHORT: Final = 10
"""How many digits of a commit's hash are shown."""

_LINE: Final = re.compile(r"([a-z_]{1,20})=(.{0,400})")
_VERSION: Final = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_PROGRAM: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_BEGIN: Final = "orchestrator-box-1"
_END: Final = "orchestrator-box-end"
_REQUIRED: Final = ("home", "uname", "clock", "cwd", "disk", "linger")

SCRIPT: Final = (
    r"""
cwd=$1
base=$2
asked=$3
shift 3
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
if [ -n "$base" ]; then
    echo "head=$(git -C "$cwd" rev-parse --verify --quiet HEAD 2>/dev/null | first)"
    if git -C "$cwd" merge-base --is-ancestor "$base" HEAD 2>/dev/null; then echo base=held; else echo base=apart; fi
fi
linger=no
if [ ! -d /run/systemd/system ]; then linger=unneeded
elif [ -e "/var/lib/systemd/linger/$(id -un)" ]; then linger=yes; fi
echo "linger=$linger"
limit=
if command -v timeout >/dev/null 2>&1; then limit='timeout 5'; fi
"""
    + LOGIN_SHELL
    + r"""
login=$($limit "$shell" -l -c 'printf "\nPATH=%s\n" "$PATH"' </dev/null 2>/dev/null | sed -n 's/^PATH=//p' | tail -n 1)
PATH=$login:$PATH
number=0
for program; do
    number=$((number + 1))
    if [ "$number" -gt "$asked" ]; then
        case $program in
        */*) (cd -- "$there" && [ -f "$program" ] && [ -x "$program" ]) 2>/dev/null ;;
        *) command -v -- "$program" >/dev/null 2>&1 ;;
        esac && echo "found=$((number - asked))" || echo "lost=$((number - asked))"
    elif command -v -- "$program" >/dev/null 2>&1; then
        echo "program=$program $($limit "$program" --version </dev/null 2>/dev/null | first)"
    else echo "missing=$program"; fi
done
echo orchestrator-box-end
"""
)


@dataclass(frozen=True, slots=True)
class Box:
    """A box's answers. `cwd` is writable, readonly or missing; versions are as printed, empty if there is none.

    `offset` is how many seconds its clock is ahead of ours, `disk` the free bytes where the agent works.
    `programs` has the version of each queried program, None for a missing one; `commands` says whether each command
    exists, without running it. `head` is the commit that is checked out where the agent works, empty if that is no
    repository or was not asked; `apart`: it does not build on the commit asked about.
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
    commands: dict[str, bool] = field(default_factory=dict)
    head: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True)
class BoxFinding:
    """One finding about a box, for people. `stops`: nothing can be started there until it is fixed."""

    what: str
    stops: bool = False
    advice: str = ""


def question(cwd: str, programs: Sequence[str], commands: Sequence[str] = (), *, base: str = "") -> list[str]:
    """Return the command that asks a box about itself; everything from outside is an argument, not part of the script.

    Args:
        cwd: the absolute path of the folder to work in; empty: none, and the disk checked is that of the home.
        programs: names of agent CLI programs; each is asked for its version, for at most 5 s if the box can limit it.
        commands: commands that must exist there, by name or by a path, which may be relative to `cwd`.
        base: the hash of a commit on which commits made there must build; empty: none need to.

    Raises:
        Refused: a program's name could be taken for something else.

    """
    for program in programs:
        if not _PROGRAM.fullmatch(program):
            raise Refused(f"{program[:40]!a} cannot be the name of a program on a box")
    return ["sh", "-c", SCRIPT, "sh", cwd, base, str(len(programs)), *programs, *commands]


def read_box(
    text: str, programs: Sequence[str], asked: float, answered: float, *, commands: Sequence[str] = ()
) -> Box:
    """Return a box's properties; `asked` and `answered` are our clock before and after, in seconds since the epoch.

    Raises:
        Unavailable: it is not the script's output; the message has the first wrong line.

    """
    lines = text.splitlines()
    try:
        # The output of the login's own files comes before it.
        lines = lines[lines.index(_BEGIN) + 1 : lines.index(_END)]
    except ValueError:
        raise Unavailable("the box did not answer what it was asked: is its shell a POSIX one?") from None
    answers: dict[str, str] = {}
    found: dict[str, str | None] = {}
    there: dict[str, bool] = {}
    numbers = {str(number): command for number, command in enumerate(commands, 1)}
    for line in lines:
        match = _LINE.fullmatch(neutral(line))
        if not match:
            raise Unavailable(f"the box printed {line[:80]!a}, which is not an answer")
        key, value = match[1], match[2].strip()
        program, _, version = value.partition(" ")
        if key in {"program", "missing"} and program in programs:
            found[program] = version if key == "program" else None
        elif key in {"found", "lost"} and value in numbers:
            there[numbers[value]] = key == "found"
        elif key in answers:
            raise Unavailable(f"the box answered `{key}` twice")
        else:
            answers[key] = value
    missing = [key for key in _REQUIRED if key not in answers]
    missing += [each for each in programs if each not in found]
    missing += [each for each in commands if each not in there]
    if missing or not answers["home"].startswith("/"):
        raise Unavailable(f"the box did not answer for its {missing[0] if missing else 'home'}")
    return Box(
        answers["home"],
        answers["uname"],
        answers["cwd"],
        _number(answers["disk"]) * 1024,
        _offset(_number(answers["clock"]), asked, answered),
        answers.get("tmux", ""),
        answers.get("rsync", ""),
        answers.get("git", ""),
        answers["linger"],
        found,
        there,
        answers.get("head", ""),
        answers.get("base") == "apart",
    )


def findings(
    box: Box, cwd: str, *, optional: Collection[str] = (), base: str = "", behind: bool = False
) -> list[BoxFinding]:
    """Return the findings about a box: first those that stop a start, then those that are just worth knowing.

    `cwd` and `base` are as in the question; programs in `optional` may be missing. `behind`: the commit that is
    checked out there led to `base`.
    """
    found = [
        _tool("tmux", box.tmux, LEAST_TMUX),
        _tool("rsync", box.rsync, LEAST_RSYNC),
        BoxFinding(box.git)
        if box.git
        else BoxFinding("git is missing", stops=True, advice="install git there"),
        *(
            BoxFinding(f"{name} is not there")
            if version is None and name in optional
            else _program(name, version)
            for name, version in box.programs.items()
        ),
        *(_command(name, there=there) for name, there in box.commands.items()),
        *([_folder(box, cwd)] if cwd else []),
        *([_apart(box, cwd, base, behind=behind)] if cwd and box.apart else []),
        _disk(box),
        _clock(box),
        _lingering(box),
    ]
    return sorted(found, key=lambda each: (not each.stops, not each.advice))


def _tool(name: str, version: str, least: tuple[int, int]) -> BoxFinding:
    wanted = ".".join(map(str, least))
    if not version:
        return BoxFinding(f"{name} is missing", stops=True, advice=f"install {name} {wanted} or later there")
    found = _VERSION.search(version)
    if found and (int(found[1]), int(found[2])) < least:
        return BoxFinding(
            f"{name} is too old: {version}", stops=True, advice=f"install {name} {wanted} or later there"
        )
    return BoxFinding(version)


def _program(name: str, version: str | None) -> BoxFinding:
    if version is None:
        return BoxFinding(
            f"{name} is not on the PATH of a login",
            stops=True,
            advice=f"install {name} there, or set PATH in a file that a login shell reads (~/.profile)",
        )
    return BoxFinding(f"{name} {version}".strip())


def _command(name: str, *, there: bool) -> BoxFinding:
    if there:
        return BoxFinding(f"{name} exists")
    if name.startswith("~"):
        return BoxFinding(
            f"{name} is not found: nothing expands the `~`",
            stops=True,
            advice="write the whole path in `command:`, as `pwd` prints it there",
        )
    return BoxFinding(
        f"{name} does not exist, or may not be executed",
        stops=True,
        advice="put it there, or correct `command:` in task.md: a path may be relative to `cwd:`",
    )


def _folder(box: Box, cwd: str) -> BoxFinding:
    match box.cwd:
        case "writable":
            return BoxFinding(f"{cwd} exists")
        case "readonly":
            return BoxFinding(
                f"{cwd} is not writable", stops=True, advice="give this user the right to write there"
            )
        case _:
            return BoxFinding(
                f"{cwd} is not a folder there", stops=True, advice="make it, or correct `cwd:` in task.md"
            )


def _apart(box: Box, cwd: str, base: str, *, behind: bool) -> BoxFinding:
    """Return the finding for a folder without the commit from which the task begins: that is sent there by then."""
    sent = f"{base[:SHORT]}, from which the task begins, is sent there before an agent works there"
    if not box.head:
        return BoxFinding(
            f"{cwd} has no commit: {sent}", advice="make it a git repository, if it is none: `git init`"
        )
    if behind:
        return BoxFinding(f"{cwd} is at {box.head[:SHORT]}: {sent}")
    return BoxFinding(
        f"{cwd} is at {box.head[:SHORT]}, beside {base[:SHORT]}, from which the task begins: you will be asked before "
        "an agent works there",
        advice=f"get {base[:SHORT]} there and build on it, for example with `git pull`",
    )


def _disk(box: Box) -> BoxFinding:
    free = f"{box.disk / 1024**3:.1f} GiB free"
    return BoxFinding(free, advice="make room there") if box.disk < LEAST_DISK else BoxFinding(free)


def _clock(box: Box) -> BoxFinding:
    if not box.offset:
        return BoxFinding("its clock agrees with ours")
    ahead = "ahead of" if box.offset > 0 else "behind"
    off = abs(box.offset)
    shown = f"{off:.1f} s" if off < 10 else f"{off:.0f} s"  # noqa: PLR2004
    offset = f"its clock is {shown} {ahead} ours"
    if off <= MOST_OFFSET:
        return BoxFinding(offset)
    return BoxFinding(
        f"{offset}: nothing gets lost, but times will seem out of order", advice="set its clock"
    )


def _lingering(box: Box) -> BoxFinding:
    match box.linger:
        case "no":
            return BoxFinding("a logout may end its tmux", advice="run `loginctl enable-linger` there, once")
        case "yes":
            return BoxFinding("its tmux outlives a logout: lingering is on")
        case _:
            return BoxFinding("its tmux outlives a logout: no systemd there that would end it")


def _number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise Unavailable(f"the box answered {text[:40]!a} instead of a number")
    return int(text)


def _offset(clock: int, asked: float, answered: float) -> float:
    """Return the certain part of the offset of a clock with whole seconds: 0 if the clock may be right."""
    if clock > answered:
        return clock - answered
    return min(0.0, clock + 1 - asked)
