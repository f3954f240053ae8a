"""Watchers: file events of the system become hints. Events may get lost; scans make the facts."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper
from watchdog.observers.polling import PollingObserver

from orchestrator import layout
from orchestrator.daemon.core import hints as h
from orchestrator.daemon.ingest.requests import REPLY
from orchestrator.formats.coordination.fields import is_handoff_id
from orchestrator.layout import EVENTS_NAME
from orchestrator.model.workflow import STATUS_FILE
from orchestrator.ports.files import TEMPORARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from watchdog.observers.api import BaseObserver, ObservedWatch

log = logging.getLogger(__name__)

EVENTS: Final[list[type[FileSystemEvent]]] = [
    FileMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    DirCreatedEvent,
]
"""A name that appears, and a writer that closes. Not each write: a flood on a screen would be a flood here."""

BELL: Final[list[type[FileSystemEvent]]] = [DirAttribEvent, DirModifiedEvent]
"""A folder that is touched. watchdog (7.1) asks the system for the first event only together with the second."""

AWAY: Final[list[type[FileSystemEvent]]] = [DirDeletedEvent, DirMovedEvent]
"""A folder that was removed."""

POLLED: Final[list[type[FileSystemEvent]]] = [FileModifiedEvent]
"""Further events, needed where the system reports none: polling does not see a writer close."""

POLL: Final = 2.0
"""Seconds between two scans if the system grants no watcher."""

# After a name is moved away, watchdog delays later events by half a second, in case it was moved to a place that is
# watched too; sometimes even if it was (measured). A name that is moved in is reported as created anyway.
InotifyMoveEventGrouper.delay = 0


@dataclass(slots=True)
class _Watched:
    """A watched folder, as it was when the watch began: if it is made anew, it is watched anew."""

    watch: ObservedWatch
    inode: int


@dataclass(slots=True)
class Watch:
    """All watches of a daemon. `post` sends a hint to the loop; `archive` is that of all tasks, or empty.

    If the system grants no watcher (no inotify instance is left: other programs of this user hold them all), the
    folders are scanned every `POLL` seconds instead; `polling` says why.
    """

    post: Callable[[h.Hint], None]
    state: Path
    archive: str = ""
    polling: str = ""
    _observer: BaseObserver = field(init=False)
    _watched: dict[Path, _Watched] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Ask the system for a watcher."""
        try:
            self._observer = Observer()
        except OSError as error:
            self.polling = (
                f"the system grants no watcher of files ({error.strerror}): folders are scanned "
                f"every {POLL:g} seconds; `task doctor` says which limit to raise"
            )
            log.warning("%s", self.polling)
            self._observer = PollingObserver(timeout=POLL)

    def start(self) -> None:
        """Watch for new tasks, and for wake-up marks of existing ones: their folder is touched."""
        self._observer.start()
        self.homes()

    def homes(self) -> None:
        """Watch the folder of all tasks, and their archive. Repeatable, and needed again if one was made anew."""
        homes, archive = layout.task_homes(self.state), Path(self.archive)
        self._schedule(homes, partial(home_hint, homes), recursive=False, events=[*EVENTS, *BELL])
        if self.archive and archive.is_dir():  # it is made when something is first put into it
            self._schedule(archive, partial(archive_hint, archive), recursive=True)

    def requests(self, name: str, folder: Path) -> None:
        """Watch a task's requests. Repeatable; a missing folder is not watched."""
        self._schedule(folder, lambda path: request_hint(name, folder, path), recursive=True)

    def task(self, name: str, folder: Path) -> None:
        """Watch a task's folder in its project, and everything in it."""
        self._schedule(folder, lambda path: task_hint(name, folder, path), recursive=True)

    def trees(self, name: str, folder: Path) -> None:
        """Watch the folder of a task's worktrees, and nothing in them."""
        self._schedule(folder, lambda _: h.TreeHint(name), recursive=False, events=AWAY)

    def drop(self, folder: Path) -> None:
        """Stop watching a folder; no error if it is not watched."""
        if (watched := self._watched.pop(folder, None)) is not None:
            self._observer.unschedule(watched.watch)

    def close(self) -> None:
        """End the watchers' threads."""
        self._observer.stop()
        self._observer.join()

    def _schedule(
        self,
        folder: Path,
        hint: Callable[[Path], h.Hint | None],
        *,
        recursive: bool,
        events: list[type[FileSystemEvent]] = EVENTS,
    ) -> None:
        if self.polling:
            events = [*events, *POLLED]
        try:
            inode = folder.stat().st_ino
            if (known := self._watched.get(folder)) is not None:
                if known.inode == inode:
                    return
                self.drop(folder)
            watch = self._observer.schedule(
                _Handler(self.post, hint), str(folder), recursive=recursive, event_filter=events
            )
        except OSError as error:
            log.warning("%s cannot be watched (%s): scans replace it", folder, error)
            return
        self._watched[folder] = _Watched(watch, inode)


class _Handler(FileSystemEventHandler):
    def __init__(self, post: Callable[[h.Hint], None], hint: Callable[[Path], h.Hint | None]) -> None:
        self._post = post
        self._hint = hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Turn an event into a hint. An exception here would end the observer (measured), so all are caught."""
        name = event.dest_path or event.src_path
        try:
            path = Path(name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name)
            if (hint := self._hint(path)) is not None:
                self._post(hint)
        except Exception:
            log.exception("the event on %r was dropped", name)


def home_hint(homes: Path, path: Path) -> h.Hint | None:
    """Return the hint for an event in the folder of all tasks: there is a request for the task of that name."""
    return h.RequestHint(path.name) if path.parent == homes else None


def archive_hint(archive: Path, path: Path) -> h.Hint | None:
    """Return the hint for an event in the archive of all tasks: of a handoff, by its name."""
    match path.relative_to(archive).parts:
        case (_, name) if is_handoff_id(name.removesuffix(".json")):
            return h.SharedArchiveHint(name.removesuffix(".json"))
        case _:
            return None


def request_hint(task: str, folder: Path, path: Path) -> h.Hint | None:
    """Return the hint for an event in a task's `requests/`: a request, or an event, but not the daemon's own reply.

    The name of a file that is still being written begins with a dot.
    """
    if path.parent != folder:
        return None if path.name.startswith(".") else h.EventHint(task)
    return None if path.name.endswith(REPLY) or path.name == EVENTS_NAME else h.RequestHint(task)


def task_hint(task: str, folder: Path, path: Path) -> h.Hint | None:
    """Return the hint for an event below a task's folder in its project."""
    match path.relative_to(folder).parts:
        case ("handoffs", name):
            return h.HandoffHint(task, name)
        case ("scratchpad", _, layout.OUTBOX, _):
            return h.OutboxHint(task)
        case ("artifacts", *rest) if rest:
            return h.ArtifactHint(task, "/".join(rest))
        case ("orchestration", name) if name == STATUS_FILE or name.startswith(
            TEMPORARY
        ):  # or one that was replaced
            return h.WorkflowHint(task)
        case ("orchestration", "agents", agent, "completion_drive", "session_current.json"):
            return h.WorkflowHint(task, agent)
        case (layout.DATA, layout.STATUSES, _):
            return h.RoleStatusHint(task)
        case (layout.DATA, "handoffs", _, name) if is_handoff_id(name.removesuffix(".json")):
            return h.ArchiveHint(task, name.removesuffix(".json"))
        case ("task.md",):
            return h.BriefHint(task)
        case _:
            return None
