"""Facts as sentences for people, from the plain JSON of a journal line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.amounts import cost_said, tokens_said
from orchestrator.pm.explain.changes import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAMED: Final = 5
"""How many files a sentence names."""

_SENTENCES: Final = {
    "task_started": "{name} was started in {project}",
    "run_started": "run {run} lives as process {pid}",
    "run_queued": "run {run} is pending in a queue: {reason}",
    "launch_failed": "run {run} could not be launched: {reason}",
    "tree_vanished": "run {run} lost its worktree: {reason}",
    "checked_in": "check-in",
    "looked": "run {run} was quiet and was looked at",
    "answer_given": "the answer {action} was handed to its program",
    "time_passed": "a deadline came",
    "zone_changed": "the local time zone changed",
    "box_lost": "nothing is known of runs on {box}: {why}",
    "box_back": "{box} answers again",
    "folder_lost": "the task's folder {path} {why}",
    "brief_changed": "task.md was edited",
    "stop_asked": "the user asked to stop",
    "answered": "the user answered {question}: {text}",
    "notes_landed": "the notes of {agent} were changed",
    "rebase_asked": "the user asked to rebase the work onto {base}",
    "session_asked": "the user had commands drive the session again",
    "undo_asked": "the user asked to undo the file operations of {step}",
    "notified": "{action} is in the notification spool",
    "journal_damaged": "the journal was damaged after line {kept}; the rest is kept as {where}",
}
"""Facts whose sentence needs only their own fields."""


def happened(fact: dict[str, Any]) -> str:
    """Return the sentence for a fact in JSON form. An unknown kind is named, never hidden."""
    kind = str(fact.get("kind"))
    if sentence := _SENTENCES.get(kind):
        return sentence.format_map(Fields(fact))
    render = _RENDERERS.get(kind)
    return render(fact) if render else kind


def _adapted(fact: dict[str, Any]) -> str:
    because = f": {fact['why']}" if fact.get("why") else ""
    return f"the user asked to change the plan of the workflow{because}"


def _landed(fact: dict[str, Any]) -> str:
    result = _decision(fact) if fact.get("kind") == "decision_landed" else _report(fact)
    return f"{fact.get('name')} landed: {result}"


def _intruded(fact: dict[str, Any]) -> str:
    others = len(fact.get("others") or ())
    more = f"; so were {others} other files that are no handoffs" if others else ""
    return f"{fact.get('name')} was found and ignored: {fact.get('reason')}{more}"


def _refused(fact: dict[str, Any]) -> str:
    return f"{fact.get('file') or 'shared_status.json'} was edited in a way that nobody may"


def _handoff_edited(fact: dict[str, Any]) -> str:
    issues = [str(each.get("description")) for each in fact.get("issues") or ()]
    said = [f"it is {fact['status']}"] if fact.get("status") else []
    said += [f"its issues are {_few(issues)}"] if issues else []
    return f"run {fact.get('run')} edited {fact.get('handoff')}: {', and '.join(said)}"


def _standing(fact: dict[str, Any]) -> str:
    status = fact.get("status") or {}
    parts = [f"progress {status['progress']}"] if status.get("progress") else []
    parts += [f"waits for {status['waiting_for']}"] if status.get("waiting_for") else []
    parts += [f"blocked by {len(status['blocked_by'])}"] if status.get("blocked_by") else []
    parts += [f"{len(status['findings'])} findings"] if status.get("findings") else []
    return f"{status.get('agent')} changed its status: {', '.join(parts) or 'nothing stands there'}"


def _settled(fact: dict[str, Any]) -> str:
    record = fact.get("record") or {}
    done, count, faults = record.get("done") or (), record.get("count", 0), record.get("faults") or ()
    if record.get("unconfirmed"):
        how = f"wait: {len(record['unconfirmed'])} deletes are to be confirmed"
    elif faults:
        how = f"were refused: {'; '.join(map(str, faults[:2]))}"
        how += "; what had been carried out was rolled back" if record.get("rolled_back") else ""
    else:
        how = f"were carried out: {_few([str(each.get('path')) for each in done])}"
    number = f"{count} " if count else ""
    return f"the {number}file operations of run {fact.get('run')} {how}"


def _gone(fact: dict[str, Any]) -> str:
    lines = fact.get("lines") or ()
    return f"run {fact.get('run')} {_exit(fact.get('exit') or {})}" + (f": {lines[-1]}" if lines else "")


def _left(fact: dict[str, Any]) -> str:
    left = fact.get("left") or []
    named = ", ".join(f"{each.get('pid')} {each.get('name', '')}".strip() for each in left)
    return f"run {fact.get('run')} {_exit(fact.get('exit') or {})}, and left behind: {named}"


def _committed(fact: dict[str, Any]) -> str:
    commit = fact.get("commit")
    outcome = f"is commit {commit[:10]} ({fact.get('files', 0)} files)" if commit else "changed nothing"
    if fact.get("repositories"):
        outcome += f"; no commit can hold {_few(fact['repositories'])}"
    if fact.get("left"):
        outcome = f"lies uncommitted in {fact['left']}"
    if fact.get("lost"):
        kept = f"; what was found is kept as {fact['kept']}" if fact.get("kept") else ""
        outcome = f"was not found: {fact['lost']}{kept}"
    if fact.get("reason"):
        outcome = f"could not be committed: {fact['reason']}"
    if fact.get("conflicts"):
        outcome = f"conflicts with what was merged meanwhile, in {_few(fact['conflicts'])}"
    if fact.get("unresolved"):
        outcome = f"has conflict markers left in {_few(fact['unresolved'])}"
    return f"the work of {fact.get('step')} {outcome}{_check_changed(fact)}"


def _check_changed(fact: dict[str, Any]) -> str:
    """Return which files of the check's command the work has changed, if any."""
    files = fact.get("check_files")
    return f"; the check's command names what the task has changed: {', '.join(files)}" if files else ""


