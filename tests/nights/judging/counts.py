"""Rules on what must be the same wherever it is shown, and on runs, questions, names and the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.nights.judging.rules import (
    LAG,
    Checking,
    Ruled,
    by_source,
    documents,
    read,
    still_documents,
    task_named,
)
from tests.nights.looking import EXIT_CODE, LIST, LIST_JSON, PROGRESS, QUESTIONS, STATUS
from tests.nights.observation import DEAD_DAEMON, Life, Observation, Outcome, Shown

_PASSED: Final = re.compile(r"(\d+) of (\d+) steps passed(?:, (\d+) set aside)?")
_AGENTS: Final = re.compile(r"; (no|\d+) agents? running")
_ASKED: Final = re.compile(r"task answer \S+ (q\d+)")
_NOTHING: Final = "no question is waiting for your answer"
_ROW: Final = re.compile(r"^(\S+) +\S.*? (\d+)/(\d+)(?:, (\d+) set aside)?", re.MULTILINE)
_CODES: Final = {"complete": 0, "waiting": 3, "running": 4, "stopped": 5, "failed": 1, "partial": 7}
"""How `task status --exit-code` ends, by the state: what the documentation promises."""


def counts(seen: Observation) -> Ruled:
    """Steps, agents, questions and criteria are so many everywhere at one moment."""
    checking, still = Checking("counts"), still_documents(seen)
    suspects = dict[tuple[str, str, str], int]()
    for shown in by_source(seen, LIST, LIST_JSON, STATUS, PROGRESS, QUESTIONS):
        for task, what, said, is_so in _counted(shown, still):
            key = (shown.source, task, what)
            if said == is_so:
                suspects.pop(key, None)
                checking.check(shown, what, None)
            elif suspects.get(key, shown.round) < shown.round or shown.source in {LIST, LIST_JSON}:
                # A file is written a moment after the state: it is false if it stays so for another round.
                checking.check(shown, f"{task}: {what} {said}", f"task status --json of that moment: {is_so}")
            else:
                suspects[key] = shown.round
    for name, (shown, state) in _last_codes(seen).items():
        truth = None if _CODES.get(state) == shown.code else f"it is {state}"
        checking.check(shown, f"{name}: exit code {shown.code}", truth)
    return checking.ruled


def _last_codes(seen: Observation) -> dict[str, tuple[Shown, str]]:
    """Return the last exit code that told how a task stands, with the state that its JSON showed last."""
    last = sorted(documents(seen), key=lambda each: each[0].at)
    states = {shown.task: str(reported.get("state")) for shown, reported in last}
    coded = [each for each in seen.shown if each.source == EXIT_CODE and each.task in states]
    return {each.task: (each, states[each.task]) for each in coded}


def _counted(
    shown: Shown, still: dict[tuple[int, str], dict[str, Any]]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield what is counted: task, what, what was said, and what `task status --json` said in that moment."""
    for (number, task), reported in still.items():
        if number != shown.round or shown.task not in {"", task}:
            continue
        steps = [step for step in reported.get("steps", ()) if not step.get("replaced")]
        passed = sum(step["status"] == "passed" for step in steps)
        aside = sum(step["status"] == "set_aside" for step in steps)
        steps_are = f"{passed} of {len(steps)}, {aside} set aside"
        questions = str(len(reported.get("questions", ())))
        live = str(sum(agent["state"] != "gone" for agent in reported.get("agents", ())))
        match shown.source:
            case "task list --json":
                for each in read(shown.text).get("tasks", ()):
                    if each["task"] == task:
                        said = f"{each['steps_passed']} of {each['steps_total']}"
                        yield task, "steps", f"{said}, {each['steps_set_aside']} set aside", steps_are
                        yield task, "questions open", str(each["questions_open"]), questions
                        yield task, "agents live", str(each["agents_live"]), live
                        yield task, "state", str(each["state"]), str(reported.get("state"))
            case "task list":
                for found in _ROW.finditer(shown.text):
                    if found[1] == task:
                        yield task, "steps", f"{found[2]} of {found[3]}, {found[4] or 0} set aside", steps_are
            case "progress.md" | "task status":
                for found in _PASSED.finditer(shown.text):
                    yield task, "steps", f"{found[1]} of {found[2]}, {found[3] or 0} set aside", steps_are
                for found in _AGENTS.finditer(shown.text):
                    yield task, "agents running", found[1].replace("no", "0"), live
            case _:
                yield task, "questions asked", str(len(set(_ASKED.findall(shown.text)))), _all(still, number)


def _all(still: dict[tuple[int, str], dict[str, Any]], number: int) -> str:
    return str(
        len(
            {
                str(each["id"])
                for (n, _), reported in still.items()
                if n == number
                for each in reported.get("questions", ())
            }
        )
    )


def questions(seen: Observation) -> Ruled:
    """Nothing waits for an answer exactly if no question is open; and who waits, waits for one."""
    checking, still = Checking("questions"), still_documents(seen)
    for shown in by_source(seen, QUESTIONS):
        reported = [each for (number, _), each in still.items() if number == shown.round]
        if len(reported) == len(seen.tasks) and _NOTHING in shown.text:
            there = [question["id"] for each in reported for question in each.get("questions", ())]
            checking.check(shown, _NOTHING, f"open: {', '.join(there)}" if there else None)
    for shown, shown_now in documents(seen):
        if shown_now.get("state") == "waiting":
            checking.check(
                shown, '"state": "waiting"', None if shown_now.get("questions") else "no question is open"
            )
    return checking.ruled


