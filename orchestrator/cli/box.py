"""Checks one box for `task doctor HOST` and `task start`: connects, asks, and shows the findings on one screen.

The connection belongs to this command and ends with it; the daemon's own connection stays untouched.
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

from orchestrator import layout, own_files
from orchestrator.cli.findings import Finding, Severity, can_run
from orchestrator.cli.screen import harmless, stamp
from orchestrator.formats.location import address_of, read_location, render_location
from orchestrator.hosts.ssh.box import Box, BoxFinding, findings, question, read_box
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.rehearsal import ALL_WENT_WELL, rehearse
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.task import Location
from orchestrator.ports.box_link import NotLetIn, State, Unreachable, Way
from orchestrator.workspaces.repository import Repository, checked_commit

CONNECT: Final = 15.0
"""Seconds for connecting: the user waits for it, and a jump host may need as long again."""

ANSWER: Final = 60.0
"""Seconds for the box's answer about itself, including some slow programs."""

GIT: Final = 20.0
"""Seconds for a look at the repository here."""

_TOPIC: Final = "box"
_NEEDED_HERE: Final = ("ssh", "rsync")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a task needs of a box. `cwd` is empty if no folder was named.

    `programs` are agent CLIs, `commands` the user's own programs. With `optional`, the CLIs may be missing. `base` is
    the commit on which commits made there must build, in the repository of `code`; empty if none are taken over.
    """

    address: Address
    cwd: str = ""
    programs: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    optional: bool = False
    base: str = ""
    code: Path | None = None

    def __str__(self) -> str:
        """Return it as a person writes it in task.md."""
        if not self.cwd:
            return str(self.address)
        return render_location(Location(self.cwd, str(self.address)))


@dataclass(frozen=True, slots=True)
class BoxReport:
    """The findings about a box. `box` is None if it gave no answer about itself."""

    wanted: Wanted
    state: State
    findings: tuple[Finding, ...]
    box: Box | None = field(default=None)

    @property
    def can_run(self) -> bool:
        """Return whether agents could work there."""
        return can_run(self.findings)


def named_box(text: str) -> tuple[Address, str]:
    """Return the address and the folder that a text names; the folder is optional, and empty if missing.

    Raises:
        Refused: the text is not the address of a box.

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
        Refused: the state folder is unsafe, or a program's name is invalid.
        OSError: the state folder is not writable.

    """
    here = [_missing_here(name) for name in _NEEDED_HERE if not shutil.which(name, path=environ.get("PATH"))]
    if here:
        return BoxReport(wanted, State(), tuple(here))
    asked = question(wanted.cwd, wanted.programs, wanted.commands, base=wanted.base)
    with _own_link(wanted.address, environ) as link:
        try:
            before = time.time()
            ended = link.run(asked, deadline=ANSWER)
            text = ended.out.decode(errors="backslashreplace")
            box = read_box(text, wanted.programs, before, time.time(), commands=wanted.commands)
            # Without these two a rehearsal is impossible; a finding reports them anyway.
            cwd = wanted.cwd if box.cwd == "writable" else ""
            tried = rehearse(link, cwd, environ) if box.tmux and box.rsync else None
        except NotLetIn as problem:
            return BoxReport(wanted, problem.state, (_refused(problem.state),))
        except (Unavailable, Refused) as problem:
            state = link.state()
            return BoxReport(wanted, state, (_silent(wanted.address, state, problem),))
        return BoxReport(wanted, link.state(), tuple(_box_findings(wanted, box, tried, environ)), box)


def screen(seen: BoxReport, width: int, *, colour: bool) -> list[str]:
    """Return the lines that a person sees."""
    lines = [harmless(seen.wanted)]
    for each in seen.findings:
        lines += each.lines(width, colour=colour)
    return lines


def shape(seen: BoxReport) -> dict[str, Any]:
    """Return the JSON document."""
    box, state = seen.box, seen.state
    about = {
        "address": str(seen.wanted.address),
        "cwd": seen.wanted.cwd or None,
        "state": state.way.value,
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
        "box": about,
        "findings": [{**each.shape(), "topic": _TOPIC} for each in seen.findings],
    }


# The connection -----------------------------------------------------------------------------------


@contextmanager
def _own_link(address: Address, environ: Mapping[str, str]) -> Iterator[Link]:
    """Open a link of this command's own; other commands that check a box wait meanwhile.

    If a command was killed, the next one that checks the same box ends what it left behind.
    """
    state = layout.state_folder(environ)
    own_files.make_state_folder(state)
    folder = Path(layout.box_checks(state))
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)
        own_files.check_own_folder(str(each))
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


# Findings -----------------------------------------------------------------------------------------


def _missing_here(name: str) -> Finding:
    return Finding(
        "",
        Severity.MISSING,
        f"{name} is not installed on this machine, and boxes need it",
        f"install {name} with your package manager",
    )


def _refused(state: State) -> Finding:
    """Return the finding for a refused connection, which the user must repair, with the fingerprints known."""
    keys = [f"its key    {state.offered}"] if state.offered else []
    keys += [f"known key  {state.known}"] if state.known else []
    return Finding("", Severity.MISSING, "\n".join([f"is refused: {state.why}", *keys]), state.advice)


def _silent(address: Address, state: State, problem: Exception) -> Finding:
    if isinstance(problem, Unreachable) and state.way is Way.UNREACHABLE:
        return Finding(
            "",
            Severity.MISSING,
            f"does not answer ({state.why}): check that it runs and that you can reach it; this must succeed:",
            shlex.join(["ssh", *address.words(), "true"]),
        )
    return Finding("", Severity.MISSING, str(problem))


def _leads_here(wanted: Wanted, commit: str, environ: Mapping[str, str]) -> bool:
    """Return whether a commit that a box names led to the one from which the task begins."""
    if wanted.code is None:
        return False
    try:
        repository = Repository.of(wanted.code, GIT, environ)
        return bool(repository.commit_of(checked_commit(commit))) and repository.is_ancestor(
            commit, wanted.base
        )
    except (Refused, Unavailable):
        return False


def _box_findings(
    wanted: Wanted, box: Box, tried: list[BoxFinding] | None, environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Yield findings from a box's answer and from the rehearsal, if there was one: first what prevents a start."""
    optional: Sequence[str] = wanted.programs if wanted.optional else ()
    behind = box.apart and _leads_here(wanted, box.head, environ)
    said = [*(tried or ()), *findings(box, wanted.cwd, optional=optional, base=wanted.base, behind=behind)]
    if tried == []:
        said.append(BoxFinding(ALL_WENT_WELL))
    stops = [each for each in said if each.stops]
    others = [each for each in said if not each.stops]
    yield from (Finding("", Severity.MISSING, each.what, each.advice) for each in stops)
    yield Finding("", Severity.OK, f"is reachable, and its key is known ({box.uname})")
    if optional and not any(box.programs.values()):
        yield Finding(
            "",
            Severity.WARN,
            "no agent CLI is installed there: only agents that are your own programs can run",
        )
    for each in others:
        missing = any(each.what == f"{name} is not there" for name in optional)
        severity = Severity.WARN if each.advice else Severity.NOTE if missing else Severity.OK
        yield Finding("", severity, each.what, each.advice)
