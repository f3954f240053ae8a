"""A PM as a program: `python -I -S pm_agent.py SCRIPT`, asked by the daemon as any agent is.

SCRIPT is a JSON file: `{"pm": [{…}, {…}], …}`; the first object says what the first life does, and so on. Beyond them
it orders the first step that its digest names, or COMPLETE where it names none. An object may say: `decisions` (each
with action, target, text), `think` (wait until the file `go/THINK` is there, then decide), `hold` (the same when it has
decided), `exit`. Each life appends its run and step to the file `runs` beside SCRIPT.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

ENV = {name.removeprefix("ORCHESTRATOR_"): value for name, value in os.environ.items()}
LONGEST = 60.0  # seconds: nothing that a test forgot lives longer


def main() -> int:
    script = Path(sys.argv[1])
    turns = json.loads(script.read_text(encoding="utf-8")).get("pm", [])
    number = begun(script.parent)
    turn: dict[str, Any] = turns[number] if number < len(turns) else {}
    if turn.get("think"):
        wait_for(script.parent / "go" / turn["think"])
    for each in turn.get("decisions") or [by_the_digest()]:
        hand_in(**each)
    if turn.get("hold"):
        wait_for(script.parent / "go" / turn["hold"])
    return int(turn.get("exit", 0))


def begun(home: Path) -> int:
    """Note this life, and return how many of the PM were before it."""
    with (home / "runs").open("a+", encoding="utf-8") as file:
        file.write(f"{ENV['RUN']} {ENV['STEP']} {ENV['ATTEMPT']} {os.getpid()}\n")
        file.flush()
        file.seek(0)
        return sum(line.split()[1].startswith("pm:") for line in file) - 1


def by_the_digest() -> dict[str, str]:
    """Return what a PM decides that takes the first thing that it may order."""
    order = Path(ENV["ORDER"]).read_text(encoding="utf-8")
    listed = order.partition("You may order these steps:\n")[2]
    found = re.match(r"- (\S+) for ", listed)
    return (
        {"action": "ORDER", "target": found[1], "text": "Mind the tests."}
        if found
        else {"action": "COMPLETE"}
    )


def hand_in(action: str, target: str = "None", text: str = "None") -> None:
    """Lay a decision down under the next free name, whole."""
    second = int(time.time())
    head = f"# Handoff: pm\n**Action:** {action}\n**Target:** {target}\n**Run:** {ENV['RUN']}\n"
    part = Path(ENV["SCRATCHPAD"], "part")
    part.write_text(f"{head}\n## Instructions\n{text}\n", encoding="utf-8")
    while True:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(second))
        try:
            os.link(part, Path(ENV["TASK_DIR"], "handoffs", f"pm-{stamp}.md"))
        except FileExistsError:
            second += 1
        else:
            part.unlink()
            return


def wait_for(path: Path) -> None:
    until = time.monotonic() + LONGEST
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main())
