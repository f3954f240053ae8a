"""What an auditor reads in a task's folder: the plan, the status, sessions, orders and reports."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import yaml

VERIFIED: Final = frozenset({"verified", "session_complete"})
PASSES: Final = frozenset({"APPROVED", "PROCEED"})
_NAME: Final = re.compile(r"handoffs/(?P<who>.+)-(?P<at>\d{8}-\d{6})\.md")
_FIELD: Final = re.compile(r"^\*\*(.+?):\*\* *(.*?) *$", re.MULTILINE)
_SUBJECT: Final = re.compile(
    r"agent_instructions\.md in the task's folder, on the work of ([\w, -]+?)(?: together)?:"
)
_BLOCK: Final = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SESSION: Final = re.compile(
    r"orchestration/agents/(?P<agent>[^/]+)/completion_drive/session_(?P<when>current|.+)\.json"
)


@dataclass(frozen=True)
class Handoff:
    """An order or a report: its file, who wrote or gets it, when, its fields, and what it is about."""

    path: str
    agent: str
    at: str
    fields: Mapping[str, str]
    text: str

    @property
    def subjects(self) -> tuple[str, ...]:
        """Whose work an order wants judged."""
        found = _SUBJECT.search(self.text)
        return tuple(each.strip() for each in found[1].split(",")) if found else ()


class Folder:
    """What lies in a task's folder: its files by path, and what they say."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def json(self, path: str) -> Any:
        """Return a JSON file; an empty object if it is missing or does not read."""
        try:
            return json.loads(self.files.get(path, b"{}"))
        except ValueError:
            return {}

    @cached_property
    def plan(self) -> dict[str, Any]:
        """The block of the plan."""
        return self._block("orchestration/workflow_coordination_plan.md")

    def plan_of(self, version: str) -> dict[str, Any]:
        """Return the block of a plan that was kept, by its hash."""
        return self._block(f"orchestration/records/plans/{version}.md")

    def _block(self, path: str) -> dict[str, Any]:
        page = self.files.get(path, b"").decode()
        found = yaml.safe_load(_BLOCK.findall(page)[0]) if _BLOCK.findall(page) else {}
        return found if isinstance(found, dict) else {}

    @cached_property
    def agents(self) -> dict[str, dict[str, Any]]:
        """The agents of the plan by id."""
        return {each["id"]: each for each in self.plan.get("agents", [])}

    @cached_property
    def workers(self) -> dict[str, dict[str, Any]]:
        """The agents whose work is verified."""
        return {name: each for name, each in self.agents.items() if each["kind"] != "verifier"}

    @cached_property
    def on_call(self) -> frozenset[str]:
        """The agents that only answer what others escalate."""
        named = self.plan.get("escalation") or {}
        return frozenset(named[each] for each in ("resolver", "architect", "loop") if named.get(each))

    def task_ids(self, agent: str) -> frozenset[str]:
        """Return the task ids of an agent: who is on call has one for each question that it handed in an answer to."""
        made = f"orchestration/records/outputs/{agent}-"
        later = [each for each in self.files if each.startswith(made)] if agent in self.on_call else []
        return frozenset(self.json(each).get("task_id") for each in later) | {self.agents[agent]["task_id"]}

    @cached_property
    def status(self) -> dict[str, Any]:
        """The shared status."""
        found = self.json("orchestration/shared_status.json")
        return found if isinstance(found, dict) else {}

    def stands(self, agent: str) -> str:
        """Return the status of an agent."""
        return str(self.status.get("agents", {}).get(agent, {}).get("status", ""))

    def session(self, agent: str) -> dict[str, Any]:
        """Return the session of an agent: the current one, else the one that was archived last."""
        current = f"orchestration/agents/{agent}/completion_drive/session_current.json"
        if current in self.files:
            return dict(self.json(current))
        named = [(path, match["when"]) for path in self.files if (match := _SESSION.fullmatch(path))]
        own = [path for path, _ in named if path.startswith(f"orchestration/agents/{agent}/")]
        own = [each for each in own if self.json(each).get("task_id") in self.task_ids(agent)]
        return dict(self.json(max(own))) if own else {}

    @cached_property
    def sessions(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Every session by its path: its agent, and what it says."""
        return {
            path: (match["agent"], self.json(path))
            for path in self.files
            if (match := _SESSION.fullmatch(path))
        }

    @cached_property
    def handoffs(self) -> tuple[Handoff, ...]:
        """All orders and reports, as they were written."""
        found = list[Handoff]()
        for path, data in self.files.items():
            if match := _NAME.fullmatch(path):
                text = data.decode(errors="replace")
                fields: dict[str, str] = dict(_FIELD.findall(text))
                agent = fields.get("Target", "") if match["who"] == "pm" else str(match["who"])
                at = fields.get("Timestamp", match["at"])[:19]
                found.append(Handoff(path, agent, at, fields, text))
        return tuple(sorted(found, key=lambda each: (each.at, each.path)))

    @cached_property
    def orders(self) -> tuple[Handoff, ...]:
        """What the PM wrote to agents of the plan."""
        own = (each for each in self.handoffs if each.path.startswith("handoffs/pm-"))
        return tuple(each for each in own if each.agent in self.agents)

    @cached_property
    def reports(self) -> dict[str, Handoff]:
        """What agents handed in, by the order that it answers."""
        own = (each for each in self.handoffs if not each.path.startswith("handoffs/pm-"))
        return {each.fields["In reply to"]: each for each in own if each.fields.get("In reply to")}

    def report_of(self, order: Handoff) -> Handoff | None:
        """Return the report on an order."""
        return self.reports.get(order.path.rpartition("/")[2])

    def orders_to(self, agent: str) -> list[Handoff]:
        """Return the orders to do the work of an agent."""
        return [each for each in self.orders if each.agent == agent and not each.subjects]

    def judged_of(self, agent: str) -> list[Handoff]:
        """Return the reports of the agent's verifier on it."""
        verifier = self.agents[agent].get("verifier")
        own = [each for each in self.orders if each.agent == verifier and agent in each.subjects]
        return [report for each in own if (report := self.report_of(each)) is not None]

    def passes_of(self, agent: str) -> list[Handoff]:
        """Return the reports in which the agent's verifier passes it: alone, or at a checkpoint."""
        reports = self.judged_of(agent)
        joint = {each for point in self.plan.get("checkpoints") or [] for each in point["subjects"]}
        return [each for each in reports if each.fields.get("Verdict") in PASSES or agent in joint]

    def bound(self, agent: str, name: str, usual: int) -> int:
        """Return a bound of an agent."""
        own = self.agents[agent].get("bounds") or {}
        return int(own.get(name, (self.plan.get("bounds") or {}).get(name, usual)))
