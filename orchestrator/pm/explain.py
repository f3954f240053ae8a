"""A journal line as sentences that a person understands: `task why` and the PM's live log say nothing else.

Reads the plain JSON of a line, so that a reader needs no model and a line of any version is shown.
"""

from __future__ import annotations

import time
from typing import Any

from orchestrator.formats.amounts import money_said, tokens_said
from orchestrator.pm.explain_changes import told_of


def explain(line: dict[str, Any]) -> list[str]:
    """Return what happened and what was decided, a sentence each; the first bears the time.

    `line` is a journal line as JSON gives it. Unknown kinds are named, never hidden.
    """
    if "fact" not in line:
        return []
    clock = time.strftime("%H:%M:%S", time.localtime(line.get("at", 0)))
    told = [text for change in line.get("changes", ()) if (text := told_of(change))]
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


def _exit(how: dict[str, Any]) -> str:
    if how.get("lost"):
        return "vanished with its terminal"
    if how.get("out_of_memory"):
        return "was killed for memory"
    if how.get("signal"):
        return f"was ended by signal {how['signal']}"
    return f"exited {how.get('code')}"
