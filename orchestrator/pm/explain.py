"""A journal line as sentences that a person understands: `task why` and the PM's live log say nothing else.

Reads the plain JSON of a line, so that a reader needs no model and a line of any version is shown.
"""

from __future__ import annotations

import time
from typing import Any, Final

from orchestrator.formats.amounts import money_said, tokens_said

QUIET: Final = frozenset(
    {
        "action_closed",
        "counsel_begun",
        "budget_warned",
        "handoff_seen",
        "news_noted",
        "order_closed",
        "request_heard",
        "run_answered",
        "run_believed",
        "run_metered",
        "run_nudged",
        "run_progressed",
        "run_reported",
        "run_told",
        "run_watched",
        "step_approved",
        "step_fed",
        "step_reported",
        "step_remembered",
        "step_rewired",
        "task_begun",
        "times_shifted",
    }
)
"""Changes that follow from the fact as it is told; saying them as well would only be noise."""


def explain(line: dict[str, Any]) -> list[str]:
    """Return what happened and what was decided, a sentence each; the first bears the time.

    `line` is a journal line as JSON gives it. Unknown kinds are named, never hidden.
    """
    if "fact" not in line:
        return []
    clock = time.strftime("%H:%M:%S", time.localtime(line.get("at", 0)))
    told = [text for change in line.get("changes", ()) if (text := _change(change))]
    told += [_answer(each) for each in line.get("actions", ()) if each.get("kind") == "answer"]
    told += [
        f"to be told: {each.get('title')}" for each in line.get("actions", ()) if each.get("kind") == "tell"
    ]
    return [f"{clock} {_fact(line['fact'])}", *(f"         {text}" for text in told)]


def _fact(fact: dict[str, Any]) -> str:  # noqa: C901, PLR0912 (a table of sentences)
    get = fact.get
    match fact.get("kind"):
        case "task_started":
            return f"{get('name')} was started in {get('project')}"
        case "report_landed":
            return f"{get('name')} landed: {_report(fact)}"
        case "decision_landed":
            return f"{get('name')} landed: {_decision(fact)}"
        case "run_started":
            return f"run {get('run')} lives as process {get('pid')}"
        case "run_gone":
            return f"run {get('run')} {_exit(get('exit') or {})}"
        case "launch_failed":
            return f"run {get('run')} could not be launched: {get('reason')}"
        case "work_committed":
            commit = get("commit")
            said = f"is commit {commit[:10]} ({get('files', 0)} files)" if commit else "changed nothing"
            if get("reason"):
                said = f"could not be committed: {get('reason')}"
            return f"the work of {get('step')} {said}"
        case "work_merged":
            said = f"could not be merged: {get('reason')}" if get("reason") else "is on the task's branch"
            return f"the work of {get('step')} {said}"
        case "checked_in":
            return "check-in"
        case "looked":
            return f"run {get('run')} was quiet and was looked at"
        case "nudged":
            why = f" ({get('reason')})" if get("reason") else ""
            return f"a line typed to run {get('run')} is {str(get('delivery')).replace('_', ' ')}{why}"
        case "event_landed":
            return f"run {get('run')} told: {_event(fact)}"
        case "usage_seen":
            usage = get("usage") or {}
            cost = f" and {money_said(usage['cost'])}" if usage.get("cost") else ""
            tokens = usage.get("input", 0) + usage.get("output", 0)
            return f"run {get('run')} has used {tokens_said(tokens)} tokens{cost} so far"
        case "answer_given":
            return f"the answer {get('action')} lies where its program looks"
        case "time_passed":
            return "a deadline came"
        case "clock_moved":
            return f"asleep for {get('slept', 0):.0f} s, the clock set by {get('put', 0):.0f} s"
        case "box_lost":
            return f"{get('box')} is lost: {get('why')}"
        case "box_back":
            return f"{get('box')} answers again"
        case "brief_changed":
            return "task.md was edited"
        case "stop_asked":
            return "the user asked to stop"
        case "answered":
            return f"the user answered {get('question')}: {get('text')}"
        case "spawn_asked":
            return f"the user asked for the agent {(get('agent') or {}).get('name')}"
        case "intruded":
            return f"{get('name')} was found and is not obeyed: {get('reason')}"
        case "told":
            return f"{get('action')} is in the spool of news"
        case "journal_damaged":
            return f"the journal was damaged after line {get('kept')}; the rest is kept as {get('where')}"
        case kind:
            return f"{kind}"


def _answer(action: dict[str, Any]) -> str:
    reply = action.get("reply") or {}
    reason = f": {reply['reason']}" if reply.get("reason") else ""
    return f"run {action.get('run')} is answered {str(reply.get('say')).replace('_', ' ')}{reason}"


def _event(fact: dict[str, Any]) -> str:
    event, judged = fact.get("event") or {}, fact.get("judgement") or {}
    text = f": {event['text']}" if event.get("text") else ""
    match event.get("kind"):
        case "started":
            return "its program is up"
        case "taken":
            return "it took its order, to the byte" if fact.get("whole") else "it took a prompt"
        case "asked":
            wish = event.get("wish") or {}
            what = wish.get("command") or ", ".join(wish.get("paths") or ()) or wish.get("tool")
            return f"it wants to {wish.get('act')} {what}; {judged.get('ruling')}: {judged.get('why')}"
        case "ended":
            going = (
                f", {event['background']} tasks go on in the background" if event.get("background") else ""
            )
            return f"its turn is over{going}{text}"
        case "failed":
            return f"its turn failed ({event.get('failure')}){text}"
        case kind:
            return f"{kind}{text}"


