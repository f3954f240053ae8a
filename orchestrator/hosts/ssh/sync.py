"""One task on one box: its folders are made there, answers are sent, and its agents' files are fetched.

Control files (handoffs, events, exits) come before bulk files (artifacts, logs), by separate calls of rsync: a tree of
many gigabytes delays no report. And nothing is published here before what preceded it there:

1. exits, events and handoffs are fetched into the mirror;
2. if there was an exit or an event among them, the handoffs are fetched once more: what its writer had handed in before
   is in the mirror then, and a run is not gone before its last words are read (law 5). Files still being written are
   held back;
3. the artifacts that new reports name are fetched, as they are evidence for these reports (law 6). A report that names
   a folder waits until all of the box's files in it are here, by name, size and time, and so does what came after it;
4. all this is published: artifacts, handoffs, events, exits, in that order [reconcile.Kind];
5. other artifacts follow, a limited number at a time.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.integrity import unsettled
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.link_state import Cut, Way
from orchestrator.hosts.ssh.named_artifacts import artifacts_named
from orchestrator.hosts.ssh.publish import Publisher, Pulled, together
from orchestrator.hosts.ssh.pull import LARGEST, TREE, Mirror, Took, check_marks, emptied, unmarked
from orchestrator.hosts.ssh.pulled_files import Known
from orchestrator.hosts.ssh.reconcile import COUNTED, Bounds, Choice, Kind, choice, kind_of
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.hosts.ssh.sftp import opened
from orchestrator.model.errors import BadName, Refused, Unavailable
from orchestrator.model.names import checked_name
from orchestrator.ports.files import Files, Unreadable

FOLDERS: Final = (
    "handoffs",
    *(f"artifacts/{kind}" for kind in ("analysis", "design", "code", "tests", "reviews")),
    "scratchpad",
)

LARGE: Final = ("artifacts", "scratchpad")
"""The folders whose whole content is fetched, without haste, within one limit."""

STEERING: Final = 4_194_304 + 1
"""The maximum size of a handoff or event that is fetched: more than is ever read, so that an excess is reported."""

_BEHIND: Final = frozenset({Kind.EVENT, Kind.EXIT})
"""The kinds that are not published before a handoff that preceded them: the end of a turn, and that of a run."""

LEAST_DISK: Final = 268_435_456
"""Bytes that must be free here, or nothing is fetched: the mirror must not use up the journal's room."""

NAMED: Final = 30.0
"""Seconds that one try to fetch the artifacts that a report names may take."""

HELD: Final = 120.0
"""Seconds for which a report waits for the artifacts that it names; then it is published without them."""

STEERED: Final = 60.0
HAULED: Final = 120.0
"""Seconds that a call of rsync may take: for control files, and for bulk files."""


@dataclass(frozen=True, slots=True)
class LocalPaths:
    """The local folders of one task on one box.

    Args:
        folder: The task's folder in its project.
        home: The PM's own folder of it.
        mirror: A folder for this task and box alone, which nobody watches.

    """

    folder: Path
    home: Path
    mirror: Path


@dataclass(frozen=True, slots=True)
class _Inside:
    """What was fetched of folders: the names of files, and whether these were all that was missing here."""

    files: tuple[str, ...] = ()
    is_whole: bool = True
    parts: tuple[Pulled, ...] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """The artifacts named by reports that are `news`, and the reports that wait for others which are not here yet."""

    news: set[str] = field(default_factory=set)
    awaits: set[str] = field(default_factory=set)
    parts: tuple[Pulled, ...] = ()


