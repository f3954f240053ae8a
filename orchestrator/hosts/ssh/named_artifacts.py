"""The artifacts that new reports on a box name: they are fetched ahead of these reports, as they are evidence (law 6).

A report that names a folder waits until all of the box's files in it are here. What is not here when a report is
published is noted with the reason [withheld.py]: so it is judged by that, and not by the part of it that is here.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.handoff_format import read_any_report
from orchestrator.hosts.ssh.bounds import Quota, choice
from orchestrator.hosts.ssh.links_there import OUTSIDE, Leads
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.hosts.ssh.pull import NOT_A_FILE, Took
from orchestrator.hosts.ssh.reconcile import Kind, kind_of
from orchestrator.model.errors import BadFile
from orchestrator.ports.box_link import Cut

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.bounds import Bounds, Room
    from orchestrator.hosts.ssh.publish import Publisher
    from orchestrator.hosts.ssh.pull import Mirror
    from orchestrator.hosts.ssh.withheld import Withheld
    from orchestrator.ports.files import Files

NAMED: Final = 30.0
"""Seconds that one try to fetch the artifacts that reports name may take."""

HELD: Final = 120.0
"""Seconds for which a report waits for the artifacts that it names; then it is published without them."""

LATE: Final = "not all of it came in time"


def artifacts_named(data: bytes, name: str, shared: str) -> list[str]:
    """Return the artifacts, files or folders, that a report names, as paths in the task's folder.

    Args:
        data: The bytes of the handoff. If it is no report, nothing is returned.
        name: Its name.
        shared: The task's folder on the box, which may begin the paths that it names.

    """
    try:
        report = read_any_report(data, name)
    except BadFile:
        return []
    evidence = [each for mark in report.criteria or () for each in mark.evidence]
    found = []
    for each in (*report.artifacts, *evidence):
        path = posixpath.normpath(layout.in_task_folder(each, shared))
        if kind_of(path, ()) is Kind.ARTIFACT:
            found.append(path)
    return found


@dataclass(frozen=True, slots=True)
class Fetched:
    """The artifacts named by reports that are `news`, and the reports that wait for others which are not here yet."""

    news: frozenset[str] = frozenset()
    awaits: frozenset[str] = frozenset()
    parts: tuple[Pulled, ...] = ()


@dataclass(slots=True)
class _Try:
    """What one try to fetch artifacts brought: names, why others did not come, and whether more is to come."""

    files: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    parts: list[Pulled] = field(default_factory=list)
    is_whole: bool = False


@dataclass(slots=True)
class NamedArtifacts:
    """The artifacts of one task on one box that reports name.

    Args:
        mirror: Where they are fetched to.
        publisher: Publishes them.
        files: The files here.
        bounds: The limits on one pull.
        withheld: Where is noted what does not come.
        room: Returns what may still come in all.
        paths: Returns the paths there of names in the mirror, in the form for rsync.
        ways: Returns where names lead there, along links.
        left: Returns the report on what a transfer left.
        no_room: The reason for what there is no room for.
        steady: Returns seconds that never go back.

    """

    mirror: Mirror
    publisher: Publisher
    files: Files
    bounds: Bounds
    withheld: Withheld
    room: Callable[[], Room]
    paths: Callable[[Iterable[str]], list[str]]
    ways: Callable[[Iterable[str]], Mapping[str, Leads]]
    left: Callable[[Took], Pulled]
    no_room: str
    steady: Callable[[], float]
    _waiting: dict[str, float] = field(default_factory=dict)

    def fetch(self, reports: Mapping[str, Sequence[str]], runs: Collection[str]) -> Fetched:
        """Fetch the artifacts that these reports name, as far as they come now. Raises as `Mirror.bring`, and OSError.

        A report waits for what it names up to a limit. Then its user is told what is missing.
        """
        named = list(dict.fromkeys(each for paths in reports.values() for each in paths))
        if not named:
            self._waiting.clear()
            return Fetched()
        tried = _Try()
        try:
            self._try(named, tried)
        except Cut as problem:
            if not problem.stands:
                raise
        for each in named:
            self.publisher.make_folder(each)
        news = self.publisher.news(runs, [*named, *tried.files])
        awaits = set() if tried.is_whole else {name for name, paths in reports.items() if paths}
        now = self.steady()
        self._waiting = {name: self._waiting.get(name, now) for name in awaits}
        waits = frozenset(name for name, since in self._waiting.items() if now - since < HELD)
        parts = [*tried.parts]
        if waits:
            parts.append(Pulled(more=True, waits=True))
        for name, paths in reports.items():
            if name not in waits:
                parts += self._judged(paths, tried)
        self.withheld.keep()
        return Fetched(frozenset(news), waits, tuple(parts))

    def recheck(self, missing: Collection[str], listed: Took, over: Collection[str]) -> None:
        """Note what has come of what was withheld. Raises OSError.

        `missing` are all names that have not, by a listing; for those that are `over` there is no room.
        """
        reasons = _reasons(listed) | dict.fromkeys(over, self.no_room)
        links = {name for name, why in reasons.items() if why == NOT_A_FILE}
        for name, why in list(self.withheld.names.items()):
            if not links.isdisjoint(_above(name)):
                continue  # no listing follows links: this says nothing
            still = any(each == name or each.startswith(f"{name}/") for each in missing)
            self.withheld.note(name, _why(name, reasons) or (why if still else ""))
        self.withheld.keep()

    def _judged(self, paths: Iterable[str], tried: _Try) -> list[Pulled]:
        """Note of the artifacts of a report that is published what is not here."""
        parts = list[Pulled]()
        for path in paths:
            why = _why(path, tried.reasons)
            entry = self.files.entry(self.mirror.folder / path)
            if not why and not tried.is_whole and (entry is None or entry.is_folder):
                why = LATE
                parts.append(self.publisher.refuse(path, LATE))
            self.withheld.note(path, why)
        return parts

    def _try(self, named: Sequence[str], tried: _Try) -> None:
        """Fetch files and the content of folders, file by file, as far as one pull may."""
        leads = self._led(named, tried)
        own = [name for name in named if leads[name] not in {Leads.OUT, Leads.TO_FILE}]
        linked = [name for name in named if leads[name] is Leads.TO_FILE]
        left = self.room()
        took = self._bring(_entered(own, leads), left, tried) if own else Took()
        came = self._bring(linked, left, tried, follow=True) if linked else Took()
        tried.parts.append(self.left(replace(came, said="")))
        folders = [each for each in own if self._is_folder(each)]
        if took.whole and not folders:
            tried.is_whole = came.whole
            return
        listed = self.mirror.bring(
            ["/"],
            names=self.paths(_entered(folders if took.whole else own, leads)),
            rules=["- .tmp-*"],
            largest=self.bounds.largest,
            deep=True,
            only_list=True,
            deadline=NAMED,
        )
        files = [file for file in listed.files if kind_of(file[0], ()) is Kind.ARTIFACT]
        chosen = choice(files, left, self.bounds)
        tried.reasons |= _reasons(listed) | dict.fromkeys(chosen.over, self.no_room)
        # Of a name that is not there the report is judged, not rsync.
        tried.parts.append(self.left(listed if took.whole else replace(listed, said="")))
        if chosen.over:
            tried.parts.append(self.publisher.refuse("artifacts", self.no_room))
        again = self._bring(chosen.now, left, tried, size=chosen.size) if chosen.now else Took()
        tried.is_whole = listed.whole and not chosen.later and again.whole and came.whole

    def _led(self, named: Sequence[str], tried: _Try) -> Mapping[str, Leads]:
        """Return where names lead; of those that lead out the user is told."""
        leads = self.ways(named)
        for name, way in leads.items():
            if way is Leads.OUT:
                tried.reasons[name] = OUTSIDE
                tried.parts.append(self.publisher.refuse(name, OUTSIDE))
            elif way in {Leads.TO_FILE, Leads.TO_FOLDER}:
                # What it leads to is fetched. Later pulls list it as a link: nobody is to be told that it did not come.
                self.publisher.refuse(name, NOT_A_FILE)
        return leads

    def _bring(
        self, names: Sequence[str], left: Room, tried: _Try, *, size: int = 0, follow: bool = False
    ) -> Took:
        """Fetch names as far as there is room, which is taken; `size` is that of a first file, however large."""
        quota = Quota(max(self.bounds.size, size), self.bounds.files, left)
        took = self.mirror.bring(
            ["/"],
            names=self.paths(names),
            largest=self.bounds.largest,
            follow=follow,
            quota=quota,
            deadline=NAMED,
        )
        for name, taken in took.files:
            left.take(name, taken)
        tried.files += [name for name, _ in took.files]
        tried.reasons |= _reasons(took)
        return took

    def _is_folder(self, name: str) -> bool:
        entry = self.files.entry(self.mirror.folder / name)
        return entry is not None and entry.is_folder


def _entered(names: Iterable[str], leads: Mapping[str, Leads]) -> list[str]:
    """Return names in the form in which rsync enters also those folders to which a link leads."""
    return [f"{name}/" if leads[name] is Leads.TO_FOLDER else name for name in names]


def _above(name: str) -> list[str]:
    """Return a path and the folders above it."""
    parts = name.split("/")
    return ["/".join(parts[:number]) for number in range(1, len(parts) + 1)]


def _reasons(took: Took) -> dict[str, str]:
    return dict(took.left)


def _why(path: str, reasons: Mapping[str, str]) -> str:
    """Return why an artifact, or a file in a folder that is one, is not here; nothing if there is no reason.

    Links and the like in a folder are no part of it.
    """
    if why := reasons.get(path, ""):
        return why
    inside = (name for name, why in reasons.items() if name.startswith(f"{path}/") and why != NOT_A_FILE)
    first = min(inside, default="")
    return f"{first}: {reasons[first]}" if first else ""
