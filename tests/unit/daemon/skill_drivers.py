"""The two drivers of a session of a composite skill, on disks in memory, with the same agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from orchestrator.cli.skill_driver import SkillDriver, Surroundings
from orchestrator.daemon.actions.phase_launch import prepare_phase
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.ingest.skill_plan import with_skill
from orchestrator.daemon.ingest.turn_ends import turn_end
from orchestrator.daemon.projections.skill_files import SkillFiles
from orchestrator.formats.skill.state import read_session
from orchestrator.model.agents import Agent
from orchestrator.model.composite import (
    CompositeSkill,
    Context,
    SkillPhase,
    SkillSession,
    SkillState,
    agent_memory_file,
)
from orchestrator.model.errors import BadFile
from orchestrator.model.plan import Gate
from orchestrator.model.run import Exit, Run
from orchestrator.model.task import SKILLS, Brief, Config, WorkspaceKind
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE, phase_step
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_store import SkillStore
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story
from tests.unit.skill_sessions import RULES, TASK_ID, memory, session

PROJECT = Path("/project")
STATE = PROJECT / "skill-orchestration/state/skill-orchestration-0a1b2c3d4e5f.json"
HOME = Path("/state/tasks/demo-1")
NAME = "demo"

T = TypeVar("T")

Outputs = Mapping[str, Sequence[bytes | None]]
"""What each agent leaves as its memory file in one turn after the other; None: nothing."""


THREE = CompositeSkill(
    "make",
    (
        SkillPhase("look", "scout"),
        SkillPhase("ask", "asker", alongside=True),
        SkillPhase("work", "maker", context=Context.ALL),
    ),
)


class Killed(BaseException):
    """The process ended here."""


class Recording(MemoryFiles):
    """A disk that records each session which a state file has shown."""

    def __init__(self) -> None:
        super().__init__(now=lambda: 0.0)
        self.states = list[SkillSession]()

    def write(
        self, path: Path, data: bytes, mode: int = 0o600, *, durable: bool = True, mtime_ns: int | None = None
    ) -> None:
        """Write a file, and record what a state file shows now."""
        super().write(path, data, mode, durable=durable, mtime_ns=mtime_ns)
        if path == STATE and (not self.states or self.states[-1] != read_session(data, "")):
            self.states.append(read_session(data, ""))


class Session:
    """A session on a disk of its own, driven by commands."""

    def __init__(self, skill: CompositeSkill, outputs: Outputs) -> None:
        self.files = Recording()
        self.skill = skill
        self.turns: dict[str, Iterator[bytes | None]] = {agent: iter(each) for agent, each in outputs.items()}
        self.store = SkillStore(self.files, STATE, skill_key(self.files, HOME.parents[1]))
        self.driver = SkillDriver(
            self.store,
            Surroundings(
                new_id=lambda: TASK_ID,
                skill=lambda _: skill,
                rules=lambda _: RULES,
                learnings=lambda _: ["Ask early"],
                content=lambda _, number: f"Text of step {number}\n",
            ),
        )

    def begin(self) -> None:
        """Begin the session."""
        self.driver.dispatch(replace(session(self.skill), project=str(PROJECT)))

    def act(self) -> None:
        """Follow one directive: do a step, or have the agents at work take a turn and end their phases."""
        current = self.store.load()
        if current.state in {SkillState.VALIDATE, SkillState.COMPLETE}:
            self.driver.complete()
        elif current.state is not SkillState.TRIGGER_AGENTS:
            self.driver.step(list(SkillState).index(current.state) + 1)
        else:
            self.turn_of(current)
            with suppress(BadFile):
                self.driver.advance_phase()

    def turn_of(self, current: SkillSession) -> None:
        """Have each agent that the directive names take a turn."""
        said = self.driver.step(5)
        for phase in current.config.phases if current.config else ():
            if f"subagent_type: '{phase.agent}'" in said:
                self.write(phase)

    def write(self, phase: SkillPhase) -> None:
        """Have an agent leave its memory file."""
        data = next(self.turns[phase.agent])
        if data is not None:
            self.files.put(PROJECT / agent_memory_file(TASK_ID, phase.agent), data)

    def finish(self) -> None:
        """Follow all directives."""
        while self.store.load().state is not SkillState.COMPLETE:
            self.act()

    def memories(self) -> dict[str, bytes]:
        """Return every memory file, by name."""
        folder = PROJECT / ".claude/memory"
        return {each.name: self.files.read(folder / each.name) for each in self.files.entries(folder)}


class Driven(Story):
    """A session that the daemon drives, on the disk of one that commands drove so far."""

    def __init__(
        self, by_commands: Session, workspace: WorkspaceKind = WorkspaceKind.WORKTREE, name: str = NAME
    ) -> None:
        super().__init__()
        self.session, self.name = by_commands, name
        self.home, self.folder = HOME.with_name(f"{name}-1"), PROJECT / "tasks" / name
        self.files: Recording = by_commands.files
        self.brief = Brief(
            "Title",
            "Make it so",
            (MEMORIES_COMPLETE,),
            Config(family=SKILLS, session=str(STATE), workspace=workspace),
        )
        self.agents |= {
            each.agent: Agent(each.agent, command=("agent",)) for each in by_commands.skill.phases
        }
        self.where = TaskPaths(PROJECT, self.home, self.folder, self.home / "trees")
        self.shown = SkillFiles(self.files, self.home)
        self.kept = dict[str, bytes]()

    def take_over(self) -> None:
        """The daemon takes over, and begins."""
        self.surely(lambda: self.session.driver.take_over(self.name))
        self.surely(lambda: self.files.make_folder(self.folder / "handoffs"))
        self.brief = self.surely(partial(with_skill, self.files, PROJECT, self.home, self.name, self.brief))
        self.starts()
        self.show()

    def rests(self) -> None:
        """The user stops the task, and its agents end."""
        self.stops()
        for run in self.state.live_runs:
            self.ends(run=run)
        self.show()

    def give_back(self) -> None:
        """Commands take the session back; killed on the way, the daemon begins anew."""
        self.rests()
        self.gives_back()
        self.show()

    def show(self) -> None:
        """Write the state file, as the daemon does after each decision."""
        self.surely(lambda: self.shown.show(self.state))

    def surely(self, edge: Callable[[], T]) -> T:
        """Do something on the disk; killed there, the daemon begins anew, and does it again."""
        try:
            return edge()
        except Killed:
            self.files.before, self.shown = None, SkillFiles(self.files, self.home)
            return edge()

    def at_work(self) -> list[Run]:
        """Return the runs of phases, in the order of the skill."""
        return [run for run in self.state.live_runs if Gate.MEMORY in self.step(run.step).gates]

    def turns(self) -> None:
        """Each agent at work takes a turn, and exits."""
        for run in self.at_work():
            self.turn(run)

    def turn(self, run: Run) -> None:
        """An agent takes a turn."""
        self.comes_alive(run.step)
        self.surely(lambda: prepare_phase(self.files, self.where, self.state, run))
        self.at += 60
        skill = self.session.skill
        self.session.write(next(each for each in skill.phases if phase_step(each.id) == run.step))
        self.hands_in(run)

    def hands_in(self, run: Run, how: Exit | None = None) -> None:
        """The daemon reads what it left."""
        args = (
            self.files,
            self.folder,
            self.state,
            run.id,
            self.at,
            self.limits,
            self.keep,
            "",
            how or Exit(code=0),
        )
        fact = self.surely(lambda: turn_end(*args))
        if fact is not None:
            self.feed(fact)
        self.show()
        self.ends(run=run, how=how)
        self.show()

    def keep(self, digest: str, data: bytes) -> None:
        """Keep what was handed in, where no agent writes."""
        self.files.put(self.home / "reports" / digest, data)
        self.kept[digest] = data

    def finish(self) -> None:
        """Let the agents work until nobody does any more."""
        while self.at_work():
            self.turns()


def complete(skill: CompositeSkill, summary: str = "Found it.") -> dict[str, list[bytes | None]]:
    """Return outputs with which each phase ends at its first turn."""
    return {phase.agent: [memory(phase, summary=summary)] for phase in skill.phases}


def driven(skill: CompositeSkill = THREE, outputs: Outputs | None = None) -> Driven:
    """Return a session that the daemon has taken over from its beginning."""
    by_commands = Session(skill, outputs or complete(skill))
    by_commands.begin()
    daemon = Driven(by_commands)
    daemon.take_over()
    return daemon
