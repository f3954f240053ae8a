"""Watchers: what the system tells of files becomes hints. They may lose events; scans make the facts."""

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
from orchestrator.layout import EVENTS_NAME

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
"""A folder that is touched. The first is asked of the system only together with the second (watchdog 7.1)."""

AWAY: Final[list[type[FileSystemEvent]]] = [DirDeletedEvent, DirMovedEvent]
"""A folder that is not there any more."""

POLLED: Final[list[type[FileSystemEvent]]] = [FileModifiedEvent]
"""What is asked for besides where the system tells of nothing: who only looks sees no writer close."""

POLL: Final = 2.0
"""Seconds between two looks, where looking is all that can be done."""

# When a name is moved away, all that comes after it is held back for half a second, lest it was moved to a place
# that is watched too; and now and then although it was (measured). What is moved in is told as made just as well.
InotifyMoveEventGrouper.delay = 0


@dataclass(slots=True)
class _Watched:
    """A folder that is watched, as it was when the watch began: one made anew in its place is watched anew."""

    watch: ObservedWatch
    inode: int


@dataclass(slots=True)
class Watch:
    """All watches of a daemon. `post` brings a hint to the loop.

    Where the system grants no watcher (no inotify instance is left: other programs of this user hold them all), the
    folders are looked through every `POLL` seconds instead; `polling` says why.
    """

    post: Callable[[h.Hint], None]
    state: Path
    polling: str = ""
    _observer: BaseObserver = field(init=False)
    _watched: dict[Path, _Watched] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Ask the system for a watcher."""
        try:
            self._observer = Observer()
        except OSError as error:
            self.polling = (
                f"the system grants no watcher of files ({error.strerror}): folders are looked through "
                f"every {POLL:g} seconds; `task doctor` tells which limit to raise"
            )
            log.warning("%s", self.polling)
            self._observer = PollingObserver(timeout=POLL)

    def start(self) -> None:
        """Watch for new tasks, and for the bell of those that are there: their folder is touched."""
        self._observer.start()
        self.homes()

    def homes(self) -> None:
        """Watch the folder of all tasks; again is fine, and needed where it was taken away and made anew."""
        homes = layout.task_homes(self.state)
        self._schedule(homes, partial(home_hint, homes), recursive=False, events=[*EVENTS, *BELL])

    def requests(self, name: str, folder: Path) -> None:
        """Watch a task's requests. Again is fine; a folder that is gone is not watched."""
        self._schedule(folder, lambda path: request_hint(name, folder, path), recursive=True)

    def task(self, name: str, folder: Path) -> None:
        """Watch a task's folder in its project, and all that is in it."""
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
            log.warning("%s cannot be watched (%s): scans will do", folder, error)
            return
        self._watched[folder] = _Watched(watch, inode)


class _Handler(FileSystemEventHandler):
    def __init__(self, post: Callable[[h.Hint], None], hint: Callable[[Path], h.Hint | None]) -> None:
        self._post = post
        self._hint = hint

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Turn an event into a hint. An exception here would end the observer (measured), so there is none."""
        told = event.dest_path or event.src_path
        try:
            path = Path(told.decode("utf-8", "surrogateescape") if isinstance(told, bytes) else told)
            if (hint := self._hint(path)) is not None:
                self._post(hint)
        except Exception:
            log.exception("the event on %r was dropped", told)


def home_hint(homes: Path, path: Path) -> h.Hint | None:
    """Return what an event in the folder of all tasks hints at: something is asked of the task of that name."""
    return h.RequestHint(path.name) if path.parent == homes else None


def request_hint(task: str, folder: Path, path: Path) -> h.Hint | None:
    """Return what an event in a task's `requests/` hints at: a request, but not the daemon's own reply; or an event.

    What is still being written there has a name that begins with a dot.
    """
    if path.parent != folder:
        return None if path.name.startswith(".") else h.EventHint(task)
    return None if path.name.endswith(REPLY) or path.name == EVENTS_NAME else h.RequestHint(task)


def task_hint(task: str, folder: Path, path: Path) -> h.Hint | None:
    """Return what an event below a task's folder in its project hints at."""
    match path.relative_to(folder).parts:
        case ("handoffs", name):
            return h.HandoffHint(task, name)
        case ("artifacts", *rest) if rest:
            return h.ArtifactHint(task, "/".join(rest))
        case ("task.md",):
            return h.BriefHint(task)
        case _:
            return None
