"""The laws of what agents of a workflow hand in by their files, held by what their runs really left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.hosts.claims import read_exit
from orchestrator.model.facts import ReportLanded
from orchestrator.model.workflow_records import AgentStatus
from tests.simulation.engine.law import Finding, Law

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.model.facts import Fact
    from orchestrator.pm.state.task_state import PMState
    from tests.simulation.engine.workflow_tasks import WorkflowTask
    from tests.simulation.engine.world import World


def of_turn_end(world: World, task: WorkflowTask, was: PMState, fact: Fact) -> Iterator[Finding]:
    """Yield what is wrong about a turn's end: a claim that its run never made, or work that was not taken in.

    A run on a box whose end is known here has all here that it left ahead of that.
    """
    report = fact.report if isinstance(fact, ReportLanded) else None
    run = was.runs.get(report.run or "") if report is not None else None
    if report is None or report.turn is None or run is None or run.step.startswith("verify:"):
        return
    turn, shared = report.turn, world.shared
    if turn.claim is AgentStatus.READY and run.id not in shared.ready:
        yield Finding(Law.CLAIMED, f"{run.agent} is taken to be ready, and {run.id} never said so")
    ended = read_exit(world.files, layout.run_home(task.home, run.id))
    if not run.on_box or turn.faults or run.id not in shared.left or ended is None or not ended.clean:
        return
    if run.step.startswith("resolve:"):
        lacks = turn.resolution is None
    else:
        lacks = turn.claim is not AgentStatus.READY or bool(turn.missing)
    if lacks:
        yield Finding(Law.TAKEN_IN, f"{run.id} left all of {run.step} on {run.host}, and it was not taken in")