def names(seen: Observation) -> Ruled:
    """A branch, commit or file that is named is there: what two looks in a row miss was not just being made."""
    checking = Checking("names")
    checking.ruled.checked = seen.named - len(seen.missing)
    rounds = {(each.source, each.task, each.name): set[int]() for each in seen.missing}
    for each in seen.missing:
        rounds[each.source, each.task, each.name].add(each.round)
    for each in seen.missing:
        lasting = {each.round, each.round - 1} <= rounds[each.source, each.task, each.name]
        shown = Shown(each.at, each.round, each.source, each.task, "")
        checking.check(
            shown, f"{each.kind} {each.name}", f"there is no such {each.kind}" if lasting else None
        )
    return checking.ruled


def runs(seen: Observation) -> Ruled:
    """A run that is called alive has a process, one that is called gone has none."""
    checking = Checking("runs")
    for shown, reported in documents(seen):
        if _unseen(seen, shown.at):
            continue
        for agent in reported.get("agents", ()):
            lives = [life for life in seen.lives if life.run == agent.get("run") and life.first]
            truth = _wrong_life(lives, str(agent.get("state")), shown.at)
            checking.check(shown, f"{agent.get('name')} {agent.get('state')}", truth)
    return checking.ruled


def _wrong_life(lives: list[Life], state: str, at: float) -> str | None:
    living = [life for life in lives if life.begun < at and life.last > at + LAG]
    if state == "gone" and living:
        return f"its process {living[0].pid} lives on"
    ended = max((life.last for life in lives), default=at)
    if state == "alive" and lives and ended + 2 * LAG < at:
        return "its process has been gone for seconds"
    return None


def _unseen(seen: Observation, at: float) -> bool:
    """Say whether the daemon could not know what was so then: it was dead, stood still, or has just come back."""
    return any(
        each.at - LAG <= at <= each.until + 2 * LAG
        for each in seen.happenings
        if each.outage or each.what in {"daemon killed", DEAD_DAEMON}
    )


def attempts(seen: Observation) -> Ruled:
    """A step has had as many tries as are shown: each has a run that the service heard of, or a process."""
    checking = Checking("attempts")
    heard = {order.run for order in seen.orders} | {life.run for life in seen.lives}
    steps = dict[tuple[str, str], set[str]]()
    for shown, reported in documents(seen):
        for agent in reported.get("agents", ()):
            if agent.get("run") in heard:
                steps.setdefault((shown.task, str(agent.get("step"))), set()).add(str(agent["run"]))
        for step in reported.get("steps", ()):
            known = len(steps.get((shown.task, str(step["id"])), ()))
            said = int(step.get("attempts") or 1)
            if said > 1:
                dependent = step["status"] in {"pending", "working", "set_aside"}
                truth = None if dependent or said <= known + 1 else f"{known} runs of it were heard of"
                checking.check(shown, f"{step['id']}: try {said}", truth)
    return checking.ruled


def daemon(seen: Observation) -> Ruled:
    """The daemon is not called up while it is dead."""
    return _meanwhile(seen, {"daemon killed", DEAD_DAEMON}, r"daemon up\b", lambda _: "the daemon is dead")


def disk(seen: Observation) -> Ruled:
    """A full disk is said while it is full."""

    def silent(text: str) -> str | None:
        return None if re.search(r"disk|room|space", text) else "the disk is full, and nothing says so"

    return _meanwhile(seen, {"disk full"}, r"daemon up\b", silent, after=10.0)


def _meanwhile(
    seen: Observation, whats: set[str], says: str, truth: Callable[[str], str | None], after: float = LAG
) -> Ruled:
    checking = Checking("disk" if "disk full" in whats else "daemon")
    for shown in by_source(seen, STATUS):
        found = re.search(says, shown.text)
        during = [
            each
            for each in seen.happenings
            if each.what in whats and each.at + after < shown.at - shown.took and shown.at < each.until
        ]
        if found:
            checking.check(shown, found[0], truth(shown.text) if during else None)
    return checking.ruled


def usage(seen: Observation) -> Ruled:
    """The tokens that a task is said to have used in the end are those that the service counted, to 2 %."""
    checking = Checking("usage")
    last = {shown.task: (shown, reported) for shown, reported in documents(seen)}
    for name, (shown, reported) in last.items():
        task = task_named(seen, name)
        said = (reported.get("usage") or {}).get("tokens")
        if task is None or task.ended is None or not said:
            continue
        mine = {order.run for order in seen.orders if order.task == name}
        ends = {life.run: life.last for life in seen.lives if life.first}
        # What came as its program ended may never have reached it.
        whole = [
            each
            for each in seen.requests
            if each.run in mine
            and each.outcome is Outcome.ANSWERED
            and (each.ended or seen.ended) < ends.get(each.run, seen.ended) - 1
        ]
        main = sum(each.tokens for each in whole)
        # What was cut off or asked for a CLI's own ends may be counted, and need not.
        aside = sum(each.tokens for each in seen.requests if not each.main or each.run in mine) - main
        wrong = not 0.98 * main <= said <= 1.02 * (main + aside)
        truth = f"the service counted {main} in its agents' whole turns, {aside} besides"
        checking.check(shown, f"{said} tokens", truth if wrong else None)
    return checking.ruled
