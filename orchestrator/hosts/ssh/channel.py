"""The standing channel to a box: one command that reports which task has changes, as long as the connection stands.

It only hints: what it does not report is found by the next scheduled pull. Nobody reports changes from before it
stood, so a channel begins by naming every task.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from orchestrator.hosts.ssh.allowance import Allowance
from orchestrator.hosts.ssh.child import Late
from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.hosts.ssh.remote_paths import RemotePaths
from orchestrator.hosts.ssh.stream import Broken, Stream, opened
from orchestrator.ports.box_link import BoxLink, Cut

log = logging.getLogger(__name__)

BEAT: Final = 5.0
"""Seconds between two signs of life, from either side."""

SILENCE: Final = 20.0
"""Seconds without a sign of life after which the other side is given up; ssh itself notices a cut cable sooner."""

LONGEST: Final = 100_000
"""Bytes of the command line; Linux allows 131,072 in one word. Folders that do not fit are left to the schedule."""

BURST: Final = 65_536
RATE: Final = 8_192
"""Bytes that a box may send at once, and per second: two hundred changes. The rest waits on its side."""

FLOODED: Final = 60.0
"""Seconds for which a box that sent more counts as flooding."""

_NOISE: Final = 65_536  # bytes that a login's own files may print before us
_LINE: Final = 200
_PIECE: Final = 4096
_FOR_EVER: Final = 1e8  # seconds: a channel ends by silence only

# Read with this module: the package may be replaced while the daemon runs.
_PYTHON: Final = Path(__file__).with_name("notice.py").read_text(encoding="utf-8")
_SH: Final = Path(__file__).with_name("notice.sh").read_text(encoding="utf-8")

# If python3 cannot do it (missing, too old, without ctypes; no inotify), its exit status says so.
_START: Final = """
python=$1 sh=$2
shift 2
if command -v python3 >/dev/null 2>&1 && python3 -I -S -c "$python" "$@" 2>/dev/null; then exit 0; fi
exec sh -c "$sh" notice "$@"
"""


class Part(StrEnum):
    """The part of a task on a box that has changed."""

    HANDOFFS = "handoffs"
    ARTIFACTS = "artifacts"
    EVENTS = "events"
    RUNS = "runs"


class ChannelEvent(NamedTuple):
    """A task, by its id, and the part of it that has changed."""

    task: str
    part: Part


class Channel:
    """Reports which tasks on a box have changes. One thread at a time; it reads and sends only in `read`.

    Args:
        link: The link to the box; a channel of it is held until `close`.
        tasks: The tasks to watch. Another set of tasks needs another channel.
        environ: The environment of ssh.
        beat: Seconds between two signs of life.
        silence: Seconds without one, after which either side gives up.

    Raises:
        Unreachable, NotLetIn: there is no connection, or no channel available.

    """

    def __init__(
        self,
        link: BoxLink,
        tasks: Sequence[RemotePaths],
        environ: Mapping[str, str],
        *,
        beat: float = BEAT,
        silence: float = SILENCE,
    ) -> None:
        self._link = link
        self._beat, self._silence = beat, silence
        line, self.unwatched = _command(tasks, beat, silence)
        if self.unwatched:
            reason = f"{len(self.unwatched)} tasks are too many to be watched there"
            log.warning("box %s: %s, and are looked at on schedule", link.address, reason)
        self._all = frozenset(ChannelEvent(task.task, part) for task in tasks for part in Part)
        self._labels = {_label(news): news for news in self._all}
        self.how = ""
        """`inotify` or `look`, once it stands."""
        self.blind = False
        """The box grants no more watches: some folders are left to the schedule."""
        self._buffer, self._noise = b"", 0
        self._changed = set[ChannelEvent]()
        self._heard = self._said = time.monotonic()
        self._closed = False
        self._allowance = Allowance(BURST, RATE, wait=BURST / RATE)
        self._flooded_at = -FLOODED
        with ExitStack() as held:
            words = held.enter_context(link.shell())
            stream = opened([*words, "--", "box", line], environ, time.monotonic() + _FOR_EVER)
            self._stream: Stream = held.enter_context(stream)
            self._held = held.pop_all()

    def read(self, timeout: float) -> frozenset[ChannelEvent]:
        """Return what changed, as soon as anything does; nothing after `timeout` seconds.

        It must be called more often than every `silence` seconds: this is what keeps the other side alive.

        Raises:
            Cut: the channel ended, or is silent. The tasks must be pulled, and another channel must be made.

        """
        until = time.monotonic() + timeout
        while True:
            if self._closed:
                # Its descriptors may have been reused.
                raise Cut(f"{self._link.address}: the channel was closed")
            now = time.monotonic()
            self._say(now)
            if self._changed:
                found, self._changed = frozenset(self._changed), set()
                return found
            if now - self._heard > self._silence:
                self.close()
                raise Cut(f"{self._link.address}: the channel was silent for {self._silence:g} s")
            if now >= until and timeout > 0:
                return frozenset()
            wait = max(0.0, min(until - now, self._said + self._beat - now))
            if (pause := self._allowance.pause(now)) > 0:
                # Unread events are not silence.
                self._flooded_at = self._heard = now
                time.sleep(min(pause, wait))
                if timeout <= 0:
                    return frozenset()
                continue
            if self._stream.recv_ready(wait):
                self._hear()
            elif timeout <= 0:
                return frozenset()

    @property
    def floods(self) -> bool:
        """Return whether the box sends, or just sent, more than is read."""
        return time.monotonic() - self._flooded_at < FLOODED

    def close(self) -> None:
        """End it; no error if it has ended. The program there ends when its standard input does."""
        self._closed = True
        self._held.close()

    def _say(self, now: float) -> None:
        if now - self._said < self._beat:
            return
        self._said = now
        try:
            self._stream.send(b"\n")
        except (Broken, Late) as problem:
            raise self._ended(problem) from None

    def _hear(self) -> None:
        try:
            piece = self._stream.recv(_PIECE)
        except (Broken, Late) as problem:
            raise self._ended(problem) from None
        self._allowance.spend(len(piece), time.monotonic())
        self._buffer += piece
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._buffer) > (_LINE if self.how else _NOISE):
            raise self._strange(self._buffer)

    def _take(self, line: bytes) -> None:
        if self.how:
            self._heard = time.monotonic()
        match line.split(b" "):
            case [b"ready", (b"inotify" | b"look") as how]:
                self.how, self._heard = how.decode(), time.monotonic()
                self._changed |= self._all
            case _ if not self.how:
                # No sign of life: a start-up file may send back what we say.
                self._noise += len(line) + 1
                if self._noise > _NOISE:
                    raise self._strange(line)
            case [b"alive"]:
                pass
            case [b"blind"]:
                if not self.blind:
                    reason = "it grants no more watches (fs.inotify.max_user_watches)"
                    log.warning(
                        "box %s: %s: some folders are looked at on schedule", self._link.address, reason
                    )
                self.blind = True
            case [b"change", name] if (news := self._labels.get(name.decode(errors="replace"))) is not None:
                self._changed.add(news)
            case _:
                raise self._strange(line)

    def _strange(self, line: bytes) -> Cut:
        self.close()
        return Cut(f"{self._link.address}: the channel sent {line[:80]!a}, which is not part of the protocol")

    def _ended(self, problem: Broken | Late) -> Cut:
        self.close()
        words = problem.said[-200:].decode(errors="replace").strip() if isinstance(problem, Broken) else ""
        # Whether the connection still stands is known in a moment.
        self._link.state()
        return Cut(f"{self._link.address}: the channel ended ({words!a})")


def _label(news: ChannelEvent) -> str:
    """Return the word by which the program there reports it."""
    return f"{news.task}/{news.part}"


def _command(tasks: Sequence[RemotePaths], beat: float, silence: float) -> tuple[str, tuple[str, ...]]:
    """Return the command line there, and the ids of the tasks that did not fit into it."""
    words = [
        "sh",
        "-c",
        _START,
        "sh",
        _PYTHON,
        _SH,
        f"{beat:g}",
        f"{silence:g}",
    ]
    per_task = [_watched(task) for task in tasks]

    def line(count: int) -> str:
        return line_of([*words, *(word for each in per_task[:count] for word in each)])

    room = bisect_right(range(1, len(tasks) + 1), LONGEST, key=lambda count: len(line(count)))
    return line(room), tuple(task.task for task in tasks[room:])


def _watched(task: RemotePaths) -> list[str]:
    """Return the arguments that name the folders of a task to watch, for the program there."""
    folders = [
        (Part.HANDOFFS, "0", f"{task.shared}/handoffs"),
        (Part.ARTIFACTS, "-1", f"{task.shared}/artifacts"),
        (Part.EVENTS, "0", f"{task.own}/requests/events"),
        (Part.RUNS, "1", f"{task.own}/runs"),
    ]
    return [
        word
        for part, depth, folder in folders
        for word in (_label(ChannelEvent(task.task, part)), depth, folder)
    ]
