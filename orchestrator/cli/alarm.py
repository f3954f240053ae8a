"""The dead man's alarm: reports, and repairs, a daemon with tasks at work that shows no heartbeat."""

from __future__ import annotations

import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import FRESH, Beat, has_died, is_fresh, last_word
from orchestrator.cli.exits import CommandError
from orchestrator.cli.parser import called_as
from orchestrator.cli.screen import clock, harmless
from orchestrator.cli.tasks import TaskRecord, homes

# Every command asks about the daemon. What only an alarm needs is imported when there is one: while no daemon runs, it
# would cost a command twice what else it needs.
TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from typing import Any, Final

    from orchestrator.model.sections import DaemonSettings

_LONG_AGO: Final = float("inf")
_MISSED: Final = 3
"""Heartbeats that may be missed before the alarm, however short its setting."""

_NAMED: Final = 3


def sound(state: str) -> None:
    """Print on standard error, in one line, what is wrong with the daemon, if anything."""
    if line := alarm(state):
        print(f"{called_as()}:", harmless(line), file=sys.stderr, flush=True)


def alarm(state: str) -> str:
    """Return one line about a daemon that is dead or hangs while tasks are at work; empty if all is well.

    A dead daemon is restarted at once if the settings allow it, the user did not stop it, the caller is no agent,
    and no service manager will restart it.
    """
    if is_fresh(state):
        return ""
    beat = Beat(state)
    silent, least = _silence(state, beat)
    if not beat.up and os.path.lexists(layout.daemon_stopped(state)):
        return ""
    died = has_died(state)
    if silent < max(FRESH, least) and not died:
        return ""
    at_work = [task.name for task in homes(state) if _at_work(task)]
    if not at_work:
        return ""
    settings: DaemonSettings = _section("daemon")
    if silent < max(FRESH, least, settings.heartbeat_timeout) and not (
        died and _is_ours_to_start(state, settings)
    ):
        return ""
    what = f"its last heartbeat was at {clock(beat.at, time.time())}; {_listed(at_work)}"
    if not beat.up:
        return _dead(state, settings, what)
    if not beat.pid:
        return f"a daemon hangs while it starts: {what}; see its log: {layout.daemon_log(state)}"
    from orchestrator.cli.lock_holder import doubt

    if reason := doubt(state, beat):
        return reason
    way_out = f"`kill -9 {beat.pid}`, then `task daemon start` (the agents keep working)"
    from orchestrator.daemon.process.recovery import HANG

    line = f"the daemon (pid {beat.pid}) hangs: {what}; {way_out}"
    _notify(state, HANG, "the daemon hangs", line)
    return line


def _is_ours_to_start(state: str, settings: DaemonSettings) -> bool:
    """Return whether restarting a daemon that just died is up to this command."""
    from orchestrator.cli.caller import run_around
    from orchestrator.cli.service import service_of

    if run_around() or not settings.restart:
        return False
    service = service_of(state)
    return service is None or not service.reachable


def _dead(state: str, settings: DaemonSettings, what: str) -> str:
    from pathlib import Path

    from orchestrator.cli.caller import run_around
    from orchestrator.cli.daemon_startup import ensure_running
    from orchestrator.cli.service import service_of
    from orchestrator.model.errors import OrchestratorError

    service = service_of(state)
    last = last_word(layout.daemon_beat(state)).get("pid")
    if service is not None and isinstance(last, int) and service.ended_on_request(last):
        return ""
    dead = f"the daemon is dead: {what}"
    if run_around():
        return dead
    if not settings.restart:
        return _notify_dead(state, f"{dead}; `task daemon start` starts it again")
    tried = Path(layout.daemon_restarted(state))
    if _age(str(tried)) < settings.heartbeat_timeout:
        return f"{dead}; restarting it failed: see {layout.daemon_log(state)}"
    try:
        tried.touch(0o600)
        ensure_running(state)
        tried.unlink(missing_ok=True)
    except (CommandError, OrchestratorError, OSError) as error:
        return _notify_dead(state, f"{dead}; restarting it failed: {error}")
    return f"{dead}; it was restarted, pid {Beat(state).pid}"


