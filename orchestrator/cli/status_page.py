"""The page of `task status`: a task's state as lines for people."""

from __future__ import annotations

import os

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import SAID, on_word, step_said
from orchestrator.cli.screen import ago, clock, cut, harmless, paint, typed, wrapped
from orchestrator.cli.status_facts import facts, next_try
from orchestrator.cli.table import COLOURS, table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_NOT_SEEN = frozenset({"gone", "unreachable", "unknown"})
"""States of a run of which nobody knows what it is doing now."""

OF_STEPS = ("STEP", "AGENT", "STATUS", "TRY", "SINCE", "WHAT")
OF_AGENTS = ("RUN OF", "FOR", "STATE", "TURN", "SINCE", "USED", "HOST", "PANE", "EVIDENCE")


def page(view: dict[str, Any], name: str, beat: Beat, width: int, now: float, *, colour: bool) -> list[str]:
    """Return the lines that show a task's state; `name` is what the user can call the task from here."""
    return [
        *_head(view, name, beat, width, now, colour=colour),
        *_steps(view, name, width, now, colour=colour),
        *_agents(view["agents"], width, now, colour=colour),
        *_rest(view, name, width, now),
    ]


def outcome(
    view: dict[str, Any], name: str, beat: Beat, width: int, now: float, *, colour: bool
) -> list[str]:
    """Return the lines that show how a task ended and its open questions. Its steps were printed before."""
    return [
        *_head(view, name, beat, width, now, colour=colour),
        *question_lines(view["questions"], name, width, now),
    ]


_OF_WORKFLOWS = frozenset({"do", "verify", "resolve"})
"""Words with which the ids of a workflow's steps begin. An agent may have such a name."""

_ANSWERED_IN_WORDS = frozenset({"stuck", "loop"})
"""Kinds of questions to which the user's own words are an answer: the agent reads them."""


def question_lines(questions: list[dict[str, Any]], task: str, width: int, now: float) -> list[str]:
    """Return the lines that show open questions, each with the command that answers it."""
    lines = []
    for question in questions:
        name, options = harmless(question.get("id")), question.get("options") or ()
        lines += ["", f"question {name}, asked {ago(question.get('asked_at'), now)}"]
        lines += wrapped(str(question.get("text")), width, "  ")
        lines += [line for n, text in enumerate(options, 1) for line in wrapped(f"{n}) {text}", width, "  ")]
        if question.get("holds"):
            lines += wrapped(f"waiting for the answer: {', '.join(question['holds'])}", width, "  ")
        if question.get("deadline"):
            lines += wrapped(unanswered(question, now), width, "  ")
        lines.append(f"  answer it: task answer {task} {name} {'NUMBER' if options else 'TEXT'}")
        if options and question.get("kind") in _ANSWERED_IN_WORDS:
            lines.append(f"  in words:  task answer {task} {name} TEXT")
    return lines


def unanswered(question: dict[str, Any], now: float) -> str:
    """Return what happens if nobody answers a question with a deadline; while the daemon is down, that comes late."""
    when, default = clock(question["deadline"], now), question.get("default")
    if question["deadline"] < now:
        return f"nobody answered by {when}, so this will be taken: {default}"
    return f"if nobody answers by {when}: {default}"


def _head(
    view: dict[str, Any], name_here: str, beat: Beat, width: int, now: float, *, colour: bool
) -> list[str]:
    limit = view.get("limited")
    name, state = (
        harmless(view["task"]),
        "limited" if limit else harmless(SAID.get(view["state"], view["state"])),
    )
    daemon = beat.words(view.get("updated")) + ("" if beat.up else unheard(view))
    active = view["state"] in {"running", "waiting"}
    phase = f"  {harmless(view['phase'])}" if active else ""
    if colour:
        name, state = paint(name, "bold"), paint(state, COLOURS.get(state, "bold"))
        daemon = daemon if beat.up else paint(daemon, "red")
    word = f", but {said}" if (said := on_word(view)) else ""
    checked = view.get("last_checkin")
    return [
        f"{name}  {state}{word}{phase}",
        *facts(view, name_here, width, now),
        f"check-in  {ago(checked, now) if checked else 'none'}; {daemon}",
        *_used_lines(_used(view.get("usage") or {}, now), width),
    ]


def unheard(view: dict[str, Any]) -> str:
    """Return how many requests of the user wait for a daemon that is down; empty if none does."""
    home = layout.task_home(layout.state_folder(os.environ), f"{view.get('id')}")
    try:
        names = os.listdir(layout.task_requests(home))  # noqa: PTH208 (no pathlib here)
    except OSError:
        return ""
    count = sum(
        name.endswith(".json") and not name.startswith(".") and ".reply." not in name for name in names
    )
    return f"; requests that wait for it: {count}" if count else ""


def _used(usage: dict[str, Any], now: float) -> str:
    """Return what a task used, with its limits; empty if no program reported usage and the user set no limit."""
    by_default = usage.get("defaults") or ()
    limits = usage.get("limits") or {}
    dollars = usage.get("cost"), usage.get("estimate")
    wanted = {key for key, most in limits.items() if most and key not in by_default}
    partial = usage.get("partial") is True
    if not (usage.get("tokens") or any(dollars) or wanted or partial):
        return ""
    from orchestrator.formats.amounts import (
        UNCOUNTED,
        cost_said,
        money_said,
        prices_said,
        span_said,
        tokens_said,
    )

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
    notes = [*([f"costs {how}"] if how else []), *([UNCOUNTED] if partial else [])]
    return "; ".join([", ".join(parts), *notes] if parts else notes)


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


