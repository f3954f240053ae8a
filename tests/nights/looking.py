"""Looks at a night each second as a user could: each verb that tells, progress.md, and where the names in them lead."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.clis.house import House
from tests.integration.daemon.world import Said
from tests.nights.observation import Missing, Shown

EVERY: Final = 1.0
WIDE: Final = 400
SLOWLY: Final = 5
"""Each so many rounds the journal is read as well: `task why` is long."""

STATUS, STATUS_JSON, LIST, LIST_JSON = "task status", "task status --json", "task list", "task list --json"
QUESTIONS, QUESTIONS_JSON, WHY, PROGRESS = (
    "task questions",
    "task questions --json",
    "task why",
    "progress.md",
)
NOTIFICATION, NOTIFIED, EXIT_CODE = "notification", "task notify list", "task status --exit-code"

_REF: Final = re.compile(r"(?<![\w/.-])(?:refs/[\w./-]+|task/[\w./-]+)(?<![./])")
_COMMIT: Final = re.compile(
    r"\b(?:from|commit|commits|tip|base|at|on|kept|as)\b[ `]+([0-9a-f]{7,40})\b(?![-.\w])"
)
_FILE: Final = re.compile(r"(?<![\w./-])(/(?:tmp|home|root)/[\w./@+-]*[\w@+-])(?=[.]?(?:[^\w./@+…-]|$))")
_NOT_THERE: Final = re.compile(
    r"\bwants to\b|\b(?:is|are|was) (?:gone|missing|not there|not on)\b|\bno such\b|\bvanished\b"
)
"""A line that says so names what need not be there."""
_QUOTED: Final = re.compile(r"^ *```\n.*?^ *```$|^ +\| [^\n]*$", re.MULTILINE | re.DOTALL)
"""What a check or a program printed: it is shown as its words."""
_LISTED: Final = re.compile(r"^- (?:New artifact: )?((?:[\w.-]+/)*[\w.-]+\.[\w.-]+)(?=[: ]|$)", re.MULTILINE)


@dataclass
class Looker:
    """Looks until it is told to stop. `shown` and `missing` are what it saw; `states` how each task stood last."""

    house: House
    tasks: list[str]
    shown: list[Shown] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    named: int = 0
    rounds: int = 0
    faults: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    _led: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Look each second. A look that fails is a fault of the bench, and is kept."""
        while not self.stopped.is_set():
            began = time.monotonic()
            try:
                self.look(thoroughly=self.rounds % SLOWLY == 0)
            except Exception as fault:  # noqa: BLE001 - the night goes on, and says so
                self.faults.append(f"a look failed: {type(fault).__name__}: {fault}")
            self.stopped.wait(max(0.05, EVERY - (time.monotonic() - began)))

    def look(self, *, thoroughly: bool) -> None:
        """Take one round."""
        self.rounds += 1
        for task in self.tasks:
            reported = self._see(STATUS_JSON, task)
            if reported.code == 0:
                self.last[task] = _read(reported.out)
        self._see(LIST)
        self._see(LIST_JSON)
        for task in self.tasks:
            self._see(STATUS, task)
            self._page(task)
        self._see(QUESTIONS)
        for task in self.tasks if thoroughly else ():
            self._see(WHY, task)
        # Once more, so that whoever compares knows whether it was one moment.
        for task in self.tasks:
            self._see(STATUS_JSON, task)

    def look_last(self) -> None:
        """Take the last round: all that a person would look at in the morning."""
        self.look(thoroughly=True)
        self._see(QUESTIONS_JSON)
        self._see(NOTIFIED)
        for task in self.tasks:
            self._see(EXIT_CODE, task)

    def open_questions(self) -> Iterator[dict[str, Any]]:
        """Yield the questions that are open, as JSON."""
        for task, reported in list(self.last.items()):
            yield from ({**question, "task": task} for question in reported.get("questions", ()))

    def task(self, *words: str) -> Said:
        """Run one `task` command as the user would, in a wide terminal inside the night's own network."""
        command = [*self.house.inside, sys.executable, "-P", "-m", "orchestrator.cli", *words]
        environ = self.house.world.environ | {"NO_COLOR": "1", "TERM": "xterm-256color"}
        code, text = in_a_terminal(command, environ, self.house.world.project)
        return Said(code, text, "")

    def _see(self, source: str, task: str = "") -> Said:
        verb, *more = source.removeprefix("task ").split()
        began = time.time()
        said = self.task(verb, *([task] if task else []), *more)
        self.note(source, task, said.out, said.code, began)
        return said

    def _page(self, task: str) -> None:
        path = self.house.world.project / "tasks" / task / "progress.md"
        if path.exists():
            self.note(PROGRESS, task, path.read_text("utf-8", "replace"))

    def note(self, source: str, task: str, text: str, code: int = 0, began: float | None = None) -> None:
        """Keep what was shown, and look up the names in it. The look `began` then, in seconds since the epoch."""
        now = time.time()
        took = 0.0 if began is None else now - began
        self.shown.append(Shown(now, self.rounds, source, task, text, code, took))
        if source.endswith("--json"):
            return
        for kind, name in names_in(text, source):
            if source == WHY and kind == "file":
                continue  # it tells of what was there then
            self.named += 1
            if not self._leads(kind, name, task):
                self.missing.append(Missing(now, self.rounds, source, task, kind, name))

    def _leads(self, kind: str, name: str, task: str) -> bool:
        if kind == "file":
            places = [Path(name)] if name.startswith("/") else self._places(name, task)
            return any(os.path.lexists(place) for place in places)
        if name in self._led:
            return True
        words = ["rev-parse", "--verify", "-q", f"{name}^{{commit}}"]
        if _git(self.house.world.project, self.house.world.environ, words):
            if kind == "commit":
                self._led.add(name)
            return True
        return False

    def _places(self, name: str, task: str) -> list[Path]:
        folder = self.house.world.project / "tasks" / task
        return [folder / "handoffs" / name, folder / name]


def in_a_terminal(command: Sequence[str], environ: dict[str, str], cwd: Path) -> tuple[int, str]:
    """Run a command in a terminal that is wide enough for every line; return its exit code and what it showed."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 200, WIDE, 0, 0))
    with subprocess.Popen(
        command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower
    ) as process:
        os.close(follower)
        shown = b"".join(iter(lambda: _read_on(leader), b""))
        code = process.wait(timeout=120)
    os.close(leader)
    return code, shown.decode("utf-8", "replace").replace("\r\n", "\n")


def _read_on(leader: int) -> bytes:
    """Read what a terminal shows; nothing once nobody holds it any more."""
    try:
        return os.read(leader, 65536)
    except OSError:
        return b""


def names_in(text: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield what a text says is there: refs, commits and files, each once."""
    own = _QUOTED.sub("", text)
    said = "\n".join(line for line in own.splitlines() if not _NOT_THERE.search(line))
    found = [("ref", name) for name in _REF.findall(said)]
    found += [("commit", name) for name in _COMMIT.findall(said)]
    found += [("file", name) for name in _FILE.findall(said)]
    if source == PROGRESS:
        found += [("file", name) for name in _LISTED.findall(said)]
    yield from dict.fromkeys(found)


def _git(project: Path, environ: dict[str, str], words: Sequence[str]) -> str:
    done = subprocess.run(
        ["git", "-C", str(project), *words],
        env=environ,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _read(text: str) -> dict[str, Any]:
    """Return the document that a command printed; ahead of it the terminal may show a warning of its own."""
    reported = json.loads(text[text.find("{") :] if text.startswith("task: ") else text)
    return reported if isinstance(reported, dict) else {}
