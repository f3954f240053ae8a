"""The users of a soak: they start many tasks, more of them whenever one is complete, and answer what is asked."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.daemon.world import AGENTS, World

AGENT = Path(__file__).with_name("agent.sh")
LOOSE = ("explore", "explore", "review", "dev")
"""Who is asked for beside the plan: most only look; each dev has a tree of its own."""

AGAIN = 0.25
"""How often the next task is an old one that is to do more: the one that was complete just now, or one of long ago."""


@dataclass
class Crowd:
    """Keeps `tasks` tasks at work with `agents` agents at once, each of which sleeps for up to `pace` seconds."""

    world: World
    tasks: int
    agents: int
    pace: int
    chance: random.Random
    rounds: dict[str, int] = field(default_factory=dict)
    _current: list[str] = field(default_factory=list)
    answered: set[tuple[str, str]] = field(default_factory=set)
    resting: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the tasks that are to be at work now."""
        return list(self._current)

    def begin(self) -> None:
        """Lay all tasks down and ask for them."""
        shutil.copy(AGENT, self.world.root / "agent.sh")
        self._set_pace(self.pace)
        for place in range(self.tasks):
            self._current.append(f"task-{place + 1:04}")
            self._ask_for_more(self._current[place])
        with (self.world.project / ".git" / "info" / "exclude").open("a") as exclude:
            exclude.write("/tasks/\n")

    def rest(self) -> None:
        """Want nothing more, and let the agents that begin from now on hurry."""
        self.resting = True
        self._set_pace(1)

    def _set_pace(self, pace: int) -> None:
        part = self.world.root / "pace.part"
        part.write_text(f"{pace}\n")
        part.rename(self.world.root / "pace")

    def tend(self) -> None:
        """Look at each task once: put another in its place, answer it, ask for more agents."""
        for place, name in enumerate(self.names):
            state = self.state_shown(name)
            for question in state.get("questions", ()):
                self._answer(name, question)
            self._take_replies(name)
            if self.resting or self._waits(name):
                continue
            if state.get("state") == "complete":
                self._current[place] = self._next(name)
                self._ask_for_more(self._current[place])
            elif self._goes_on(state) and self.alive(state) < self._share:
                self._ask("spawn", name, agent=self.chance.choice(LOOSE), instructions="Look around.")

    def _next(self, ended: str) -> str:
        """Return which task takes the place of one that is complete: mostly a new one."""
        if self.chance.random() >= AGAIN:
            return f"task-{len(self.rounds) + 1:04}"
        old = [name for name in self.rounds if name not in self._current]
        return self.chance.choice([ended, *old])

    @property
    def _share(self) -> int:
        return max(1, self.agents // self.tasks)

    def state_shown(self, name: str) -> dict[str, Any]:
        """Return what the daemon tells of a task; nothing where it could not be read just now."""
        try:
            return self.world.state_shown(name)
        except (OSError, ValueError):
            return {}

    @staticmethod
    def _goes_on(state: dict[str, Any]) -> bool:
        """Tell whether the plan itself is not done yet: what is asked for then still holds up the end of the task."""
        steps = [
            step for step in state.get("steps", ()) if step["subtask"] or step["id"] in {"explore", "plan"}
        ]
        return any(step["status"] not in {"passed", "set_aside"} for step in steps)

    @staticmethod
    def alive(state: dict[str, Any]) -> int:
        """Return how many agents of a task are at work or about to be."""
        loose = {f"{agent}-" for agent in LOOSE}
        asked: int = sum(
            step["status"] == "pending" and not step["subtask"] and step["id"].rstrip("0123456789") in loose
            for step in state.get("steps", ())
        )
        alive = sum(bool(each["state"] != "gone") for each in state.get("agents", ()))
        return asked + alive

    def unsettled(self) -> list[str]:
        """Return the tasks that neither have ended nor wait on a question that they name."""
        left = []
        for name in self.rounds:
            state = self.state_shown(name)
            ended = state.get("state") in {"complete", "failed", "stopped"} and not self.alive(state)
            if not ended and not (state.get("state") == "waiting" and state.get("questions")):
                left.append(name)
        return left

    def _ask_for_more(self, name: str) -> None:
        number = self.rounds[name] = self.rounds.get(name, 0) + 1
        folder = self.world.project / "tasks" / name
        for each in ("handoffs", "scratchpad", "artifacts"):
            (folder / each).mkdir(parents=True, exist_ok=True)
        command = f"sh {self.world.root}/agent.sh {self.world.root}"
        lines = [f"# Task: {name}", "## Goal", f"Round {number}.", "## Success Criteria", "- It is there."]
        lines += ["## Agent Config", *(f"{agent}.command: {command}" for agent in AGENTS)]
        part = self.world.root / "brief"
        part.write_text("\n".join(lines) + "\n")
        part.rename(folder / "task.md")
        self._ask("start", name, project=str(self.world.project), name=name)

    def _answer(self, name: str, question: dict[str, Any]) -> None:
        if (name, question["id"]) in self.answered:
            return
        text = "retry" if "retry" in question["options"] else "Go on."
        if self._ask("answer", name, question=question["id"], text=text):
            self.answered.add((name, question["id"]))

    def _ask(self, verb: str, task: str, /, **arguments: str) -> bool:
        """Leave a request; False where there was no room for it."""
        try:
            self.world.ask(verb, task, **arguments)
        except OSError:
            return False
        return True

    def _waits(self, name: str) -> bool:
        """Tell whether something that was asked was not heard yet."""
        home = next(self.world.homes(name), None)
        waiting = (home / "requests").glob("*.json") if home else iter(())
        return any(not path.name.endswith(".reply.json") for path in waiting)

    def _take_replies(self, name: str) -> None:
        """Take the replies to what was asked, as `task` does."""
        home = next(self.world.homes(name), None)
        for reply in (home / "requests").glob("*.reply.json") if home else ():
            reply.unlink(missing_ok=True)
