"""One task on one box: its folders are made there, answers are sent, and its agents' files are fetched.

Control files (handoffs, events, exits) come before bulk files (artifacts, logs), by separate calls of rsync: a tree of
many gigabytes delays no report. And nothing is published here before what preceded it there:

1. exits, events and handoffs are fetched into the mirror, in this order: rsync looks for handoffs when it has seen all
   exits and events [pull.py]. So what a writer had handed in before these is in the mirror too, and a run is not gone
   before its last words are read (law 5);
2. files still being written are held back;
3. the artifacts that new reports name are fetched, as they are evidence for these reports (law 6). A report that names
   a folder waits until all of the box's files in it are here, by name, size and time, and so does what came after it;
4. all this is published: artifacts, handoffs, events, exits, in that order [reconcile.Kind];
5. other artifacts follow, a limited number at a time.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.hosts.ssh.bounds import RUNS, Bounds, Choice, Quota, Room, choice, room
from orchestrator.hosts.ssh.control_files import HANDED_IN, STEERING, ControlFiles, run_rules, too_many
from orchestrator.hosts.ssh.integrity import unsettled
from orchestrator.hosts.ssh.links_there import ways
from orchestrator.hosts.ssh.marks import check_marks, emptied, unmarked
from orchestrator.hosts.ssh.named_artifacts import NamedArtifacts, artifacts_named
from orchestrator.hosts.ssh.publish import Publisher, Pulled, together
from orchestrator.hosts.ssh.pull import TREE, Mirror, Took
from orchestrator.hosts.ssh.pulled_files import Known
from orchestrator.hosts.ssh.reconcile import Kind, kind_of
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.hosts.ssh.sftp import opened
from orchestrator.hosts.ssh.withheld import Withheld, path_of
from orchestrator.model.errors import BadName, Refused, Unavailable
from orchestrator.model.names import checked_name
from orchestrator.ports.box_link import BoxLink
from orchestrator.ports.files import Files, Unreadable

FOLDERS: Final = (
    "handoffs",
    *(f"artifacts/{kind}" for kind in ("analysis", "design", "code", "tests", "reviews")),
    "scratchpad",
)

LARGE: Final = ("artifacts", "scratchpad")
"""The folders whose whole content is fetched, without haste, within one limit."""

_BEHIND: Final = frozenset({Kind.EVENT, Kind.EXIT})
"""The kinds that are not published before a handoff that preceded them: the end of a turn, and that of a run."""

LEAST_DISK: Final = 268_435_456
"""Bytes that must be free here, or nothing is fetched: the mirror must not use up the journal's room."""

