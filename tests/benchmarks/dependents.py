"""A turn's end in a workflow, until all agents that needed its result run: with one such agent, and with many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Final

from orchestrator import layout
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import (
    AgentKind,
    CriterionPlan,
    EvidenceWanted,
    Input,
    WorkflowAgent,
    WorkflowPlan,
)
from orchestrator.pm.plan.workflow_check.texts import SUMMARY_SECTIONS
from tests.benchmarks.bench import Bench
from tests.benchmarks.floors import new_window
from tests.benchmarks.idle import pid_of
from tests.benchmarks.marks import Marks
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.world import World

WORST_MS: Final = 25
"""What each agent more may take."""

_NAME: Final = "measure"
_EPOCH: Final = 1764254000
_SCRIPT: Final = Path(__file__).with_name("turn.sh")
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")
_JUDGE: Final = "judge"
_SESSION: Final = "completion_drive/session_current.json"


@dataclass
class Measured:
    """Milliseconds of each turn: until the last dependent runs, of the processor, of a raw window."""

    taken: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    window: list[float] = field(default_factory=list)


def rows(bench: Bench) -> Iterator[Row]:
    width = max(bench.agents, 2)
    for where in (WorkspaceKind.READ_ONLY, WorkspaceKind.WORKTREE):
        one = measured(bench, 1, 20, where)
        many = measured(bench, width, 3, where)
        place = "a worktree" if where is WorkspaceKind.WORKTREE else "a read-only tree"
        what, floor_is = (
            f"turn's end → its one dependent runs in {place}",
            "tmux new-window until its program runs",
        )
        yield Row(what, "ms", one.taken, one.window, floor_is, Reach(Of.RATIO, 10))
        what = f"turn's end → {width} run in {place}, each more"
        more = [(each - median(one.taken)) / (width - 1) for each in many.taken]
        yield Row(what, "ms", more, many.window, "as above", Reach(Of.MEDIAN, WORST_MS))
        for count, each in ((1, one), (width, many)):
            what = f"processor time, for each of {count}, {place}"
            note = "of the daemon and the programs that it waits for; tmux and agents are not counted"
            yield Row(what, "ms", [spent / count for spent in each.spent], note=note)


def measured(bench: Bench, width: int, usual: int, where: WorkspaceKind) -> Measured:
    """End one turn after the other, each of which lets as many agents run as `width`."""
    turns = bench.runs or usual
    plan = plan_of(turns, width, where)
    found = Measured()
    with World(limits__max_concurrent_runs=1000) as world:
        world.make_repository()
        world.start_daemon()
        marks = Marks(world.root / "marks")
        begin(world, plan, f"/bin/bash {_SCRIPT} {marks.folder}")
        world.socket.tmux("new-session", "-d", "-s", "floor", "-x", "200", "-y", "50", "sleep", "3600")
        for number in bench.times(usual, f"turns, {width} wait for each, {where}"):
            found.window.append(new_window(world.socket, marks.folder))
            hub = f"hub_{number}"
            end_turn(world, marks, f"do:{hub}", hub, "ready_for_verification")
            marks.begun(f"verify:{hub}")
            spent = processor_ms(pid_of(world))
            ended = end_turn(world, marks, f"verify:{hub}", hub, "verified")
            begun = [marks.begun(f"do:{each}") for each in dependents(plan, hub)]
            found.spent.append(processor_ms(pid_of(world)) - spent)
            found.taken.append((max(begun) - ended) / 1e6)
    return found


def end_turn(world: World, marks: Marks, step: str, subject: str, status: str) -> int:
    """Write what an agent writes at the end of its turn, and let it exit; return when it did, in nanoseconds."""
    marks.begun(step)
    root = layout.orchestration(layout.task_folder(world.project, _NAME))
    own = root / "agents" / subject
    if status != "verified":
        session = {"task_id": f"{subject}_{_EPOCH}", "session_start": int(time.time()), "notes": []}
        for path, text in ((_SESSION, json.dumps(session)), ("task_output/out.md", "Done.\n")):
            (own / path).parent.mkdir(parents=True, exist_ok=True)
            (own / path).write_text(text)
        (own / "task_output" / "run.log").write_text("It ran.\n")
    shared = root / "shared_status.json"
    document = json.loads(shared.read_text())
    document["agents"][subject]["status"] = status
    (root / ".new").write_text(json.dumps(document))
    (root / ".new").rename(shared)
    marks.give_turn()
    return marks.ended(step)


def begin(world: World, plan: WorkflowPlan, command: str) -> None:
    """Approve of a design, and have the daemon begin it."""
    brief = lay_down(world.project, plan, command)
    words = ["-P", "-m", "orchestrator.cli", "workflow", "approve", _NAME, "--project", str(world.project)]
    said = subprocess.run(
        [sys.executable, *words], env=world.environ, capture_output=True, text=True, check=False
    )
    if said.returncode:
        raise RuntimeError(f"the design was not approved: {said.stderr or said.stdout}")
    world.start_task(_NAME, brief)


def lay_down(project: Path, plan: WorkflowPlan, command: str) -> str:
    """Write a task whose agents are all this command, and the files of its design; return its task.md."""
    folder = layout.task_folder(project, _NAME)
    root = layout.orchestration(folder)
    for agent in plan.agents:
        instructions = root / agent.instructions
        instructions.parent.mkdir(parents=True)
        read = " ".join(f"agents/{each.source}/task_output/out.md" for each in agent.inputs)
        instructions.write_text(
            "# Measure\n\nNotes: session_current.json. Status: shared_status.json. What is missing: "
            f"verification_results.json. Write out.md and run.log. {read}\n"
        )
    summary = "".join(f"## {each}\n- None.\n\n" for each in SUMMARY_SECTIONS)
    (root / plan.summary).write_text(f"# Conversation Summary: {_NAME}\n\n{summary}")
    (root / "workflow_coordination_plan.md").write_text(f"```yaml\n{render_block(plan)}```\n")
    brief = (
        "# Task: Measure\n\n## Goal\nKnow how long it takes.\n\n## Success Criteria\n- It was measured\n\n"
        f"## Agent Config\nfamily: workflow\ndev.command: {command}\n"
    )
    layout.task_brief(folder).write_text(brief)
    return brief


def plan_of(turns: int, width: int, where: WorkspaceKind) -> WorkflowPlan:
    """Return a plan of hubs, each of which lets the next one run, and with it as many others as make up `width`."""
    writes = where is WorkspaceKind.WORKTREE
    doers = list[WorkflowAgent]()
    for turn in range(turns + 1):
        names = [f"hub_{turn}", *(f"leaf_{turn}_{at}" for at in range(1, width) if turn)]
        for name in names:
            needs = (f"hub_{turn - 1}",) if turn else ()
            doer = replace(
                _agent(name, AgentKind.DOER, where),
                needs=needs,
                verifier=_JUDGE,
                inputs=tuple(Input(need, "out.md") for need in needs),
                outputs=("out.md",),
                evidence=(EvidenceWanted("shown", "It is shown", "run.log"),),
                files=(f"{name}.txt",) if writes else (),
            )
            doers.append(doer)
    judge = _agent(_JUDGE, AgentKind.VERIFIER, WorkspaceKind.READ_ONLY)
    criteria = (CriterionPlan("It was measured", tuple(f"{each.id}.shown" for each in doers)),)
    summary, most = f"conversation_summary_{_NAME}.md", turns * width + 2
    return WorkflowPlan(_NAME, summary, (*doers, judge), max_parallel=most, criteria=criteria)


def dependents(plan: WorkflowPlan, agent: str) -> list[str]:
    """Return who needs an agent."""
    return [each.id for each in plan.agents if agent in each.needs]


def processor_ms(pid: int) -> float:
    """Return the milliseconds of the processor that a process has used, and the children that it waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) * _TICK_MS


def _agent(name: str, kind: AgentKind, where: WorkspaceKind) -> WorkflowAgent:
    return WorkflowAgent(
        id=name,
        task_id=f"{name}_{_EPOCH}",
        kind=kind,
        title=f"Be {name}",
        persona="dev",
        instructions=f"agents/{name}/agent_instructions.md",
        workspace=where,
    )
