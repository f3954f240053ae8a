"""`task notify`: tries the channels, and shows what was told, what waits and what failed."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from orchestrator import places
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.inside import forbid_inside_run
from orchestrator.cli.screen import clock, coloured, columns, harmless, stamp
from orchestrator.cli.table import table
from orchestrator.formats.settings import load_settings
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.news import Channel, News, Rule
from orchestrator.model.settings import Settings
from orchestrator.ports.teller import Answer
from orchestrator.tellers import policy
from orchestrator.tellers.children import ChildTeller
from orchestrator.tellers.letter import Letter, Receipt
from orchestrator.tellers.spool import FAILED, TOLD, Spool
from orchestrator.tellers.wording import message

EXAMPLE = "task notify test --channel phone\n  task notify list"
_SHOWN = 20
_HOW = """\
Channels are set in the settings file (`task config` names it): any address that
apprise knows, and tmux://, which shows a line to whoever is attached.

  [notify]
  channels = ["tmux://", "ntfy://my-topic name=phone rules=question,daemon"]
  quiet = "22:00-07:00"\
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what `task notify` understands."""
    parser.description = f"{parser.description}\n\n{_HOW}"
    parser.add_argument(
        "action",
        choices=("test", "list"),
        help="test: send a message over each channel now, and say what became of it; exit 1 if one failed. "
        "list: what waits, and until when; what failed; what was told",
    )
    parser.add_argument("--channel", metavar="NAME", help="test: only this one")
    parser.add_argument(
        "--all", action="store_true", help=f"list: all that is kept, not only the last {_SHOWN}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Try the channels, or show the news."""
    settings = load_settings(Path(places.config_file(os.environ)), os.environ)
    if options.action == "test":
        forbid_inside_run("notify test")
        return _test(settings, _meant(settings, options.channel), as_json=options.json)
    _list(settings, shown=None if options.all else _SHOWN, as_json=options.json)
    return Exit.DONE


def _meant(settings: Settings, name: str | None) -> list[Channel]:
    channels = list(settings.notify.channels)
    if not channels:
        path = places.config_file(os.environ)
        raise CommandError(Exit.USAGE, f"no channel is set: say where you want to be told in {path}\n{_HOW}")
    if name is None:
        return channels
    found = [channel for channel in channels if channel.name == name]
    if not found:
        known = ", ".join(channel.name for channel in channels)
        raise CommandError(Exit.USAGE, f"there is no channel {name[:40]!a}: there are {known}")
    return found


def _test(settings: Settings, channels: list[Channel], *, as_json: bool) -> int:
    """Send past the spool and its limits: who asks wants to know now."""
    at = time.time()
    news = News("test", Rule.DAEMON, "agent-orchestrator: a test", "You will be told here.", at)
    teller = ChildTeller(settings.notify.deadline, settings.tmux.socket, os.environ)
    outcomes = teller.send([message(channel, [news], at) for channel in channels])
    pairs = list(zip(channels, outcomes, strict=True))
    if as_json:
        shape = [
            {"name": channel.name, "scheme": channel.scheme, "answer": said.answer, "reason": said.reason}
            for channel, said in pairs
        ]
        print(json.dumps({"channels": shape}))
    else:
        words = {Answer.TOLD: "sent", Answer.REFUSED: "not sent", Answer.UNKNOWN: "not known"}
        for channel, said in pairs:
            why = f": {harmless(said.reason)}" if said.reason else ""
            print(f"{channel.name} ({channel.scheme}://…): {words[said.answer]}{why}")
    return Exit.DONE if all(said.answer is Answer.TOLD for said in outcomes) else Exit.FAILED


def _list(settings: Settings, *, shown: int | None, as_json: bool) -> None:
    state = Path(places.state_folder(os.environ))
    spool = Spool(DiskFiles(state), places.news(state))
    at = time.time()
    waiting = spool.look()
    told, failed = spool.over(TOLD), spool.over(FAILED)
    tried: dict[str, tuple[float, ...]] = {}
    for letter in (*waiting, *told, *failed):
        for channel, receipt in letter.receipts.items():
            tried[channel] = tuple({*tried.get(channel, ()), *receipt.tries})
    waits = policy.plan(settings.notify, waiting, policy.lately(tried, at), at).waits
    found = [
        *((letter, "waits") for letter in waiting),
        *((letter, "failed") for letter in failed),
        *((letter, "told") for letter in told),
    ]
    found.sort(key=lambda each: each[0].news.at, reverse=True)
    if as_json:
        print(json.dumps({"news": [_shape(letter, state, waits) for letter, state in found]}))
        return
    if not found:
        print("there was nothing to tell yet")
        return
    rows = [
        (
            clock(letter.news.at, at),
            letter.news.rule,
            state,
            letter.news.title,
            "; ".join(_hows(letter, waits, at)),
        )
        for letter, state in found[:shown]
    ]
    headings = ("WHEN", "RULE", "STATE", "WHAT", "HOW")
    print("\n".join(table(headings, rows, columns(), colour=coloured(sys.stdout))))
    if shown is not None and len(found) > shown:
        print(f"and {len(found) - shown} older: `task notify list --all`")


def _hows(letter: Letter, waits: dict[tuple[str, str], policy.Wait], at: float) -> list[str]:
    """Return how far each channel is with a letter, in words."""
    said = [f"{channel}: {_how(receipt, at)}" for channel, receipt in letter.receipts.items()]
    said += [
        f"{channel}: until {clock(wait.until, at)}" + (f" ({wait.why})" if wait.why else "")
        for (news, channel), wait in waits.items()
        if news == letter.news.id and wait.until > at
    ]
    return said or [letter.why or "waits for the daemon"]


def _how(receipt: Receipt, at: float) -> str:
    when = f" {clock(receipt.tries[-1], at)}" if receipt.tries else ""
    return f"{receipt.standing}{when}" + (f" ({receipt.reason})" if receipt.reason else "")


def _shape(letter: Letter, state: str, waits: dict[tuple[str, str], policy.Wait]) -> dict[str, object]:
    news = letter.news
    return {
        "id": news.id,
        "at": stamp(news.at),
        "rule": news.rule,
        "state": state,
        "title": news.title,
        "text": news.text,
        "task_id": news.task or None,
        "question": news.question or None,
        "why": letter.why,
        "channels": [
            {
                "name": channel,
                "standing": receipt.standing,
                "tries": receipt.count,
                "last_try": stamp(receipt.tries[-1]) if receipt.tries else None,
                "reason": receipt.reason,
            }
            for channel, receipt in letter.receipts.items()
        ],
        "waits": [
            {"channel": channel, "until": stamp(wait.until), "why": wait.why}
            for (waiting, channel), wait in waits.items()
            if waiting == news.id
        ],
    }
