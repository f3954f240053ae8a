"""One task on one box, in memory: copied into a mirror as by rsync, and published by what publishes for real boxes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.hosts.launcher import PANE_LOG
from orchestrator.hosts.ssh.marks import MARK, emptied
from orchestrator.hosts.ssh.named_artifacts import artifacts_named
from orchestrator.hosts.ssh.publish import Publisher, Pulled, together
from orchestrator.hosts.ssh.pulled_files import Known
from orchestrator.hosts.ssh.reconcile import Kind, kind_of
from orchestrator.model.errors import Unavailable
from orchestrator.ports.boxes import RemoteTask
from orchestrator.ports.files import Entry, Files
from orchestrator.testing.fake_box import Box, FakeLink, under

_TELLS: Final = (CLAIMED, PID, EXIT)


class FakeSync:
    """What a host monitor does about one task on its box, as `TaskSync`.

    `arrived` is called with each file that came here.
    """

    def __init__(
        self,
        link: FakeLink,
        files: Files,
        remote_task: RemoteTask,
        mirror: Path,
        arrived: Callable[[Path], None],
    ) -> None:
        box = link.box
        self._link = link
        self._files = files
        self._remote_task = remote_task
        self._arrived = arrived
        self._shared = layout.task_folder(Path(remote_task.place), remote_task.name)
        self._own = layout.task_home(box.root, remote_task.task)
        self._tree = mirror / "tree"
        self._known = Known(files, mirror / "known")
        self._publisher = Publisher(files, self._known, self._tree, remote_task.folder, remote_task.home)
        self._took: dict[str, tuple[Entry, Entry | None]] = {}

    @property
    def _box(self) -> Box:
        return self._link.box

    def prepare(self) -> None:
        """Make the task's folders there. Raises Emptied: they were made before, and are not there."""
        self._link.run("prepare", self._make)
        if not self._known.prepared:
            self._known.prepare()
            self._known.keep()

    def send_answer(self, run: str, name: str, data: bytes) -> None:
        """Put an answer into a run's folder there."""
        path = layout.run_answers(layout.run_home(self._own, run)) / name
        self._link.run("answer", lambda: self._box.files.put(path, data))

    def pull_control(self, runs: Collection[str]) -> Pulled:
        """Bring what steers, with the artifacts that reports name.

        Raises Emptied, Cut, Unreachable, NotLetIn, Unavailable.
        """
        self._check_rsync()
        lacking = self._link.run("marks", self._unmarked)
        if not lacking:
            return self._pull(runs, (Kind.RUN, Kind.HANDOFF, Kind.EVENT, Kind.EXIT))
        why = emptied(self._box.name, lacking, self._remote_task.task)
        if str(self._shared) in lacking:
            raise why
        return together([self._pull((), (Kind.HANDOFF,)), Pulled(ended=str(why))])

    def pull_bulk(self, runs: Collection[str], go_on: Callable[[], bool]) -> Pulled:
        """Bring what is large, which takes no time. Raises as `pull_control`."""
        del go_on
        self._check_rsync()
        self._link.run("marks", self._check_marks)
        return self._pull(runs, (Kind.ARTIFACT, Kind.LOG))

    def _bring_workflow(self) -> None:
        """Copy what agents hand in by the files of a workflow into the mirror, whole."""
        if not self._remote_task.workflow:
            return
        there = self._box.files
        for path in under(there, layout.orchestration(self._shared)):
            data, copy = there.read(path), self._tree / path.relative_to(self._shared)
            if self._files.entry(copy) is None or self._files.read(copy) != data:
                self._link.holds("pull")
                self._files.make_folder(copy.parent)
                self._files.write(copy, data, durable=False)

    def _pull(self, runs: Collection[str], kinds: Collection[Kind]) -> Pulled:
        try:
            names = self._mirror(runs, kinds)
            if Kind.EXIT in kinds:
                self._bring_workflow()
        except OSError as problem:
            raise Unavailable(f"the disk here does not take what a box has: {problem}") from problem
        news = self._publisher.news(runs, None)
        if not any(kind_of(name, runs) is Kind.EXIT for name in news):
            news -= {name for name in news if names.get(name) in self._box.files.writing}
        pulled = self._publisher.publish(news, runs)
        for name in pulled.brought:
            here = name.startswith(("handoffs/", "artifacts/", "scratchpad/"))
            self._arrived((self._remote_task.folder if here else self._remote_task.home) / name)
        return pulled

    # Parts ----------------------------------------------------------------------------------------

    def _make(self) -> None:
        if self._known.prepared or self._box.emptied:
            self._check_marks()
        for folder in (self._shared, self._own):
            if self._box.files.entry(folder / MARK) is None:
                # A box loses no mark to a power cut: that is `emptied`.
                self._box.files.make_folder(folder)
                self._box.files.write(folder / MARK, self._remote_task.task.encode())

    def _check_rsync(self) -> None:
        def look() -> None:
            if self._box.hindered_since is not None:
                raise Unavailable(f"{self._box.name}: rsync is not there")

        self._link.run("rsync", look)

    def _check_marks(self) -> None:
        if lacking := self._unmarked():
            raise emptied(self._box.name, lacking, self._remote_task.task)

    def _unmarked(self) -> list[str]:
        there, gone = self._box.files, self._box.emptied
        folders = (self._shared, self._own)
        return [str(folder) for folder in folders if gone or there.entry(folder / MARK) is None]

    def _mirror(self, runs: Collection[str], kinds: Collection[Kind]) -> dict[str, Path]:
        """Copy what is new there into the mirror, and return all that was looked at."""
        files = self._box.files
        every = self._names(runs)
        names = {name: path for name, path in every.items() if kind_of(name, runs) in kinds}
        for name in [name for name in names if kind_of(name, runs) is Kind.HANDOFF]:
            data = files.read(names[name]) if files.entry(names[name]) is not None else b""
            named = artifacts_named(data, name, str(self._shared))
            names |= {each: path for each, path in every.items() if _within(each, named)}
        for name, there in names.items():
            entry, copy = files.entry(there), self._tree / name
            if entry is None or self._took.get(name) == (entry, self._files.entry(copy)):
                continue
            self._link.holds("pull")
            data = files.read(there)
            before = self._files.entry(copy)
            if before is None or self._files.read(copy) != data:
                self._files.make_folder(copy.parent)
                self._files.write(copy, data, durable=False)
            if (now := files.entry(there)) is not None:
                self._took[name] = now, self._files.entry(copy)
        return names

    def _names(self, runs: Collection[str]) -> dict[str, Path]:
        """Return what lies there that may come here: what steers first, then what is large."""
        files, found = self._box.files, dict[str, Path]()
        for run in sorted(runs):
            home = layout.run_home(self._own, run)
            found |= {f"runs/{run}/{each}": home / each for each in _TELLS}
        events = layout.task_events(self._own)
        for entry in files.entries(events):
            found[f"requests/events/{entry.name}"] = events / entry.name
        handoffs = layout.handoffs(self._shared)
        for entry in files.entries(handoffs):
            if entry.is_file:
                found[f"handoffs/{entry.name}"] = handoffs / entry.name
        scratchpads = layout.scratchpad(self._shared, "x").parent
        for path in (*under(files, layout.artifacts(self._shared)), *under(files, scratchpads)):
            found[str(path.relative_to(self._shared))] = path
        for run in sorted(runs):
            found[f"runs/{run}/{PANE_LOG}"] = layout.run_home(self._own, run) / PANE_LOG
        return {name: path for name, path in found.items() if kind_of(name, runs) is not None}


def _within(name: str, named: Collection[str]) -> bool:
    """Tell whether a file is one of these, or in a folder that is."""
    return any(name == each or name.startswith(f"{each}/") for each in named)
