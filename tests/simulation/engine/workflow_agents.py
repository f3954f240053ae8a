"""Agents of a workflow: they edit their files, and lie, crash, escalate, and write what others have to write."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator.formats.workflow.plan import read_plan
from orchestrator.model.workflow import AgentKind, WorkflowAgent, WorkflowPlan
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_process import FOREVER, Signalled
from tests.simulation.engine.agents import MINUTE, Agent
from tests.simulation.engine.shared_state import Life

STEPS: Final = ("do:", "verify:")
FOREIGN: Final = ("verified", "failed", "session_complete", "pending", "blocked")


@dataclass(frozen=True, slots=True)
class Left:
    """What a verifier's run really said about an agent, and what the outputs were when it began and when it ended."""

    agent: str
    verdict: str
    seen: tuple[tuple[str, bytes], ...]


def is_of_workflow(agent: Agent) -> bool:
    """Return whether a run is of a workflow."""
    return agent.environment["STEP"].startswith(STEPS)


def workflow_life(agent: Agent) -> Life:
    """Return the life of one run of a workflow's agent."""
    player = Player(agent)
    lives = DOES if player.kind == "do" else JUDGES
    if player.kind == "do" and player.notes() and agent.dice.deviates(2 * agent.dice.behaviour.bad):
        return _settles_what_is_not_its_own(player)
    if agent.dice.deviates(agent.dice.behaviour.bad):
        life = agent.random.choice(lives)
        agent.dice.did(f"of a workflow {life.__name__.strip('_').replace('_', ' ')}")
        return life(player)
    return _does_well(player) if player.kind == "do" else _judges_well(player)


