"""Records the journal of a varied task as a fixture: `python -m tests.integration.daemon.recording`.

To be run for each released version, whose journals must open for ever: see `test_old_journals.py`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from orchestrator import __version__
from orchestrator.daemon.journal.store import Journal, sealed
from orchestrator.hosts.disk import DiskFiles
from orchestrator.pm.state.task_state import PMState
from tests.integration.daemon.world import ROLES, World, a_world, altered

JOURNALS = Path(__file__).parents[2] / "fixtures" / "journals"
SUMMARY = "summary.json"
SHORT_SEGMENTS = altered("from orchestrator.daemon import journal; journal.SEGMENT_LINES_AT_MOST = 40")
TURNS: dict[str, list[dict[str, Any]]] = {
    "explore": [{"report": False, "exit": 7}, {"bytes": "# Handoff: explore\nAll is well.\n"}],
    "plan": [
        {
            "subtasks": [
                "- [greet] Add a greeting (agent: dev)",
                "- [part] Say goodbye (agent: dev; needs: greet)",
            ]
        }
    ],
    "dev:greet": [
        {"claims": ["artifacts/code/not-there.md"]},
        {"status": "BLOCKED", "blockers": "There is no database."},
        {"status": "BLOCKED", "blockers": "There is still none."},
        {"hold": "stopped"},
    ],
    "test:greet": [{"verdict": "REJECTED", "say": "The greeting is rude."}],
    "accept": [
        {
            "marks": [
                "- [x] There is a greeting. (evidence: artifacts/reviews/accept.md)",
                "- [ ] It is kind. (reason: nobody asked)",
            ]
        }
    ],
}


def lived(world: World) -> None:
    """Run the task: crashes, a bad handoff, blockers, answers, a stop, a rejection, an unmet criterion."""
    world.daemon(*SHORT_SEGMENTS)
    world.let(TURNS)
    check = f"test.check: {sys.executable} -c 'raise SystemExit(0)'"
    world.brief("t1", check, criteria=("There is a greeting.", "It is kind."))
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("waiting")
    assert world.task("answer", "t1", "q1", "Use a file instead.").code == 0
    world.until(lambda: world.lives_of("dev:greet") == 4 and world.agent("dev:greet"))
    assert world.task("stop", "t1").code == 0
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("waiting")
    assert world.task("spawn", "t1", "dev", "--instructions", "Mend the typo.").code == 0
    assert world.task("answer", "t1", "q2", "accept").code == 0
    world.until_is("complete")
    world.stop_daemon()


def summary(state: PMState) -> dict[str, Any]:
    """Return what must come of a journal, whatever reads it."""
    return {
        "name": state.name,
        "project": state.project,
        "state": state.state.value,
        "phase": state.phase.value,
        "steps": {step.id: [step.state.value, step.attempt, step.report] for step in state.steps.values()},
        "runs": {run.id: [run.instance, run.step, str(run.exit)] for run in state.runs.values()},
        "questions": {question.id: question.answer for question in state.questions.values()},
        "criteria": {mark.text: [mark.met, list(mark.evidence)] for mark in state.criteria},
        "seen": sorted(state.seen),
        "requests": len(state.requests),
        "outbox": list(state.outbox),
    }


def _generic(value: Any, world: World) -> Any:
    """Return a value without the paths of this machine."""
    match value:
        case str():
            text = value
            for found, shown in (
                (str(world.root), "/home/user"),
                (str(ROLES), "/home/user/agent.py"),
                (str(ROLES.parents[3]), "/opt/agent-orchestrator"),
                (sys.executable, "/usr/bin/python3"),
            ):
                text = text.replace(found, shown)
            return text
        case dict():
            # What a prompt says is of no interest, and long.
            return {
                _generic(key, world): _generic(each[:80] if key == "prompt" else each, world)
                for key, each in value.items()
            }
        case list():
            return [_generic(each, world) for each in value]
        case _:
            return value


def main() -> None:
    folder = JOURNALS / __version__
    folder.mkdir(parents=True)
    with a_world() as world:
        lived(world)
        for segment in sorted((world.home() / "journal").glob("*.jsonl")):
            lines = [json.loads(line) for line in segment.read_bytes().splitlines()]
            for line in lines:
                del line["crc"]
            text = "".join(sealed(_generic(line, world)) + "\n" for line in lines)
            (folder / segment.name).write_text(text, encoding="utf-8")
    journal = Journal(DiskFiles(), folder)
    journal.close()
    document = {"lines": journal.lines, **summary(journal.state)}
    (folder / SUMMARY).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{journal.lines} lines in {folder}\n")


if __name__ == "__main__":
    main()
