"""An agent of a phase of a composite skill, driven by a script: it writes its memory file, as a real one is told to.

The script is a JSON object: for each step a list of turns, of which the last one is repeated. A turn may set `memory`
(the text of the memory file, in place of a complete one; null: none is written), `others` (files of the project,
written as they are), `work` (files in the worktree), `run` (a command, afterwards), `reads` (how many memory files of
others must lie where its order names them, or it fails), `exit`, and `hold` (a name: it waits until the file of that
name lies in `go/` beside the script).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 60.0


def main() -> int:
    """Play one turn."""
    script, step = Path(sys.argv[1]), os.environ["ORCHESTRATOR_STEP"]
    number = _lives_before(script.with_name("runs"), step)
    turns = json.loads(script.read_text()).get(step, [{}])
    turn = turns[min(number, len(turns) - 1)]
    if name := turn.get("hold"):
        _hold(script.parent / "go" / name)
    project = Path(os.environ["ORCHESTRATOR_TASK_DIR"]).parents[1]
    order = Path(os.environ["ORCHESTRATOR_ORDER"]).read_text()
    folder = re.search(r"^All paths are in (.+)\.$", order, re.MULTILINE)
    named = re.search(r"^At the end write (\S+) in this form", order, re.MULTILINE)
    if folder is None or named is None:
        return 3
    if len(_readable(Path(folder[1]), order)) != turn.get("reads", len(_readable(Path(folder[1]), order))):
        return 4
    for path, text in turn.get("others", {}).items():
        _write(project / path, text)
    for path, text in turn.get("work", {}).items():
        _write(Path(path), text)
    memory = turn.get("memory", _memory(order))
    if command := turn.get("run"):
        subprocess.run(command, check=True)
    if memory is not None:
        _write(Path(folder[1]) / named[1], memory)
    return int(turn.get("exit", 0))


def _memory(order: str) -> str:
    """Return the form of the memory file, as it stands in the order, filled in."""
    form = order[order.index("# Memory of ") : order.index("### When Your Turn Ends")].rstrip()
    return form.replace("What you found or did, in a few sentences.", "Done.").replace(
        "All that the agents after you need.", "See the files."
    )


def _readable(folder: Path, order: str) -> list[str]:
    """Return the complete memory files of others that lie where the order names them; its context must lie there."""
    context, *named = re.findall(r"^Read first: (.+?)\. Read no", order, re.MULTILINE)[0].split(", ")
    if "## Request" not in (folder / context).read_text():
        return []
    return [each for each in named if "**Status:** COMPLETE" in (folder / each).read_text()]


def _lives_before(lives: Path, step: str) -> int:
    """Note this life where the world counts them, and return how many lives of the same step were before it."""
    with lives.open("a+") as file:
        file.write(f"{os.environ['ORCHESTRATOR_RUN']} {step}\n")
        file.flush()
        file.seek(0)
        return [line.split()[1] for line in file].count(step) - 1


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