class Player:
    """One run, and the files that it writes."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.random, self.shared = agent, agent.random, agent.shared
        self.folder = Path(agent.environment["TASK_DIR"], "orchestration")
        self.kind, _, self.subject = agent.environment["STEP"].partition(":")
        self.plan: WorkflowPlan = read_plan(self._read("workflow_coordination_plan.md"))
        self.by_id = {each.id: each for each in self.plan.agents}

    @property
    def own(self) -> WorkflowAgent:
        """The agent whose work this run does or judges."""
        return self.by_id[self.subject]

    def _read(self, path: str) -> bytes:
        place = self.folder / path
        return b"" if self.shared.files.entry(place) is None else self.shared.files.read(place)

    def json(self, path: str) -> Any:
        """Return the content of a JSON file; an empty object if it is missing, damaged, or something else."""
        try:
            found = json.loads(self._read(path) or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def statuses(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the shared status, and its entries of agents."""
        document = self.json("shared_status.json")
        agents = document.get("agents")
        return document, agents if isinstance(agents, dict) else {}

    def write(self, path: str, content: Any) -> None:
        """Write a file of the workflow."""
        data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode()
        self.shared.files.make_folder((self.folder / path).parent)
        self.shared.write(self.folder / path, data)

    @property
    def now(self) -> int:
        """The time as an agent writes it."""
        return int(self.shared.clock.now())

    # What it leaves -------------------------------------------------------------------------------

    def put_outputs(self, agent: WorkflowAgent, without: str = "") -> None:
        """Write outputs and evidence."""
        for path in (*agent.outputs, *(each.path for each in agent.evidence)):
            if path != without:
                text = f"{agent.id} made {path} in {self.agent.process.run}\n"
                self.write(f"agents/{agent.id}/task_output/{path}", text.encode())

    def notes(self) -> list[dict[str, Any]]:
        """Return the notes that stand there."""
        found = self.json(f"agents/{self.subject}/completion_drive/session_current.json").get("notes", [])
        return found if isinstance(found, list) else []

    def put_session(self, *notes: dict[str, Any], task_id: str = "", settles: bool = True) -> None:
        """Write the session: the notes that stand there, of which own open ones are settled, and new ones."""
        path = f"agents/{self.subject}/completion_drive/session_current.json"
        there = self.json(path)
        if there.get("task_id") != self.own.task_id or not all(
            isinstance(each, dict) and each for each in there["notes"]
        ):
            there = {"task_id": self.own.task_id, "session_start": self.now, "notes": []}
        old = [self._settled(each) if settles else each for each in there["notes"]]
        new = [self.note(len(old) + at + 1, **each) for at, each in enumerate(notes)]
        self.write(path, {**there, "task_id": task_id or there["task_id"], "notes": [*old, *new]})

    def _settled(self, note: dict[str, Any]) -> dict[str, Any]:
        if note.get("status") != "open" or note.get("kind"):
            return note
        return {
            **note,
            "status": "resolved",
            "resolution": "seen",
            "resolved_by": "agent_self",
            "resolution_timestamp": self.now,
        }

    def note(self, number: int, status: str = "open", **more: Any) -> dict[str, Any]:
        """Return a note."""
        usual = {
            "note_id": f"note_{number:03}",
            "timestamp": self.now,
            "description": f"Is assumption {self.random.randint(1, 3)} of {self.subject} right?",
            "context": "at work",
            "status": status,
            "resolution": None,
            "resolved_by": None,
            "resolution_timestamp": None,
            "escalation_reason": "not mine" if status == "escalated" else None,
        }
        return usual | more

    def set_status(self, agent: str, status: str) -> None:
        """Set a status in the shared file, by reading and writing all of it."""
        document, agents = self.statuses()
        if isinstance(agents.get(agent), dict):
            agents[agent]["status"] = status
            self.write_statuses(document, agents)

    def write_statuses(self, document: dict[str, Any], agents: dict[str, Any]) -> None:
        """Write the shared status, and note of whom this run says that it is verified."""
        _, before = self.statuses()
        self.write("shared_status.json", document)
        for name, entry in agents.items():
            if entry != before.get(name) and isinstance(entry, dict) and entry.get("status") == "verified":
                claims = self.shared.claims.setdefault((self.folder, name), [])
                claims.append((self.shared.clock.monotonic(), self.agent.process.run))

    def judged(self) -> list[WorkflowAgent]:
        """Return whom this run judges: at a checkpoint those that are not verified yet."""
        points = {each.id: each for each in self.plan.checkpoints}
        if self.subject not in points:
            return [self.own]
        _, there = self.statuses()
        ready = [self.by_id[each] for each in points[self.subject].subjects]
        return [each for each in ready if there.get(each.id, {}).get("status") == "ready_for_verification"]

    def say(self, agent: WorkflowAgent, verdict: str) -> None:
        """Give a verdict on an agent, and note which one it really was."""
        base = f"agents/{agent.id}"
        if verdict == "fail":
            missing = [f"thing {self.random.randint(1, 9)}"]
            self.write(
                f"{base}/verification_results.json",
                {
                    "task_id": agent.task_id,
                    "timestamp": self.now,
                    "result": "fail",
                    "missing_evidence": missing,
                },
            )
        elif agent.kind is AgentKind.POC:
            evidence = {"proceed": "pass", "ask": "fail"}[verdict if verdict == "ask" else "proceed"]
            decision = "ask" if verdict == "ask" else "proceed"
            said = {
                "task_id": agent.task_id,
                "timestamp": self.now,
                "evidence": evidence,
                "decision": decision,
            }
            self.write(f"{base}/poc_decision.json", {**said, "rationale": "it was tried"})
        else:
            self.set_status(agent.id, "verified")
        seen = tuple(
            (path, self._read(f"{base}/task_output/{path}"))
            for path in (*agent.outputs, *(each.path for each in agent.evidence))
        )
        left = self.shared.verdicts.setdefault(self.agent.process.run, [])
        left.append(Left(agent.id, verdict, seen))

    def works(self) -> Life:
        """Work for a while, in the worktree too."""
        environment = self.agent.environment
        path = Path(environment["WORKSPACE"])
        if self.kind == "do" and "worktrees" in path.parts and path not in self.shared.vanished:
            tree = Tree(path.parent, path.parent, path.name, environment["BRANCH"], environment["BASE"])
            self.shared.workspaces.work(
                tree, f"{self.subject}, {environment['ATTEMPT']}", f"{self.subject}.txt"
            )
        left = self.random.uniform(0.2, max(0.3, self.agent.dice.behaviour.longest)) * MINUTE
        while left > 0:
            nap = min(left, self.random.uniform(5, 20) * MINUTE)
            yield nap
            left -= nap
            self.agent.note()
        return 0


# Agents that work --------------------------------------------------------------------------------------