def _steps(view: dict[str, Any], name: str, width: int, now: float, *, colour: bool) -> list[str]:
    steps: list[dict[str, Any]] = view["steps"]
    if not steps:
        return []
    rows = [step_cells(step, now) for step in steps]
    heading, *lines = table(OF_STEPS, rows, width, colour=colour, spare=True)
    return ["", heading, *_with_reasons(view, name, lines, width, now)]


def step_cells(step: dict[str, Any], now: float) -> tuple[object, ...]:
    """Return a step's cells below `OF_STEPS`."""
    return (
        step.get("id"),
        "" if _names_agent(step) else step.get("agent"),
        step_said(step),
        tries if (tries := step.get("tries", step.get("attempts"))) and tries > 1 else "",
        ago(step.get("since"), now),
        step.get("title"),
    )


def _with_reasons(view: dict[str, Any], name: str, lines: list[str], width: int, now: float) -> Iterator[str]:
    """Yield each step's line and, unless the step passed, the reason for its status below it."""
    before, ending = "", {each.get("step"): each for each in view["agents"] if each.get("state") != "gone"}
    for step, line in zip(view["steps"], lines, strict=True):
        yield line
        why = harmless(step.get("why") or "")
        if (run := ending.get(step.get("id"))) is not None and step.get("status") == "pending":
            why += f"{'; ' * bool(why)}it waits until its last run has ended ({harmless(run.get('run'))})"
        if step.get("limit") and view["state"] == "running":
            why += f"; {next_try(step['limit'], now)}"
        if why and why != before and step.get("status") != "passed":
            yield cut(f"  {why}", width)
            yield from _cause(name, step.get("cause") or {}, width)
        before = why


def _cause(task: str, cause: dict[str, Any], width: int, shown: int = 4) -> Iterator[str]:
    """Yield the last lines of a failure, and the command that shows the rest of its log."""
    lines = (cause.get("lines") or ())[-shown:]
    yield from (cut(f"    | {harmless(line)}", width) for line in lines)
    if lines and cause.get("run"):
        yield f"    see its log: task logs {harmless(task)} {harmless(cause['run'])}"


def _names_agent(step: dict[str, Any]) -> bool:
    """Return whether a step's id already names its agent: `dev:rename`. `verify:draft` of a workflow names none."""
    first = str(step.get("id")).partition(":")[0]
    return first == step.get("agent") and first not in _OF_WORKFLOWS


def _agents(agents: list[dict[str, Any]], width: int, now: float, *, colour: bool) -> list[str]:
    rows = [agent_cells(agent, now) for agent in agents]
    return ["", *table(OF_AGENTS, rows, width, colour=colour)] if rows else []


def agent_cells(agent: dict[str, Any], now: float) -> tuple[object, ...]:
    """Return the cells of an agent's run below `OF_AGENTS`."""
    return (
        agent.get("name"),
        agent.get("step"),
        agent.get("state"),
        agent.get("turn") if agent.get("state") not in _NOT_SEEN else "",
        ago(agent.get("turn_since") or agent.get("since"), now),
        _used_by(agent),
        agent.get("host") if agent.get("host") != "local" else "",
        agent.get("pane"),
        agent.get("evidence"),
    )


def _rest(view: dict[str, Any], name: str, width: int, now: float) -> list[str]:
    return [
        *_criteria(view["criteria"], (view.get("counts") or {}).get("criteria", 0), width),
        *_notices(view, name, width, now),
        *question_lines(view["questions"], name, width, now),
    ]


def _criteria(criteria: list[dict[str, Any]], total: int, width: int) -> list[str]:
    """Return the criteria that were judged; `total` is how many task.md has: a workflow's are judged one by one."""
    if not criteria:
        return []
    met, left = sum(bool(each.get("met")) for each in criteria), total - len(criteria)
    more = f", {left} not judged yet" if left > 0 else ""
    attested = sum(bool(each.get("attested")) for each in criteria)
    word = f", {attested} of them by their judge's word alone" if attested else ""
    lines = ["", f"success criteria: {met} of {max(total, len(criteria))} met{word}{more}"]
    for each in criteria:
        lines.append(cut(f"  [{'x' if each.get('met') else ' '}] {harmless(each.get('text'))}", width))
        details = each.get("details") or ()
        for place, text in enumerate(each.get("evidence") or ()):
            found = f": {details[place]}" if place < len(details) else ""
            lines.append(cut(f"      {harmless(text)}{harmless(found)}", width))
        if each.get("reason") and not each.get("met"):
            lines.append(cut(f"      {harmless(each['reason'])}", width))
    return lines


def _notices(view: dict[str, Any], name: str, width: int, now: float, shown: int = 3) -> list[str]:
    notices: list[str] = view["notices"]
    if not notices:
        return []
    from orchestrator.formats.timestamps import unstamped

    every = max(view.get("noticed") or 0, len(notices))
    rest = typed("task", "why", name, "noticed", "-n", every)
    more = [f"! … and {every - shown} earlier: {rest}"] if every > shown else []
    return ["", *more, *(cut(f"! {unstamped(harmless(notice), now)}", width) for notice in notices[-shown:])]
