"""The agent of a phase of a composite skill: it writes its memory file, or lies, dies, and edits what others left."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Generator
from hashlib import sha256
from typing import Final

from orchestrator import layout
from orchestrator.formats.skill.memory import COMPLETE, memory_form
from orchestrator.formats.skill.state import read_session
from orchestrator.model.composite import SkillPhase, SkillState, agent_memory_file, context_file
from orchestrator.model.errors import OrchestratorError
from orchestrator.testing.fake_process import FOREVER, Signalled
from tests.simulation.engine.agents import EVEN, MINUTE, Agent
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.user_task import PROJECT

STEP: Final = "phase:"

_READ: Final = re.compile(r"^Read first: (.*)\. Read no other memory file\.$", re.MULTILINE)
_OWN: Final = re.compile(r"^At the end write \S*/([0-9a-f]{12})-(\S+)-memory\.md in this form", re.MULTILINE)
_PHASE: Final = re.compile(r"^ *\*\*Phase:\*\* (\S+)$", re.MULTILINE)


def memory(task_id: str, phase: SkillPhase, text: str) -> bytes:
    """Return a complete memory file."""
    return (
        f"**Task:** {task_id}\n**Agent:** {phase.agent}\n**Phase:** {phase.id}\n\n"
        f"## Summary\n{text}\n\n## Output\nThe output of {phase.id}.\n\n{COMPLETE}\n"
    ).encode()


class PhaseAgent(Agent):
    """One run of the agent of a phase. `task` is the user's, which tells what an outsider knows of the project."""

    def begin(self) -> bool:
        """Read the order and what it names; return False where a power cut took the order."""
        place = layout.run_order(self.process.spec.folder)
        if self.shared.files.entry(place) is None:
            return False
        order = self.shared.files.read(place).decode()
        own, named, phase = _OWN.search(order), _READ.search(order), _PHASE.search(order)
        if own is None or named is None or phase is None:
            self._finds("its order does not say which memory files are its own")
            return False
        self.task_id, self.phase = own[1], SkillPhase(phase[1], own[2])
        self.readable = named[1].split(", ")
        for path in self.readable:
            self._read(path)
        return True

    def _read(self, path: str) -> None:
        """Read what others left. It is what one of its author's runs wrote, and no lie of somebody else."""
        known = self.shared.memories.get(path, set())
        if self.shared.files.entry(PROJECT / path) is None:
            self._finds(f"{path} is missing, which it may read")
        elif sha256(self.shared.files.read(PROJECT / path)).hexdigest() not in known:
            self._finds(f"{path} is not what its author left")

    def _finds(self, what: str) -> None:
        run = self.environment["RUN"]
        self.shared.found.append(Finding(Law.PHASES, f"{run} of {self.environment['STEP']}: {what}"))

    @property
    def _writes(self) -> bool:
        return True

    @property
    def path(self) -> str:
        """The own memory file, in the project."""
        return agent_memory_file(self.task_id, self.phase.agent)

    def leave(self, data: bytes, path: str = "", *, own: bool = False) -> None:
        """Write a memory file, the own one by default. `own`: it says what this agent really has to say."""
        path = path or self.path
        if own:
            self.shared.knows(path, data)
        self.shared.write(PROJECT / path, data)

    def remove(self, path: str) -> None:
        """Remove a memory file, if it is there."""
        if self.shared.files.entry(PROJECT / path) is not None:
            self.shared.files.delete(PROJECT / path)

    def complete(self) -> bytes:
        """Return the memory file of this run."""
        return memory(self.task_id, self.phase, f"{self.process.run} did {self.phase.id}.")

    def state_path(self) -> str:
        """Return the state file, which lies in the project for everybody to see."""
        files, folder = self.shared.files, PROJECT / "skill-orchestration/state"
        for entry in files.entries(folder) if files.entry(folder) is not None else ():
            if entry.is_file and f'"task_id": "{self.task_id}"'.encode() in files.read(folder / entry.name):
                return f"skill-orchestration/state/{entry.name}"
        return ""


def is_of_skill(environment: dict[str, str]) -> bool:
    """Return whether a run works on a phase."""
    return environment.get("ORCHESTRATOR_STEP", "").startswith(STEP)


def skill_life(agent: PhaseAgent) -> Life:
    """Return the life of a run of a phase."""
    if not agent.begin():
        return _leaves_at_once(agent)
    if agent.dice.deviates(agent.dice.behaviour.bad):
        life = agent.random.choice(BAD)
        agent.dice.did(f"of a skill {life.__name__.strip('_').replace('_', ' ')}")
        return life(agent)
    if agent.dice.deviates(agent.dice.behaviour.odd):
        harm = agent.random.choice(HARMS)
        agent.dice.did(f"of a skill {harm.__name__.strip('_').replace('_', ' ')}")
        return _does_harm(agent, harm)
    return _does_well(agent)


def _does_well(agent: PhaseAgent) -> Life:
    yield from agent.works()
    agent.leave(agent.complete(), own=True)
    return (yield from agent.exits())


def _leaves_at_once(agent: PhaseAgent) -> Life:
    yield 1.0
    return 0


# What it does beside its work ------------------------------------------------------------------------