def _report(fact: dict[str, Any]) -> str:
    if fact.get("faults"):
        fault = fact["faults"][0]
        return f"it does not read: line {fault.get('line')}: {fault.get('reason')}"
    report = fact.get("report") or {}
    verdict = f", {report['verdict']}" if report.get("verdict") else ""
    missing = fact.get("missing") or ()
    absent = f"; not on disk: {', '.join(missing)}" if missing else ""
    return f"{report.get('status')}{verdict}{absent}"


def _decision(fact: dict[str, Any]) -> str:
    decision = fact.get("decision")
    if not decision:
        fault = (fact.get("faults") or [{}])[0]
        return f"it does not read: line {fault.get('line')}: {fault.get('reason')}"
    said = (decision.get("instructions") or "").strip().partition("\n")[0][:200]
    about = f" {decision['target']}" if decision.get("target") else ""
    return f"the PM agent says {decision.get('action')}{about}" + (f": {said}" if said else "")


def _closed(change: dict[str, Any]) -> str:
    if change.get("given_up"):
        return f"{change.get('step')} is over, and the PM agent is not asked any more"
    if until := change.get("held_until"):
        clock = time.strftime("%H:%M", time.localtime(until))
        return f"{change.get('step')} is over; what was not ordered waits for news, and until {clock} at the most"
    return f"{change.get('step')} is over; the rules start what may start"


def _exit(how: dict[str, Any]) -> str:
    if how.get("lost"):
        return "vanished with its terminal"
    if how.get("out_of_memory"):
        return "was killed for memory"
    if how.get("signal"):
        return f"was ended by signal {how['signal']}"
    return f"exited {how.get('code')}"


def _change(change: dict[str, Any]) -> str:  # noqa: C901, PLR0912 (a table of sentences)
    get = change.get
    why = f": {get('why')}" if get("why") else ""
    match change.get("kind"):
        case kind if kind in QUIET:
            return ""
        case "task_moved":
            return f"the task is {get('to')}{why}"
        case "phase_moved":
            return f"phase {get('to')}"
        case "brief_taken":
            return "task.md counts as it now stands"
        case "skills_found":
            names = ", ".join(str(skill.get("name")) for skill in get("skills") or ())
            return f"skills that an order may name: {names or 'none'}"
        case "step_added":
            step = get("step") or {}
            if step.get("judges") or "decision" in (step.get("gates") or ()):
                return ""  # it comes with the step that it judges, or with the consultation that it is
            what = f"subtask {step['subtask']}" if step.get("subtask") else f"step {step.get('id')}"
            return f"new {what} for {step.get('agent')}: {step.get('title')}"
        case "step_moved":
            return f"{get('step')} is {get('to')}{why}"
        case "step_reopened":
            return f"{get('step')} is opened again, attempt {get('attempt')}{why}"
        case "step_lacked":
            return f"{get('step')} lacks: {get('gap')}"
        case "step_checked":
            return f"the check before {get('step')} exited {get('exit')}"
        case "step_committed":
            return f"{get('step')} is commit {str(get('commit'))[:10]}"
        case "step_tallied":
            tally = {name: count for name, count in (get("tally") or {}).items() if count}
            told = ", ".join(f"{name} {count}" for name, count in tally.items())
            return (
                f"counted against {get('step')}: {told}"
                if told
                else f"{get('step')} is counted from nothing again"
            )
        case "consultation_opened":
            return f"the PM agent is asked what is done next ({get('step')})"
        case "consultation_closed":
            return _closed(change)
        case "decision_taken":
            said = f"{get('action')} {get('target') or ''}".strip()
            return (
                f"{said} is not carried out: {get('refused')}" if get("refused") else f"{said} is carried out"
            )
        case "step_ordered":
            return f"{get('step')} is to start as soon as it may"
        case "order_given":
            order = get("order") or {}
            skills = f", with the skills {', '.join(order['skills'])}" if order.get("skills") else ""
            return f"order {order.get('name')} to {order.get('target')} for {order.get('step')}{skills}"
        case "run_opened":
            run = get("run") or {}
            return f"run {run.get('id')} is opened: {run.get('instance')} on {run.get('step')}"
        case "run_looked":
            return f"run {get('run')} {get('evidence')}"
        case "run_delivered":
            return f"the order of run {get('run')}: {str(get('delivery')).replace('_', ' ')}"
        case "run_spent":
            return f"the conversation of run {get('run')} is not gone on with"
        case "rule_given":
            rule = get("rule") or {}
            return f"from now on: {rule.get('ruling')} {rule.get('act') or 'tool'} {rule.get('pattern')}"
        case "budget_raised":
            most = get("most")
            return f"the limit of {get('measure')} is now " + ("none" if most is None else f"{most:g}")
        case "run_ending":
            return f"run {get('run')} is being ended ({get('ending')})"
        case "question_asked":
            question = get("question") or {}
            return f"question {question.get('id')}: {question.get('text')}"
        case "question_answered":
            return f"{get('question')} is closed by {get('by') or 'the user'}: {get('text')}"
        case "criteria_marked":
            marks = get("marks") or ()
            return f"{sum(bool(mark.get('met')) for mark in marks)} of {len(marks)} success criteria are met"
        case "noticed":
            return str(get("text"))
        case kind:
            return str(kind)
