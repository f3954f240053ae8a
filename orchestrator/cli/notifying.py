"""`task notify`: tries the channels, and shows which notifications were sent, wait, or failed."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.notify import HOW, SHOWN
from orchestrator.cli.screen import clock, coloured, columns, harmless, stamp
from orchestrator.cli.table import table
from orchestrator.cli.tasks import tasks
from orchestrator.formats.settings import load_section
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.notification import Channel, Notification, NotificationRule
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.notifications import policy
from orchestrator.notifications.default_channels import at_hand
from orchestrator.notifications.envelope import Envelope, Receipt
from orchestrator.notifications.spool import DELIVERED, FAILED, Spool
from orchestrator.ports.sender import SendResult


def run(options: Namespace) -> int:
    """Try the channels, or list the notifications."""
    notify = at_hand(_section("notify"), os.environ)
    if options.action == "test":
        from orchestrator.cli.caller import forbid_inside_run

        forbid_inside_run("notify test")
        return _test(notify.timeout, _meant(notify, options.channel), as_json=options.json)
    _list(notify, shown=None if options.all else SHOWN, as_json=options.json)
    return Exit.DONE


def _section(name: str) -> Any:  # noqa: ANN401 (as `load_section`)
    return load_section(Path(layout.config_file(os.environ)), os.environ, name)


def _meant(settings: NotifySettings, name: str | None) -> list[Channel]:
    channels = list(settings.channels)
    if not channels:
        path = layout.config_file(os.environ)
        why = "no channel is set: notify.channels is [], which turns notifications off"
        raise CommandError(Exit.USAGE, f"{why}; to get them, change it in {path}\n{HOW}")
    if name is None:
        return channels
    found = [channel for channel in channels if channel.name == name]
    if not found:
        known = ", ".join(channel.name for channel in channels)
        raise CommandError(Exit.USAGE, f"there is no channel {name[:40]!a}; known channels: {known}")
    return found


def _test(deadline: float, channels: list[Channel], *, as_json: bool) -> int:
    """Send past the spool and its limits: the user wants the result now."""
    from orchestrator.notifications.subprocess_sender import SubprocessSender
    from orchestrator.notifications.wording import message

    at = time.time()
    notification = Notification(
        "test",
        NotificationRule.DAEMON,
        "agent-orchestrator: a test",
        "Notifications will appear here.",
        at,
    )
    sender = SubprocessSender(deadline, _section("tmux").socket, os.environ)
    outcomes = sender.send([message(channel, [notification], at) for channel in channels])
    pairs = list(zip(channels, outcomes, strict=True))
    if as_json:
        shape = [
            {"name": channel.name, "scheme": channel.scheme, "result": said.result, "reason": said.reason}
            for channel, said in pairs
        ]
        print(json.dumps({"channels": shape}))
    else:
        words = {
            SendResult.DELIVERED: "sent",
            SendResult.REFUSED: "not sent",
            SendResult.UNKNOWN: "not known",
        }
        for channel, said in pairs:
            why = f": {harmless(said.reason)}" if said.reason else ""
            print(f"{channel.name} ({channel.scheme}://…): {words[said.result]}{why}")
    return Exit.DONE if all(said.result is SendResult.DELIVERED for said in outcomes) else Exit.FAILED


def _list(settings: NotifySettings, *, shown: int | None, as_json: bool) -> None:
    state = Path(layout.state_folder(os.environ))
    spool = Spool(DiskFiles(state), layout.notifications(state))
    at = time.time()
    waiting = spool.look()
    sent, failed = spool.over(DELIVERED), spool.over(FAILED)
    tried: dict[str, tuple[float, ...]] = {}
    for envelope in (*waiting, *sent, *failed):
        for channel, receipt in envelope.receipts.items():
            tried[channel] = tuple({*tried.get(channel, ()), *receipt.tries})
    waits = policy.plan(settings, waiting, policy.lately(tried, at), at).waits
    found = [
        *((envelope, "waiting") for envelope in waiting),
        *((envelope, policy.result_of(envelope)) for envelope in (*failed, *sent)),
    ]
    found.sort(key=lambda each: each[0].notification.at, reverse=True)
    if as_json:
        print(json.dumps({"notifications": [_shape(envelope, state, waits) for envelope, state in found]}))
        return
    if not found:
        print("there were no notifications yet")
        return
    rows = [
        (
            clock(envelope.notification.at, at),
            envelope.notification.rule,
            state.replace("_", " "),
            _title(envelope.notification),
            "; ".join(_hows(envelope, waits, at)),
        )
        for envelope, state in found[:shown]
    ]
    headings = ("WHEN", "RULE", "STATE", "WHAT", "HOW")
    print("\n".join(table(headings, rows, columns(), colour=coloured(sys.stdout))))
    if shown is not None and len(found) > shown:
        print(f"and {len(found) - shown} older: `task notify list --all`")


def _title(notification: Notification) -> str:
    """Return a title that tells tasks of one name apart: it begins with the name, which another project may have."""
    name = notification.task[: -len("-00000000")]
    if (
        not (name and notification.title.startswith(name))
        or len(tasks(layout.state_folder(os.environ), name)) <= 1
    ):
        return notification.title
    return notification.task + notification.title.removeprefix(name)


def _hows(envelope: Envelope, waits: dict[tuple[str, str], policy.Wait], at: float) -> list[str]:
    """Return in words how far each channel is with a notification."""
    said = [f"{channel}: {_how(receipt, at)}" for channel, receipt in envelope.receipts.items()]
    said += [
        f"{channel}: until {clock(wait.until, at)}" + (f" ({wait.why})" if wait.why else "")
        for (notification, channel), wait in waits.items()
        if notification == envelope.notification.id and wait.until > at
    ]
    return said or [envelope.why or "waits for the daemon"]


def _how(receipt: Receipt, at: float) -> str:
    when = f" {clock(receipt.tries[-1], at)}" if receipt.tries else ""
    return f"{receipt.standing.replace('_', ' ')}{when}" + (f" ({receipt.reason})" if receipt.reason else "")


def _shape(envelope: Envelope, state: str, waits: dict[tuple[str, str], policy.Wait]) -> dict[str, object]:
    notification = envelope.notification
    return {
        "id": notification.id,
        "at": stamp(notification.at),
        "rule": notification.rule,
        "state": state,
        "title": notification.title,
        "text": notification.text,
        "task_id": notification.task or None,
        "question": notification.question or None,
        "why": envelope.why,
        "channels": [
            {
                "name": channel,
                "state": receipt.standing,
                "tries": receipt.count,
                "last_try": stamp(receipt.tries[-1]) if receipt.tries else None,
                "reason": receipt.reason,
            }
            for channel, receipt in envelope.receipts.items()
        ],
        "waiting_for": [
            {"channel": channel, "until": stamp(wait.until), "why": wait.why}
            for (waiting, channel), wait in waits.items()
            if waiting == notification.id
        ],
    }
