"""Type one line to a run, at most once: claimed before it is begun, and never repeated blindly (law 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout
from orchestrator.daemon.actions.look import SCREEN_LINES
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.model.facts import Nudged
from orchestrator.model.run import Delivery
from orchestrator.runtimes.screens import dialog_on

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.actions import Nudge
    from orchestrator.ports.files import Files
    from orchestrator.ports.host import Host


def nudge(files: Files, host: Host, home: Path, action: Nudge, at: float) -> Nudged:
    """Type a nudge, unless a dialog may be up. No program gives a receipt for it: typed means *unknown*.

    Raises:
        OSError: the claim could not be written; nothing was typed.

    """
    claim = layout.run_home(home, action.run) / f"nudge-{action.id}"
    if not files.create(claim, b""):
        return _outcome(
            action, at, Delivery.UNKNOWN, "it was begun before, and it is not known how far it came"
        )
    try:
        pane = next((pane.id for pane in host.panes() if pane.run == action.run and not pane.dead), "")
        if not pane:
            return _outcome(action, at, Delivery.NOT_DELIVERED, "its pane is gone")
        if dialog := dialog_on(host.capture(pane, SCREEN_LINES)):
            return _outcome(action, at, Delivery.NOT_DELIVERED, f"a dialog is up: {dialog}")
        typed = host.type_line(pane, action.run, action.text)
    except Refused as error:
        return _outcome(action, at, Delivery.NOT_DELIVERED, str(error))
    except OrchestratorError as error:
        return _outcome(action, at, Delivery.UNKNOWN, str(error))
    if typed:
        return _outcome(action, at, Delivery.UNKNOWN, "typed; it is not known whether it was read")
    return _outcome(action, at, Delivery.NOT_DELIVERED, "its pane takes no keys")


def _outcome(action: Nudge, at: float, delivery: Delivery, reason: str) -> Nudged:
    return Nudged(at, action.id, action.run, action.id, delivery, reason)
