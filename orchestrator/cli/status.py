"""`task status`: where a task stands, read from its files, whether the daemon is up or not."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import OF_TASK, SAID, Exit
from orchestrator.cli.screen import ago, clock, coloured, columns, cut, harmless, paint, stamp, typed, wrapped
from orchestrator.cli.table import COLOURS, table
from orchestrator.cli.tasks import about_task, called, chosen

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from typing import Any

EXAMPLE = "task status tidy"
_MOMENTS = ("started_at", "last_checkin", "updated")
_OF_AGENTS = ("since", "turn_since")


def arguments(parser: ArgumentParser) -> None:
    """Say what `task status` understands."""
    about_task(parser)
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")
    parser.add_argument("--exit-code", action="store_true", help="exit by its state (`task help exit-codes`)")


def run(options: Namespace) -> int:
    """Show one task."""
    task = chosen(options)
    told = task.believed()
    beat = Beat(layout.state_folder(os.environ))
    if options.json:
        print(json.dumps(shape(told, beat)))
    else:
        colour = coloured(sys.stdout)
        print("\n".join(page(told, called(task), beat, columns(), time.time(), colour=colour)))
    return OF_TASK.get(told["state"], Exit.FAILED) if options.exit_code else Exit.DONE


def shape(told: dict[str, Any], beat: Beat) -> dict[str, Any]:
    """Return the JSON document of a task: what the daemon told, moments as RFC 3339, and the daemon."""
    return {
        **told,
        **{key: stamp(told.get(key)) for key in _MOMENTS},
        "limited": _limit_shape(told.get("limited")),
        "outcome": _outcome_shape(told.get("outcome") or {}),
        "steps": [
            {
                **step,
                "since": stamp(step.get("since")),
                "began": stamp(step.get("began")),
                "limit": _limit_shape(step.get("limit")),
            }
            for step in told["steps"]
        ],
        "agents": [
            {**agent, **{key: stamp(agent.get(key)) for key in _OF_AGENTS}} for agent in told["agents"]
        ],
        "boxes": [_box_shape(box) for box in told.get("boxes") or ()],
        "questions": [question_shape(question) for question in told["questions"]],
        "daemon": beat.shape(told.get("updated")),
    }


def _box_shape(box: dict[str, Any]) -> dict[str, Any]:
    return {
        **box,
        "failing": [{**each, "since": stamp(each.get("since"))} for each in box.get("failing") or ()],
        "missing": [{**each, "ended": stamp(each.get("ended"))} for each in box.get("missing") or ()],
    }


def question_shape(question: dict[str, Any]) -> dict[str, Any]:
    """Return one open question as the JSON documents give it."""
    moments = {key: stamp(question.get(key)) for key in ("asked_at", "deadline")}
    return {**question, **moments}


def page(told: dict[str, Any], name: str, beat: Beat, width: int, now: float, *, colour: bool) -> list[str]:
    """Return the lines that tell a person where a task stands; they reach it by `name` from where they are."""
    return [
        *_head(told, name, beat, width, now, colour=colour),
        *_steps(told, name, width, now, colour=colour),
        *_agents(told["agents"], width, now, colour=colour),
        *_rest(told, name, width, now),
    ]


def outcome(
    told: dict[str, Any], name: str, beat: Beat, width: int, now: float, *, colour: bool
) -> list[str]:
    """Return the lines that tell a person how a task ended, and what is asked: its steps were shown before."""
    return [
        *_head(told, name, beat, width, now, colour=colour),
        *question_lines(told["questions"], name, width, now),
    ]


def question_lines(questions: list[dict[str, Any]], task: str, width: int, now: float) -> list[str]:
    """Return the lines that tell a person what is asked, and the command that answers it."""
    lines = []
    for question in questions:
        name, options = harmless(question.get("id")), question.get("options") or ()
        lines += ["", f"question {name}, asked {ago(question.get('asked_at'), now)}"]
        lines += wrapped(str(question.get("text")), width, "  ")
        lines += [line for n, text in enumerate(options, 1) for line in wrapped(f"{n}) {text}", width, "  ")]
        if question.get("holds"):
            lines += wrapped(f"waits for it: {', '.join(question['holds'])}", width, "  ")
        if question.get("deadline"):
            default, when = question.get("default"), clock(question["deadline"], now)
            lines += wrapped(f"if nobody answers by {when}: {default}", width, "  ")
        lines.append(f"  answer it: task answer {task} {name} {'NUMBER' if options else 'TEXT'}")
    return lines


def _head(
    told: dict[str, Any], called_here: str, beat: Beat, width: int, now: float, *, colour: bool
) -> list[str]:
    limit = told.get("limited")
    name, state = (
        harmless(told["task"]),
        "limited" if limit else harmless(SAID.get(told["state"], told["state"])),
    )
    daemon = beat.words(told.get("updated"))
    active = told["state"] in {"running", "waiting"}
    phase = f"  {harmless(told['phase'])}" if active else ""
    if colour:
        name, state = paint(name, "bold"), paint(state, COLOURS.get(state, "bold"))
        daemon = daemon if beat.up else paint(daemon, "red")
    return [
        f"{name}  {state}{phase}",
        cut(f"project   {harmless(told['project'])}", width),
        *_result(told, called_here, width, now, active=active),
        *(_limit_lines(limit, width, now) if limit else []),
        *_edited(told, width),
        *([] if active else _folder_gone(told, width)),
        *_boxes(told, called_here, width, now),
        f"check-in  {ago(told.get('last_checkin'), now)}; {daemon}",
        *_used_lines(_used(told.get("usage") or {}, now), width),
    ]


def _folder_gone(told: dict[str, Any], width: int) -> list[str]:
    """Say that the folder of a task that rests is not there any more: of one at work the daemon says it."""
    folder = layout.task_folder(f"{told['project']}", told["task"])
    if os.path.lexists(folder):
        return []
    said = f"{harmless(folder)} is not there any more, with its handoffs and artifacts"
    first, *more = wrapped(said, width, " " * 10) or [""]
    return [f"folder    {first.strip()}", *more]


def _boxes(told: dict[str, Any], name: str, width: int, now: float) -> Iterator[str]:
    """Yield what does not come from boxes, since when, why and what to do; and which runs' files are not all here."""
    for box in told.get("boxes") or ():
        address, parts = box.get("address"), list[str]()
        if box.get("lost"):
            parts.append(str(box["lost"]))
        for each in box.get("failing") or ():
            parts.append(
                f"{address}: {each.get('what')} do not come since {clock(each.get('since'), now)}: {each.get('why')}"
            )
        if parts:
            parts[-1] += f" (tried again by itself; at once by: task checkin {name})"
        for each in box.get("missing") or ():
            ended = clock(each.get("ended"), now)
            parts.append(
                f"{address}: not all artifacts and the log of {each.get('instance')}, which ended at {ended}, are here"
            )
        for part in parts:
            first, *more = wrapped(harmless(part), width, " " * 10) or [""]
            yield from (f"box       {first.strip()}", *more)


