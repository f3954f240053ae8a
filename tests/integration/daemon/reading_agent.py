"""A program that speaks Claude Code's hooks and touches no file, to stand on the PATH as `claude`.

It says what `answer.txt` in the world's folder holds, with `{root}` for the folder that its order names, once the file
`go/stop` is there; and stays until it is ended. Each life appends its run to the file `runs`, its process to `pids`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

LONGEST = 60.0  # seconds: nothing that a test forgot lives longer


def main() -> None:
    if "--version" in sys.argv:
        sys.stdout.write("2.1.328 (Claude Code)\n")
        return
    home, prompt = Path(sys.argv[0]).parents[1], sys.argv[-1]
    settings = Path(sys.argv[sys.argv.index("--settings") + 1])
    hooks = json.loads(settings.read_text(encoding="utf-8"))["hooks"]

    def event(name: str, **more: str) -> None:
        said = {"hook_event_name": name, "session_id": "s-1", "cwd": str(Path.cwd()), **more}
        command = hooks[name][0]["hooks"][0]["command"]
        subprocess.run(
            command, shell=True, input=json.dumps(said), stdout=subprocess.DEVNULL, text=True, check=True
        )

    with (home / "runs").open("a", encoding="utf-8") as file:
        file.write(f"{os.environ['ORCHESTRATOR_RUN']} {os.environ['ORCHESTRATOR_STEP']}\n")
    (home / "pids").write_text(f"{os.getpid()}\n", encoding="utf-8")
    event("SessionStart")
    event("UserPromptSubmit", prompt=prompt)
    end = time.monotonic() + LONGEST
    while not (home / "go" / "stop").exists():
        if time.monotonic() > end:
            sys.exit(1)
        time.sleep(0.01)
    found = re.search(r"lies below (\S+)/ or ", prompt)
    text = (home / "answer.txt").read_text(encoding="utf-8")
    event("Stop", last_assistant_message=text.replace("{root}", found[1] if found else ""))
    signal.pause()


if __name__ == "__main__":
    main()
