"""An agent of each of the five roles, as a program: `python -I -S role_agent.py SCRIPT`, started by the daemon.

SCRIPT is a JSON file: `{"audit": [{…}, {…}], …}`. The first object says what the first run of that step does, and so
on; beyond them a role hands on as it should. An object may have: `hold` (wait until the file `go/HOLD` is there),
`parts` (parts of the handoff in place of the usual ones; null takes one out), `write` (files, path to text), `status`
(what it says by the script that its order names: pairs of key and value), `rejects` (why it rejects what it was handed,
by an edit of the archived file; then it hands in nothing).
Each life first appends its run to the file `runs` beside SCRIPT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ENV = {name.removeprefix("ORCHESTRATOR_"): value for name, value in os.environ.items()}
LONGEST = 60.0
KINDS = {
    "plan": ("ready_for_implementation", "implementation_plan"),
    "implement": ("ready_for_audit", "implementation"),
    "audit": ("ready_for_cleanup", "audit_report"),
    "clean": ("complete", "cleanup_report"),
}
WRITES = {"implement": "pkg/greet.py", "clean": ".gitignore"}


def main() -> int:
    script = Path(sys.argv[1])
    with (script.parent / "runs").open("a+", encoding="utf-8") as file:
        file.write(f"{ENV['RUN']} {ENV['STEP']} {ENV['ATTEMPT']} {os.getpid()}\n")
        file.flush()
        file.seek(0)
        number = [line.split()[1] for line in file].count(ENV["STEP"]) - 1
    turns = json.loads(script.read_text(encoding="utf-8")).get(ENV["STEP"], [])
    turn = turns[number] if number < len(turns) else {}
    if turn.get("hold"):
        wait_for(script.parent / "go" / turn["hold"])
    for key, value in turn.get("status", []):
        subprocess.run([status_update(), ENV["AGENT"], key, value], check=True, timeout=LONGEST)
    if turn.get("rejects"):
        edit(turn["rejects"])
        return 0
    written = write(turn)
    whole = closing() if ENV["STEP"] == "close" else handoff(written)
    parts = turn.get("parts", {})
    whole = {key: value for key, value in (whole | parts).items() if value is not None}
    whole["report"] = whole.get("report", {}) | {"run": ENV["RUN"], "inReplyTo": ENV["REPLY_TO"]}
    lay_down(whole)
    return 0


def edit(why: str) -> None:
    """Reject what was handed on to this role by two edits in place, as the document has it."""
    for path in Path(ENV["TASK_DIR"], "data", "handoffs").glob("*/handoff_*.json"):
        whole = json.loads(path.read_text(encoding="utf-8"))
        if (whole["handoff"]["to"], whole["handoff"]["status"]) == (ENV["DEFINITION"].upper(), "accepted"):
            whole["handoff"]["status"] = "rejected"
            replace(path, whole)
            whole["issues"].append({"severity": "high", "description": why})
            replace(path, whole)


def replace(path: Path, whole: dict[str, Any]) -> None:
    beside = path.with_suffix(".json.tmp")
    beside.write_text(json.dumps(whole), encoding="utf-8")
    beside.rename(path)


def status_update() -> str:
    """Return the script that the order names for the status of this agent."""
    order = Path(ENV["ORDER"]).read_text(encoding="utf-8")
    return order.partition(f" {ENV['AGENT']} findings ")[0].rpartition("\n")[2].strip()


def wait_for(path: Path) -> None:
    until = time.monotonic() + LONGEST
    while not path.exists():
        if time.monotonic() > until:
            sys.exit(9)
        time.sleep(0.005)


def write(turn: dict[str, Any]) -> str:
    """Change the workspace, or lay a report down in `artifacts/`; return the path of what was made."""
    step = ENV["STEP"]
    for name, text in turn.get("write", {}).items():
        Path(ENV["WORKSPACE"], name).write_text(text, encoding="utf-8")
    if step in WRITES:
        Path(ENV["WORKSPACE"], WRITES[step]).write_text(f"# by {ENV['RUN']}\n", encoding="utf-8")
    if step == "implement":
        return WRITES[step]
    report = Path(ENV["TASK_DIR"], "artifacts", ENV["DEFINITION"], f"{step}.md")
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(f"by {ENV['RUN']}\n", encoding="utf-8")
    return str(report)


def handoff(written: str) -> dict[str, Any]:
    transition, kind = KINDS[ENV["STEP"]]
    return {
        "handoff": {"type": transition},
        "context": {"scope": "A greeting", "dependencies": ["pkg/greet.py"]},
        "deliverable": {
            "type": kind,
            "location": written,
            "summary": f"{ENV['STEP']} is done",
            "artifacts": [written],
        },
        "nextSteps": {
            "instructions": [f"do what follows {ENV['STEP']}"],
            "acceptanceCriteria": ["there is a greeting"],
        },
        "issues": [],
    }


def closing() -> dict[str, Any]:
    brief = Path(ENV["TASK_DIR"], "task.md").read_text(encoding="utf-8")
    wanted = brief.partition("## Success Criteria\n")[2].partition("\n## ")[0].splitlines()
    marks = [{"text": line[2:], "met": True, "evidence": ["`pkg/greet.py`"]} for line in wanted if line]
    return {
        "handoff": {"from": "ORCHESTRATOR"},
        "deliverable": {"summary": "All is there."},
        "report": {"status": "COMPLETE", "criteria": marks},
    }


def lay_down(whole: dict[str, Any]) -> None:
    """Put a handoff whole into `handoffs/`, under the next free second."""
    second = int(time.time())
    while True:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(second))
        path = Path(ENV["HANDOFFS"], f"{ENV['AGENT']}-{stamp}.handoff")
        if not os.path.lexists(path):
            break
        second += 1
    unfinished = Path(ENV["SCRATCHPAD"], "unfinished")
    unfinished.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    unfinished.rename(path)


if __name__ == "__main__":
    sys.exit(main())