def _edited(told: dict[str, Any], width: int) -> list[str]:
    """Return what of task.md does not count yet, and the command by which it will."""
    keys = ", ".join(str(each.get("key")) for each in told.get("edited") or ())
    if not keys:
        return []
    command = typed("task", "start", told["task"], "--project", told["project"])
    said = f"{keys} changed since the start; to have it taken over: {command}"
    first, *more = wrapped(said, width, " " * 10) or [""]
    return [f"task.md   {first.strip()}", *more]


def _outcome_shape(outcome: dict[str, Any]) -> dict[str, Any]:
    return {**outcome, "branch_seen": stamp(outcome.get("branch_seen"))} if outcome else {}


def _result(told: dict[str, Any], name: str, width: int, now: float, *, active: bool) -> list[str]:
    """Return the result in lines: while a task is at work, what it has come to so far."""
    outcome = told.get("outcome") or {}
    seen = outcome.get("branch_seen")
    shown = ("asked", "outcome", "work") if active else ("asked", "outcome", "work", "not_done", "next")
    lines = []
    for key in shown:
        if said := str(outcome.get(key) or ""):
            said += f" (the branch as of {clock(seen, now)})" if key == "work" and seen else ""
            said = _reaching(said, told, name) if key == "next" else said
            first, *more = wrapped(said.replace("`", ""), width, " " * 10) or [""]
            lines += [f"{key.replace('_', ' '):10}{first.strip()}", *more]
    return lines


def _reaching(said: str, told: dict[str, Any], name: str) -> str:
    """Return commands with the word by which the task is reached from here: the daemon knows nobody's folder."""
    words = said.split(" ")
    meant = {told["task"], told.get("id")}
    for place, word in enumerate(words[2:], 2):
        if (
            word.rstrip("`") in meant
            and words[place - 2].lstrip("`") == "task"
            and words[place - 1] != "start"
        ):
            words[place] = name + "`" * word.endswith("`")
    return " ".join(words)


def _limit_shape(limit: dict[str, Any] | None) -> dict[str, Any] | None:
    if limit is None:
        return None
    from orchestrator.cli.usage_limits import limit_shape

    return limit_shape(limit)


def _limit_lines(limit: dict[str, Any], width: int, now: float) -> list[str]:
    from orchestrator.cli.usage_limits import limit_lines

    return limit_lines(limit, width, now)


def _used(usage: dict[str, Any], now: float) -> str:
    """Return what a task used, and of how much, where any program told it or there is a limit."""
    by_default = usage.get("defaults") or ()
    limits = usage.get("limits") or {}
    dollars = usage.get("cost"), usage.get("estimate")
    wanted = {key for key, most in limits.items() if most and key not in by_default}
    if not (usage.get("tokens") or any(dollars) or wanted):
        return ""
    from orchestrator.formats.amounts import cost_said, money_said, prices_said, span_said, tokens_said

    parts = []
    for key, amount, shown, said in (
        ("tokens", usage.get("tokens"), f"{tokens_said(usage.get('tokens') or 0)} tokens", tokens_said),
        ("cost", any(dollars), cost_said(*dollars), money_said),
        ("time", usage.get("time"), span_said(usage.get("time") or 0), span_said),
    ):
        most = limits.get(key)
        if amount or key in wanted:
            parts.append(shown + (f" of {said(most)}" if most else ""))
    how = prices_said((usage.get("prices") or "") if dollars[1] else "", now, usage.get("unpriced") or ())
    return ", ".join(parts) + (f"; costs {how}" if how else "")