HAULED: Final = 120.0
"""Seconds that a call of rsync may take for bulk files."""


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
        link: BoxLink,
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
        self._mirror = mirror = Mirror(link, here.mirror / TREE, environ)
        self._files = files
        self._publisher = Publisher(
            files, self._known, mirror.folder, here.folder, here.home, self._bounds.largest
        )
        # The runs for which everything in the mirror was published; None if that must be found out again.
        self._settled: frozenset[str] | None = None
        self._control = ControlFiles(mirror, self._publisher, there, self._bounds)
        self._named = NamedArtifacts(
            mirror,
            self._publisher,
            files,
            self._bounds,
            Withheld(files, path_of(layout.task_withheld(here.home), here.mirror.parent.name)),
            self._room,
            self._paths,
            partial(ways, link, there.cwd, there.shared),
            self._left,
            f"{self._bounds.total} bytes or {self._bounds.entries} files and folders of artifacts and scratchpads were "
            "fetched; the rest stays on the box",
            steady,
        )

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
        own = ["orchestration"] if self._there.workflow else []
        make_folders(self._link, self._there, [*FOLDERS, *own])
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

    def pull_control(self, runs: Collection[str]) -> Pulled:
        """Fetch control files, with the artifacts that new reports name.

        `runs` are the ids of the unsettled runs on this box: nothing is fetched of others.

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
                return self._pull_control(runs)
            why = emptied(self._link.address, lacking, self._there.task)
            if self._there.shared in lacking:
                raise why
            return together([self._pull_control(frozenset()), Pulled(ended=str(why))])

    def pull_bulk(self, runs: Collection[str], go_on: Callable[[], bool] = lambda: True) -> Pulled:
        """Fetch bulk files; `ended` says why a part is missing.

        `go_on` returns whether nothing else is to be done first: then it `gave_way`, and continues with the next call.

        Raises as `pull_control`, before the first byte; Emptied also if only our own folder there is not the one we
        made.
        """
        with _disk():
            runs = self._begin(runs)
            self._check_marks()
        try:
            with _disk():
                return self._pull_bulk(runs, go_on)
        except (Unavailable, Refused) as problem:
            return Pulled(more=True, ended=str(problem))

    def _begin(self, runs: Collection[str]) -> frozenset[str]:
        runs = frozenset(checked_name(run, "run id") for run in runs)
        self._files.make_folder(self._here.mirror)
        free = shutil.disk_usage(self._here.mirror).free
        if free < LEAST_DISK:
            raise Unavailable(f"{self._here.mirror}: {free} bytes are free: nothing is fetched from a box")
        return runs

    def _pull_control(self, runs: frozenset[str]) -> Pulled:
        settled, self._settled = self._settled == runs, None
        took = self._control.fetch(runs)
        if not took.whole:  # nothing is published before the handoffs that are still there
            return together([self._left(took), Pulled(more=True, waits=True)])
        names = self._publisher.news(runs, [name for name, _ in took.files] if settled else None)
        held = self._unsettled(names, runs)
        reports = {name: self._named_by(name) for name in names - held if kind_of(name, runs) is Kind.HANDOFF}
        fetched = self._named.fetch(reports, runs)
        names |= fetched.news
        if fetched.awaits:
            held |= fetched.awaits | {name for name in names if kind_of(name, runs) in _BEHIND}
        result = together([self._publisher.publish(names - held, runs), *fetched.parts])
        if not result.more and not held:
            self._settled = runs
        files = [name for name, _ in took.files if not name.startswith(HANDED_IN)]
        misnamed = [name for name in files if kind_of(name, runs) is None]
        return together([result, self._left(took, misnamed)])

    def _pull_bulk(self, runs: frozenset[str], go_on: Callable[[], bool]) -> Pulled:
        sources = [f"{self._there.own}/./runs"] if runs else []
        sources += [f"{self._there.shared}/./{folder}" for folder in LARGE]
        rules = ["- .tmp-*", *(f"+ /{folder}" for folder in LARGE), *run_rules(runs, ["pane.log"])]
        largest, left = self._bounds.largest, self._room()
        listed = self._mirror.bring(
            sources, rules=rules, largest=largest, only_list=True, go_on=go_on, deadline=HAULED
        )
        if listed.gave_way:
            return Pulled(more=True, gave_way=True)
        large = [file for file in listed.files if kind_of(file[0], runs) in {Kind.ARTIFACT, Kind.LOG}]
        if not (listed.whole or large):
            raise Unavailable(f"{self._link.address}: {too_many(self._there.shared)}")
        chosen = choice(large, left, self._bounds)
        parts = [self._left(listed), self._no_room(chosen)]
        parts.append(Pulled(more=chosen.later or not listed.whole))
        missing = {name for name, _ in large}
        if chosen.now:
            settled, self._settled = self._settled, None
            quota = Quota(max(self._bounds.size, chosen.size), self._bounds.files, left)
            took = self._mirror.bring(
                ["/"],
                names=self._paths(chosen.now),
                largest=largest,
                quota=quota,
                go_on=go_on,
                deadline=HAULED,
            )
            brought = self._publisher.publish(self._publisher.news(runs, chosen.now), runs)
            parts += [brought, Pulled(more=not took.whole, gave_way=took.gave_way)]
            missing.difference_update(name for name, _ in took.files)
            self._settled = None if brought.more else settled
        if listed.whole:
            self._named.recheck(missing, listed, chosen.over)
        return together(parts)

    def _paths(self, names: Iterable[str]) -> list[str]:
        """Return the paths there of files by their names in the mirror, in the form for rsync."""
        shared, own = self._there.shared, self._there.own
        return [f"{own if name.startswith('runs/') else shared}/./{name}".lstrip("/") for name in names]

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

    def _named_by(self, name: str) -> list[str]:
        """Return the artifacts that a report in the mirror names, if it is one."""
        try:
            data = self._files.read(self._mirror.folder / name, STEERING)
        except Unreadable:
            return []
        return artifacts_named(data, name, self._there.shared)

    def _room(self) -> Room:
        """Return what may still come of artifacts, scratchpads and logs. Logs that were removed here do not count."""
        bases = ((name, base.stamp[2]) for name, base in self._known.bases.items())
        return room(
            (
                (name, size)
                for name, size in bases
                if not name.startswith(RUNS) or self._files.entry(self._here.home / name) is not None
            ),
            self._bounds,
        )

    def _no_room(self, chosen: Choice) -> Pulled:
        """Return the report of what is left there because it is too much, unless it was reported before."""
        logs = any(name.startswith(RUNS) for name in chosen.over)
        counted = any(not name.startswith(RUNS) for name in chosen.over)
        parts = [self._publisher.refuse("artifacts", self._named.no_room)] if counted else []
        if logs:
            why = f"{self._bounds.logs} bytes of terminal logs were fetched; the rest stays on the box"
            parts.append(self._publisher.refuse("logs", why))
        return together(parts)

    def _left(self, took: Took, misnamed: Iterable[str] = ()) -> Pulled:
        """Return what was left, there or in the mirror, unless it was reported before."""
        parts = [self._publisher.refuse(name, why) for name, why in took.left]
        parts += [
            self._publisher.refuse(name, "no file of this name may come from a box") for name in misnamed
        ]
        if self._control.is_full:
            parts.append(self._publisher.refuse("handoffs", self._control.why))
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
