"""The real sender: a short-lived process of its own sends each message.

That bounds a channel that hangs, in whatever library, and keeps those libraries out of the daemon's memory.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Final

from orchestrator.ports.sender import Message, SendOutcome, SendResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

log = logging.getLogger(__name__)

COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.notifications.senders.send")
READY: Final = "ready"
"""The child's first word: from here on something may be sent."""

_LONGEST_REASON: Final = 300


@dataclass(slots=True)
class SubprocessSender:
    """The port `Sender`. A message may take `deadline` seconds; `socket` is our tmux server's."""

    deadline: float
    socket: str
    environ: Mapping[str, str]
    _children: set[subprocess.Popen[bytes]] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)
    _closed: bool = False

    def send(self, messages: Sequence[Message]) -> list[SendOutcome]:
        """Send all messages at once. A process that is late is killed, and its message is UNKNOWN."""
        until = time.monotonic() + self.deadline
        children = [self._started(message) for message in messages]
        return [
            child if isinstance(child, SendOutcome) else self._answer_of(child, until) for child in children
        ]

    def close(self) -> None:
        """Kill the processes that are sending."""
        with self._lock:
            self._closed = True
            for child in self._children:
                _kill(child)

    def _started(self, message: Message) -> subprocess.Popen[bytes] | SendOutcome:
        request = {
            "url": message.channel.url,
            "title": message.title,
            "body": message.body,
            "tone": message.tone.value,
            "deadline": self.deadline,
            "socket": self.socket,
        }
        with self._lock:
            if self._closed:
                return SendOutcome(SendResult.REFUSED, "the daemon was about to end")
            try:
                child = subprocess.Popen(
                    COMMAND,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=dict(self.environ),
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                return SendOutcome(SendResult.REFUSED, f"no process could be started: {error.strerror}")
            self._children.add(child)
        assert child.stdin is not None  # noqa: S101 (it is a pipe)
        with suppress(OSError):  # it ended at once: its standard error says why
            child.stdin.write(json.dumps(request).encode())
            child.stdin.close()
        child.stdin = None
        return child

    def _answer_of(self, child: subprocess.Popen[bytes], until: float) -> SendOutcome:
        late = False
        try:
            out, err = child.communicate(timeout=max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            late = True
            _kill(child)
            out, err = child.communicate()
        finally:
            with self._lock:
                self._children.discard(child)
        return _outcome(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), late=late)


def _outcome(out: str, err: str, *, late: bool) -> SendOutcome:
    """Return the outcome that a child printed.

    A child that never began to send has refused the message. One that was killed while sending leaves it unknown.
    """
    ready, _, answer = out.partition("\n")
    last = next((line.strip() for line in reversed(err.splitlines()) if line.strip()), "it printed nothing")
    if ready != READY:
        why = "it did not begin in time" if late else f"it could not begin: {last[:_LONGEST_REASON]}"
        return SendOutcome(SendResult.REFUSED, why)
    try:
        sent = json.loads(answer)
        return SendOutcome(SendResult(sent["result"]), str(sent["reason"])[:_LONGEST_REASON])
    except (ValueError, KeyError, TypeError):
        return SendOutcome(SendResult.UNKNOWN, "no answer in time" if late else "it was killed while sending")


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and all that it started. It was not waited for yet, so its pid cannot be another process's."""
    if child.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