def _used_lines(used: str, width: int) -> list[str]:
    if not used:
        return []
    first, *more = wrapped(used, width - 10, "")
    return [f"used      {first}", *(f"          {line}" for line in more)]


def _used_by(agent: dict[str, Any]) -> str:
    tokens, dollars = agent.get("tokens"), (agent.get("cost"), agent.get("estimate"))
    if not (tokens or any(dollars)):
        return ""
    from orchestrator.formats.amounts import cost_said, tokens_said

    return ", ".join(
        [*([tokens_said(tokens)] if tokens else []), *([cost_said(*dollars)] if any(dollars) else [])]
    )


def _steps(told: dict[str, Any], name: str, width: int, now: float, *, colour: bool) -> list[str]:
    steps: list[dict[str, Any]] = told["steps"]
    if not steps:
        return []
    rows = [
        (
            step.get("id"),
            "" if _tells_agent(step) else step.get("agent"),
            step.get("status"),
            tries if (tries := step.get("tries", step.get("attempts"))) and tries > 1 else "",
            ago(step.get("since"), now),
            step.get("title"),
        )
        for step in steps
    ]
    headings = ("STEP", "AGENT", "STATUS", "TRY", "SINCE", "WHAT")
    heading, *lines = table(headings, rows, width, colour=colour, spare=True)
    return ["", heading, *_with_reasons(told, name, lines, width, now)]


def _with_reasons(told: dict[str, Any], name: str, lines: list[str], width: int, now: float) -> Iterator[str]:
    """Yield each step's line, and beneath it why it is where it is; nobody asks that of one that passed."""
    before = ""
    for step, line in zip(told["steps"], lines, strict=True):
        yield line
        why = harmless(step.get("why") or "")
        if step.get("limit") and told["state"] == "running":
            why += f"; tried again at {clock(step['limit'].get('next_try'), now)}"
        if why and why != before and step.get("status") != "passed":
            yield cut(f"  {why}", width)
            yield from _cause(name, step.get("cause") or {}, width)
        before = why


def _cause(task: str, cause: dict[str, Any], width: int, shown: int = 4) -> Iterator[str]:
    """Yield the last lines of what failed, and the command that shows the rest of its log."""
    lines = (cause.get("lines") or ())[-shown:]
    yield from (cut(f"    | {harmless(line)}", width) for line in lines)
    if lines and cause.get("run"):
        yield f"    its log: task logs {harmless(task)} {harmless(cause['run'])}"


def _tells_agent(step: dict[str, Any]) -> bool:
    """Tell whether a step's id says whose it is: `dev:rename`."""
    return str(step.get("id")).partition(":")[0] == step.get("agent")


def _agents(agents: list[dict[str, Any]], width: int, now: float, *, colour: bool) -> list[str]:
    rows = [
        (
            agent.get("name"),
            agent.get("step"),
            agent.get("state"),
            agent.get("turn") if agent.get("state") != "gone" else "",
            ago(agent.get("turn_since") or agent.get("since"), now),
            _used_by(agent),
            agent.get("host") if agent.get("host") != "local" else "",
            agent.get("pane"),
            agent.get("evidence"),
        )
        for agent in agents
    ]
    headings = ("RUN OF", "FOR", "STATE", "TURN", "SINCE", "USED", "HOST", "PANE", "EVIDENCE")
    return ["", *table(headings, rows, width, colour=colour)] if rows else []


def _rest(told: dict[str, Any], name: str, width: int, now: float) -> list[str]:
    return [
        *_criteria(told["criteria"], width),
        *_notices(told["notices"], width, now),
        *question_lines(told["questions"], name, width, now),
    ]


def _criteria(criteria: list[dict[str, Any]], width: int) -> list[str]:
    if not criteria:
        return []
    met = sum(bool(each.get("met")) for each in criteria)
    lines = ["", f"success criteria: {met} of {len(criteria)} met"]
    for each in criteria:
        lines.append(cut(f"  [{'x' if each.get('met') else ' '}] {harmless(each.get('text'))}", width))
        details = each.get("details") or ()
        for place, text in enumerate(each.get("evidence") or ()):
            found = f": {details[place]}" if place < len(details) else ""
            lines.append(cut(f"      {harmless(text)}{harmless(found)}", width))
        if each.get("reason") and not each.get("met"):
            lines.append(cut(f"      {harmless(each['reason'])}", width))
    return lines


def _notices(notices: list[str], width: int, now: float, shown: int = 3) -> list[str]:
    if not notices:
        return []
    from orchestrator.formats.timestamps import unstamped

    earlier = len(notices) - shown
    more = [f"! … and {earlier} earlier: see progress.md"] if earlier > 0 else []
    return ["", *more, *(cut(f"! {unstamped(harmless(notice), now)}", width) for notice in notices[-shown:])]
