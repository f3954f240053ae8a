"""A program that nobody has heard of and that speaks Claude Code's hooks: `hooked.py SETTINGS ROLES SCRIPT PROMPT`.

It tells that it is up and what prompt it took, asks leave to write a file, works as `roles.py` does, tells that its
turn is over, does so again if it is told to go on, and stays until it is ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    settings, roles, script, prompt = sys.argv[1:]
    hooks = json.loads(Path(settings).read_text(encoding="utf-8"))["hooks"]
    session = f"session-of-{os.environ['ORCHESTRATOR_RUN']}"

    def tell(name: str, **more: object) -> dict[str, Any]:
        """Run a hook as Claude Code does: by a shell, JSON on stdin, what it prints is its answer."""
        said = json.dumps({"hook_event_name": name, "session_id": session, "cwd": str(Path.cwd()), **more})
        command = hooks[name][0]["hooks"][0]["command"]
        done = subprocess.run(
            command, shell=True, input=said, capture_output=True, text=True, timeout=30, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    tell("SessionStart")
    tell("UserPromptSubmit", prompt=prompt)
    asked = tell("PermissionRequest", tool_name="Write", tool_input={"file_path": "asked.txt"})
    if asked["hookSpecificOutput"]["decision"]["behavior"] == "allow":
        Path(os.environ["ORCHESTRATOR_SCRATCHPAD"], "allowed").touch()
    going = True
    while going:
        subprocess.run([sys.executable, "-I", "-S", roles, script], check=True)
        going = tell("Stop", last_assistant_message="Done.").get("decision") == "block"
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
