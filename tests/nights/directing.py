"""Directs a night: brings its troubles about, restarts a daemon that died, answers for its person, sees its end."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.clis.house import House
from tests.nights.looking import Looker
from tests.nights.moments import Turn
from tests.nights.night import ENDED, Night, Planned, Trouble
from tests.nights.observation import DEAD_DAEMON, Happening, Key
from tests.nights.service import Service
from tests.nights.watching import Watcher
from tests.remote.boxes import Box

STILL: Final = 15.0
"""Real seconds for which nothing may go on, a question open that nobody answers, until the night is given up."""
RESTART: Final = 1.0
"""Real seconds until a service manager starts a daemon again that died."""


@dataclass
class Scene:
    """What troubles and persons can reach: the house, its service, and what was noted."""

    house: House
    night: Night
    service: Service
    looker: Looker
    watcher: Watcher
    began: float
    daemon_wanted: bool = True
    happenings: list[Happening] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    last_turn: Turn | None = None
    box: Box | None = None

    def real(self, seconds: float) -> float:
        """Return how many real seconds so many of the night are."""
        return seconds / self.night.factor

    def note(self, what: str, began: float, *, outage: bool = False, until: float | None = None) -> None:
        """Note that something happened, from then until now, or until a moment before."""
        self.happenings.append(Happening(began, time.time() if until is None else until, what, outage))

    def start_daemon(self) -> None:
        """Start the daemon, as its service manager would."""
        world = self.house.world
        world.launched(*self.house.inside, sys.executable, "-P", "-m", "orchestrator.daemon")

    def pause(self, seconds: float) -> None:
        """Wait so many real seconds, or until the night is over."""
        self.ended.wait(seconds)


@dataclass
class Director:
    """Directs until the tasks have ended, or nothing goes on any more, or the night is over."""

    scene: Scene
    _turns: queue.SimpleQueue[Turn] = field(default_factory=queue.SimpleQueue)
    _left: list[Trouble] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _asked: dict[tuple[str, str], float] = field(default_factory=dict)
    _still: float = 0.0

    def run(self) -> None:
        """Direct the night to its end."""
        scene = self.scene
        self._left = list(scene.night.troubles)
        scene.service.on_turn.append(self._turns.put)
        while time.time() - scene.began < scene.night.lasts and not self._over():
            self._bring_about()
            self._keep_daemon()
            self._answer()
            scene.pause(0.05)
        scene.ended.set()
        for thread in self._threads:
            thread.join(30)

    def _bring_about(self) -> None:
        since = time.time() - self.scene.began
        due = [each for each in self._left if each.at is None and since >= self.scene.real(each.after)]
        while not self._turns.empty():
            turn = self._turns.get()
            due += [
                each
                for each in self._left
                if each not in due and each.at is not None and each.at.matches(turn)
            ]
            self.scene.last_turn = turn
        for each in due:
            self._left.remove(each)
            self._apart(each.act)

    def _apart(self, act: Callable[[Scene], None]) -> None:
        def go() -> None:
            try:
                act(self.scene)
            except Exception as fault:  # noqa: BLE001 - the night goes on, and says so
                self.scene.faults.append(f"trouble could not be made: {type(fault).__name__}: {fault}")

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _keep_daemon(self) -> None:
        began = time.time()
        if not self._daemon_is_missing():
            return
        self.scene.pause(RESTART)
        if self._daemon_is_missing():
            self.scene.start_daemon()
            self.scene.note(DEAD_DAEMON, began)
            self.scene.pause(RESTART)

    def _daemon_is_missing(self) -> bool:
        return self.scene.daemon_wanted and not self.scene.house.world.pid

    def _answer(self) -> None:
        """Answer what the night's person is there for; note every other question."""
        scene, now = self.scene, time.time()
        there = set()
        for question in scene.looker.open_questions():
            name = (question["task"], question["id"])
            there.add(name)
            asked = self._asked.setdefault(name, now)
            planned = self._planned(question)
            if planned and now - asked >= scene.real(planned.after) and not self._key(name):
                self._answers(question, planned, asked)
            elif not planned and not self._key(name):
                scene.keys.append(Key(asked, None, *name, str(question["text"]), "", planned=False))

    def _planned(self, question: dict[str, Any]) -> Planned | None:
        reported = f"{question.get('kind')} {question['text']}"
        return next(
            (each for each in self.scene.night.planned if re.search(each.about, reported, re.IGNORECASE)),
            None,
        )

    def _key(self, name: tuple[str, str]) -> Key | None:
        return next((key for key in self.scene.keys if (key.task, key.question) == name), None)

    def _answers(self, question: dict[str, Any], planned: Planned, asked: float) -> None:
        scene = self.scene
        if planned.puts_right:
            planned.puts_right(scene)
        options = [str(each) for each in question.get("options") or ()]
        fitting = [each for each in options if re.search(planned.answer, each, re.IGNORECASE)]
        answer = fitting[0] if fitting else planned.answer
        said = scene.looker.task("answer", question["task"], question["id"], answer)
        if said.code:
            scene.faults.append(f"the answer {answer!r} was refused: {said.out}{said.err}")
        text = str(question["text"])
        scene.keys.append(
            Key(asked, time.time(), question["task"], question["id"], text, answer, planned=True)
        )

    def _over(self) -> bool:
        """Say whether every task has ended, or all stand still for want of somebody whom the night does not have."""
        scene, reported = self.scene, self.scene.looker.last
        states = [str(reported.get(job.name, {}).get("state", "")) for job in scene.night.jobs]
        if all(state in ENDED for state in states):
            return True
        stuck = all(state in ENDED | {"waiting"} for state in states) and not self._somebody_comes()
        living = bool(scene.watcher.living()) if stuck else True
        if not stuck or living or scene.service.pending:
            self._still = 0.0
            return False
        self._still = self._still or time.time()
        return time.time() - self._still > STILL

    def _somebody_comes(self) -> bool:
        open_now = list(self.scene.looker.open_questions())
        return any(self._planned(each) for each in open_now)


def run_in(scene: Scene, *command: str) -> str:
    """Run a command as the night's user, and return what it printed."""
    world = scene.house.world
    done = subprocess.run(
        command, env=world.environ, capture_output=True, text=True, timeout=60, check=False, cwd=world.project
    )
    return done.stdout + done.stderr
