"""`task hosts`: the boxes on which agents work or may, and how each is, as the daemon last found it."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import ago, clock, coloured, columns, harmless, stamp, wrapped
from orchestrator.cli.table import table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

EXAMPLE = "task hosts"
_HEADINGS = ("BOX", "POOL", "WAY", "SINCE", "RUNS", "TASKS", "BROUGHT", "WHY")
_WORDS = ("address", "way", "why", "advice", "offered", "known", "pool")
_MOMENTS = ("since", "pulled_at")
_OR_NONE = ("offered", "known", "pool", "cap")


def arguments(parser: ArgumentParser) -> None:
    """Say what `task hosts` understands."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show the boxes in use and those of pools; those to which there is no way with what to do about it."""
    state = layout.state_folder(os.environ)
    beat = Beat(state)
    boxes = [_shape(each) for each in _told(layout.boxes_told(state))]
    if options.json:
        stamped = [
            each
            | {name: stamp(each[name]) for name in _MOMENTS}
            | {key: each[key] or None for key in _OR_NONE}
            | {"failing": [one | {"since": stamp(one["since"])} for one in each["failing"]]}
            for each in boxes
        ]
        print(_plain(json.dumps({"boxes": stamped, "daemon": beat.shape()})))
        return Exit.DONE
    if not boxes:
        print("no box is in use; `cwd: user@host:/path` in a task.md has dev and architect work on one")
        return Exit.DONE
    now, width = time.time(), columns()
    pooled = any(each["pool"] for each in boxes)
    headings = [each for each in _HEADINGS if pooled or each != "POOL"]
    rows = [_row(each, now, pooled=pooled) for each in boxes]
    print("\n".join(table(headings, rows, width, colour=coloured(sys.stdout), spare=True)))
    for each in boxes:
        if lines := [*_to_do(each, width), *_not_here(each, width, now)]:
            print("\n".join(["", *lines]))
    if not beat.up:
        print(f"\n{beat.words()}")
    return Exit.DONE


def _told(path: str) -> list[dict[str, Any]]:
    """Return what the daemon wrote of each box.

    Raises:
        CommandError: it does not read.

    """
    try:
        told = layout.own_json(path)
        boxes = told["boxes"]
        if all(isinstance(each, dict) for each in boxes):
            return list(boxes)
    except FileNotFoundError:
        return []
    except layout.Untrusted as error:
        raise CommandError(Exit.FAILED, error.reason) from error
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CommandError(Exit.FAILED, f"{path} does not read: take it away, the daemon writes it anew")


def _shape(told: dict[str, Any]) -> dict[str, Any]:
    """Return what the document says of a box; `since` and `pulled_at` in seconds since the epoch."""
    tasks = told.get("tasks")
    runs, cap, missing = told.get("runs"), told.get("cap"), told.get("missing")
    return {
        **{name: str(told.get(name) or "") for name in _WORDS},
        **{name: _moment(told.get(name)) for name in _MOMENTS},
        "failing": [_failing(each) for each in _listed(told.get("failing"))],
        "missing": missing if isinstance(missing, int) else 0,
        "floods": told.get("floods") is True,
        "runs": runs if isinstance(runs, int) else 0,
        "cap": cap if isinstance(cap, int) else 0,
        "tasks": [str(task) for task in tasks] if isinstance(tasks, list) else [],
    }


def _listed(told: object) -> list[dict[str, Any]]:
    return [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []


def _failing(told: dict[str, Any]) -> dict[str, Any]:
    """Return what cannot be brought of a task; `since` in seconds since the epoch."""
    words = {name: str(told.get(name) or "") for name in ("task", "what", "why")}
    return {**words, "since": _moment(told.get("since"))}


def _moment(told: object) -> float | None:
    # What has a date at all: the calendar of the C library ends far out.
    return float(told) if isinstance(told, (int, float)) and 0 < told < 1e11 else None  # noqa: PLR2004


def _row(box: dict[str, Any], now: float, *, pooled: bool) -> tuple[object, ...]:
    return (
        box["address"],
        *([box["pool"]] if pooled else []),
        box["way"],
        ago(box["since"], now),
        _runs(box["runs"], box["cap"]),
        ", ".join(box["tasks"]),
        ago(box["pulled_at"], now),
        "files do not come: see below"
        if box["failing"] and box["way"] == "reachable"
        else box["why"] or _idle(box),
    )


def _idle(box: dict[str, Any]) -> str:
    """Return why nothing is known of the way to a box."""
    return "no agents there" if box["way"] == "untried" and not box["runs"] else ""


def _runs(runs: int, cap: int) -> str:
    """Return how many runs are on a box, and of how many that may be; those beyond it wait here."""
    if not cap:
        return str(runs or "")
    return f"{min(runs, cap)} of {cap}" + (f", {runs - cap} waiting" if runs > cap else "")


def _to_do(box: dict[str, Any], width: int) -> list[str]:
    """Return what somebody should know who wants to mend the way to a box; nothing where there is one."""
    if box["floods"]:
        told = f"{harmless(box['address'])} tells of more changes than are looked at"
        why = (
            "see there who writes so many files into the tasks' folders; reports may come some seconds later"
        )
        return [told, *wrapped(why, width, "  ")]
    if box["way"] not in {"refused", "unreachable"}:
        return []
    lines = [f"{harmless(box['address'])}: {harmless(box['why'])}"]
    if box["offered"]:
        lines.append(f"  it shows  {harmless(box['offered'])}")
    if box["known"]:
        lines.append(f"  you know  {harmless(box['known'])}")
    advice = box["advice"] or "it is tried again by itself; its agents work on, and nothing of theirs is lost"
    return [*lines, *wrapped(advice, width, "  ")]


def _not_here(box: dict[str, Any], width: int, now: float) -> list[str]:
    """Return what of tasks does not come from a box that answers, since when, why, and what is to be done."""
    name, lines = harmless(box["address"]), []
    for each in box["failing"]:
        since = clock(each["since"], now)
        text = f"{name}: {each['what']} of {each['task']} do not come since {since}: {each['why']}"
        lines += wrapped(text, width, "")
    if box["failing"]:
        again = f"it is tried again by itself, and at once by: task checkin {box['failing'][0]['task']}"
        lines += wrapped(again, width, "  ")
    if box["missing"]:
        ended = "1 run that ended there" if box["missing"] == 1 else f"{box['missing']} runs that ended there"
        lines += wrapped(f"{name}: not all that {ended} left is here yet", width, "")
    return lines


def _plain(text: str) -> str:
    """Return the document so that a terminal that shows it does nothing: JSON leaves some characters as they are."""
    if text.isascii() and text.isprintable():
        return text
    from orchestrator.formats.text import neutral_json

    return neutral_json(text)
