"""A first design of a workflow, complete and sound, for a person to edit: two doers and a verifier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.model.workflow import INSTRUCTIONS_FILE, PLAN_FILE, RESULTS_FILE, SESSION_FILE, STATUS_FILE

EXAMPLE_AGENT: Final = "example_agent.py"
"""The program that the three agents of a new task run until a person names others."""

_TASK: Final = """\
# Task: {name}

## Goal
A short text about this project exists, and somebody has checked it.

## Success Criteria
- The text is drafted
- The text is polished

## Agent Config
family: workflow
# The agents of the design in {folder}. Any program can be an agent; without these
# lines, agent CLIs run the definitions dev and review.
dev.command: {command}
review.command: {command}
"""

_PLAN: Final = """\
# Workflow: {name}

Drafting comes first, polishing needs the draft, and one verifier judges both. Only the block below is read by the
program; everything around it is for people. `task workflow check {name}` says what is missing in it.

```yaml
schema: 1
workflow: {name}
summary: conversation_summary_{name}.md
max_parallel: 4          # how many agents run at once
bounds: {{verifications: 5, crashes: 3, loops: 3, asks: 1, conflicts: 3, input_reruns: 3, depth: 2}}
groups: {{}}               # NAME: {{at_once: 2}} lets two agents of a group run at once
agents:                  # of those that can run, the first one runs first
  - id: draft
    task_id: draft_text_{epoch}
    kind: doer           # or poc (tries an assumption), architect (answers questions), verifier
    title: Draft the text
    persona: dev         # a definition: the agent's role, prompt and tools
    runtime: {runtime}
    needs: []            # who must be verified before it starts
    verifier: verify
    outputs: [draft.md]  # files that it leaves in agents/draft/task_output/
    evidence:            # what proves its work, and in which of these files
      - {{id: written, text: the draft is not empty, path: draft.log}}
  - id: polish
    task_id: polish_text_{epoch}
    kind: doer
    title: Polish the text
    persona: dev
    runtime: {runtime}
    needs: [draft]
    verifier: verify
    inputs:
      - {{from: draft, path: draft.md}}
    outputs: [text.md]
    evidence:
      - {{id: polished, text: the text is not empty, path: polish.log}}
  - id: verify
    task_id: verify_text_{epoch}
    kind: verifier
    title: Judge draft and text
    persona: review
    runtime: {runtime}
checkpoints: []          # agents that one verifier judges together
escalation:              # who answers escalated notes; without an agent, the user
  resolver: null
  architect: null
  loop: null
  user_points: [questions about requirements]
criteria:                # each success criterion of task.md, and the evidence that meets it
{criteria}
approval: null           # written by `task workflow approve`
```
"""

_SUMMARY: Final = """\
# Conversation Summary: {name}

## What We're Trying to Accomplish
A short text about this project exists, and somebody has checked it.

## Key Decisions Made
- Decision: one agent drafts, another one polishes
  - Rationale: fresh eyes find more
  - Alternatives considered: one agent for both

## Constraints & Assumptions
- The text fits on a page.

## Questions Resolved
- Q: Who judges the text?
- A: A verifier that wrote none of it.

## Open Items
- None.

## Dependencies & Integration Points
- Polishing depends on the draft.
"""

_DOER: Final = """\
# {title}

{goal}

## Input Requirements
{inputs}

## Output Requirements
- `task_output/{output}`: {content}
- `task_output/{log}`: the evidence, one line that says how long the text is.

## Success Criteria
- `{output}` exists and is not empty, and `{log}` says so.

## Notes
Keep each assumption as a note in `{session}`: `note_id`, `timestamp`, `description`, `context`, `status`.
- Escalate, with an `escalation_reason`: questions about requirements, technology, architecture and security, and
  guidance that contradicts itself. When in doubt, escalate.
- Resolve yourself: consistency, obvious bugs, implementation details, documentation.

## End of your turn
- If a note is escalated, write `blocked` as your status in `shared_status.json`.
- If all notes are resolved and the outputs exist, write `ready_for_verification`.
- If `{results}` lies in your folder, it names what your verifier missed: mend that first.
"""

_VERIFIER: Final = """\
# Judge draft and text

Judge the work of each agent that is ready for verification, and how it resolved its notes.

## Input Requirements
- `agents/draft/task_output/draft.md` and `agents/draft/task_output/draft.log`
- `agents/polish/task_output/text.md` and `agents/polish/task_output/polish.log`

## Success Criteria
- Both files of the agent exist and are not empty, and its log gives the length of the text.
- No note in its `{session}` is open or escalated.

## Verdict
- If evidence is missing, write `{results}` into the agent's folder: `task_id`, `timestamp`, `"result": "fail"` and
  `missing_evidence`, a list of what is missing.
- If nothing is missing, delete that file if it exists, and write `verified` as the agent's status in
  `shared_status.json`.
