"""`desktop://`: a message on the desktop of this machine, by the program that its system has for that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from html import escape
from typing import Final

from orchestrator.formats.text import one_line
from orchestrator.notifications.default_channels import desktop_program
from orchestrator.ports.sender import SendOutcome, SendResult, Tone

_APPLICATION: Final = "agent-orchestrator"
_URGENT: Final = frozenset({Tone.WARNING, Tone.FAILURE})
_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def notify_desktop(title: str, body: str, tone: str, environ: Mapping[str, str]) -> SendOutcome:
    """Show a message. What it says is an argument, and is read as text: no markup, no script."""
    program = desktop_program(environ)
    if not program:
        return SendOutcome(SendResult.REFUSED, "there is no desktop here, or no notify-send")
    if sys.platform == "darwin":
        words = [program, *(word for line in _SCRIPT for word in ("-e", line)), title, body]
    else:
        urgency = "critical" if tone in _URGENT else "normal"
        words = [
            program,
            f"--app-name={_APPLICATION}",
            f"--urgency={urgency}",
            "--",
            title,
            escape(body, quote=False),
        ]
    done = subprocess.run(
        words, env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = one_line(done.stderr) or f"it ended with {done.returncode}"
        return SendOutcome(SendResult.REFUSED, said[:200])
    return SendOutcome(SendResult.DELIVERED)
