"""A user who looks in now and then, answers late, twice or never, changes their mind, and asks for things."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final

from orchestrator.pm.handlers.stuck_termination import GONE
from orchestrator.testing.fake_box import place_on
from tests.simulation.engine.law import Broken, Finding, Law
from tests.simulation.engine.removal import Removal
from tests.simulation.engine.user_task import PROJECT, UserTask
from tests.simulation.engine.world import World

HOUR: Final = 3600.0
CRITERIA: Final = ("It works", "It is tested", "It is documented")
GIVES_UP: Final = frozenset({"set-aside", "abandon", "stop"})
OVER: Final = frozenset({"complete", "partial", "failed"})
ENDED: Final = OVER | {"stopped"}
AT_MOST: Final = 100
"""A calm user answers so many questions about one step. One that needs more gets nowhere."""

_NOT_BROUGHT: Final = "was not brought there"
"""What a question says about a repository on a box that the user is to put right: they merge the branch there."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How a user behaves.

    soonest, latest: the range of seconds between two looks at the tasks. The rest are probabilities at each look:
    restless: to make some request. eager: to want more of a task that is over. forgetful: not to answer a question.
    twice: to answer a question again, in another way. tidy: to delete a task that is over and has worked on boxes.
    keen: to have something tried again that could be given up.
    """

    soonest: float = 60.0
    latest: float = 6 * HOUR
    restless: float = 0.1
    eager: float = 0.3
    forgetful: float = 0.1
    twice: float = 0.1
    keen: float = 0.0
    tidy: float = 0.0


@dataclass(slots=True)
class User:
    """A user with a few tasks. A `calm` user only answers, and restarts what is stopped, so that every task ends."""

    world: World
    habits: Habits = field(default_factory=Habits)
    calm: bool = False
    _goals: dict[str, int] = field(default_factory=dict)
    _looks: int = 0
    _turned: int = 0
    _calmed: Counter[str] = field(default_factory=Counter)
    _moments: Random = field(init=False)

    def begin(self) -> None:
        """Start the tasks, and look at them from time to time."""
        self._moments = self.world.scenario.random("looks")
        for number, user_task in enumerate(self.world.user_tasks):
            self.world.clock.after(number * self._moments.uniform(0, HOUR), partial(self._start, user_task))
        self._look_in_later()

    def ended(self) -> bool:
        """Return whether every task is shown as ended.

        For a calm user a stopped task has not ended, since they restart it.
        """
        ends, returned = OVER if self.calm else ENDED, self.world.returned
        return all(
            self.world.shown(user_task).get("state") in ends or user_task.id in returned
            for user_task in self.world.present
        )

    def calm_down(self) -> None:
        """Stay until every task has ended."""
        self.calm = True
        self._turned += 1
        self._look_in_later()

    def _look_in_later(self) -> None:
        usual = self._moments.uniform(self.habits.soonest, self.habits.latest)
        self.world.clock.after(60.0 if self.calm else usual, partial(self._look_in, self._turned))

    def look_in(self) -> None:
        """Look at the tasks, answer questions, and perhaps make requests."""
        self._looks += 1
        self.world.take_replies()
        for user_task in self.world.present:
            shown = self.world.shown(user_task)
            for question in shown.get("questions", []):
                self._answer(user_task, question)
            if shown.get("state") == "stopped":
                self._start(user_task, again=True)
            elif not self.calm:
                self._perhaps_more(user_task, shown)

    def _look_in(self, turned: int) -> None:
        if turned == self._turned:
            self.look_in()
            self._look_in_later()

    def _answer(self, user_task: UserTask, question: dict[str, Any]) -> None:
        """Answer a question, or not, or twice. The answer depends on this question alone."""
        if GONE in question["options"] and not self._is_gone(user_task, question["run"]):
            question = {**question, "options": [each for each in question["options"] if each != GONE]}
        name = f"answer.{user_task.name}/{question['id']}/{self._looks}"
        random, world = self.world.scenario.random(name), self.world
        say = partial(world.ask, user_task, "answer", question=question["id"])
        if _NOT_BROUGHT in question["text"]:
            for box in user_task.boxes:
                world.boxes[box].clone.merge(str(place_on(box)), f"refs/orchestrator/{user_task.branch}/tip")
        if self.calm:
            self._count(user_task, question)
            options = question["options"]
            say(text=next((word for word in ("accept", GONE) if word in options), str(options[0])))
            return
        if random.random() < self.habits.forgetful and world.scenario.allows(f"forgets.{name[7:]}"):
            return
        say(text=self._word(random, question))
        if random.random() < self.habits.twice and world.scenario.allows(f"twice.{name[7:]}"):
            say(text=self._word(random, question))

    def _count(self, user_task: UserTask, question: dict[str, Any]) -> None:
        """Count what a calm user is asked about a step. Raises Broken: it is asked about without end."""
        about = f"{user_task.name}: {question['step'] or 'the task'}"
        self._calmed[about] += 1
        if self._calmed[about] > AT_MOST:
            text = f"{about} does not get on without faults, after {AT_MOST} answers: {question['text']}"
            raise Broken([Finding(Law.ENDS, text)])

    def _is_gone(self, user_task: UserTask, run: str) -> bool:
        """Return whether a run has no process any more, and all of its reports are here."""
        here = {entry.name for entry in self.world.files.entries(user_task.handoffs)}
        written = {report.name for report in self.world.shared.reports.get(run, ()) if report.counts}
        return written <= here and all(each.run != run for each in self.world.living)

    def _word(self, random: Random, question: dict[str, Any]) -> str:
        words = [*question["options"], "Do it the other way", question["options"][0]]
        word = str(random.choice(words))
        if word in GIVES_UP and self.habits.keen and random.random() < self.habits.keen:
            word = str(next((each for each in question["options"] if each not in GIVES_UP), word))
        return "retry" if word == "abandon" and random.random() < 0.8 else word

    def _perhaps_more(self, user_task: UserTask, shown: dict[str, Any]) -> None:
        """Sometimes make a request."""
        name = f"user.{user_task.name}/{self._looks}"
        random = self.world.scenario.random(name)
        over = shown.get("state") in OVER
        if over and self._is_tidy(user_task):
            Removal(self.world).delete(user_task)
        elif over and random.random() < self.habits.eager and self.world.scenario.allows(name):
            self._start(user_task)
        elif random.random() < self.habits.restless and self.world.scenario.allows(name):
            self._do_something(user_task, random)

    def _is_tidy(self, user_task: UserTask) -> bool:
        """Return whether to delete a task that is over."""
        if not user_task.boxes:
            return False
        name = f"tidies.{user_task.name}/{self._looks}"
        return self.world.scenario.random(name).random() < self.habits.tidy and self.world.scenario.allows(
            name
        )

    def _do_something(self, user_task: UserTask, random: Random) -> None:
        match random.randrange(6):
            case 0:
                self.world.ask(user_task, "stop")
            case 1:
                self.world.ask(user_task, "checkin")
            case 2:
                agent = random.choice(("dev", "explore", "nobody"))
                self.world.ask(user_task, "spawn", agent=agent, instructions="Look at the gate")
            case 3:
                self.world.ask(user_task, "answer", question="q1", text="retry")
            case 4:
                self.world.edit(user_task, self._goal(user_task), CRITERIA[: random.randint(1, 3)])
            case _:
                self.world.ask(user_task, "start", project=str(PROJECT), name=user_task.name)

    def _start(self, user_task: UserTask, *, again: bool = False) -> None:
        if user_task.id in self.world.deleted or user_task.id in self.world.returned:
            return
        if not again:
            self._goals[user_task.name] = self._goals.get(user_task.name, 0) + 1
        self.world.start(user_task, self._goal(user_task), CRITERIA[:2])

    def _goal(self, user_task: UserTask) -> str:
        return f"Make {user_task.name} so, the {self._goals.get(user_task.name, 1)}. time"
