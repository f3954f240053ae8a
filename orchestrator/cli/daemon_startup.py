"""Starts the daemon, through the service manager if one runs it, and stops it."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat, last_word
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.progress import Waiting
from orchestrator.cli.screen import harmless
from orchestrator.daemon.process.command import COMMAND

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.cli.service import Service
    from orchestrator.cli.unit import Words

START_PATIENCE: Final = 30.0
SERVICE_PATIENCE: Final = 60.0
STOP_PATIENCE: Final = 30.0
"""Seconds until it must be up (started by us, or by a service manager that may pause between starts), or gone."""

_LONG: Final = 120.0  # more than systemd gives a service to end
_LAST_BYTES: Final = 65_536
_PAUSE: Final = 0.02
_NOT_HANDED_ON: Final = ("TMUX", "TMUX_PANE")


def ensure_running(state: str) -> bool:
    """Start the daemon unless it runs; return whether it had to be started. Clears the mark of an earlier stop.

    Raises:
        CommandError: it was not up in time; the message names its log.

    """
    own_files.make_state_folder(state)
    with suppress(OSError):  # a folder in its place does no harm: it only silences the alarm
        Path(layout.daemon_stopped(state)).unlink()
    if Beat(state).up:
        return False
    # Imported late: mostly the daemon runs, and the service does not matter.
    from orchestrator.cli.service import service_of

    service = service_of(state)
    if service is not None and service.reachable:
        started_by(service, service.start, state)
        return True
    process = _detached(state)
    return _up(state, START_PATIENCE, lambda: process.pid, process.poll)


def started_by(service: Service, commands: tuple[Words, ...], state: str) -> int:
    """Let the service manager start the daemon by these commands, and return the daemon's pid.

    Raises:
        CommandError: it was not up in time; the message names its log.

    """
    from orchestrator.cli.service import perform

    done = perform(commands, SERVICE_PATIENCE)
    if done.code:
        raise CommandError(
            Exit.DOWN, f"{service.manager} could not start the daemon ({done.said}): {_last_words(state)}"
        )
    _up(state, SERVICE_PATIENCE, lambda: Beat(state).pid, lambda: None)
    return Beat(state).pid


def stop(state: str, beat: Beat) -> None:
    """Stop the daemon, through the service manager if it runs it, and wait until it has ended.

    Raises:
        CommandError: it does not end in time, is just starting, or may not be the daemon.

    """
    if not beat.pid:
        raise CommandError(Exit.FAILED, "the daemon is just starting and has not written its pid: try again")
    if not _stopped_by_service(state, beat.pid):
        from orchestrator.cli.lock_holder import terminate_daemon

        terminate_daemon(state, beat)
    deadline = time.monotonic() + STOP_PATIENCE
    with Waiting("waiting for the daemon to end") as waiting:
        while (now := Beat(state)).up and now.pid == beat.pid:
            if time.monotonic() > deadline:
                raise CommandError(
                    Exit.FAILED,
                    f"the daemon (pid {beat.pid}) still runs after {STOP_PATIENCE:.0f} s; "
                    f"see its log: {layout.daemon_log(state)}",
                )
            waiting.look()
            time.sleep(_PAUSE)


def _stopped_by_service(state: str, pid: int) -> bool:
    from orchestrator.cli.service import perform, service_of

    service = service_of(state)
    if service is None or not service.stop or service.main_pid() != pid:
        return False
    return perform(service.stop, _LONG).code == 0


def _up(state: str, patience: float, pid: Callable[[], int], ended: Callable[[], int | None]) -> bool:
    """Wait for the heartbeat of the daemon with this pid; False if another one was faster. Raises CommandError."""
    deadline = time.monotonic() + patience
    with Waiting("waiting for the daemon to be up") as waiting:
        while not _beats(state, pid()):
            code = ended()
            if code is not None and Beat(state).up:
                return False
            if code is not None or time.monotonic() > deadline:
                how = f"was not up after {patience:.0f} s" if code is None else f"ended at once (exit {code})"
                raise CommandError(Exit.DOWN, f"the daemon {how}: {_last_words(state)}")
            waiting.look()
            time.sleep(_PAUSE)
    return True


def _beats(state: str, pid: int) -> bool:
    """Return whether this daemon is up. Its lock is not tested first: the daemon may be about to take it."""
    return bool(pid) and last_word(layout.daemon_beat(state)).get("pid") == pid and Beat(state).up


def _detached(state: str) -> subprocess.Popen[bytes]:
    """Start the daemon in a session of its own, so that neither Ctrl-C nor a closed terminal reaches it.

    Raises:
        CommandError: its log is not a plain file.

    """
    environment = {key: value for key, value in os.environ.items() if key not in _NOT_HANDED_ON}
    log = _opened_log(layout.daemon_log(state))
    try:
        return subprocess.Popen(
            COMMAND,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _opened_log(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        log = os.open(path, flags, 0o600)
    except OSError as error:
        raise CommandError(
            Exit.DOWN, f"{path} cannot be written ({error.strerror}): check that file"
        ) from error
    if reason := own_files.distrust_file(path, os.fstat(log)):
        os.close(log)
        raise CommandError(Exit.DOWN, reason)
    os.set_blocking(log, True)
    return log


def _last_words(state: str) -> str:
    log = layout.daemon_log(state)
    try:
        with own_files.own_file(log) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _LAST_BYTES, 0))
            lines = file.read(_LAST_BYTES).decode(errors="replace").split("\n")[-20:]
    except OSError:
        lines = []
    last = next((harmless(line).strip() for line in reversed(lines) if line.strip()), "it printed nothing")
    return f"{last} (see its log: {log})"