def _inspected(fact: dict[str, Any]) -> str:
    step, where = fact.get("step"), fact.get("where")
    if fact.get("reason"):
        return f"could not determine whether {step} changed anything in {where}: {fact['reason']}"
    if fact.get("files"):
        return f"{step} changed {len(fact['files'])} files in {where}, in which it was only to look"
    if not where:
        return f"{step} " + (
            "left its tree as it was" if fact.get("changed") is False else "was only to look"
        )
    match fact.get("changed"):
        case True:
            return f"the work of {step} lies in {where}{_check_changed(fact)}"
        case False:
            return f"the work of {step} changed nothing in {where}"
        case _:
            return f"it is not known whether {step} changed anything in {where}"


def _resolved(fact: dict[str, Any]) -> str:
    if fact.get("reason"):
        return f"the evidence of {fact.get('step')} could not be looked up: {fact['reason']}"
    found = fact.get("found") or ()
    missing = [
        f"{each.get('reference')} {each.get('detail', '')}" for each in found if not each.get("exists")
    ]
    summary = (
        f"the evidence of {fact.get('step')} was looked up: {len(found) - len(missing)} of {len(found)} exist"
    )
    lost = [f"the branch lacks what was accepted of {step}" for step in fact.get("lost") or ()]
    empty = ["the commits of the branch together change nothing"] if fact.get("empty") else []
    return "; ".join([summary, *missing[:5], *lost[:5], *empty])


def _tended(fact: dict[str, Any]) -> str:
    if fact.get("reason"):
        return f"the task's branch could not be put back to what was accepted: {fact['reason']}"
    if fact.get("tip") == fact.get("wanted"):
        return "the task's branch is where it was left"
    kept = f"; what else it had is kept as {fact['kept']}" if fact.get("kept") else ""
    found = f"at {str(fact['tip'])[:10]}" if fact.get("tip") else "gone"
    return f"the task's branch was found {found}, and is at {str(fact.get('wanted'))[:10]} again{kept}"


def _merged(fact: dict[str, Any]) -> str:
    outcome = "is on the task's branch"
    if fact.get("onto"):
        both = f"; both changed {_few(fact['both'])}" if fact.get("both") else ""
        outcome = f"was put upon what the branch gained meanwhile, as {str(fact.get('commit'))[:10]}{both}"
    if fact.get("conflicts"):
        outcome = f"conflicts with what was merged meanwhile, in {_few(fact['conflicts'])}"
    if fact.get("reason"):
        outcome = f"could not be merged: {fact['reason']}"
    return f"the work that {fact.get('step')} judged {outcome}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _nudged(fact: dict[str, Any]) -> str:
    why = f" ({fact['reason']})" if fact.get("reason") else ""
    return f"a line typed to run {fact.get('run')} is {str(fact.get('delivery')).replace('_', ' ')}{why}"


def _reported(fact: dict[str, Any]) -> str:
    return f"run {fact.get('run')} reported: {_event(fact)}"


