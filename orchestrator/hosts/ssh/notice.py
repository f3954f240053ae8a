"""Reports changes in folders: runs on a box by `python3 -I -S -c`, without anything else of this project.

    notice.py BEAT SILENCE { TASK DEPTH FOLDER } …

Prints `ready inotify`, then `change TASK` where a file was renamed into a folder or closed by its writer, `alive` each
BEAT seconds, and `blind` where the system grants no more watches. DEPTH is how many levels of folders below count; -1
is all. Ends when standard input ends, when nothing came from there for SILENCE seconds, and when nobody reads.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
import time

CLOSE_WRITE, MOVED_TO, CREATE = 0x8, 0x80, 0x100
OVERFLOW, IGNORED, IS_FOLDER = 0x4000, 0x8000, 0x40000000
MASK = CLOSE_WRITE | MOVED_TO | CREATE | 0x01000000 | 0x02000000  # folders only, and no links
HEAD = struct.calcsize("iIII")
MOST = 8192  # folders that are watched
PAUSE = 0.1  # seconds between two lines about one task


class Notice:
    """The watched folders, and the changes to report."""

    def __init__(self, folders: list[tuple[str, int, bytes]]) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.inotify = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.inotify < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.folders = folders
        self.watched: dict[int, tuple[str, int, bytes]] = {}
        self.changed: set[str] = set()
        self.reported_at: dict[str, float] = {}
        self.blind = False

    def watch(self, task: str, depth: int, folder: bytes, *, again: bool = False) -> None:
        """Watch a folder, and those below it; below one that is watched, only `again`."""
        todo = [(depth, folder)]
        for deep, path in todo:
            if len(self.watched) >= MOST:
                self.blind = True
                return
            number = self.libc.inotify_add_watch(self.inotify, path, MASK)
            if number < 0:
                self.blind = self.blind or ctypes.get_errno() == errno.ENOSPC
                continue
            known = number in self.watched
            self.watched[number] = (task, deep, path)
            if deep and (again or not known):
                todo += [(deep - 1, below) for below in folders_in(path)]

    def watch_all(self, *, again: bool = False) -> None:
        """Watch all folders, including new ones in the place of a removed folder."""
        for folder in self.folders:
            self.watch(*folder, again=again)

    def read(self) -> None:
        """Read the events of the system."""
        try:
            data = os.read(self.inotify, 65536)
        except BlockingIOError:
            return
        while data:
            number, mask, _, size = struct.unpack("iIII", data[:HEAD])
            name, data = data[HEAD : HEAD + size].rstrip(b"\0"), data[HEAD + size :]
            if mask & OVERFLOW:
                self.changed.update(folder[0] for folder in self.folders)
                self.watch_all(again=True)
            elif mask & IGNORED:
                self.watched.pop(number, None)
            elif number in self.watched:
                self.take(self.watched[number], mask, name)

    def take(self, watched: tuple[str, int, bytes], mask: int, name: bytes) -> None:
        """Note what happened to a name in a folder."""
        task, deep, path = watched
        if mask & IS_FOLDER:
            if deep:
                # Nothing reported the files that are in it already.
                self.watch(task, deep - 1, path + b"/" + name)
                self.changed.add(task)
        elif not mask & CREATE and not name.startswith(b".") and not name.endswith(b".new"):
            self.changed.add(task)

    def report(self, now: float) -> float:
        """Report changes, each task at most once per `PAUSE`; return in how many seconds there is more to report."""
        again = 3600.0
        for task in sorted(self.changed):
            since = now - self.reported_at.get(task, -PAUSE)
            if since >= PAUSE:
                self.changed.discard(task)
                self.reported_at[task] = now
                say("change " + task)
            else:
                again = min(again, PAUSE - since)
        return again


def folders_in(path: bytes) -> list[bytes]:
    """Return the folders in a folder; none, if it is gone."""
    try:
        with os.scandir(path) as names:
            return [name.path for name in names if name.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def say(line: str) -> None:
    """Print a line. Raises OSError when nobody reads."""
    os.write(1, line.encode() + b"\n")


def main(beat: float, silence: float, folders: list[tuple[str, int, bytes]]) -> None:
    """Tell of folders until nobody listens."""
    notice = Notice(folders)
    notice.watch_all()
    os.set_blocking(1, False)
    say("ready inotify")
    poll = select.poll()  # `select` takes no descriptor beyond 1,023
    poll.register(0, select.POLLIN)
    poll.register(notice.inotify, select.POLLIN)
    heard = beaten = time.monotonic()
    while True:
        now = time.monotonic()
        wait = min(notice.report(now), beaten + beat - now)
        ready = [descriptor for descriptor, _ in poll.poll(max(0.0, wait) * 1000)]
        now = time.monotonic()
        if 0 in ready:
            if not os.read(0, 4096):
                return
            heard = now
        if now - heard > silence:
            return
        if notice.inotify in ready:
            notice.read()
        if now - beaten >= beat:
            beaten = now
            notice.watch_all()
            say("blind" if notice.blind else "alive")


if __name__ == "__main__":
    words = sys.argv[3:]
    try:
        main(
            float(sys.argv[1]),
            float(sys.argv[2]),
            [(words[at], int(words[at + 1]), os.fsencode(words[at + 2])) for at in range(0, len(words), 3)],
        )
    except BrokenPipeError:
        pass
    except BlockingIOError:  # nobody reads what was said for long
        pass