class TaskSync:
    """One task on one box. One thread at a time.

    Args:
        link: The link to the box.
        files: The files here.
        there: The task's paths there.
        here: Its paths here.
        environ: The environment of rsync.
        bounds: The limits on bulk files, of one pull and in total.
        steady: Returns seconds that never go back.

    """

    def __init__(
        self,
        link: Link,
        files: Files,
        there: RemotePaths,
        here: LocalPaths,
        environ: Mapping[str, str],
        *,
        bounds: Bounds | None = None,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._there = there
        self._here = here
        self._bounds = bounds or Bounds()
        self._known = Known(files, here.mirror / "known")
        self._mirror = Mirror(link, here.mirror / TREE, environ)
        self._files = files
        self._publisher = Publisher(files, self._known, self._mirror.folder, here.folder, here.home)
        # The runs for which everything in the mirror was published; None if that must be found out again.
        self._settled: frozenset[str] | None = None
        self._steady = steady
        # The reports that wait for artifacts that they name, and since when.
        self._waiting: dict[str, float] = {}
        # Bytes of handoffs and events that were fetched; None until the content of the mirror is counted.
        self._control_pulled: int | None = None

    # There ----------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the task's folders there. Repeatable; if they vanished, the user must confirm that they be made again.

        Raises:
            Emptied: they were made before, and do not exist: nothing is written below the mount point of a missing
            disk.
            Refused: the folder of the agents is missing, or the task's folder belongs to another task.
            Unavailable: it cannot be done there now.
            Unreachable, Cut, NotLetIn: as `Link.run` does.

        """
        if self._known.prepared:
            self._check_marks()
        make_folders(self._link, self._there, list(FOLDERS))
        if not self._known.prepared:
            self._known.prepare()
            self._known.keep()

    def send_answer(self, run: str, name: str, data: bytes) -> None:
        """Write the answer to an event into its run's folder there. Repeatable. Raises as `Sftp.put` does."""
        if name.startswith((".", "-")) or "/" in name or not name.isprintable() or not name:
            raise BadName(f"{name[:80]!a} is not the name of an event")
        answers = f"{self._there.run(run)}/answers"
        with opened(self._link) as there:
            there.make_folder(answers)
            there.put(f"{answers}/{name}", data)

    def _check_marks(self) -> None:
        check_marks(self._link, self._marked, self._there.task)

    def _unmarked(self) -> list[str]:
        return unmarked(self._link, self._marked, self._there.task)

    @property
    def _marked(self) -> list[str]:
        return [self._there.shared, self._there.own]

    # Back -----------------------------------------------------------------------------------------

    def pull_control(self, runs: Collection[str], gone: Collection[str] = ()) -> Pulled:
        """Fetch control files, with the artifacts that new reports name.

        `runs` are the ids of the unsettled runs on this box: nothing is fetched of others. The last words of runs that
        were seen to be `gone` before are complete: they are not fetched twice.

        If only our own folder there was emptied, handoffs and their artifacts are fetched all the same, and `ended`
        says
        what is missing: handoffs are valid by themselves. Files about runs need both folders, as no run may be reported
        as over before what it handed in.

        Raises:
            Emptied: the folder that is shared with the agents there is not the one that we made. Nothing was fetched.
            Cut: the connection ended, or time was up. The next call continues where this one ended.
            Unreachable, NotLetIn: there is no connection.
            Unavailable: rsync is missing or failed, or the disk here is nearly full.

        """
        with _disk():
            runs = self._begin(runs)
            lacking = self._unmarked()
            if not lacking:
                return self._pull_control(runs, gone)
            why = emptied(self._link.address, lacking, self._there.task)
            if self._there.shared in lacking:
                raise why
            return together([self._pull_control(frozenset()), Pulled(ended=str(why))])

    def pull_bulk(self, runs: Collection[str]) -> Pulled:
        """Fetch bulk files; `ended` says why a part is missing.

        Raises as `pull_control`, before the first byte; Emptied also if only our own folder there is not the one we
        made.
        """
        with _disk():
            runs = self._begin(runs)
            self._check_marks()
        try:
            with _disk():
                return self._pull_bulk(runs)
        except (Unavailable, Refused) as problem:
            return Pulled(more=True, ended=str(problem))

    def _begin(self, runs: Collection[str]) -> frozenset[str]:
        runs = frozenset(checked_name(run, "run id") for run in runs)
        self._files.make_folder(self._here.mirror)
        free = shutil.disk_usage(self._here.mirror).free
        if free < LEAST_DISK:
            raise Unavailable(f"{self._here.mirror}: {free} bytes are free: nothing is fetched from a box")
        return runs

    def _pull_control(self, runs: frozenset[str], gone: Collection[str] = ()) -> Pulled:
        settled, self._settled = self._settled == runs, None
        took = self._pull_control_files(runs)
        if not took.whole:  # nothing is published before the handoffs that are still there
            return together([self._left(took), Pulled(more=True, waits=True)])
        names = self._publisher.news(runs, [name for name, _ in took.files] if settled else None)
        living = runs.difference(gone)
        if any(kind_of(name, living) is Kind.EXIT or kind_of(name, runs) is Kind.EVENT for name in names):
            again = self._pull_control_files(frozenset())
            if not again.whole:
                return together([self._left(took), self._left(again), Pulled(more=True, waits=True)])
            names |= self._publisher.news(runs, [name for name, _ in again.files])
        held = self._unsettled(names, runs)
        named = self._bring_named(names - held, runs)
        names |= named.news
        if named.awaits:
            held |= named.awaits | {name for name in names if kind_of(name, runs) in _BEHIND}
        result = together([self._publisher.publish(names - held, runs), *named.parts])
        if not result.more and not held:
            self._settled = runs
        misnamed = [name for name, _ in took.files if kind_of(name, runs) is None]
        return together([result, self._left(took, misnamed)])

    def _pull_bulk(self, runs: frozenset[str]) -> Pulled:
        sources = [f"{self._there.own}/./runs"] if runs else []
        sources += [f"{self._there.shared}/./{folder}" for folder in LARGE]
        rules = ["- .tmp-*", *(f"+ /{folder}" for folder in LARGE), *_run_rules(runs, ["pane.log"])]
        listed = self._mirror.bring(sources, rules=rules, only_list=True, deadline=HAULED)
        large = [file for file in listed.files if kind_of(file[0], runs) in {Kind.ARTIFACT, Kind.LOG}]
        chosen = choice(large, self._had(), self._bounds)
        parts = [self._left(listed), Pulled(more=chosen.later or not listed.whole)]
        parts += self._over(chosen)
        if chosen.now:
            settled, self._settled = self._settled, None
            self._bring(chosen.now, HAULED)
            brought = self._publisher.publish(self._publisher.news(runs, chosen.now), runs)
            parts.append(brought)
            self._settled = None if brought.more else settled
        return together(parts)

    def _pull_control_files(self, runs: Collection[str]) -> Took:
        """Fetch handoffs, and these runs' files, if any are given; of handoffs and events, within the limits."""
        if self._control_pulled is None:
            self._control_pulled = self._publisher.size(("handoffs/", "requests/"))
        left = self._bounds.control_total - self._control_pulled
        sources = [f"{self._there.own}/./runs"] if runs else []
        if left > 0:
            sources += [f"{self._there.own}/./requests/events"] if runs else []
            sources.append(f"{self._there.shared}/./handoffs")
        rules = ["- .*", "- /handoffs/*/", *_run_rules(runs, ["claimed", "pid", "exit"])]
        events = [f"+ /requests/events/{run}.*" for run in sorted(runs)]
        rules += ["+ /requests", "+ /requests/events", *events, "- /requests/**"]
        if not sources:
            return Took()
        budget = min(self._bounds.control, left) if left > 0 else self._bounds.control
        took = self._mirror.bring(sources, rules=rules, largest=STEERING, deadline=STEERED, budget=budget)
        self._control_pulled += sum(size for name, size in took.files if not name.startswith("runs/"))
        return took

    def _bring(self, names: Sequence[str], deadline: float) -> None:
        """Fetch files by their names in the mirror, from either folder there."""
        self._mirror.bring(["/"], names=self._paths(names), deadline=deadline)

    def _paths(self, names: Iterable[str]) -> list[str]:
        """Return the paths there of files by their names in the mirror, in the form for rsync."""
        shared, own = self._there.shared, self._there.own
        return [f"{own if name.startswith('runs/') else shared}/./{name}".lstrip("/") for name in names]

    def _bring_named(self, names: Iterable[str], runs: Collection[str]) -> _Named:
        """Fetch the artifacts that new reports name."""
        reports = {name: self._named(name) for name in names if kind_of(name, runs) is Kind.HANDOFF}
        named = list(dict.fromkeys(each for paths in reports.values() for each in paths))
        if not named:
            self._waiting.clear()
            return _Named()
        folders, inside = list[str](), _Inside(is_whole=False)
        try:
            self._bring(named, NAMED)
            folders = [each for each in named if self._is_folder(each)]
            inside = self._bring_inside(folders) if folders else _Inside()
        except Cut:
            if self._link.state().way is not Way.REACHABLE:
                raise
        for each in named:
            self._publisher.make_folder(each)
        news = self._publisher.news(runs, [*named, *inside.files])
        awaits = set() if inside.is_whole else {name for name, paths in reports.items() if paths}
        return self._awaited(_Named(news, awaits, inside.parts), folders)

    def _awaited(self, named: _Named, folders: Iterable[str]) -> _Named:
        """Let a report wait for artifacts that it names, up to the limit; then its user is told which are missing."""
        now = self._steady()
        self._waiting = {name: self._waiting.get(name, now) for name in named.awaits}
        awaits = {name for name, since in self._waiting.items() if now - since < HELD}
        parts = [*named.parts]
        if awaits:
            parts.append(Pulled(more=True, waits=True))
        if awaits != named.awaits:
            parts += [self._publisher.refuse(each, "not all of it came in time") for each in folders]
        return replace(named, awaits=awaits, parts=tuple(parts))

    def _bring_inside(self, folders: Sequence[str]) -> _Inside:
        """Fetch the missing content of folders of artifacts, file by file, as far as one pull may."""
        listed = self._mirror.bring(
            ["/"], names=self._paths(folders), rules=["- .tmp-*"], deep=True, only_list=True, deadline=NAMED
        )
        files = [file for file in listed.files if kind_of(file[0], ()) is Kind.ARTIFACT]
        chosen = choice(files, self._had(), self._bounds)
        if chosen.now:
            self._bring(chosen.now, NAMED)
        parts = (self._left(listed), *self._over(chosen))
        return _Inside(chosen.now, is_whole=listed.whole and not chosen.later, parts=parts)

    def _is_folder(self, name: str) -> bool:
        entry = self._files.entry(self._mirror.folder / name)
        return entry is not None and entry.is_folder

    def _unsettled(self, names: Collection[str], runs: Collection[str]) -> set[str]:
        """Return the handoffs that are still being written there; none if a run has ended: they are its last words."""
        handoffs = [name for name in names if kind_of(name, runs) is Kind.HANDOFF]
        if not handoffs or any(kind_of(name, runs) is Kind.EXIT for name in names):
            return set()
        read = {}
        for name in handoffs:
            entry = self._files.entry(self._mirror.folder / name)
            if entry is not None:
                read[f"{self._there.shared}/{name}"] = entry.size, entry.mtime_ns // 1_000_000_000
        held = unsettled(self._link, read)
        return {name for name in handoffs if f"{self._there.shared}/{name}" in held}

    def _named(self, name: str) -> list[str]:
        """Return the artifacts that a report in the mirror names, if it is one."""
        try:
            data = self._files.read(self._mirror.folder / name, LARGEST)
        except Unreadable:
            return []
        return artifacts_named(data, name, self._there.shared)

    def _over(self, chosen: Choice) -> list[Pulled]:
        """Return the report that artifacts are left there, because they are too many."""
        why = (
            f"{self._bounds.total} bytes of artifacts and scratchpads were fetched; the rest stays on the box"
        )
        return [self._publisher.refuse("artifacts", why)] if chosen.over else []

    def _had(self) -> int:
        bases = self._known.bases.items()
        return sum(base.stamp[2] for name, base in bases if name.startswith(COUNTED))

    def _left(self, took: Took, misnamed: Iterable[str] = ()) -> Pulled:
        """Return what was left, there or in the mirror, unless it was reported before."""
        parts = [self._publisher.refuse(name, why) for name, why in took.left]
        parts += [
            self._publisher.refuse(name, "no file of this name may come from a box") for name in misnamed
        ]
        if (self._control_pulled or 0) >= (most := self._bounds.control_total):
            why = f"{most} bytes of handoffs and events were fetched; the rest stays on the box"
            parts.append(self._publisher.refuse("handoffs", why))
        if took.said:
            parts.append(self._publisher.refuse("rsync", took.said[-400:]))
        self._known.keep()
        return together(parts)


@contextmanager
def _disk() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise Unavailable(f"the disk here cannot take the files of a box: {problem}") from problem


def _run_rules(runs: Collection[str], files: Sequence[str]) -> list[str]:
    rules = ["+ /runs"]
    for run in sorted(runs):
        rules += [f"+ /runs/{run}", *(f"+ /runs/{run}/{file}" for file in files)]
    return [*rules, "- /runs/**"]
