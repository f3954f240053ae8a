"""A user who looks in now and then, answers late, changes their mind, and asks for things."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from orchestrator.testing.simulation.world import Wish, World

HOUR: Final = 3600.0
CRITERIA: Final = ("It works", "It is tested", "It is documented")
ENDED: Final = frozenset({"complete", "failed", "stopped"})


@dataclass(slots=True)
class User:
    """Somebody with a few wishes. `restless` is the chance, at each look, that they do something unasked.

    A calm user only answers and starts again what they had stopped, so that everything comes to an end.
    """

    world: World
    restless: float = 0.1
    calm: bool = False
    goals: dict[str, int] = field(default_factory=dict)

    def begin(self) -> None:
        """Say what is wanted, and look in from time to time."""
        for number, wish in enumerate(self.world.wishes):
            self.world.clock.after(number * self.world.random.uniform(0, HOUR), partial(self._start, wish))
        self._look_in_later()

    def ended(self) -> bool:
        """Tell whether every task has come to an end, as far as is shown."""
        return all(self.world.shown(wish).get("state") in ENDED for wish in self.world.wishes)

    def _look_in_later(self) -> None:
        seconds = 60.0 if self.calm else self.world.random.uniform(60, 6 * HOUR)
        self.world.clock.after(seconds, self._look_in)

    def _look_in(self) -> None:
        self.world.take_replies()
        for wish in self.world.wishes:
            shown = self.world.shown(wish)
            questions = cast("list[dict[str, Any]]", shown.get("questions", []))
            for question in questions:
                self.world.ask(wish, "answer", question=question["id"], text=self._answer_to(question))
            if shown.get("state") == "stopped":
                self._start(wish, again=True)
            elif not self.calm and self.world.random.random() < self.restless:
                self._do_something(wish, shown)
        self._look_in_later()

    def _answer_to(self, question: dict[str, Any]) -> str:
        if self.calm:
            return "accept" if "accept" in question["options"] else str(question["options"][0])
        words = [*question["options"], "Do it the other way", question["options"][0]]
        word = str(self.world.random.choice(words))
        return "retry" if word == "abandon" and self.world.random.random() < 0.8 else word  # noqa: PLR2004

    def _do_something(self, wish: Wish, shown: dict[str, Any]) -> None:
        match self.world.random.randrange(7):
            case 0:
                self.world.ask(wish, "stop")
            case 1:
                self.world.ask(wish, "checkin")
            case 2:
                agent = self.world.random.choice(("dev", "explore", "nobody"))
                self.world.ask(wish, "spawn", agent=agent, instructions="Look at the gate")
            case 3:
                self.world.ask(wish, "answer", question="q1", text="retry")
            case 4 if shown.get("state") in {"complete", "failed"}:
                self._start(wish)
            case 5:
                self.world.edit(wish, self._goal(wish), CRITERIA[: self.world.random.randint(1, 3)])
            case _:
                self.world.ask(wish, "start", project="/project", name=wish.name)

    def _start(self, wish: Wish, *, again: bool = False) -> None:
        if not again:
            self.goals[wish.name] = self.goals.get(wish.name, 0) + 1
        self.world.start(wish, self._goal(wish), CRITERIA[:2])

    def _goal(self, wish: Wish) -> str:
        return f"Make {wish.name} so, the {self.goals.get(wish.name, 1)}. time"