"""

_AGENT: Final = '''\
"""Plays the three agents of this workflow without a model. Replace it by real agents when you edit the design.

It is run with the name of an agent, or finds it in ORCHESTRATOR_AGENT, and does one turn of it.
"""

import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATUS = HERE / "{status}"
WORK = {{"draft": ("draft.md", "draft.log"), "polish": ("text.md", "polish.log")}}


def main(name):
    agent = name.rpartition(":")[2]
    if agent in WORK:
        work(agent, *WORK[agent])
    else:
        judge()


def work(agent, output, log):
    """Write the output, its evidence and a session, then claim to be ready."""
    folder = HERE / "agents" / agent
    text = "This project has a text.\\n"
    if agent == "polish":
        text = (HERE / "agents/draft/task_output/draft.md").read_text().replace("a text", "a short, polished text")
    put(folder / "task_output" / output, text)
    put(folder / "task_output" / log, f"{{output}}: {{len(text)}} characters\\n")
    session = {{"task_id": task_id(agent), "session_start": int(time.time()), "notes": []}}
    put(folder / "{session}", json.dumps(session, indent=2) + "\\n")
    set_status(agent, "ready_for_verification")


def judge():
    """Pass each agent that is ready and has both of its files; say of the others what is missing."""
    for agent, names in WORK.items():
        if json.loads(STATUS.read_text())["agents"][agent]["status"] != "ready_for_verification":
            continue
        folder = HERE / "agents" / agent
        missing = [name for name in names if not filled(folder / "task_output" / name)]
        results = folder / "{results}"
        if missing:
            said = [f"{{name}} is missing or empty" for name in missing]
            verdict = {{"task_id": task_id(agent), "timestamp": int(time.time()), "result": "fail"}}
            put(results, json.dumps({{**verdict, "missing_evidence": said}}, indent=2) + "\\n")
        else:
            results.unlink(missing_ok=True)
            set_status(agent, "verified")


def filled(path):
    return path.is_file() and path.stat().st_size > 0


def task_id(agent):
    return {task_ids}[agent]


def set_status(agent, status):
    document = json.loads(STATUS.read_text())
    document["agents"][agent]["status"] = status
    put(STATUS, json.dumps(document, indent=2) + "\\n")


def put(path, text):
    """Write a file whole: whoever reads it sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{{path.name}}.{{os.getpid()}}")
    temporary.write_text(text)
    temporary.replace(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.environ["ORCHESTRATOR_AGENT"])
'''


def starter_task(name: str, folder: str, command: str) -> str:
    """Return a task.md for a new workflow. `command` runs the example agent."""
    return _TASK.format(name=one_line(name), folder=folder, command=command)


def starter_files(name: str, epoch: int, criteria: Sequence[str], *, commands: bool) -> dict[str, str]:
    """Return the files of a first design by their paths in `orchestration/`.

    Args:
        name: The task.
        epoch: When it is made, for the task ids.
        criteria: The success criteria of task.md.
        commands: Whether its agents are commands that task.md names, played by `example_agent.py`.

    """
    shown = ("[draft.written]", "[polish.polished]")
    rows = [
        f"  - text: {json.dumps(text, ensure_ascii=False)}\n    by: {shown[at] if at < 1 else shown[1]}"
        for at, text in enumerate(criteria)
    ]
    files = {
        PLAN_FILE: _PLAN.format(
            name=name,
            epoch=epoch,
            runtime="command        # any program: task.md names it"
            if commands
            else "auto           # the agent CLI",
            criteria="\n".join(rows) if rows else "  []",
        ),
        f"conversation_summary_{name}.md": _SUMMARY.format(name=name),
        f"agents/draft/{INSTRUCTIONS_FILE}": _DOER.format(
            title="Draft the text",
            goal="Write a first draft of a short text about this project.",
            inputs="- None: it begins the workflow.",
            output="draft.md",
            content="the draft, in Markdown.",
            log="draft.log",
            session=SESSION_FILE,
            results=RESULTS_FILE,
        ),
        f"agents/polish/{INSTRUCTIONS_FILE}": _DOER.format(
            title="Polish the text",
            goal="Make the draft shorter and clearer.",
            inputs="- Read the draft from `agents/draft/task_output/draft.md`.",
            output="text.md",
            content="the finished text, in Markdown.",
            log="polish.log",
            session=SESSION_FILE,
            results=RESULTS_FILE,
        ),
        f"agents/verify/{INSTRUCTIONS_FILE}": _VERIFIER.format(session=SESSION_FILE, results=RESULTS_FILE),
    }
    if commands:
        ids = {agent: f"{agent}_text_{epoch}" for agent in ("draft", "polish")}
        files[EXAMPLE_AGENT] = _AGENT.format(
            status=STATUS_FILE, session=SESSION_FILE, results=RESULTS_FILE, task_ids=json.dumps(ids)
        )
    return files
