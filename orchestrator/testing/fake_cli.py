"""A program in a terminal that behaves like an agent CLI: `python -m orchestrator.testing.fake_cli`.

It takes an order as argument, shows a prompt, works, rests, asks in dialogs, takes typed lines (also while it is
busy), resumes an earlier session, tells of itself in `events.jsonl` as hooks would, and stays until it is ended.
What it does stands in `script.json` in its home folder (`fake_script.Script`).
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from orchestrator.testing.fake_script import Script, Turn, read_script

PROMPT: Final = "> "
BUSY: Final = "* Working..."
APPROVING: Final = "1y"

_ENTER: Final = b"\r"
_INTERRUPT: Final = b"\x03"
_SPIN: Final = 0.1  # seconds between two signs of life


class FakeCli:
    """One life of the program. `home` holds its script, its events and its sessions."""

    def __init__(self, home: Path, script: Script) -> None:
        self._home = home
        self._script = script
        self._queue: deque[str] = deque()
        self._line = bytearray()
        self._turns = 0

    def run(self, order: str | None, resumed: str | None) -> int:
        """Live, and return the exit status."""
        if resumed and not self._session(resumed).exists():
            self._say(f"No conversation found with session ID: {resumed}")
            return 1
        signal.signal(signal.SIGTERM, signal.SIG_IGN if self._script.ignore_term else self._end_by)
        if self._script.ignore_hup:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self._script.child:
            self._leave_child()
        for number in range(self._script.flood):
            self._say(f"line {number} of a flood that nobody will read")
        time.sleep(self._script.ready_after)
        if sys.stdin.isatty():
            # Keys that come too early are lost, as with the real ones.
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        if self._script.dialog and not self._asks(self._script.dialog):
            return self._ends(1)
        self._report("session_start", session=self._script.session, resumed=resumed or "")
        if resumed:
            self._turns = len(self._session(resumed).read_text().splitlines())
        if order is not None:
            self._queue.append(order)
        return self._live()

    def _live(self) -> int:
        while True:
            if self._queue:
                code = self._take(self._queue.popleft())
            elif sys.stdin.isatty():
                self._show(PROMPT)
                code = self._listen(None)
            elif self._script.ignore_hup:
                time.sleep(_SPIN)  # its terminal is gone, and it lives on
            else:
                code = 0  # as the print modes of the real ones: one order, no prompt
            if code is not None:
                return self._ends(code)

    def _take(self, prompt: str) -> int | None:
        """Work one turn; return an exit status if the program ends with it."""
        turn = self._script.turn(self._turns)
        self._turns += 1
        with self._session(self._script.session).open("a") as session:
            session.write(json.dumps(prompt) + "\n")
        self._report("prompt_submitted", text=prompt)
        if turn.dialog and not self._asks(turn.dialog):
            self._say("Refused.")
            self._report("stop")
            return None
        code = self._work(turn.busy)
        if code is not None:
            return code
        self._finish(turn)
        if turn.signal is not None:
            os.kill(os.getpid(), turn.signal)
        return turn.code

    def _finish(self, turn: Turn) -> None:
        if turn.say:
            self._say(turn.say)
        if turn.report:
            path = Path(turn.report.path)
            unfinished = path.with_name(f".{path.name}.unfinished")
            unfinished.write_text(turn.report.text)
            unfinished.rename(path)
        self._report("stop")

    def _work(self, seconds: float) -> int | None:
        """Spin for a while and queue what is typed meanwhile; return an exit status if interrupted."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._show(f"{BUSY} ({left:.1f} s)")
            code = self._listen(min(left, _SPIN))
            if code is not None:
                return code
        return None

    def _asks(self, question: str) -> bool:
        """Show a dialog; the first key decides, whatever it was meant for. Enter is the refusal."""
        self._say(f"{question}\n  1. Yes\n> 2. No")
        self._report("permission_request", text=question)
        answer = os.read(sys.stdin.fileno(), 1).decode(errors="replace") if sys.stdin.isatty() else "2"
        return bool(answer) and answer in APPROVING

    def _listen(self, seconds: float | None) -> int | None:
        """Read keys until a line was entered or the time is up; return an exit status if interrupted."""
        if not sys.stdin.isatty():
            time.sleep(seconds or 0)
            return None
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return None
        try:
            keys = os.read(sys.stdin.fileno(), 65536)
        except OSError:  # its terminal is gone
            return None
        for byte in keys:
            key = bytes([byte])
            if key == _INTERRUPT:
                return 130
            if key == _ENTER:
                self._show("\r\n")
                if self._line:
                    self._queue.append(self._line.decode(errors="surrogateescape"))
                    self._line.clear()
                continue
            self._line += key
            sys.stdout.buffer.write(key)
        sys.stdout.flush()
        return None

    # Signs ----------------------------------------------------------------------------------------

    def _session(self, identity: str) -> Path:
        return self._home / f"session-{Path(identity).name}.jsonl"

    def _report(self, event: str, **more: str) -> None:
        with (self._home / "events.jsonl").open("a") as events:
            events.write(json.dumps({"event": event, "at": time.time(), **more}) + "\n")

    def _say(self, text: str) -> None:
        self._show("\r" + text.replace("\n", "\r\n") + "\r\n")

    def _show(self, text: str) -> None:
        sys.stdout.write(text if text.endswith("\n") else f"\r{text}")
        sys.stdout.flush()

    # Ends -----------------------------------------------------------------------------------------

    def _ends(self, code: int) -> int:
        self._report("session_end", reason=f"exit {code}")
        return code

    def _end_by(self, number: int, _frame: FrameType | None) -> None:
        self._report("session_end", reason=f"signal {number}")
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _leave_child(self) -> None:
        child = subprocess.Popen(
            ["sh", "-c", "trap '' HUP; exec sleep 600"],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (self._home / "child").write_text(str(child.pid))


@contextmanager
def raw_terminal() -> Iterator[None]:
    """Get every key as it is pressed, and put the terminal back afterwards; nothing without a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setraw(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def main() -> int:
    """Read the command line and live."""
    parser = argparse.ArgumentParser(prog="fake_cli", description=__doc__.partition("\n")[0])
    parser.add_argument("--home", type=Path, required=True, help="folder of script.json, events and sessions")
    parser.add_argument("--resume", metavar="ID", help="go on with an earlier session")
    parser.add_argument("order", nargs="?", help="the first prompt")
    options = parser.parse_args()
    script = read_script(options.home / "script.json")
    with raw_terminal():
        return FakeCli(options.home, script).run(options.order, options.resume)


if __name__ == "__main__":
    sys.exit(main())
