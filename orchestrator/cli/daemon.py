"""`task daemon`: runs, starts, installs, inspects or stops the one daemon of this user."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from orchestrator import __version__, layout, own_files
from orchestrator.cli.beat import LAST, Beat
from orchestrator.cli.caller import forbid_inside_run
from orchestrator.cli.exits import Exit
from orchestrator.cli.main import check_daemon
from orchestrator.cli.screen import ago, harmless, stamp
from orchestrator.cli.tasks import tasks

EXAMPLE = "task daemon status"
_READ_ONLY = frozenset({"status", "alarm"})


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task daemon`."""
    parser.add_argument(
        "action",
        choices=("run", "start", "status", "stop", "install", "uninstall", "alarm"),
        help="run: in the foreground, until Ctrl-C (for systemd and launchd); start: in the background; "
        "install: let systemd or launchd run it; "
        "alarm: silent if all is well, else one line and exit 1 (for cron)",
    )
    parser.add_argument("--json", action="store_true", help="status as one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Carry out the given action."""
    state = layout.state_folder(os.environ)
    if options.action not in _READ_ONLY:
        forbid_inside_run(f"daemon {options.action}")
    match options.action:
        case "run":
            from orchestrator.daemon.process.command import COMMAND

            os.execv(sys.executable, COMMAND)  # noqa: S606 (no shell is the point)
        case "start":
            from orchestrator.cli.daemon_startup import ensure_running

            print(
                f"daemon {'started' if ensure_running(state) else 'is already running'}, pid {Beat(state).pid}"
            )
        case "stop":
            _stop(state)
        case "install":
            from orchestrator.cli.install import install

            install(state)
        case "uninstall":
            from orchestrator.cli.install import uninstall

            uninstall(state)
        case "alarm":
            return _alarm(state)
        case _:
            check_daemon()
            _status(state, as_json=options.json)
    return Exit.DONE


def _alarm(state: str) -> int:
    """Print what is wrong with the daemon, and return 1 if anything is."""
    from orchestrator.cli.alarm import alarm

    line = alarm(state)
    if line:
        print(harmless(line))
    return Exit.FAILED if line else Exit.DONE


def _status(state: str, *, as_json: bool) -> None:
    from orchestrator.cli.service import service_of

    beat, known, service = Beat(state), len(tasks(state)), service_of(state)
    if as_json:
        said = {
            "up": beat.up,
            "pid": beat.pid or None,
            "started_at": stamp(beat.started_at),
            "beat_at": stamp(beat.at),
            "version": beat.version,
            "tasks": known,
            "unit": str(service.unit) if service else None,
            "daily_report": _daily(beat),
            "telemetry": _telemetry(beat),
        }
        print(json.dumps(said))
        return
    now = time.time()
    print(_hangs(state, beat) if beat.late else beat.words())
    if beat.up:
        print(f"pid {beat.pid}, version {harmless(beat.version)}, started {ago(beat.started_at, now)}")
        if beat.version not in {None, __version__}:
            print(f"version {__version__} is installed: the daemon will switch to it when it is idle")
        print(f"last heartbeat {ago(beat.at, now)}")
        if beat.polling:
            print(harmless(beat.polling))
        if daily := _daily(beat):
            print(f"daily report at {daily['at']}: {daily['file'] or 'none yet'}")
            if daily["fault"]:
                print(f"one could not be written, and is tried again within an hour: {daily['fault']}")
        for line in _telemetry_lines(beat, now):
            print(line)
    print(f"{known} task{'s' * (known != 1)} in {state}")
    if service:
        print(f"run by {service.manager}: {service.unit}")
    print(f"log: {layout.daemon_log(state)}")


def _hangs(state: str, beat: Beat) -> str:
    """Return that the daemon's heartbeat is late, and what helps."""
    from orchestrator.cli.lock_holder import doubt

    said = f"daemon up, but its last heartbeat was {ago(beat.at, time.time())}: it hangs, or this machine was asleep"
    if reason := doubt(state, beat):
        return f"{said}; {reason}"
    return f"{said}; if it stays so: `kill -9 {beat.pid}`, then `task daemon start` (running agents go on)"


def _daily(beat: Beat) -> dict[str, str | None] | None:
    """Return when the observer's daily reports are written, the newest, and why one is missing; None: never."""
    if not beat.daily:
        return None
    return {name: harmless(str(beat.daily.get(name) or "")) or None for name in ("at", "file", "fault")}


def _telemetry(beat: Beat) -> dict[str, str | None] | None:
    """Return where traces and metrics go, when that went well last, and why it does not; None: neither is set."""
    if not beat.telemetry:
        return None
    said = {
        name: harmless(str(beat.telemetry.get(name) or "")) or None for name in ("traces", "metrics", "fault")
    }
    return said | {"at": stamp(_went_well(beat))}


def _went_well(beat: Beat) -> float | None:
    at = beat.telemetry.get("at")
    return at if isinstance(at, int | float) and 0 <= at < LAST else None


def _telemetry_lines(beat: Beat, now: float) -> Iterator[str]:
    said = _telemetry(beat)
    if said is None:
        return
    at = _went_well(beat)
    when = f"last {ago(at, now)}" if at else "not yet"
    places = ("traces to", said["traces"]), ("metrics to", said["metrics"])
    yield f"{', '.join(f'{what} {place}' for what, place in places if place)}: {when}"
    if said["fault"]:
        yield f"what could not be sent or written is tried again: {said['fault']}"


def _stop(state: str) -> None:
    """Stop the daemon, and leave a mark that keeps it from being restarted."""
    from orchestrator.cli.daemon_startup import stop

    if own_files.check_state_folder(state):
        Path(layout.daemon_stopped(state)).touch(0o600)
    beat = Beat(state)
    if not beat.up:
        print("the daemon is not running")
        return
    stop(state, beat)
    live = sum(
        agent.get("state") != "gone" for task in tasks(state) for agent in task.view.get("agents") or ()
    )
    agents = {0: "no agent runs", 1: "one agent goes on, and the next start finds it"}.get(
        live, f"{live} agents go on, and the next start finds them"
    )
    print(f"daemon stopped (pid {beat.pid}); {agents}")
