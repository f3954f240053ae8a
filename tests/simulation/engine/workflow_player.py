"""One run of a workflow's agent, and the files that it reads and writes: its order, sessions, statuses, verdicts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from orchestrator import layout
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.model.workflow import AgentKind, WorkflowAgent, WorkflowPlan
from orchestrator.ports.worktree import Tree
from tests.simulation.engine.agents import MINUTE, Agent
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.user_task import PROJECT

READY: Final = "ready_for_verification"

_TASK_ID: Final = re.compile(r'"task_id": "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Left:
    """What a verifier's run really said about an agent, and what the outputs were when it began and when it ended."""

    agent: str
    verdict: str
    seen: tuple[tuple[str, bytes], ...]


class Player:
    """One run, and the files that it writes: in `folder`, which is `here` unless it is on a box."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.random, self.shared = agent, agent.random, agent.shared
        self.folder = Path(agent.environment["TASK_DIR"], "orchestration")
        self.here = layout.orchestration(layout.task_folder(PROJECT, agent.environment["TASK"]))
        self.kind, _, self.subject = agent.environment["STEP"].partition(":")
        self.number = self.subject if self.kind == "resolve" else ""
        if self.number:
            self.subject = agent.environment["AGENT"]
        self.plan: WorkflowPlan = read_plan(self.read("workflow_coordination_plan.md"))
        self.by_id = {each.id: each for each in self.plan.agents}

    @property
    def order(self) -> str:
        """The order of this run as it reads it; empty where a power cut took it."""
        place = layout.run_order(self.agent.process.spec.folder)
        there = self.shared.files.entry(place) is not None
        return self.shared.files.read(place).decode("utf-8", "replace") if there else ""

    def task_of(self, agent: WorkflowAgent) -> str:
        """Return an agent's task id: an architect has one for each question, which the order names."""
        if agent.kind is not AgentKind.ARCHITECT:
            return agent.task_id
        found = _TASK_ID.search(self.order.partition(f"You judge {agent.id}.")[2] or self.order)
        return found[1] if found else agent.task_id

    @property
    def own(self) -> WorkflowAgent:
        """The agent whose work this run does or judges."""
        return self.by_id[self.subject]

    def read(self, path: str) -> bytes:
        """Return a file of the workflow; nothing if it is not there."""
        place = self.folder / path
        return b"" if self.shared.files.entry(place) is None else self.shared.files.read(place)

    def json(self, path: str) -> Any:
        """Return the content of a JSON file; an empty object if it is missing, damaged, or something else."""
        try:
            found = json.loads(self.read(path) or b"{}")
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
        if there.get("task_id") != self.task_of(self.own) or not all(
            isinstance(each, dict) and each for each in there["notes"]
        ):
            there = {"task_id": self.task_of(self.own), "session_start": self.now, "notes": []}
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
        if self.kind == "do" and agents[self.subject].get("status") == READY:
            self.shared.ready.add(self.agent.process.run)
        for name, entry in agents.items():
            if entry != before.get(name) and isinstance(entry, dict) and entry.get("status") == "verified":
                claims = self.shared.claims.setdefault((self.folder, name), [])
                claims.append((self.shared.clock.monotonic(), self.agent.process.run))

    def left_all(self) -> None:
        """Note that this run has left all that it must, if it could say so."""
        run = self.agent.process.run
        if self.kind == "resolve" or run in self.shared.ready:
            self.shared.left.add(run)

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
                    "task_id": self.task_of(agent),
                    "timestamp": self.now,
                    "result": "fail",
                    "missing_evidence": missing,
                },
            )
        elif agent.kind is AgentKind.POC:
            evidence = {"proceed": "pass", "ask": "fail"}[verdict if verdict == "ask" else "proceed"]
            decision = "ask" if verdict == "ask" else "proceed"
            said = {
                "task_id": self.task_of(agent),
                "timestamp": self.now,
                "evidence": evidence,
                "decision": decision,
            }
            self.write(f"{base}/poc_decision.json", {**said, "rationale": "it was tried"})
        else:
            self.set_status(agent.id, "verified")
        seen = tuple(
            (path, self.read(f"{base}/task_output/{path}"))
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
        if self.kind == "do" and (clone := self.shared.clone) is not None and not self.own.scratch:
            text = f"{self.subject}, {environment['ATTEMPT']}"
            clone.commit(
                environment["WORKSPACE"],
                environment["BRANCH"],
                environment["BASE"],
                text,
                f"{self.subject}.txt",
            )
        left = self.random.uniform(0.2, max(0.3, self.agent.dice.behaviour.longest)) * MINUTE
        while left > 0:
            nap = min(left, self.random.uniform(5, 20) * MINUTE)
            yield nap
            left -= nap
            self.agent.note()
        return 0
