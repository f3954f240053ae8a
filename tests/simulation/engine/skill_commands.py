"""Commands take a session back from its task at rest, and carry it on to its end, as an agent CLI does."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from orchestrator.cli.skill_driver import SkillDriver, Surroundings
from orchestrator.model.composite import SkillState, agent_memory_file
from orchestrator.model.errors import OrchestratorError
from orchestrator.records.skill_store import SkillStore
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.skill_agents import memory
from tests.simulation.engine.skill_tasks import KEY, SkillTask
from tests.simulation.engine.user_task import PROJECT

if TYPE_CHECKING:
    from orchestrator.model.composite import SkillSession
    from tests.simulation.engine.world import World

TAKEN: Final = "commands took its session back"
"""Why a task is stopped that has given its session back, as it is shown."""

MINUTE: Final = 60.0
HOUR: Final = 3600.0


@dataclass(slots=True)
class SkillCommands:
    """A session of an agent CLI that takes over from one task. `last` is the session as it last left it."""

    world: World
    task: SkillTask
    last: SkillSession | None = None
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        """Begin some time later."""
        self._random = self.world.scenario.random(f"commands.{self.task.name}")
        self.world.clock.after(self._random.uniform(0, 2 * HOUR), self._look)

    @property
    def _driver(self) -> SkillDriver:
        around = Surroundings(
            new_id=lambda: self.task.session.task_id or "",
            skill=lambda _: self.task.skill,
            rules=lambda _: {},
            learnings=lambda _: (),
            content=lambda _, number: f"Step {number}\n",
        )
        return SkillDriver(SkillStore(self.world.files, self.task.state_file, KEY.encode()), around)

    def _look(self) -> None:
        """Take the session back if its task rests; stop the task otherwise; go on with a session that is here."""
        shown = self.world.shown(self.task)
        if self.last is not None or self._is_here(shown):
            with self.world.unseen():
                self._go_on()
        elif shown.get("state") in {"stopped", "partial", "failed"}:
            self.world.ask(self.task, "give-back")
        elif shown.get("state") in {"running", "waiting"}:
            self.world.ask(self.task, "stop")
        if self.last is None or self.last.state is not SkillState.COMPLETE:
            most = 2 * MINUTE if self.last is None else HOUR / 2
            self.world.clock.after(self._random.uniform(5, most), self._look)

    def _is_here(self, shown: dict[str, object]) -> bool:
        if shown.get("why") != TAKEN:
            return False
        self.world.returned.add(self.task.id)
        with suppress(OrchestratorError):
            return self._driver.session().task == ""
        return False

    def _go_on(self) -> None:
        """Do one step, or have the agent of the phase at work take its turn."""
        driver = self._driver
        session = driver.session()
        if self.last is not None and self.last != session:
            text = f"{self.task.name}: the state file was changed while commands drive the session"
            self.world.shared.found.append(Finding(Law.SESSION_SHOWN, text))
        if (phase := session.phase) is not None:
            path = agent_memory_file(session.task_id or "", phase.agent)
            data = memory(session.task_id or "", phase, "Done by hand.")
            if self.world.files.entry(PROJECT / path) is None or self._random.random() < 0.5:
                self.world.shared.knows(path, data)
                self.world.files.put(PROJECT / path, data)
            with suppress(OrchestratorError):  # what an earlier agent left is not complete
                driver.advance_phase()
        elif session.state is SkillState.COMPLETE_WORKFLOW:
            driver.step(6)
        else:
            driver.complete()
            self.world.counts["sessions that commands took back and ended"] += 1
        self.last = driver.session()
