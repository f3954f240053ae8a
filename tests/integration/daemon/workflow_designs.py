"""Designs of workflows that tests carry out: their plan, their texts, and what their agents do turn by turn."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.auditor.audit import AUDITED, audit
from tests.auditor.rules import Breach
from tests.integration.daemon.world import World

SETTLED = {"complete", "partial", "failed", "waiting"}
PROGRAM = Path(__file__).with_name("workflow_agent.py")
EPOCH = 1764254000

AGENT = """\
  - id: {id}
    task_id: {id}_task_1764254000
    kind: {kind}
    title: Make {id}
    persona: worker
    instructions: agents/{id}/agent_instructions.md
    needs: [{needs}]
    verifier: judge
    outputs: [{id}.md]
    evidence: [{{id: e1, text: it runs, path: run.log}}]
    files: [{files}]
{poc}"""
POC = """\
    poc:
      assumption: it is fast
      pass: [under a second]
      fail: [over a minute]
      protects: [{protects}]
"""
PLAN = """\
# The plan

```yaml
schema: 1
workflow: t1
summary: conversation_summary_t1.md
max_parallel: {most}
bounds: {bounds}
agents:
{agents}\
  - id: judge
    task_id: judge_1764254000
    kind: verifier
    title: Judge
    persona: worker
    instructions: agents/judge/agent_instructions.md
checkpoints: {checkpoints}
criteria: [{{text: There is a greeting., by: [{by}]}}]
```
"""

ANSWERING = """\
  - id: {id}
    task_id: {id}_task_1764254000
    kind: architect
    title: Answer
    persona: worker
    instructions: agents/{id}/agent_instructions.md
    needs: []
    verifier: judge
"""
DECIDES = """\
    outputs: [architect.md]
    evidence: [{id: e1, text: it was tried, path: run.log}]
"""
"""What an architect hands in. Others who answer leave a file that the daemon itself judges."""

INSTRUCTIONS = """\
# Make {id}

Write a greeting, and show that it runs.

## Input Requirements
- What others made, if anything.

## Output Requirements
- `task_output/{id}.md` and, as evidence, `task_output/run.log`.

## Success Criteria
- The greeting is there.

## Notes
Keep assumptions in `completion_drive/session_current.json`: `note_id`, `timestamp`, `description`, `context`, `status`.
- Escalate, with an `escalation_reason`: requirements, technology, architecture, security, contradictions.
- Resolve yourself: consistency, obvious bugs, details, documentation.

## End of your turn
Write `blocked` or `ready_for_verification` into `shared_status.json`. `verification_results.json` names
what is missing.
"""
JUDGE = """\
# Judge

Judge whether the greeting is there. Write `verified` into `shared_status.json`, or what is missing into
`verification_results.json` (`task_id`, `timestamp`, `result`, `missing_evidence`). Look at `session_current.json` too.
"""
SUMMARY = """\
# Conversation Summary: t1

## What We're Trying to Accomplish
A greeting.

## Key Decisions Made
- Decision: a text file

## Constraints & Assumptions
- None.

## Questions Resolved
- None.

## Open Items
- None.

## Dependencies & Integration Points
- None.
"""


def check_folder(world: World) -> None:
    """If the workflow has ended or waits, and no run of it lives, have an auditor look at its folder."""
    task = world.project / "tasks" / "t1"
    if not any(world.homes()) or world.stands() not in SETTLED or not (task / "orchestration").exists():
        return
    if not world.state_shown().get("agents"):
        world.until(lambda: not _breaches(task))


def _breaches(task: Path) -> list[Breach]:
    paths = (each for part in AUDITED for each in (task / part).rglob("*") if each.is_file())
    return audit({str(each.relative_to(task)): each.read_bytes() for each in paths})


def design(
    world: World,
    turns: dict[str, list[dict[str, Any]]],
    agents: dict[str, str],
    *,
    bounds: str = "{}",
    most: int = 4,
    checkpoints: str = "[]",
    wrapper: str = "",
    poc: str = "",
    answering: Sequence[str] = (),
) -> Path:
    """Write a workflow of these agents, each with what it needs; return its folder `orchestration/`."""
    world.let(turns)
    (world.root / "go").mkdir(exist_ok=True)
    task = world.project / "tasks" / "t1"
    folder = task / "orchestration"
    folder.mkdir(parents=True)
    command = f"{wrapper}{Path(sys.executable).resolve()} -I -S {PROGRAM} {world.script}"
    (task / "task.md").write_text(
        f"# Task: t1\n## Goal\nA greeting.\n## Success Criteria\n- There is a greeting.\n"
        f"## Agent Config\nfamily: workflow\nworker.command: {command}\n"
    )
    listed = "".join(
        AGENT.format(
            id=each,
            needs=needs,
            kind="poc" if each == poc else "doer",
            files="" if each == poc else f'"{each}.txt"',
            poc=POC.format(protects=", ".join(name for name, of in agents.items() if each in of.split(", ")))
            if each == poc
            else "",
        )
        for each, needs in agents.items()
    )
    by = ", ".join(f"{each}.e1" for each in agents)
    text = PLAN.format(agents=listed, by=by, bounds=bounds, most=most, checkpoints=checkpoints)
    if answering:
        more = "".join(
            ANSWERING.format(id=each) + (DECIDES if each == "architect" else "") for each in answering
        )
        text = text.replace("  - id: judge\n", more + "  - id: judge\n", 1)
        named = ", ".join(f"{each}: {each}" for each in answering)
        text = text.replace("checkpoints:", f"escalation: {{{named}}}\ncheckpoints:", 1)
    (folder / "workflow_coordination_plan.md").write_text(text)
    made = {
        each: {"task_id": f"{each}_task_1764254000", "outputs": [f"{each}.md", "run.log"]}
        for each in (*agents, *answering)
    }
    (folder / "plan.json").write_text(json.dumps(made))
    write_texts(folder, [*agents, *answering])
    return folder


def begin(world: World, *design_of: Any, **more: Any) -> Path:
    """Approve a design and start it; return its folder `orchestration/`."""
    folder = design(world, *design_of, **more)
    for words in (("workflow", "approve", "t1"), ("start", "t1")):
        said = world.task(*words, "--project", str(world.project))
        assert said.code == 0, said
    return folder


def write_texts(folder: Path, agents: Sequence[str]) -> None:
    """Write the instructions of each agent, and the summary, as the check of designs wants them."""
    for agent in agents:
        path = folder / "agents" / agent / "agent_instructions.md"
        path.parent.mkdir(parents=True)
        path.write_text(INSTRUCTIONS.format(id=agent))
    judge = folder / "agents" / "judge" / "agent_instructions.md"
    judge.parent.mkdir(parents=True)
    judge.write_text(JUDGE)
    (folder / "conversation_summary_t1.md").write_text(SUMMARY)


def status_of(folder: Path) -> dict[str, str]:
    """Return the status of each agent in the shared status."""
    document = json.loads((folder / "shared_status.json").read_text())
    return {name: entry["status"] for name, entry in document["agents"].items()}


def note(status: str = "open", **more: Any) -> dict[str, Any]:
    """Return a note as an agent writes it."""
    usual = {
        "note_id": "note_001",
        "timestamp": EPOCH,
        "description": "Are emails unique?",
        "context": "at work",
        "status": status,
        "resolution": None,
        "resolved_by": None,
        "resolution_timestamp": None,
        "escalation_reason": "a requirement" if status == "escalated" else None,
    }
    return usual | more
