"""The scribe: reads handoffs and artifacts as they lie on disk, and writes progress.md (H11).

It talks to no agent and changes nothing but progress.md, which is put in place whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from orchestrator.formats.text import FILE_BYTES
from orchestrator.model.errors import BadName
from orchestrator.model.names import beneath
from orchestrator.ports.files import Entry, Files, Unreadable
from orchestrator.scribe.content import Activity, Artifact, OnDisk, PMView
from orchestrator.scribe.newest import Newest
from orchestrator.scribe.page import ASIDE, put_page
from orchestrator.scribe.progress import render_progress, without_times
from orchestrator.scribe.summary import summary, unreadable

ACTIVITIES_SHOWN: Final = 50
EARLIER_SHOWN: Final = 10
"""What came before the last check-in is shown as well: so much while a task runs, and all once it has ended."""

ARTIFACTS_SHOWN: Final = 200
MOST_ARTIFACTS: Final = 100_000
DEEPEST: Final = 16
HANDOFFS: Final = "handoffs"
ARTIFACTS: Final = "artifacts"
PROGRESS: Final = "progress.md"
PM_STATE: Final = "pm_state.json"
REPORT: Final = "report.html"
MOST_ASIDE: Final = 10

_DEPTHS: Final = {HANDOFFS: 1, ARTIFACTS: DEEPEST}


class Scribe:
    """Keeps one task's progress.md.

    `notice` handles what a watcher named: its cost does not grow with the number of old files. `rescan` finds
    what no watcher told. `update` writes what only the PM knows anew. Each returns whether progress.md was
    written: it is when anything but its times changed. All raise OSError where the disk does not do it; the
    next call tries again. Names that begin with a dot are passed over.
    """

    def __init__(self, files: Files, task_dir: Path, *, handoff_bytes: int = FILE_BYTES) -> None:
        self._files = files
        self._task_dir = task_dir
        self._limit = handoff_bytes
        self._known: dict[str, int] = {}  # by path in the task's folder: `_stamp` of what lies there
        self._seen = Newest()  # when each came to our notice, since the last check-in
        self._changed = Newest()  # artifacts alone, by their own times
        self._summaries: dict[str, str] = {}  # of the handoffs shown last
        self._notes: tuple[str, ...] = ()
        self._scanned = False
        self._content: str | None = None  # of progress.md, without its times
        self._written: Entry | None = None

    @property
    def size(self) -> int:
        """The bytes of progress.md as it was written last."""
        return self._written.size if self._written else 0

    def notice(self, names: Iterable[str], view: PMView, at: float) -> bool:
        """Take in files that are new, changed or gone, and write progress.md.

        Args:
            names: Their paths in the task's folder; a bare name is one of `handoffs/`.
            view: What the PM says.
            at: Now, in seconds since the epoch.

        """
        if not self._scanned:
            return self.rescan(view, at)
        found, gone = dict[str, Entry](), list[str]()
        for name in names:
            path = name if "/" in name else f"{HANDOFFS}/{name}"
            entry = self._entry(path)
            if entry:
                found[path] = entry
            else:
                gone.append(path)
        self._take_in(found, gone, at)
        return self.update(view, at)

    def rescan(self, view: PMView, at: float) -> bool:
        """Look at every handoff and artifact, and at progress.md itself; the parameters are those of `notice`."""
        notes = list[str]()
        found = self._handoffs(notes) | self._artifacts(notes)
        self._set_aside(notes)
        self._notes = tuple(notes)
        self._take_in(found, [path for path in self._known if path not in found], at)
        self._scanned = True
        self._look_at_own()
        return self.update(view, at)

    def update(self, view: PMView, at: float) -> bool:
        """Write progress.md if anything in it changed; the parameters are those of `notice`."""
        self._forget_gone(at)
        text = render_progress(view, self._on_disk(view), at)
        content = without_times(text)
        if content == self._content:
            return False
        path = self._task_dir / PROGRESS
        self._content = None  # nobody knows what stands there if the next line fails
        put_page(self._files, path, text.encode(), 0o644)
        self._content, self._written = content, self._files.entry(path)
        return True

    def _entry(self, path: str) -> Entry | None:
        """Return what a path of ours names at this moment; None for anything else."""
        folder, _, rest = path.partition("/")
        parts = rest.split("/")
        if len(parts) > _DEPTHS.get(folder, 0) or any(part.startswith(".") for part in parts):
            return None
        try:
            entry = self._files.entry(beneath(self._task_dir, folder, *parts))
        except BadName:
            return None
        return entry if entry and (entry.is_file or folder == HANDOFFS) else None

    def _handoffs(self, notes: list[str]) -> dict[str, Entry]:
        entries = self._entries(self._task_dir / HANDOFFS, HANDOFFS, notes)
        return {f"{HANDOFFS}/{entry.name}": entry for entry in entries}

    def _artifacts(self, notes: list[str]) -> dict[str, Entry]:
        """Return the files under `artifacts/`, no deeper than 16 folders; links are not followed."""
        found = dict[str, Entry]()
        folders = [(self._task_dir / ARTIFACTS, ARTIFACTS, 1)]
        while folders:
            folder, prefix, depth = folders.pop()
            for entry in self._entries(folder, prefix, notes):
                if entry.is_folder and depth < DEEPEST:
                    folders.append((folder / entry.name, f"{prefix}/{entry.name}", depth + 1))
                elif entry.is_file:
                    found[f"{prefix}/{entry.name}"] = entry
            if len(found) > MOST_ARTIFACTS:
                notes.append(f"{ARTIFACTS}: more than {MOST_ARTIFACTS} files; not all of them are listed")
                break
        return found

    def _set_aside(self, notes: list[str]) -> None:
        """Note what stood in the place of a page, as long as it lies there."""
        kept = (f"{PROGRESS}{ASIDE}", f"{PM_STATE}{ASIDE}")
        names = sorted(entry.name for entry in self._entries(self._task_dir, ".", notes))
        there = [name for name in names if name.startswith(kept)][:MOST_ASIDE]
        notes += [f"{name}: stood in the place of {name.partition(ASIDE)[0]}; take it away" for name in there]

    def _entries(self, folder: Path, shown: str, notes: list[str]) -> list[Entry]:
        try:
            return [entry for entry in self._files.entries(folder) if not entry.name.startswith(".")]
        except Unreadable as problem:
            notes.append(f"{shown}: {unreadable(str(problem).replace(str(folder), shown))}")
            return []

    def _take_in(self, found: Mapping[str, Entry], gone: Iterable[str], at: float) -> None:
        """Remember what is new or changed, by name, inode, time and size: an old time may be a new file's."""
        new = {path: entry for path, entry in found.items() if self._known.get(path) != _stamp(entry)}
        times = {path: entry.mtime_ns / 1e9 for path, entry in new.items()}
        gone = list(gone)
        for path in (*new, *gone):
            self._summaries.pop(path, None)
            self._known.pop(path, None)
        self._known.update((path, _stamp(entry)) for path, entry in new.items())
        self._seen.drop(gone)
        self._seen.put({path: at if self._scanned else min(time, at) for path, time in times.items()})
        self._changed.drop(gone)
        self._changed.put({path: time for path, time in times.items() if path.startswith(f"{ARTIFACTS}/")})

    def _on_disk(self, view: PMView) -> OnDisk:
        since = view.last_checkin or 0.0
        self._seen.forget_before(since, ACTIVITIES_SHOWN)  # it was told at that check-in
        newest = self._seen.newest(ACTIVITIES_SHOWN)
        recent = [path for at, path in newest if at >= since]
        earlier = [path for at, path in newest if at < since]
        earlier = earlier if view.ended else earlier[:EARLIER_SHOWN]
        more = self._seen.count_since(since) - len(recent)
        artifacts = self._changed.newest(ARTIFACTS_SHOWN)
        paths = (*recent, *earlier)
        handoffs = {path: self._summary(path) for path in paths if path.startswith(f"{HANDOFFS}/")}
        self._summaries = handoffs

        def activities(paths: Iterable[str]) -> tuple[Activity, ...]:
            return tuple(
                Activity(path.removeprefix(f"{HANDOFFS}/"), handoffs.get(path, "")) for path in paths
            )

        return OnDisk(
            activities(recent),
            more,
            activities(earlier),
            tuple(Artifact(path, changed) for changed, path in artifacts),
            len(self._changed) - len(artifacts),
            self._notes,
            self._report(view),
        )

    def _report(self, view: PMView) -> Artifact | None:
        """Return the page that `task report` wrote, if the task is over and it lies there."""
        entry = self._files.entry(self._task_dir / REPORT) if view.ended else None
        return Artifact(REPORT, entry.mtime_ns / 1e9) if entry and entry.is_file else None

    def _forget_gone(self, at: float) -> None:
        """Forget what would be shown as new and lies there no more: some programs write under another name first."""
        shown = [path for _, path in self._seen.newest(ACTIVITIES_SHOWN)]
        self._take_in({}, [path for path in shown if self._entry(path) is None], at)

    def _summary(self, path: str) -> str:
        if path in self._summaries:
            return self._summaries[path]
        file = self._task_dir / path
        try:
            return summary(file.name, self._files.read(file, self._limit))
        except Unreadable as problem:
            return unreadable(str(problem).replace(str(file), file.name))

    def _look_at_own(self) -> None:
        """Learn what stands in progress.md, if it is not what was written last: somebody may have changed it."""
        path = self._task_dir / PROGRESS
        entry = self._files.entry(path)
        if self._content is not None and entry == self._written:
            return
        self._written = entry
        try:
            self._content = without_times(self._files.read(path).decode())
        except (Unreadable, UnicodeDecodeError):
            self._content = None


def _stamp(entry: Entry) -> int:
    """Return one number for what tells a file from another of its name: of each that lies there it is remembered."""
    return hash((entry.inode, entry.mtime_ns, entry.size, entry.is_file))
