"""Changes as sentences for people, from the plain JSON of a journal line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.timestamps import moment_said, parted

if TYPE_CHECKING:
    from collections.abc import Callable

QUIET: Final = frozenset(
    {
        "action_closed",
        "agent_recorded",
        "step_revised",
        "consultation_begun",
        "budget_warned",
        "handed_in",
        "handoff_seen",
        "briefing_extended",
        "operations_recorded",
        "operations_undone",
        "order_closed",
        "request_acknowledged",
        "run_answered",
        "run_believed",
        "run_metered",
        "run_nudged",
        "run_pending",
        "run_progressed",
        "run_reported",
        "run_signalled",
        "run_watched",
        "branch_judged",
        "branch_placed",
        "run_tool_requested",
        "step_approved",
        "step_fed",
        "step_inspected",
        "step_strewed",
        "step_limited",
        "step_reported",
        "step_remembered",
        "step_rewired",
        "step_troubled",
        "task_begun",
        "times_shifted",
    }
)
"""Changes that follow from the fact itself; a sentence for them would only be noise."""


_SENTENCES: Final = {
    "phase_moved": "phase {to}",
    "zone_set": "local time is {utc_offset} s ahead of UTC",
    "brief_taken": "task.md was read and applied",
    "base_moved": "the work is based on {base}",
    "step_reopened": "{step} is opened again, attempt {attempt}{because}",
    "step_hurried": "{step} is tried again at once",
    "step_lacked": "{step} lacks: {gap}",
    "step_checked": "the check before {step} exited {exit}",
    "step_prepared": "the worktree of {step} is ready",
    "tree_begun": "{step} begins clean, in life {life} of its worktree",
    "step_ordered": "{step} is to start as soon as it may",
    "consultation_opened": "the PM agent is asked what to do next ({step})",
    "run_looked": "run {run} {evidence}",
    "run_cautioned": "run {run} repeats itself: {repeated}",
    "step_queued": "{step}: the work that it judges waits to be merged",
    "run_spent": "the conversation of run {run} is not resumed",
    "run_ending": "run {run} is being ended ({ending})",
}
"""Changes whose sentence needs only their own fields. `because` stands for their `why`, if they have one."""


class Fields(dict[str, Any]):
    """The fields of a change or fact. A missing one is None, so that a line of any version can be shown."""

    def __missing__(self, name: str) -> None:
        return None


def sentence_of(change: dict[str, Any], at: float) -> str:
    """Return the sentence for a change in JSON form; empty for none. An unknown kind is named, never hidden.

    `at` is when it was made, in seconds since the epoch: times on other days are shown with their date.
    """
    kind = change.get("kind")
    if kind in QUIET:
        return ""
    if kind in _DATED:
        return _DATED[kind](change, at)
    if sentence := _SENTENCES.get(str(kind)):
        because = f": {change['why']}" if change.get("why") else ""
        return sentence.format_map(Fields(change, because=because))
    if render := _RENDERERS.get(str(kind)):
        return render(change)
    return str(kind)


def _skills(change: dict[str, Any]) -> str:
    names = ", ".join(str(skill.get("name")) for skill in change.get("skills") or ())
    return f"skills that an order may name: {names or 'none'}"


def _edited(change: dict[str, Any]) -> str:
    keys = ", ".join(str(each.get("key")) for each in change.get("changes") or ())
    return (
        f"task.md differs from the active configuration: {keys}"
        if keys
        else "task.md equals the active configuration"
    )


def _added(change: dict[str, Any]) -> str:
    step = change.get("step") or {}
    if step.get("judges") or "decision" in (step.get("gates") or ()):
        return ""  # it comes with the step that it judges, or with the consultation that it is
    what = f"subtask {step['subtask']}" if step.get("subtask") else f"step {step.get('id')}"
    return f"new {what} for {step.get('agent')}: {step.get('title')}"


def _handed_on(change: dict[str, Any]) -> str:
    head = ((change.get("record") or {}).get("handoff") or {}).get("head") or {}
    return (
        f"{change.get('id')} from {head.get('source')} to {head.get('target')} ({head.get('transition')}) is "
        f"{head.get('status')}"
    )


def _standing(change: dict[str, Any]) -> str:
    return f"what {change.get('agent')} says of its work is recorded"


def _committed(change: dict[str, Any]) -> str:
    return f"{change.get('step')} is commit {str(change.get('commit'))[:10]}"


def _tallied(change: dict[str, Any]) -> str:
    counts = [f"{name} {count}" for name, count in (change.get("tally") or {}).items() if count]
    if not counts:
        return f"{change.get('step')} has its counts reset"
    return f"counted against {change.get('step')}: {', '.join(counts)}"


def _moved(change: dict[str, Any], at: float) -> str:
    because = f": {change['why']}" if change.get("why") else ""
    later = change.get("not_before") or 0.0
    when = f"; it is tried again from {moment_said(later, at)} on" if later - at >= _SOON else ""
    return f"{change.get('step')} is {_said(change)}{because}{when}"


def _task_moved(change: dict[str, Any]) -> str:
    because = f": {change['why']}" if change.get("why") else ""
    return f"the task is {_said(change)}{because}"


def _said(change: dict[str, Any]) -> str:
    """Return the state to which something moved, in the words of the other verbs."""
    state = str(change.get("to"))
    return {"partial": "complete in part", "set_aside": "set aside"}.get(state, state)


def _noticed(change: dict[str, Any], _: float) -> str:
    return parted(str(change.get("text")))[1]


def _closed(change: dict[str, Any], at: float) -> str:
    if change.get("given_up"):
        return f"{change.get('step')} is over, and the PM agent is not asked again"
    if until := change.get("held_until"):
        when = moment_said(until, at)
        return f"{change.get('step')} is over; steps that were not ordered wait for news, until {when} at the latest"
    return f"{change.get('step')} is over; the rules start every step that may start"


def _decided(change: dict[str, Any]) -> str:
    decision = f"{change.get('action')} {change.get('target') or ''}".strip()
    refused = change.get("refused")
    return f"{decision} is not carried out: {refused}" if refused else f"{decision} is carried out"


def _adapted(change: dict[str, Any]) -> str:
    record = change.get("record") or {}
    return f"adaptation {record.get('number')} of the plan by {record.get('by')}: {record.get('cause')}"


def _judged(change: dict[str, Any]) -> str:
    verdict = change.get("verdict") or {}
    decision = (verdict.get("judgement") or {}).get("decision")
    missing = verdict.get("missing") or []
    ruling = f"decides: {decision}" if decision else "passes it"
    if missing:
        ruling = f"misses {'; '.join(missing)}"
    return f"verdict {verdict.get('number')} on {verdict.get('agent')}: {verdict.get('by')} {ruling}"


def _escalated(change: dict[str, Any]) -> str:
    case = change.get("case") or {}
    where = (
        f"{case.get('to') or 'others'} is asked"
        if case.get("state") == "asked"
        else case.get("state", "waiting")
    )
    return f"escalation {case.get('number')} of {case.get('agent')}: {where}"


def _ordered(change: dict[str, Any]) -> str:
    order = change.get("order") or {}
    skills = f", with the skills {', '.join(order['skills'])}" if order.get("skills") else ""
    return f"order {order.get('name')} to {order.get('target')} for {order.get('step')}{skills}"


def _opened(change: dict[str, Any]) -> str:
    run = change.get("run") or {}
    return f"run {run.get('id')} is opened: {run.get('instance')} on {run.get('step')}"


def _traced(change: dict[str, Any]) -> str:
    return f"run {change.get('run')} {change['evidence']}" if change.get("evidence") else ""


def _delivered(change: dict[str, Any]) -> str:
    return f"the order of run {change.get('run')}: {str(change.get('delivery')).replace('_', ' ')}"


def _ruled(change: dict[str, Any]) -> str:
    rule = change.get("rule") or {}
    return f"from now on: {rule.get('decision')} {rule.get('act') or 'tool'} {rule.get('pattern')}"


def _raised(change: dict[str, Any]) -> str:
    most = change.get("most")
    return f"the limit of {change.get('measure')} is now " + ("none" if most is None else f"{most:g}")


def _asked(change: dict[str, Any]) -> str:
    question = change.get("question") or {}
    return f"question {question.get('id')}: {question.get('text')}"


def _answered(change: dict[str, Any]) -> str:
    return f"{change.get('question')} is closed by {change.get('by') or 'the user'}: {change.get('text')}"


def _marked(change: dict[str, Any]) -> str:
    marks = change.get("marks") or ()
    if not marks:
        return "the success criteria are to be judged again"
    return f"{sum(bool(mark.get('met')) for mark in marks)} of {len(marks)} success criteria judged so far are met"


_SOON: Final = 60.0
"""Seconds: the end of a shorter pause is not worth mentioning."""

_DATED: Final[dict[str | None, Callable[[dict[str, Any], float], str]]] = {
    "step_moved": _moved,
    "noticed": _noticed,
    "consultation_closed": _closed,
}
"""Changes whose sentence contains a time."""

_RENDERERS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "task_moved": _task_moved,
    "config_edited": _edited,
    "plan_adapted": _adapted,
    "judged": _judged,
    "escalation_moved": _escalated,
    "handoff_recorded": _handed_on,
    "role_status_recorded": _standing,
    "skills_found": _skills,
    "step_added": _added,
    "step_committed": _committed,
    "step_tallied": _tallied,
    "decision_taken": _decided,
    "order_given": _ordered,
    "run_opened": _opened,
    "run_delivered": _delivered,
    "run_traced": _traced,
    "rule_given": _ruled,
    "budget_raised": _raised,
    "question_asked": _asked,
    "question_answered": _answered,
    "criteria_marked": _marked,
}
"""Changes whose sentence needs more than their own fields."""
