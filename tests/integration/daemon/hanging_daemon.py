"""A daemon whose loop hangs while a file is there: `python hanging_daemon.py FILE`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from orchestrator.daemon import __main__ as daemon
from orchestrator.daemon.loop import Loop

turn = Loop.turn


def turn_or_hang(self: Loop, timeout: float | None = None) -> None:
    turn(self, timeout)
    while Path(sys.argv[1]).exists():
        time.sleep(0.01)


if __name__ == "__main__":
    Loop.turn = turn_or_hang  # type: ignore[method-assign]
    sys.exit(daemon.main([]))