def _notify_dead(state: str, line: str) -> str:
    """Notify the user that the daemon is dead for good. A restarted one reports its own death, under the same id."""
    from orchestrator.daemon.process.recovery import DEATH

    _notify(state, DEATH, "the daemon is dead", line)
    return line


def _notify(state: str, kind: str, title: str, line: str) -> None:
    """Send a notification over the user's channels: once per incident, without waiting for its delivery."""
    from orchestrator.cli.caller import run_around
    from orchestrator.model.notification import TERMINAL
    from orchestrator.notifications.default_channels import at_hand

    # This terminal shows it anyway.
    if run_around() or all(
        each.scheme == TERMINAL for each in at_hand(_section("notify"), os.environ).channels
    ):
        return
    from pathlib import Path

    from orchestrator.daemon.core.notifier import envelope_of
    from orchestrator.daemon.process.recovery import incident
    from orchestrator.hosts.disk import DiskFiles
    from orchestrator.model.errors import OrchestratorError
    from orchestrator.model.notification import Notification, NotificationRule
    from orchestrator.notifications.senders import fallback
    from orchestrator.notifications.spool import Spool

    notification = Notification(
        incident(kind, last_word(layout.daemon_beat(state))),
        NotificationRule.DAEMON,
        title,
        line,
        time.time(),
    )
    try:
        if Spool(DiskFiles(Path(state)), layout.notifications(Path(state))).put(envelope_of(notification)):
            fallback.start(notification.id, state, os.environ)
    except (OrchestratorError, OSError) as error:
        print(f"{called_as()}:", harmless(f"no notification could be sent: {error}"), file=sys.stderr)


def _silence(state: str, beat: Beat) -> tuple[float, float]:
    """Return the seconds since the daemon's last sign of life, and how many seconds are still normal.

    Measured with the clock that pauses while the machine sleeps. A starting daemon has not beaten yet: its silence
    begins when it takes the lock.
    """
    said: dict[str, Any] = last_word(layout.daemon_beat(state))
    every, then = said.get("every"), said.get("monotonic")
    least = _MISSED * every if isinstance(every, (int, float)) else 0.0
    if beat.up and said.get("pid") != beat.pid:
        return _age(layout.daemon_lock(state)), least
    if not isinstance(then, (int, float)):
        return _age(layout.daemon_beat(state)), least
    silent = time.monotonic() - then
    return (silent if silent >= 0 else _LONG_AGO), least  # negative: the machine was rebooted


def _age(path: str) -> float:
    """Return the seconds since a file was written; infinity if it is missing or dated in the future."""
    try:
        age = time.time() - os.stat(path).st_mtime  # noqa: PTH116 (no pathlib here)
    except OSError:
        return _LONG_AGO
    return age if age >= 0 else _LONG_AGO


def _at_work(task: TaskRecord) -> bool:
    """Return whether a task may have work to do: a step, a run, a request, or an unreadable state."""
    if task.begun and task.fault:
        return True
    if task.view.get("state") == "running":
        return True
    if any(isinstance(agent, dict) and agent.get("state") != "gone" for agent in task.view.get("agents", ())):
        return True
    return _has_request(layout.task_requests(task.home))


def _has_request(requests: str) -> bool:
    """Return whether a request is pending."""
    try:
        with os.scandir(requests) as entries:
            names = [
                entry.name
                for entry in entries
                if entry.name.endswith(".json") and not entry.name.startswith(".")
            ]
    except OSError:
        return False
    if not names:
        return False
    from orchestrator.daemon.ingest.requests import REPLY

    return not all(name.endswith(REPLY) for name in names)


def _section(name: str) -> Any:  # noqa: ANN401 (as `load_section`)
    """Return a section of the settings; the defaults if it cannot be read, which the daemon's start reports."""
    from pathlib import Path

    from orchestrator.formats.setting_kinds import class_of
    from orchestrator.formats.settings import load_section
    from orchestrator.model.errors import OrchestratorError

    try:
        return load_section(Path(layout.config_file(os.environ)), os.environ, name)
    except (OrchestratorError, OSError):
        return class_of(name)()


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    shown = ", ".join(names[:_NAMED])
    return f"{shown}{f' and {more} more' if more > 0 else ''} {'is' if len(names) == 1 else 'are'} at work"
