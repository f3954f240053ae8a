"""Holds a task's report against its journal and state, by another way than the report was made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from orchestrator import layout
from orchestrator.daemon.journal.segments import unpacked
from orchestrator.formats.timestamps import rfc3339


def audit(home: Path, report: dict[str, Any]) -> list[str]:
    """Return what a report (`task report --json`) says that is not so, or leaves out.

    Args:
        home: the task's own folder.
        report: the document of this task.

    """
    state, lines = json.loads(layout.task_state(home).read_text()), list(_lines(home))
    changes = [change for line in lines for change in line["changes"]]
    opened = {each["run"]["id"]: each["run"] for each in changes if each["kind"] == "run_opened"}
    facts = [line["fact"] for line in lines]
    gone = {each["run"]: each["exit"].get("code") for each in facts if each["kind"] == "run_gone"}
    unborn = {each["run"] for each in facts if each["kind"] == "launch_failed"}
    asked = {each["question"]["id"] for each in changes if each["kind"] == "question_asked"}
    spans = [span for lane in report["lanes"] for span in lane["spans"] if span["kind"] in {"work", "check"}]
    checks = [
        str(gone[run]) for run, each in opened.items() if each.get("purpose") == "check" and run in gone
    ]
    held = {
        "a span for each run": len(spans) == len(opened.keys() - unborn),
        "each check with its exit": sorted(checks) == sorted(str(each["exit"]) for each in report["checks"]),
        "each question": asked == {each["id"] for each in report["questions"]},
        "open questions": {each["id"] for each in state["questions"]}
        == {each["id"] for each in report["questions"] if each["answered_at"] is None},
        "the end": report["ended"] == _ended(lines),
        "each line": {each["line"] for each in report["decisions"]} <= {line["n"] for line in lines},
    }
    wrong = [what for what, holds in held.items() if not holds]
    for step, shown in zip(state["steps"], report["steps"], strict=True):
        outcomes = [each["outcome"] for each in shown["attempts"]]
        if len(outcomes) != step["tries"]:
            wrong.append(f"{step['id']} had {step['tries']} tries, not {len(outcomes)}")
        if outcomes and (step["status"] == "passed") != outcomes[-1].startswith("passed"):
            wrong.append(f"{step['id']} is {step['status']}, and its last attempt {outcomes[-1]}")
    return wrong


def _ended(lines: list[dict[str, Any]]) -> str | None:
    """Return when the task last came to rest, if it has not gone on since."""
    moves = [
        (line["at"], each["to"]) for line in lines for each in line["changes"] if each["kind"] == "task_moved"
    ]
    at, to = moves[-1]
    return None if to in {"running", "waiting"} else rfc3339(at)


def _lines(home: Path) -> Any:
    for path in sorted(layout.task_journal(home).iterdir()):
        for raw in unpacked(path.name, path.read_bytes()).splitlines():
            line = json.loads(raw)
            if "fact" in line:
                yield line
