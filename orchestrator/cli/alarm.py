"""The dead man's alarm: what is said, and done, about a daemon that has tasks at work and does not beat."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.cli.beat import FRESH, Beat, has_died, is_fresh, last_word
from orchestrator.cli.caller import run_around
from orchestrator.cli.exits import CommandError
from orchestrator.cli.parser import called_as
from orchestrator.cli.screen import clock, harmless
from orchestrator.cli.tasks import TaskRecord, homes
from orchestrator.daemon.ingest.requests import REPLY
from orchestrator.daemon.process.recovery import DEATH, HANG, incident
from orchestrator.model.errors import OrchestratorError
from orchestrator.model.notification import TERMINAL
from orchestrator.model.settings import Settings

if TYPE_CHECKING:
    from typing import Any

_LONG_AGO: Final = float("inf")
_MISSED: Final = 3
"""Beats that may be missed before it counts, however short the alarm is set."""

_NAMED: Final = 3


def sound(state: str) -> None:
    """Say on standard error in one line what is wrong with the daemon, if anything is."""
    if line := alarm(state):
        print(f"{called_as()}:", harmless(line), file=sys.stderr, flush=True)


def alarm(state: str) -> str:
    """Return one line on a daemon that is dead or hangs while tasks are at work; nothing if all is well.

    One that is dead is started again if the settings say so, nobody stopped it on purpose, and no agent asks: at once,
    unless a service manager is to do that.
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
    settings = _settings()
    if silent < max(FRESH, least, settings.daemon.alarm) and not (
        died and _is_ours_to_start(state, settings)
    ):
        return ""
    what = f"its last beat was at {clock(beat.at, time.time())}, and at work {_listed(at_work)}"
    if not beat.up:
        return _dead(state, settings, what)
    if not beat.pid:
        return f"a daemon hangs while it starts: {what}; its log: {layout.daemon_log(state)}"
    from orchestrator.cli.lock_holder import doubt

    if reason := doubt(state, beat):
        return reason
    way_out = f"`kill -9 {beat.pid}`, then `task daemon start`: agents work on"
    line = f"the daemon (pid {beat.pid}) hangs: {what}; {way_out}"
    _tell(state, settings, HANG, "the daemon hangs", line)
    return line


def _is_ours_to_start(state: str, settings: Settings) -> bool:
    """Tell whether nobody else starts a daemon again that died just now."""
    from orchestrator.cli.service import service_of

    if run_around() or not settings.daemon.restart:
        return False
    service = service_of(state)
    return service is None or not service.reachable


def _dead(state: str, settings: Settings, what: str) -> str:
    from orchestrator.cli.daemon_startup import ensure_running
    from orchestrator.cli.service import service_of

    service = service_of(state)
    last = last_word(layout.daemon_beat(state)).get("pid")
    if service is not None and isinstance(last, int) and service.told_to_end(last):
        return ""
    dead = f"the daemon is dead: {what}"
    if run_around():
        return dead
    if not settings.daemon.restart:
        return _told_dead(state, settings, f"{dead}; `task daemon start` starts it again")
    tried = Path(layout.daemon_restarted(state))
    if _age(tried) < settings.daemon.alarm:
        return f"{dead}; it could not be started again: see {layout.daemon_log(state)}"
    try:
        tried.touch(0o600)
        ensure_running(state)
        tried.unlink(missing_ok=True)
    except (CommandError, OrchestratorError, OSError) as error:
        return _told_dead(state, settings, f"{dead}; it could not be started again: {error}")
    return f"{dead}; it was started again, pid {Beat(state).pid}"


def _told_dead(state: str, settings: Settings, line: str) -> str:
    """Tell that the daemon is dead and stays so. One that comes back tells that itself, under the same id."""
    _tell(state, settings, DEATH, "the daemon is dead", line)
    return line


def _tell(state: str, settings: Settings, kind: str, title: str, line: str) -> None:
    """Have it told wherever the user asked to be told: once per incident, and without waiting for it."""
    from orchestrator.notifications.default_channels import at_hand

    # On this terminal it is said already.
    if run_around() or all(each.scheme == TERMINAL for each in at_hand(settings.notify, os.environ).channels):
        return
    from orchestrator.daemon.core.notifier import letter_of
    from orchestrator.hosts.disk import DiskFiles
    from orchestrator.model.notification import Notification, NotificationRule
    from orchestrator.notifications.senders import fallback
    from orchestrator.notifications.spool import Spool

    news = Notification(
        incident(kind, last_word(layout.daemon_beat(state))),
        NotificationRule.DAEMON,
        title,
        line,
        time.time(),
    )
    try:
        if Spool(DiskFiles(Path(state)), layout.news(Path(state))).put(letter_of(news)):
            fallback.start(news.id, state, os.environ)
    except (OrchestratorError, OSError) as error:
        print(f"{called_as()}:", harmless(f"nobody could be told of it: {error}"), file=sys.stderr)


def _silence(state: str, beat: Beat) -> tuple[float, float]:
    """Return for how many seconds nothing was heard of the daemon, and how many are nothing to speak of.

    Counted by the clock that stands still while the machine sleeps. One that is just starting has not beaten yet:
    its silence began when it took the lock.
    """
    said: dict[str, Any] = last_word(layout.daemon_beat(state))
    every, then = said.get("every"), said.get("monotonic")
    least = _MISSED * every if isinstance(every, (int, float)) else 0.0
    if beat.up and said.get("pid") != beat.pid:
        return _age(Path(layout.daemon_lock(state))), least
    if not isinstance(then, (int, float)):
        return _age(Path(layout.daemon_beat(state))), least
    silent = time.monotonic() - then
    return (silent if silent >= 0 else _LONG_AGO), least  # less than nothing: the machine was started anew


def _age(path: Path) -> float:
    """Return the seconds since a file was written; without end if it is not there, or was in the future."""
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return _LONG_AGO
    return age if age >= 0 else _LONG_AGO


def _at_work(task: TaskRecord) -> bool:
    """Tell whether something could go on in a task: a step, a run, what its user asked for, or nobody knows."""
    if task.begun and task.fault:
        return True
    if task.told.get("state") == "running":
        return True
    if any(isinstance(agent, dict) and agent.get("state") != "gone" for agent in task.told.get("agents", ())):
        return True
    return _asked(layout.task_requests(task.home))


def _asked(requests: str) -> bool:
    """Tell whether a request waits to be heard."""
    try:
        with os.scandir(requests) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return False
    return any(name.endswith(".json") and not name.endswith(REPLY) for name in names)


def _settings() -> Settings:
    """Return what is set; as it is by default if the file does not read, which its start will say."""
    from orchestrator.formats.settings import load_settings

    try:
        return load_settings(Path(layout.config_file(os.environ)), os.environ)
    except (OrchestratorError, OSError):
        return Settings()


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    shown = ", ".join(names[:_NAMED])
    return f"{'is' if len(names) == 1 else 'are'} {shown}{f' and {more} more' if more > 0 else ''}"
