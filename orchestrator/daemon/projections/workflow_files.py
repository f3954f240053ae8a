"""The files of a workflow that follow from its state: the shared status, answered notes, old results taken away."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from orchestrator.daemon.core.session_archive import archive_sessions
from orchestrator.daemon.core.shared_status import SharedStatusFile, spoken_for_in
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.formats.workflow.adaptation_record import adaptation_text
from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.formats.workflow.plan_text import render_block, replace_plan
from orchestrator.formats.workflow.session import render_kept, render_session
from orchestrator.formats.workflow.turn_records import hand_in_text, verdict_text
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES
from orchestrator.model.errors import BadFile
from orchestrator.model.task import TaskState
from orchestrator.model.turn_end import AgentRecord, HandIn, VerdictGiven
from orchestrator.model.workflow import OUTPUT_FOLDER, PLAN_FILE, RESULTS_FILE, SESSION_FILE
from orchestrator.model.workflow_records import AgentStatus, ArchivalOperation
from orchestrator.pm.plan.families.workflow import workers
from orchestrator.pm.plan.workflow_status import agent_status
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.model.workflow import WorkflowPlan
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)

_Kept = TypeVar("_Kept", HandIn, VerdictGiven)

_PASSED: Final = frozenset({AgentStatus.VERIFIED, AgentStatus.COMPLETE})


@dataclass(slots=True)
class WorkflowFiles:
    """Shows the state of one workflow.

    `_records` are the notes as they were written last, `_passed` the agents that were verified then. `_adapted` is how
    many adaptations are shown, None before the first look, and `_kept` how many records there are, by path.
    """

    folder: WorkflowFolder
    _records: dict[str, AgentRecord] = field(default_factory=dict)
    _passed: set[str] = field(default_factory=set)
    _archived: bool = False
    _adapted: int | None = None
    _kept: dict[str, int] = field(default_factory=dict)

    def show(self, state: PMState, at: float) -> None:
        """Write what has changed; nothing for a task that is no workflow. Raises OSError."""
        plan = state.brief.workflow
        if plan is None:
            return
        try:
            SharedStatusFile(self.folder).publish(state)
            speaking = spoken_for_in(state) | {run.agent for run in state.live_runs}
            passed = {each.id for each in workers(plan) if agent_status(state, each.id) in _PASSED}
            for agent in sorted(passed - self._passed):
                self.folder.remove(f"agents/{agent}/{RESULTS_FILE}")
            self._passed = passed
            self._show_plan(state)
            self._keep_turns(state)
            if state.state is TaskState.COMPLETE and not state.live_runs:
                self._archive(state, [each.id for each in plan.agents], int(at))
                return
            self._archived = False
            for agent, record in state.records.items():
                if record is not self._records.get(agent) and agent not in speaking:
                    self._show_notes(agent, record, archived=len(passed) == sum(1 for _ in workers(plan)))
        except Unreadable as error:
            log.warning("the files of the workflow %s cannot be written: %s", plan.workflow, error)

    def _archive(self, state: PMState, agents: list[str], at: int) -> None:
        """Put the sessions away, as they were accepted. What cannot be put away is named once, and not tried again."""
        if self._archived:
            return
        self._archived = True
        for agent, record in state.records.items():
            self._show_notes(agent, record, archived=True)
        archive_sessions(self.folder, agents, ArchivalOperation.ARCHIVE, at)

    def _show_plan(self, state: PMState) -> None:
        """Keep the plan that began, and each that followed; write the one of now, and a record of each adaptation.

        The files steer nothing.
        """
        plan = state.brief.workflow
        if plan is None or len(state.adaptations) == self._adapted:
            return
        there, done = self.folder.read(PLAN_FILE, PLAN_BYTES), self._adapted or 0
        for each in (*state.plans[done:], plan):
            path = f"records/plans/{plan_hash(each)}.md"
            if not self.folder.read(path, PLAN_BYTES):  # what was kept stays, whatever became of the page
                self.folder.write(path, _page(there, each))
        if not state.adaptations:  # the user's page stays as it is
            self._adapted = 0
            return
        self.folder.write(PLAN_FILE, _page(there, plan))
        for record in state.adaptations[done:]:
            self.folder.write(f"records/adaptations/{record.number}.json", adaptation_text(record))
        for agent in plan.agents:
            for part in ("completion_drive", OUTPUT_FOLDER):
                self.folder.make(f"agents/{agent.id}/{part}")
            text = state.records.get(agent.id, AgentRecord()).instructions
            if text:
                self.folder.write(agent.instructions, text.encode())
        self._adapted = len(state.adaptations)

    def _keep_turns(self, state: PMState) -> None:
        """Write a record of each version that was handed in, and of each verdict. None is ever changed."""
        for agent, made in state.handed_in.items():
            self._keep(f"records/outputs/{agent}", made, hand_in_text)
        for agent, said in state.verdicts.items():
            self._keep(f"records/verifications/{agent}", said, verdict_text)

    def _keep(self, path: str, records: tuple[_Kept, ...], text: Callable[[_Kept], bytes]) -> None:
        for record in records[self._kept.get(path, 0) :]:
            self.folder.write(f"{path}-{record.number}.json", text(record))
            self._kept[path] = record.number

    def _show_notes(self, agent: str, record: AgentRecord, *, archived: bool) -> None:
        """Write the notes of an agent, unless they were archived: when a workflow is complete, and started again.

        Of what is archived, only what was accepted counts.
        """
        if record.session is not None:
            path = f"agents/{agent}/{SESSION_FILE}"
            there = self.folder.read(path)
            if there or not archived:
                render = render_session if archived else render_kept
                if not self.folder.replace(path, render(record.session, there), there):
                    return  # it is taken, and then shown
        self._records[agent] = record


def _page(page: bytes, plan: WorkflowPlan) -> bytes:
    """Return the page of a plan with another plan in it; only that, if the page has none."""
    try:
        return replace_plan(page, plan)
    except BadFile:
        return f"```yaml\n{render_block(plan)}```\n".encode()
