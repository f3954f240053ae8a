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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

TOKENS = "HOOKED_TOKENS"
"""The variable that says how many tokens each turn is to have used, by its transcript."""


def kept(transcript: Path, turn: int) -> None:
    """Keep a conversation as Claude Code does: of each turn one message, with what it used."""
    usage = {"input_tokens": int(os.environ[TOKENS]), "output_tokens": 1}
    message = {"id": f"{os.environ['ORCHESTRATOR_RUN']}-{turn}", "usage": usage}
    reported = {"type": "assistant", "timestamp": datetime.now(UTC).isoformat(), "message": message}
    transcript.parent.mkdir(parents=True, exist_ok=True)
    with transcript.open("a", encoding="utf-8") as file:
        file.write(json.dumps(reported) + "\n")


def main() -> None:
    settings, roles, script, prompt = sys.argv[1:]
    hooks = json.loads(Path(settings).read_text(encoding="utf-8"))["hooks"]
    session = f"session-of-{os.environ['ORCHESTRATOR_RUN']}"
    transcript = Path.home() / ".claude" / "projects" / "p" / f"{session}.jsonl"

    def event(name: str, **more: object) -> dict[str, Any]:
        """Run a hook as Claude Code does: by a shell, JSON on stdin, what it prints is its answer."""
        said: dict[str, Any] = {
            "hook_event_name": name,
            "session_id": session,
            "cwd": str(Path.cwd()),
            **more,
        }
        if TOKENS in os.environ:
            said["transcript_path"] = str(transcript)
        command = hooks[name][0]["hooks"][0]["command"]
        done = subprocess.run(
            command,
            shell=True,
            input=json.dumps(said),
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        answer: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return answer

    event("SessionStart")
    event("UserPromptSubmit", prompt=prompt)
    asked = event("PermissionRequest", tool_name="Write", tool_input={"file_path": "asked.txt"})
    if asked["hookSpecificOutput"]["decision"]["behavior"] == "allow":
        Path(os.environ["ORCHESTRATOR_SCRATCHPAD"], "allowed").touch()
    going, turn = True, 0
    while going:
        turn += 1
        subprocess.run([sys.executable, "-I", "-S", roles, script], check=True)
        if TOKENS in os.environ:
            kept(transcript, turn)
        going = event("Stop", last_assistant_message="Done.").get("decision") == "block"
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
