"""`task daemon`: runs, starts, looks at or stops the one daemon of this user."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from orchestrator import places
from orchestrator.cli.beat import Beat, last_word
from orchestrator.cli.exits import CommandError, Exit, forbid_inside_run
from orchestrator.cli.screen import ago, harmless, stamp
from orchestrator.cli.tasks import tasks

EXAMPLE = "task daemon status"
START_PATIENCE: Final = 10.0
STOP_PATIENCE: Final = 30.0
_PAUSE: Final = 0.02
_NOT_HANDED_ON: Final = ("TMUX", "TMUX_PANE")


def arguments(parser: ArgumentParser) -> None:
    """Say what `task daemon` understands."""
    parser.add_argument(
        "action",
        choices=("run", "start", "status", "stop"),
        help="run: here, until Ctrl-C (for systemd and launchd); start: in the background",
    )
    parser.add_argument("--json", action="store_true", help="status as one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Do what is asked of the daemon."""
    state = places.state_folder(os.environ)
    if options.action == "status":
        return _status(state, as_json=options.json)
    forbid_inside_run(f"daemon {options.action}")
    match options.action:
        case "run":
            os.execv(sys.executable, _COMMAND)  # noqa: S606 (no shell is the point)
        case "start":
            print(f"daemon {'started' if ensure_running(state) else 'runs already'}, pid {Beat(state).pid}")
        case _:
            _stop(state)
    return Exit.DONE


def ensure_running(state: str) -> bool:
    """Start the daemon unless it runs; return whether it had to be started.

    Raises:
        CommandError: it did not come up in time; the message says where its log is.

    """
    if Beat(state).up:
        return False
    places.make_state_folder(state)
    process = _detached(state)
    deadline = time.monotonic() + START_PATIENCE
    while not _beats(state, process.pid):
        ended = process.poll() is not None
        if ended and Beat(state).up:  # another one was quicker
            return False
        if ended or time.monotonic() > deadline:
            how = (
                f"ended at once (exit {process.returncode})"
                if ended
                else f"was not up in {START_PATIENCE:.0f} s"
            )
            raise CommandError(Exit.DOWN, f"the daemon {how}: {_last_words(state)}")
        time.sleep(_PAUSE)
    return True


def _beats(state: str, pid: int) -> bool:
    """Tell whether this daemon is up. Its lock is not touched before, for it may be about to take it."""
    return last_word(places.daemon_beat(state)).get("pid") == pid and Beat(state).up


_COMMAND: Final = (sys.executable, "-P", "-m", "orchestrator.daemon")


def _detached(state: str) -> subprocess.Popen[bytes]:
    """Start the daemon in a session of its own, so that neither Ctrl-C nor a closed terminal reaches it."""
    environment = {key: value for key, value in os.environ.items() if key not in _NOT_HANDED_ON}
    log = os.open(places.daemon_log(state), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        return subprocess.Popen(
            _COMMAND,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _last_words(state: str) -> str:
    log = Path(places.daemon_log(state))
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")[-20:]
    except OSError:
        lines = []
    last = next((harmless(line).strip() for line in reversed(lines) if line.strip()), "it said nothing")
    return f"{last} (its log: {log})"


def _status(state: str, *, as_json: bool) -> int:
    beat, known = Beat(state), len(tasks(state))
    if as_json:
        said = {
            "up": beat.up,
            "pid": beat.pid or None,
            "started_at": stamp(beat.started_at),
            "beat_at": stamp(beat.at),
            "version": beat.version,
            "tasks": known,
        }
        print(json.dumps(said))
        return Exit.DONE
    now = time.time()
    print(beat.words())
    if beat.up:
        print(f"pid {beat.pid}, version {harmless(beat.version)}, started {ago(beat.started_at, now)}")
        print(f"last beat {ago(beat.at, now)}")
    print(f"{known} tasks in {state}")
    print(f"log: {places.daemon_log(state)}")
    return Exit.DONE


def _stop(state: str) -> None:
    beat = Beat(state)
    if not beat.up:
        print("the daemon is not running")
        return
    if not beat.pid:
        raise CommandError(Exit.FAILED, "the daemon is just starting and has not said its pid: try again")
    os.kill(beat.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_PATIENCE
    while (now := Beat(state)).up and now.pid == beat.pid:
        if time.monotonic() > deadline:
            raise CommandError(
                Exit.FAILED,
                f"the daemon (pid {beat.pid}) still runs after {STOP_PATIENCE:.0f} s; "
                f"its log: {places.daemon_log(state)}",
            )
        time.sleep(_PAUSE)
    print(f"daemon stopped (pid {beat.pid}); agents that run go on, and the next start finds them")