def _does_well(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _crashes_early(player: Player) -> Life:
    yield player.random.choice((0.0, 5.0, 300.0))
    return 1


def _is_killed_after_its_work(player: Player) -> Life:
    yield from _does_well(player)
    raise Signalled(signal.SIGKILL)


def _crashes_halfway(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own, without="run.log")
    return 3


def _hangs(player: Player) -> Life:
    yield FOREVER
    return 0


def _leaves_without_a_claim(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    return 0


def _claims_to_be_verified(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    player.set_status(player.subject, "verified")
    return 0


def _lacks_an_output(player: Player) -> Life:
    yield from player.works()
    player.put_session()
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _escalates(player: Player) -> Life:
    yield from player.works()
    kind = player.random.choice(("requirements", "technology", "security", "workflow"))
    player.put_session({"status": "escalated", "kind": kind})
    player.set_status(player.subject, player.random.choice(("blocked", "ready_for_verification")))
    return 0


def _leaves_a_note_open(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session({"status": "open"}, settles=False)
    player.set_status(
        player.subject, player.random.choice(("ready_for_verification", "completion_drive_review", "blocked"))
    )
    return 0


def _settles_what_is_not_its_own(player: Player) -> Life:
    """Resolve a note that needs others, remove one, and be ready."""
    yield from player.works()
    player.put_outputs(player.own)
    done = {
        "status": "resolved",
        "resolution": "done",
        "resolved_by": "user",
        "resolution_timestamp": player.now,
    }
    path = f"agents/{player.subject}/completion_drive/session_current.json"
    player.put_session()
    there = player.json(path)
    there["notes"] = [{**each, **done} for each in there["notes"][:-1]]
    player.write(path, there)
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _edits_others(player: Player) -> Life:
    """Write statuses of others, and change what they have handed in."""
    yield from player.works()
    for other in player.random.sample(player.plan.agents, min(3, len(player.plan.agents))):
        player.set_status(other.id, player.random.choice(FOREIGN))
    return (yield from _does_well(player))


def _breaks_the_status_file(player: Player) -> Life:
    yield from player.works()
    player.write("shared_status.json", player.random.choice((b"{", b"", b"\xff", b"[]", b'{"agents": 3}')))
    yield player.random.uniform(0, 60)
    return (yield from _does_well(player))


def _writes_an_old_status_file(player: Player) -> Life:
    """Write the whole file as it was read long before: all edits since are lost."""
    document, agents = player.statuses()
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    if isinstance(agents.get(player.subject), dict):
        agents[player.subject]["status"] = "ready_for_verification"
        player.write_statuses(document, agents)
    return 0


def _keeps_a_stale_session(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session(task_id="another_1764000000")
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _breaks_its_session(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.write(f"agents/{player.subject}/completion_drive/session_current.json", b'{"notes": [{}]}')
    player.set_status(player.subject, "ready_for_verification")
    return 0


DOES: Final[tuple[Callable[[Player], Life], ...]] = (
    _crashes_early,
    _is_killed_after_its_work,
    _crashes_halfway,
    _hangs,
    _leaves_without_a_claim,
    _claims_to_be_verified,
    _lacks_an_output,
    _escalates,
    _escalates,
    _leaves_a_note_open,
    _settles_what_is_not_its_own,
    _edits_others,
    _breaks_the_status_file,
    _writes_an_old_status_file,
    _keeps_a_stale_session,
    _breaks_its_session,
)


# Verifiers ---------------------------------------------------------------------------------------------


def _judges_well(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        rejects = player.agent.dice.deviates(player.agent.dice.behaviour.rejects)
        player.say(each, ("ask" if each.kind is AgentKind.POC else "fail") if rejects else "pass")
    return 0


def _says_nothing(player: Player) -> Life:
    yield from player.works()
    return 0


def _misses_something_beside_verified(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.set_status(each.id, "verified")
        player.say(each, "fail")
    return 0


def _judges_another_task(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        said = {
            "task_id": "other_1764000000",
            "timestamp": player.now,
            "result": "fail",
            "missing_evidence": ["x"],
        }
        player.write(f"agents/{each.id}/verification_results.json", said)
        player.set_status(each.id, "verified")
    return 0


def _changes_what_it_judges(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.put_outputs(each)
        player.set_status(each.id, "verified")
    return 0


def _passes_everybody(player: Player) -> Life:
    """Write `verified` for all agents, whoever's they are."""
    yield from player.works()
    judged = player.judged()
    for each in player.plan.agents:
        player.set_status(each.id, "verified")
    for each in judged:
        player.say(each, "pass")
    return 0


def _leaves_garbage(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.write(
            f"agents/{each.id}/verification_results.json", player.random.choice((b"{", b"[]", b"\xff"))
        )
        player.set_status(each.id, "verified")
    return 0


JUDGES: Final[tuple[Callable[[Player], Life], ...]] = (
    _crashes_early,
    _hangs,
    _says_nothing,
    _misses_something_beside_verified,
    _judges_another_task,
    _changes_what_it_judges,
    _passes_everybody,
    _leaves_garbage,
)