def _used(fact: dict[str, Any]) -> str:
    usage = fact.get("usage") or {}
    dollars = usage.get("cost"), usage.get("estimate")
    cost = f" and {cost_said(*dollars)}" if any(dollars) else ""
    tokens = usage.get("input", 0) + usage.get("output", 0)
    return f"run {fact.get('run')} has used {tokens_said(tokens)} tokens{cost} so far"


def _recorded(fact: dict[str, Any]) -> str:
    seen = fact.get("activity") or {}
    stage = str(seen.get("stage") or "")
    at = {"model": "waits for its model", "over": "ended its turn", "tool": f"runs {seen.get('tool')}"}.get(
        stage, "goes on"
    )
    vain = f"; {seen['repeats']} calls in a row that bring nothing new" if seen.get("repeats") else ""
    return f"run {fact.get('run')} {at}, by its records{vain}"


def _moved(fact: dict[str, Any]) -> str:
    return f"asleep for {fact.get('slept', 0):.0f} s, the clock set by {fact.get('put', 0):.0f} s"


def _back(fact: dict[str, Any]) -> str:
    return str(fact.get("mended") or "the task's folder is back")


def _rebased(fact: dict[str, Any]) -> str:
    reason = fact.get("reason")
    return f"the task's branch could not be moved: {reason}" if reason else "the task's branch was moved"


def _undone(fact: dict[str, Any]) -> str:
    reason = fact.get("reason")
    return (
        f"the file operations were not undone: {reason}"
        if reason
        else "the file operations were undone, as asked"
    )


def _spawned(fact: dict[str, Any]) -> str:
    return f"the user asked for the agent {(fact.get('agent') or {}).get('name')}"


def _event(fact: dict[str, Any]) -> str:
    event, judged = fact.get("event") or {}, fact.get("judgement") or {}
    text = f": {event['text']}" if event.get("text") else ""
    match event.get("kind"):
        case "started":
            return "its program is up"
        case "taken":
            return "it received its order, byte for byte" if fact.get("whole") else "it received a prompt"
        case "asked":
            request = event.get("tool_request") or {}
            what = request.get("command") or ", ".join(request.get("paths") or ()) or request.get("tool")
            return f"it wants to {request.get('act')} {what}; {judged.get('decision')}: {judged.get('why')}"
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
        return f"it cannot be parsed: line {fault.get('line')}: {fault.get('reason')}"
    report = fact.get("report") or {}
    verdict = f", {report['verdict']}" if report.get("verdict") else ""
    missing = fact.get("missing") or ()
    absent = f"; not on disk: {', '.join(missing)}" if missing else ""
    away = "".join(f"; {name} is not here: {why}" for name, why in fact.get("withheld") or ())
    return f"{report.get('status')}{verdict}{absent}{away}"


def _decision(fact: dict[str, Any]) -> str:
    decision = fact.get("decision")
    if not decision:
        fault = (fact.get("faults") or [{}])[0]
        return f"it cannot be parsed: line {fault.get('line')}: {fault.get('reason')}"
    words = (decision.get("instructions") or "").strip().partition("\n")[0][:200]
    about = f" {decision['target']}" if decision.get("target") else ""
    return f"the PM agent says {decision.get('action')}{about}" + (f": {words}" if words else "")


def _exit(how: dict[str, Any]) -> str:
    if how.get("cause"):
        return f"ended: {how['cause']}"
    if how.get("lost"):
        return "vanished, and how it ended is unknown"
    if how.get("out_of_memory"):
        return "was killed for memory"
    if how.get("signal"):
        return f"was ended by signal {how['signal']}"
    return f"exited {how.get('code')}"


_RENDERERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "adapt_asked": _adapted,
    "role_status_landed": _standing,
    "role_handoff_edited": _handoff_edited,
    "edits_refused": _refused,
    "report_landed": _landed,
    "decision_landed": _landed,
    "intruded": _intruded,
    "operations_settled": _settled,
    "run_left": _left,
    "run_gone": _gone,
    "work_committed": _committed,
    "work_inspected": _inspected,
    "evidence_resolved": _resolved,
    "work_merged": _merged,
    "nudged": _nudged,
    "event_landed": _reported,
    "usage_seen": _used,
    "activity_seen": _recorded,
    "clock_moved": _moved,
    "folder_back": _back,
    "spawn_asked": _spawned,
    "rebased": _rebased,
    "undone": _undone,
    "branch_tended": _tended,
}
"""Facts whose sentence needs more than their own fields."""
