"""A program that speaks Kiro's hooks and touches no file, to stand on the PATH as `kiro-cli`.

It reads its agent from `$KIRO_HOME`, refuses one with tools that change files, says what `answer.txt` in the world's
folder holds, with `{root}` for the folder that its order names, and ends. Each life appends its run to the file `runs`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    if "--version" in sys.argv:
        sys.stdout.write("kiro-cli 2.0.0\n")
        return
    home, prompt = Path(sys.argv[0]).parents[1], sys.argv[-1]
    name = sys.argv[sys.argv.index("--agent") + 1]
    agent = json.loads(Path(os.environ["KIRO_HOME"], "agents", f"{name}.json").read_text(encoding="utf-8"))
    if set(agent["tools"]) - {"read", "glob", "grep"}:
        sys.exit(3)

    def event(kind: str, **more: str) -> None:
        said = {"hook_event_name": kind, "cwd": str(Path.cwd()), **more}
        command = agent["hooks"][kind][0]["command"]
        subprocess.run(
            command, shell=True, input=json.dumps(said), stdout=subprocess.DEVNULL, text=True, check=True
        )

    with (home / "runs").open("a", encoding="utf-8") as file:
        file.write(f"{os.environ['ORCHESTRATOR_RUN']} {os.environ['ORCHESTRATOR_STEP']}\n")
    event("agentSpawn")
    event("userPromptSubmit", prompt=prompt)
    found = re.search(r"lies below (\S+)/ or ", prompt)
    text = (home / "answer.txt").read_text(encoding="utf-8")
    event("stop", assistant_response=text.replace("{root}", found[1] if found else ""))


if __name__ == "__main__":
    main()