def _does_harm(agent: PhaseAgent, harm: Callable[[PhaseAgent], None]) -> Life:
    """Work well, and change what is not its own, before it hands in or after."""
    first = agent.random.random() < EVEN
    yield from agent.works()
    if first:
        harm(agent)
        yield 1.0
    agent.leave(agent.complete(), own=True)
    yield agent.random.uniform(0, 2)
    if not first:
        harm(agent)
    return 0


def _removes_what_it_read(agent: PhaseAgent) -> None:
    for path in agent.readable:
        agent.remove(path)


def _changes_what_it_read(agent: PhaseAgent) -> None:
    for path in agent.readable:
        agent.shared.write(PROJECT / path, b"All is well, said nobody.\n")


def _claims_what_comes_later(agent: PhaseAgent) -> None:
    """Write complete memory files of phases after those that work at the same time."""
    for phase in _later(agent):
        path = agent_memory_file(agent.task_id, phase.agent)
        agent.leave(memory(agent.task_id, phase, "It was done by another."), path)


def _claims_the_whole(agent: PhaseAgent) -> None:
    """Write a state file that says that the next phase is done, or the session over, or whose it is."""
    path = agent.state_path()
    if not path:
        return
    data = agent.shared.files.read(PROJECT / path)
    fsm = json.loads(data)
    match agent.random.randrange(3):
        case 0:
            fsm["fsm"]["state"] = SkillState.COMPLETE.value
        case 1:
            fsm.pop("task", None)
        case _:
            fsm["step_outputs"].pop("5", None)
    agent.shared.write(PROJECT / path, json.dumps(fsm, indent=2).encode())


def _damages_the_state(agent: PhaseAgent) -> None:
    if path := agent.state_path():
        agent.shared.write(PROJECT / path, agent.random.choice((b"", b"{}", b"\xff")))


def _removes_the_context(agent: PhaseAgent) -> None:
    agent.remove(context_file(agent.task_id))


def _later(agent: PhaseAgent) -> list[SkillPhase]:
    path = agent.state_path()
    try:
        session = read_session(agent.shared.files.read(PROJECT / path), path) if path else None
    except OrchestratorError:
        return []
    config = session.config if session is not None else None
    own = next((each for each in config.phases if each.id == agent.phase.id), None) if config else None
    if config is None or own is None:
        return []
    return list(config.phases[config.phases.index(config.at_once(own)[-1]) + 1 :])


HARMS: Final = (
    _removes_what_it_read,
    _changes_what_it_read,
    _claims_what_comes_later,
    _claims_the_whole,
    _damages_the_state,
    _removes_the_context,
)


# Runs that go wrong ---------------------------------------------------------------------------------


def _crashes(agent: PhaseAgent) -> Life:
    yield agent.random.choice((0.0, 0.5, 5 * MINUTE))
    return 7


def _is_killed(agent: PhaseAgent) -> Life:
    yield agent.random.uniform(0, 10 * MINUTE)
    raise Signalled(signal.SIGKILL)


def _hangs(agent: PhaseAgent) -> Life:
    if agent.random.random() < EVEN:
        agent.process.ignores = {signal.SIGTERM}
    yield FOREVER
    return 0


def _crashes_after_its_work(agent: PhaseAgent) -> Life:
    """Leave a complete memory file, and crash: it counts."""
    yield from agent.works()
    agent.leave(agent.complete(), own=True)
    return 9


def _leaves_no_memory(agent: PhaseAgent) -> Life:
    yield from agent.works()
    return 0


def _leaves(agent: PhaseAgent, data: bytes) -> Generator[float, None, int]:
    yield from agent.works()
    agent.leave(data)
    return 0


def _leaves_the_form(agent: PhaseAgent) -> Life:
    return _leaves(agent, memory_form(agent.task_id, agent.phase).encode())


def _leaves_the_claim_alone(agent: PhaseAgent) -> Life:
    return _leaves(agent, f"{COMPLETE}\n".encode())


def _leaves_half_of_it(agent: PhaseAgent) -> Life:
    return _leaves(agent, agent.complete()[:-20])


def _speaks_for_another_task(agent: PhaseAgent) -> Life:
    return _leaves(agent, memory("0" * 12, agent.phase, "It is done."))


def _speaks_for_another_phase(agent: PhaseAgent) -> Life:
    return _leaves(agent, memory(agent.task_id, SkillPhase("p9", agent.phase.agent), "It is done."))


def _leaves_garbage(agent: PhaseAgent) -> Life:
    return _leaves(agent, agent.random.choice((b"", b"\xff\xfe\x00", b"#" * 2_000_000)))


def _loses_what_it_left(agent: PhaseAgent) -> Life:
    """Write it, and remove it before the turn ends."""
    yield from agent.works()
    agent.leave(agent.complete(), own=True)
    yield 0.5
    agent.remove(agent.path)
    return 0


BAD: Final = (
    _crashes,
    _is_killed,
    _hangs,
    _crashes_after_its_work,
    _leaves_no_memory,
    _leaves_the_form,
    _leaves_the_claim_alone,
    _leaves_half_of_it,
    _speaks_for_another_task,
    _speaks_for_another_phase,
    _leaves_garbage,
    _loses_what_it_left,
)
