"""`task daemon install` and `uninstall`: puts the daemon under this system's service manager, or removes it there."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.daemon_startup import started_by, stop
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.service import Service, perform, service_here
from orchestrator.cli.unit import left_out
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.disk import DiskFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.cli.unit import Words


def install(state: str) -> None:
    """Write the unit and start it. Repeating it does no harm.

    Raises:
        CommandError: there is no service manager here, a file that is not ours is in the way, or the daemon did
            not start under it.

    """
    service = _service()
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    before, text = service.text, service.rendered(state, os.environ)
    own_files.make_state_folder(state)
    Path(layout.daemon_log(state)).touch(0o600)
    if before == text:
        print(f"{service.unit} is up to date")
    else:
        disk = DiskFiles()
        disk.make_folder(service.unit.parent)
        disk.write(service.unit, text.encode())
        print(f"{'wrote' if before is None else 'rewrote'} {service.unit}")
    if names := left_out(os.environ, settings.environment.passed):
        print(f"not written into it, though agents get it: {', '.join(names)} (see docs/how-to/systemd.md)")
    if not service.reachable:
        print(f"{service.manager} does not answer here; once it does, type:")
        _show(service.load if before is None else service.load_anew)
        return
    _hand_over(service, state)
    pid = started_by(service, service.load if before in {None, text} else service.load_anew, state)
    print(f"{service.manager} runs the daemon, pid {pid}")
    if not service.survives_logout():
        print("when you log out, it ends with its agents; after a reboot it starts only when you log in")
        print("to change that: loginctl enable-linger")


def uninstall(state: str) -> None:
    """Remove the unit, and stop the daemon that runs under it. Raises CommandError as `install`."""
    service = _service()
    if service.text is None:
        print(f"nothing to remove: {service.unit} does not exist")
        return
    beat = Beat(state)
    if not service.reachable:
        _remove(service)
        print(f"{service.manager} does not answer here; once it does, type:")
        _show(service.forget)
        return
    its = beat.up and service.main_pid() == beat.pid
    done = perform(service.unload)
    if done.code:
        print(f"{service.manager} said: {done.said}")
    _remove(service)
    perform(service.forget)
    if its:
        Path(layout.daemon_stopped(state)).touch(0o600)
        print(f"its daemon (pid {beat.pid}) was stopped; running agents go on, and the next start finds them")
        print("to start it without a service manager: task daemon start")


def _service() -> Service:
    service = service_here()
    if service is None:
        raise CommandError(
            Exit.FAILED,
            "there is neither systemd nor launchd here: let the program that starts services run `task daemon run`",
        )
    return service


def _hand_over(service: Service, state: str) -> None:
    """Stop a daemon that was started otherwise, so that the service manager's can take the lock."""
    beat = Beat(state)
    if beat.up and service.main_pid() != beat.pid:
        stop(state, beat)
        print(f"the running daemon (pid {beat.pid}) was stopped; running agents go on")


def _remove(service: Service) -> None:
    service.unit.unlink()
    for link in service.links:
        if link.is_symlink() and not link.exists():
            link.unlink()
    print(f"removed {service.unit}")


def _show(commands: Iterable[Words]) -> None:
    for words in commands:
        print(f"  {shlex.join(words)}")
