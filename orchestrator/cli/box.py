"""Looking at one box, for `task doctor HOST` and `task start`: connects, asks, and says what it found in one screen.

The connection is this command's own and ends with it: the daemon's is left alone.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.cli.findings import Finding, Severity, can_run
from orchestrator.cli.screen import harmless, stamp
from orchestrator.formats.location import Address, address_of, read_location, render_location
from orchestrator.hosts.ssh.box import Box, findings, question, read_box
from orchestrator.hosts.ssh.box import BoxFinding as Told
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.link_state import NotLetIn, State, Unreachable, Way
from orchestrator.hosts.ssh.rehearsal import ALL_WENT_WELL, rehearse
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.task import Location

CONNECT: Final = 15.0
"""Seconds in which a connection must stand: somebody waits for it, and a jump may need its own."""

ANSWER: Final = 60.0
"""Seconds in which the box must have told of itself, some slow programs included."""

_TOPIC: Final = "box"
_NEEDED_HERE: Final = ("ssh", "rsync")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a box. `cwd` is empty where no folder was named.

    `programs` are agent CLIs, `commands` programs of the user's own. With `optional`, the CLIs need not be there.
    """

    address: Address
    cwd: str = ""
    programs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        """As a person writes it in task.md."""
        if not self.cwd:
            return str(self.address)
        return render_location(Location(self.cwd, str(self.address)))


@dataclass(frozen=True, slots=True)
class BoxReport:
    """What was found. `box` is None where it did not tell of itself."""

    wanted: Wanted
    state: State
    findings: tuple[Finding, ...]
    box: Box | None = field(default=None)

    @property
    def can_run(self) -> bool:
        """Tell whether agents could work there."""
        return can_run(self.findings)


def named_box(text: str) -> tuple[Address, str]:
    """Return the address and the folder that a person names; the folder may be left out, and is empty then.

    Raises:
        Refused: it is no address of a box.

    """
    if text.startswith("ssh://"):
        bare = "/" not in text.removeprefix("ssh://")
        place = read_location(f"{text}/" if bare else text)
    else:
        bare = ":" not in text.rpartition("]")[2]
        place = read_location(f"{text}:/" if bare else text)
    return address_of(place), "" if bare else place.path


def look_at(wanted: Wanted, environ: Mapping[str, str]) -> BoxReport:
    """Connect to a box, ask it about itself, and end the connection.

    Raises:
        Refused: the state folder may not be used, or a program's name is none.
        OSError: the state folder cannot be written.

    """
    here = [_missing_here(name) for name in _NEEDED_HERE if not shutil.which(name, path=environ.get("PATH"))]
    if here:
        return BoxReport(wanted, State(), tuple(here))
    asked = question(wanted.cwd, wanted.programs, wanted.commands)
    with _own_link(wanted.address, environ) as link:
        try:
            before = time.time()
            ended = link.run(asked, deadline=ANSWER)
            text = ended.out.decode(errors="backslashreplace")
            box = read_box(text, wanted.programs, before, time.time(), commands=wanted.commands)
            # Where these are missing there is nothing to rehearse with: it is said above all.
            cwd = wanted.cwd if box.cwd == "writable" else ""
            tried = rehearse(link, cwd, environ) if box.tmux and box.rsync else None
        except NotLetIn as problem:
            return BoxReport(wanted, problem.state, (_refused(problem.state),))
        except (Unavailable, Refused) as problem:
            state = link.state()
            return BoxReport(wanted, state, (_silent(wanted.address, state, problem),))
        return BoxReport(wanted, link.state(), tuple(_told(wanted, box, tried)), box)


def screen(seen: BoxReport, width: int, *, colour: bool) -> list[str]:
    """Return what a person is shown."""
    lines = [harmless(seen.wanted)]
    for each in seen.findings:
        lines += each.lines(width, colour=colour)
    return lines


def shape(seen: BoxReport) -> dict[str, Any]:
    """Return the JSON document."""
    box, state = seen.box, seen.state
    told = {
        "address": str(seen.wanted.address),
        "cwd": seen.wanted.cwd or None,
        "way": state.way.value,
        "since": stamp(state.since or None),
        "why": state.why,
        "advice": state.advice,
        "offered": state.offered or None,
        "known": state.known or None,
        "system": box.uname if box else None,
        "home": box.home if box else None,
        "disk": box.disk if box else None,
        "clock_offset": box.offset if box else None,
        "lingering": box.linger if box else None,
        "tmux": (box.tmux or None) if box else None,
        "rsync": (box.rsync or None) if box else None,
        "git": (box.git or None) if box else None,
        "programs": box.programs if box else {},
        "commands": box.commands if box else {},
    }
    return {
        "can_run": seen.can_run,
        "box": told,
        "findings": [{**each.shape(), "topic": _TOPIC} for each in seen.findings],
    }


# The connection -----------------------------------------------------------------------------------


@contextmanager
def _own_link(address: Address, environ: Mapping[str, str]) -> Iterator[Link]:
    """Give a link of this command's own; whoever else looks at a box meanwhile waits.

    What a killed command left behind is ended by the next one that looks at the same box.
    """
    state = layout.state_folder(environ)
    layout.make_state_folder(state)
    folder = Path(layout.box_checks(state))
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)
        layout.check_own_folder(str(each))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        link = Link(address, folder, environ, connect=CONNECT)
        try:
            yield link
        finally:
            link.close()
    finally:
        os.close(descriptor)


# What is said -------------------------------------------------------------------------------------


def _missing_here(name: str) -> Finding:
    return Finding(
        "",
        Severity.MISSING,
        f"{name} is not there on this machine: boxes need it",
        f"install {name} by your package manager",
    )


def _refused(state: State) -> Finding:
    """Return what is wrong where somebody must do something, with both fingerprints if there are two."""
    keys = [f"it shows  {state.offered}"] if state.offered else []
    keys += [f"you know  {state.known}"] if state.known else []
    return Finding("", Severity.MISSING, "\n".join([f"is refused: {state.why}", *keys]), state.advice)


def _silent(address: Address, state: State, problem: Exception) -> Finding:
    if isinstance(problem, Unreachable) and state.way is Way.UNREACHABLE:
        return Finding(
            "",
            Severity.MISSING,
            f"does not answer ({state.why}): see that it runs and that there is a way to it; this must get through:",
            shlex.join(["ssh", *address.words(), "true"]),
        )
    return Finding("", Severity.MISSING, str(problem))


def _told(wanted: Wanted, box: Box, tried: list[Told] | None) -> Iterator[Finding]:
    """Yield what a box told, and what a rehearsal came to, if there was one: what stops a start first."""
    optional: Sequence[str] = wanted.programs if wanted.optional else ()
    said = [*(tried or ()), *findings(box, wanted.cwd, optional=optional)]
    if tried == []:
        said.append(Told(ALL_WENT_WELL))
    stops = [each for each in said if each.stops]
    others = [each for each in said if not each.stops]
    yield from (Finding("", Severity.MISSING, each.what, each.advice) for each in stops)
    yield Finding("", Severity.OK, f"is reachable, and its key is known ({box.uname})")
    if optional and not any(box.programs.values()):
        yield Finding(
            "", Severity.WARN, "no agent CLI is there: only agents that are programs of your own run there"
        )
    for each in others:
        missing = any(each.what == f"{name} is not there" for name in optional)
        severity = Severity.WARN if each.advice else Severity.NOTE if missing else Severity.OK
        yield Finding("", severity, each.what, each.advice)
