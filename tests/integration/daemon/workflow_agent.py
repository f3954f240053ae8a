"""An agent of a workflow, driven by a script: it edits its files, as a real one is told to, and exits.

The script is a JSON object: for each step a list of turns, of which the last one is repeated. A turn may set `status`
(that of the agent, or of the subject), `notes`, `asks` (notes beside those that are there), `write` (files in
`task_output/`), `work` (files in the worktree), `run` (a command there, behind that),
`missing` (what a verifier misses), `judges` (at a checkpoint: the agents, each with what it misses), `decision` (on a
proof of concept), `exit`, `raw` (files of the workflow, written as they are), and `hold` (a name: it waits until the
file of that name lies in `go/` beside the script). What is not said is done well.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0


def main() -> int:
    """Play one turn."""
    script = Path(sys.argv[1])
    kind, _, subject = os.environ["ORCHESTRATOR_STEP"].partition(":")
    agent, folder = (
        os.environ["ORCHESTRATOR_AGENT"],
        Path(os.environ["ORCHESTRATOR_TASK_DIR"], "orchestration"),
    )
    number = _lives_before(script.with_name("runs"))
    turns = json.loads(script.read_text()).get(f"{kind}:{subject}", [{}])
    turn = turns[min(number, len(turns) - 1)]
    if name := turn.get("hold"):
        _hold(script.parent / "go" / name)
    for path, text in turn.get("raw", {}).items():
        _write(folder / path, text)
    if kind == "resolve":
        return int(turn.get("exit", 0))
    if kind == "do":
        _do(folder, agent, subject, turn)
    else:
        for each, missing in turn.get("judges", {subject: turn.get("missing", [])}).items():
            _verify(folder, each, turn | {"missing": missing})
    return int(turn.get("exit", 0))


def _lives_before(lives: Path) -> int:
    """Note this life where the world counts them, and return how many lives of the same step were before it."""
    step = os.environ["ORCHESTRATOR_STEP"]
    with lives.open("a+") as file:
        file.write(f"{os.environ['ORCHESTRATOR_RUN']} {step}\n")
        file.flush()
        file.seek(0)
        return [line.split()[1] for line in file].count(step) - 1


def _do(folder: Path, agent: str, subject: str, turn: dict[str, Any]) -> None:
    plan = json.loads((folder / "plan.json").read_text())[subject]
    own = folder / "agents" / subject
    session = own / "completion_drive" / "session_current.json"
    if "notes" in turn or not session.exists():
        said = {"task_id": plan["task_id"], "session_start": int(time.time()), "notes": turn.get("notes", [])}
        _write(session, json.dumps(said))
    if "asks" in turn:
        there = json.loads(session.read_text())
        _write(session, json.dumps({**there, "notes": [*there["notes"], *turn["asks"]]}))
    for path in turn.get("write", plan["outputs"]):
        _write(own / "task_output" / path, f"{agent} made {path}\n")
    for path, text in turn.get("work", {f"{subject}.txt": f"{subject}\n"}).items():
        _write(Path(path), text)
    if command := turn.get("run"):
        subprocess.run(command, check=True)
    _status(folder, subject, turn.get("status", "ready_for_verification"))


def _verify(folder: Path, subject: str, turn: dict[str, Any]) -> None:
    plan = json.loads((folder / "plan.json").read_text())[subject]
    if decision := turn.get("decision"):
        said = {
            "task_id": plan["task_id"],
            "timestamp": int(time.time()),
            "rationale": "it was tried",
            **decision,
        }
        _write(folder / "agents" / subject / "poc_decision.json", json.dumps(said))
    if missing := turn.get("missing"):
        said = {
            "task_id": plan["task_id"],
            "timestamp": int(time.time()),
            "result": "fail",
            "missing_evidence": missing,
        }
        _write(folder / "agents" / subject / "verification_results.json", json.dumps(said))
    _status(folder, subject, turn.get("status", "" if missing else "verified"))


def _status(folder: Path, agent: str, status: str) -> None:
    """Set a status as agents do: they read the whole file and write it whole."""
    if not status:
        return
    shared = folder / "shared_status.json"
    with (folder / ".agents").open("a") as turns:  # agents that take turns lose nothing to each other
        fcntl.flock(turns, fcntl.LOCK_EX)
        document = json.loads(shared.read_text())
        document["agents"][agent]["status"] = status
        _write(shared, json.dumps(document, indent=2))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(text)
    part.rename(path)


def _hold(go: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not go.exists() and time.monotonic() < until:
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
