"""`task hosts`: lists where agents work: boxes as the daemon last found them, containers and clusters as of now."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout, own_files
from orchestrator.cli.beat import Beat
from orchestrator.cli.engine_hosts import HEADINGS, engine_hosts, rows
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import ago, coloured, columns, harmless, stamp, typed, wrapped
from orchestrator.cli.status_facts import unfetched
from orchestrator.cli.table import table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

EXAMPLE = "task hosts"
_HEADINGS = ("BOX", "POOL", "STATE", "SINCE", "RUNS", "TASKS", "FETCHED", "WHY")
_WORDS = {name: name for name in ("address", "why", "advice", "offered", "known", "pool")} | {"state": "way"}
"""Fields, with what the daemon's file calls each."""

_MOMENTS = ("since", "pulled_at")
_OR_NONE = ("offered", "known", "pool", "cap")


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task hosts`."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show the boxes in use and those of pools, for unreachable ones also what to do; and containers and clusters."""
    state = layout.state_folder(os.environ)
    beat = Beat(state)
    boxes = [_shape(each) for each in _written_boxes(layout.boxes_status(state))]
    engines = engine_hosts(state)
    if options.json:
        print(_plain(json.dumps(_document(boxes, engines, beat))))
        return Exit.DONE
    if not boxes and not engines:
        print("no box is in use; to let dev and architect work on one: `cwd: user@host:/path` in task.md")
        return Exit.DONE
    width, colour = columns(), coloured(sys.stdout)
    shown = [_shown(boxes, width, colour=colour)] if boxes else []
    if engines:
        shown.append("\n".join(table(HEADINGS, rows(engines), width, colour=colour, spare=True)))
    print("\n\n".join(shown))
    if beat.late or not beat.up:
        print(f"\n{beat.words()}")
    return Exit.DONE


def _document(boxes: list[dict[str, Any]], engines: list[dict[str, Any]], beat: Beat) -> dict[str, Any]:
    stamped = [
        each
        | {name: stamp(each[name]) for name in _MOMENTS}
        | {key: each[key] or None for key in _OR_NONE}
        | {"failing": [one | {"since": stamp(one["since"])} for one in each["failing"]]}
        for each in boxes
    ]
    return {"boxes": stamped, "engines": engines, "daemon": beat.shape()}


def _shown(boxes: list[dict[str, Any]], width: int, *, colour: bool) -> str:
    """Return the table of boxes, with what to do about those that need it."""
    now = time.time()
    pooled = any(each["pool"] for each in boxes)
    headings = [each for each in _HEADINGS if pooled or each != "POOL"]
    lines = table(
        headings, [_row(each, now, pooled=pooled) for each in boxes], width, colour=colour, spare=True
    )
    for each in boxes:
        if more := [*_advice(each, width), *_unfetched(each, width, now)]:
            lines += ["", *more]
    return "\n".join(lines)


def _written_boxes(path: str) -> list[dict[str, Any]]:
    """Return what the daemon recorded about each box.

    Raises:
        CommandError: the file cannot be read.

    """
    try:
        document = own_files.own_json(path)
        boxes = document["boxes"]
        if all(isinstance(each, dict) for each in boxes):
            return list(boxes)
    except FileNotFoundError:
        return []
    except own_files.Untrusted as error:
        raise CommandError(Exit.FAILED, error.reason) from error
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise CommandError(Exit.FAILED, f"{path} cannot be read: delete it, the daemon writes it again")


def _shape(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a box's entry with checked types; `since` and `pulled_at` are seconds since the epoch."""
    tasks = entry.get("tasks")
    runs, cap, missing = entry.get("runs"), entry.get("cap"), entry.get("missing")
    return {
        **{name: str(entry.get(written) or "") for name, written in _WORDS.items()},
        **{name: _moment(entry.get(name)) for name in _MOMENTS},
        "failing": [_failing(each) for each in _listed(entry.get("failing"))],
        "missing": missing if isinstance(missing, int) else 0,
        "overflowing": entry.get("floods") is True,
        "runs": runs if isinstance(runs, int) else 0,
        "cap": cap if isinstance(cap, int) else 0,
        "tasks": [str(task) for task in tasks] if isinstance(tasks, list) else [],
    }


def _listed(entry: object) -> list[dict[str, Any]]:
    return [each for each in entry if isinstance(each, dict)] if isinstance(entry, list) else []


def _failing(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what cannot be fetched of a task; `since` in seconds since the epoch."""
    words = {name: str(entry.get(name) or "") for name in ("task", "task_id", "what", "why")}
    return {**words, "since": _moment(entry.get("since"))}


def _moment(entry: object) -> float | None:
    # The C library's calendar ends far out: a larger number has no date.
    return float(entry) if isinstance(entry, (int, float)) and 0 < entry < 1e11 else None  # noqa: PLR2004


def _row(box: dict[str, Any], now: float, *, pooled: bool) -> tuple[object, ...]:
    return (
        box["address"],
        *([box["pool"]] if pooled else []),
        box["state"],
        ago(box["since"], now),
        _runs(box["runs"], box["cap"]),
        ", ".join(box["tasks"]),
        ago(box["pulled_at"], now),
        "files cannot be fetched: see below"
        if box["failing"] and box["state"] == "reachable"
        else box["why"] or _idle(box),
    )


def _idle(box: dict[str, Any]) -> str:
    """Return why the connection to a box is unknown."""
    return "no agents there" if box["state"] == "untried" and not box["runs"] else ""


def _runs(runs: int, cap: int) -> str:
    """Return how many runs are on a box, of how many allowed; runs beyond that wait here."""
    if not cap:
        return str(runs or "")
    return f"{min(runs, cap)} of {cap}" + (f", {runs - cap} waiting" if runs > cap else "")


def _advice(box: dict[str, Any], width: int) -> list[str]:
    """Return how to repair the connection to a box; empty if it works."""
    if box["overflowing"]:
        said = f"{harmless(box['address'])} reports more file changes than the daemon reads"
        why = "find out there which program writes so many files into the tasks' folders; reports may be seconds late"
        return [said, *wrapped(why, width, "  ")]
    if box["state"] not in {"refused", "unreachable"}:
        return []
    lines = [f"{harmless(box['address'])}: {harmless(box['why'])}"]
    if box["offered"]:
        lines.append(f"  its key    {harmless(box['offered'])}")
    if box["known"]:
        lines.append(f"  known key  {harmless(box['known'])}")
    advice = box["advice"] or _meanwhile(box)
    return [*lines, *wrapped(advice, width, "  ")]


def _meanwhile(box: dict[str, Any]) -> str:
    """Return what happens while a box does not answer: without agents nobody needs it."""
    if box["runs"] or box["missing"] or box["tasks"]:
        return "retried automatically; a lost connection ends no agent there, and what they write is fetched afterwards"
    return "no agent is there: it is tried again when one is to work there"


def _unfetched(box: dict[str, Any], width: int, now: float) -> list[str]:
    """Return what cannot be fetched from a box that answers: since when, why, and what to do."""
    name, lines = harmless(box["address"]), []
    for said in unfetched(
        [each | {"what": f"{each['what']} of {each['task']}"} for each in box["failing"]], now
    ):
        lines += wrapped(f"{name}: {said}", width, "")
    if box["failing"]:
        first = box["failing"][0]
        again = f"retried automatically; to retry now: {typed('task', 'checkin', first['task_id'] or first['task'])}"
        lines += wrapped(again, width, "  ")
    if box["missing"]:
        ended = "1 run that ended there" if box["missing"] == 1 else f"{box['missing']} runs that ended there"
        lines += wrapped(f"{name}: the files of {ended} are not completely fetched yet", width, "")
    return lines


def _plain(text: str) -> str:
    """Return the document without characters that a terminal obeys: JSON leaves some of them unescaped."""
    if text.isascii() and text.isprintable():
        return text
    from orchestrator.formats.text import neutral_json

    return neutral_json(text)
