"""A user who deletes tasks that are over, also while boxes are away: as `task delete` does, and as soon as it may."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from orchestrator import layout
from orchestrator.daemon.boxes.departed_tasks import boxes_shown, write_departed
from orchestrator.daemon.retention.task_removal import leaves, write_mark
from orchestrator.testing.fake_box import under
from tests.simulation.engine.daemon import STATE
from tests.simulation.engine.law import Finding, Law, findings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.simulation.engine.user_task import UserTask
    from tests.simulation.engine.world import World

OFTEN: Final = 1.0
"""Seconds between two looks of the command for the daemon's reply."""

PATIENCE: Final = 30.0
"""Seconds until the command gives up: the next one continues."""


@dataclass(slots=True)
class Removal:
    """Deletes tasks of a world. `world.deleted` has those that are gone, each with its last state."""

    world: World

    def delete(self, user_task: UserTask) -> None:
        """Delete a task that is over: by the daemon's leave, or without one where none is up."""
        world = self.world
        if leaves(world.files, user_task.home):  # a command before was interrupted
            self._take_away(user_task)
        elif world.daemon.loop is not None:
            world.ask(user_task, "release", why="delete")
            request = next(reversed(world.waiting))
            world.clock.after(OFTEN, partial(self._look, user_task, request, world.clock.monotonic()))
        elif self._rests(user_task):
            with world.unseen():
                write_departed(world.files, STATE, user_task.id, boxes_shown(world.shown(user_task)))
                write_mark(world.files, user_task.home, "delete", world.clock.now())
            self._take_away(user_task)

    def _look(self, user_task: UserTask, request: str, since: float) -> None:
        """Remove the task once the daemon has released it."""
        world = self.world
        if user_task.id in world.deleted:
            return
        world.take_replies()
        if request not in world.waiting:
            if leaves(world.files, user_task.home):
                self._take_away(user_task)
        elif world.clock.monotonic() - since < PATIENCE:
            world.clock.after(OFTEN, partial(self._look, user_task, request, since))

    def _remove(self, folder: Path) -> None:
        """Remove a folder. No file in it comes again with a power cut: nobody would continue then."""
        files = self.world.files
        with self.world.unseen():
            waiting = [folder]
            for each in waiting:
                for entry in files.entries(each):
                    if entry.is_folder:
                        waiting.append(each / entry.name)
                    else:
                        files.remove(each / entry.name)
        files.delete(folder)

    def _rests(self, user_task: UserTask) -> bool:
        """Return whether the last state that a daemon showed is the last one: a kill may have come between."""
        shown: dict[str, Any] = self.world.shown(user_task)
        at = self.world.files.entry(user_task.shown)
        journal = self.world.files.entries(layout.task_journal(user_task.home))
        return at is not None and bool(shown) and all(each.mtime_ns <= at.mtime_ns for each in journal)

    def _take_away(self, user_task: UserTask) -> None:
        world = self.world
        shown = world.shown(user_task)
        mirrors = [
            path / user_task.id
            for path in (layout.boxes(STATE) / each.name for each in world.files.entries(layout.boxes(STATE)))
            if world.files.entry(path / user_task.id) is not None
        ]
        for folder in (user_task.folder, *mirrors):
            if world.files.entry(folder) is not None:
                self._remove(folder)
        aside = layout.leaving(STATE)
        with world.unseen():
            world.files.make_folder(aside)
            world.files.rename(user_task.home, aside / user_task.id)
        world.files.delete(aside)
        world.deleted[user_task.id] = str(shown.get("state"))
        for request in [each for each in world.waiting if each.startswith(f"{user_task.id}/")]:
            del world.waiting[request]
        world.counts["tasks deleted"] += 1
        away = any(box.cut or box.refuses for box in world.boxes.values())
        world.counts["tasks deleted: a box was away"] += away
        world.daemon.needs_rescan = True


def come_back(world: World) -> list[Finding]:
    """Return what is here of deleted tasks: nothing may come again, from a box or by what was under way."""
    return findings(
        Law.DELETED,
        (
            f"{folder} is here again, with {[each.name for each in under(world.files, folder)][:3]}"
            for user_task in world.user_tasks
            if user_task.id in world.deleted
            for folder in (user_task.folder, user_task.home)
            if under(world.files, folder)
        ),
    )


def left_behind(world: World) -> list[Finding]:
    """Return what deleted tasks have on boxes at the end: no window may be left, nor a note that one is."""
    left = [
        f"{user_task.id} was deleted, and its window {pane.window} is left on {box.name}"
        for box in world.boxes.values()
        for user_task in world.user_tasks
        if user_task.id in world.deleted
        for pane in box.host.panes()
        if pane.session == user_task.id
    ]
    notes = world.files.names(layout.boxes_departed(STATE))
    return findings(Law.DELETED, [*left, *(f"{note} is still noted to be cleaned up" for note in notes)])
