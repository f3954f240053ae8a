"""`task why`: prints the decisions in the journal as sentences, the newest last."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.journal import newest_first, runs
from orchestrator.cli.screen import harmless, stamp
from orchestrator.cli.tasks import TaskRecord, about_task, chosen
from orchestrator.pm.explain.sentences import explain

EXAMPLE = "task why tidy dev -n 5"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task why`."""
    about_task(parser)
    parser.add_argument(
        "about",
        metavar="STEP|AGENT|QUESTION",
        nargs="?",
        help="only decisions about this; `noticed`: those with a notice",
    )
    parser.add_argument("-n", metavar="N", type=int, default=20, dest="count", help="how many decisions (20)")
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Print the last decisions."""
    task = chosen(options, "about")
    if options.json:
        print(json.dumps(document(task, options.about, options.count)))
        return Exit.DONE
    found = decisions(task, options.about, options.count)
    if not found:
        about = f" about {options.about[:40]!a}" if options.about else ""
        raise CommandError(Exit.FAILED, f"the journal of {task.name} says nothing{about}")
    print("\n".join(lines_of(found)))
    return Exit.DONE


def document(task: TaskRecord, about: str | None, count: int) -> dict[str, Any]:
    """Return the JSON document of the last decisions, by the arguments of `decisions`."""
    return {"decisions": [_shape(at, said) for at, said in decisions(task, about, count)]}


def decisions(task: TaskRecord, about: str | None, count: int) -> list[tuple[float, list[str]]]:
    """Return the last decisions, the newest last: when, and its sentences, with secrets masked.

    Args:
        task: the task.
        about: a step, an agent or a question that they are about, or `noticed`; None: all.
        count: how many at most.

    """
    # Imported late: its patterns take 20 ms to compile, and `completion` imports every verb.
    from orchestrator.formats.redact import redacted

    journal = Path(layout.task_journal(task.home))
    wanted = _words(task, journal, about) if about else None
    found: list[tuple[float, list[str]]] = []
    for line in newest_first(journal):
        if len(found) >= count:
            break
        if (wanted is None or _mentions(line, wanted)) and (sentences := explain(line)):
            found.append((float(line.get("at") or 0.0), [redacted(sentence) for sentence in sentences]))
    found.reverse()
    return found


def lines_of(found: list[tuple[float, list[str]]]) -> list[str]:
    """Return decisions as harmless lines, with a line for each new day."""
    lines, day = list[str](), ""
    for at, sentences in found:
        if day != (day := time.strftime("%Y-%m-%d", time.localtime(at))):
            lines.append(day)
        lines += [harmless(sentence) for sentence in sentences]
    return lines


def _shape(at: float, sentences: list[str]) -> dict[str, Any]:
    """Return a decision for the JSON document, without the time with which its first sentence begins."""
    first, *more = sentences
    return {"at": stamp(at), "sentences": [first.partition(" ")[2], *(each.strip() for each in more)]}


def _words(task: TaskRecord, journal: Path, about: str) -> set[str]:
    """Return the names that mean `about` in the journal: itself, steps that begin with it, and their runs."""
    steps = {
        str(step["id"])
        for step in task.view.get("steps", ())
        if str(step["id"]).startswith(about) or str(step.get("subtask")).startswith(about)
    }
    words = steps | {about}
    named = {run.id for run in runs(journal) if not words.isdisjoint((run.step, run.agent, run.instance))}
    return words | named


def _mentions(value: object, wanted: set[str]) -> bool:
    match value:
        case str():
            return value in wanted
        case dict():
            return any(_mentions(part, wanted) for part in value.values())
        case list():
            return any(_mentions(part, wanted) for part in value)
        case _:
            return False
