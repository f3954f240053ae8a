"""The text of an order: the step's instructions, what earlier attempts taught, and when the step is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.briefing import digest
from orchestrator.pm.plan.handing_on import lines_of
from orchestrator.pm.plan.skills import where_they_lie
from orchestrator.pm.state.results import baseline_of, last_check, not_done, unchanged_work, work_checked_last

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState


REPORTS_NAMED: Final = 30

FILES_NAMED: Final = 5
"""How many files a message names that were changed by a step which was only to look."""


def instructions_for(state: PMState, step: Step) -> str:
    """Return the instructions for a step's run, which is open already, followed by feedback on earlier attempts."""
    text = step.instructions
    if step.directive and step.directive.instructions:
        text = f"{text}\n\nThe PM adds:\n\n{step.directive.instructions}"
    if step.feedback:
        feedback = "\n\n".join(step.feedback)
        text = f"{text}\n\nThis is attempt {state.runs.tries(step.id)}. Feedback on the work so far:\n\n{feedback}"
    if step.cause is not None and not _is_no_try(state, step):
        lines = "".join(f"\n    {line}" for line in step.cause.lines)
        text = f"{text}\n\nThe last try: {step.cause.what}."
        text += f" Its last lines:{lines}" if lines else ""
    return text


def _is_no_try(state: PMState, step: Step) -> bool:
    """Return whether what failed was no agent's try.

    It is the check of the work as it is now, of which the context tells, or a preparation that worked the next time.
    """
    run = state.runs.get(step.cause.run) if step.cause is not None else None
    if run is not None and run.purpose is Purpose.PREPARE:
        return step.prepared
    is_check = run is not None and run.purpose is Purpose.CHECK and run.attempt == step.attempt
    return is_check and step.check_exit is not None


def context_for(state: PMState, step: Step, limits: Limits, skills: Sequence[str] = ()) -> str:
    """Return what an agent should know: the goal, the results its step builds on, and where its skills are."""
    if Gate.DECISION in step.gates:
        return digest(state, limits)
    lines = [f"Task: {state.brief.title}", f"Goal: {state.brief.goal}", *_other_goal(state, step)]
    for need in (*step.needs, *step.after)[-REPORTS_NAMED:]:
        earlier = state.steps[need]
        if earlier.report:
            lines.append(f"- {need}: handoffs/{earlier.report}")
            lines += [f"  - {artifact}" for artifact in earlier.artifacts]
    lines += lines_of(state, step)
    lines += _checked_before(state, step)
    lines += _checked(state, step)
    lines += _seen_by_judges(state, step)
    if step.directive and step.directive.context:
        lines.append(step.directive.context)
    return "\n".join([*lines, *where_they_lie(state, skills)])


def _other_goal(state: PMState, step: Step) -> list[str]:
    """Return what the goal was before somebody changed it, and what that means to a judge."""
    if not state.goal_before:
        return []
    judged = {Gate.VERDICT, Gate.CRITERIA}.intersection(step.gates)
    so = " Work may have been begun for that. Judge it by the goal as it is now." if judged else ""
    return [f"The goal was changed in task.md since the task began.{so} Before, it was: {state.goal_before}"]


_FAILED_BEFORE: Final[dict[str, str]] = {
    Gate.SUBTASKS: (
        "Where the goal or a criterion needs it to pass, plan a first subtask that mends it. Where not, leave it: work "
        "is not rejected because the check fails just as before, but the task is not complete as long as it fails."
    ),
    Gate.COMMIT: (
        "What failed before is not yours to mend, unless your subtask is about that. Break nothing else: a check that "
        "fails in another way rejects the work."
    ),
    Gate.VERDICT: (
        "If it still fails in just this way, that alone is no reason to reject the work, unless this was to mend it: "
        "judge the work by itself."
    ),
    Gate.CRITERIA: "A criterion that needs it to pass is not met as long as it fails.",
}
"""What a check that failed before any change means to an agent, by the gate of its step."""


def _checked_before(state: PMState, step: Step) -> list[str]:
    """Return how the check ended before anything was changed, and what that means to the agent of a step."""
    before = baseline_of(state)
    gates = (Gate.COMMIT,) if Gate.CHANGED in step.gates else step.gates
    meant = next((_FAILED_BEFORE[gate] for gate in gates if gate in _FAILED_BEFORE), "")
    if before is None or before.check_exit is None or not meant:
        return []
    summary = f"Before anything was changed the check that the PM runs exited {before.check_exit}."
    if not before.check_exit:
        return [summary]
    return [f"{summary} {meant}", *(f"    {line}" for line in before.check_lines)]


def _checked(state: PMState, step: Step) -> list[str]:
    """Return how the check of this work ended, with the last lines that it printed.

    A judge without a check of its own sees the one that failed as before any change, and was not judged by that.
    """
    checked = [step] if step.check_exit is not None else []
    if not checked and step.judges:
        judges = state.steps.among(state.steps.judges_of(step.judges))
        checked = [each for each in judges if each.check_as_before]
    elif not checked and Gate.CRITERIA in step.gates:
        last = last_check(state)
        checked = [last] if last is not None and last.check_as_before else []
    lines = []
    for each in checked:
        how = ", just as before anything was changed" if each.check_as_before else ""
        lines.append(f"The check that the PM ran on this work exited {each.check_exit}{how}.")
        lines += (f"    {line}" for line in each.check_lines)
    return lines


def _seen_by_judges(state: PMState, step: Step) -> list[str]:
    """Return what only the PM knows of the work that a step judges: unchanged or given-up parts."""
    lines = []
    judged = state.steps.get(step.judges) if step.judges else None
    if judged is not None and judged.uncompared:
        lines.append(_uncompared(judged))
    if judged is not None and judged.commit and judged.ignored:
        lines.append(_ignored(judged))
    lines += [_rewritten(each) for each in _checked_work(state, step, judged)]
    lines += _strewn(state, step)
    if judged is not None and judged.unchanged and not (judged.commit or judged.elsewhere):
        lines.append(
            f"Nothing was changed by {judged.id} in this attempt. Its reason: {judged.unchanged}. Judge whether that "
            f"is right: what was asked for must hold without a change."
        )
    if Gate.CRITERIA in step.gates:
        lines += [f"Given up: {title} ({why})" for title, why in not_done(state)[:REPORTS_NAMED]]
        unknown = [each for each in state.steps.among(state.steps.passed) if each.uncompared]
        lines += [_uncompared(each) for each in unknown[:REPORTS_NAMED]]
        unchanged = unchanged_work(state)[:REPORTS_NAMED]
        lines += [f"Done without a change by {each.id}: {each.unchanged}" for each in unchanged]
    return lines


def _checked_work(state: PMState, step: Step, judged: Step | None) -> list[Step]:
    """Return the work whose check a judge is told of, if it is not the check that was there before the task."""
    work = work_checked_last(state) if judged is None and Gate.CRITERIA in step.gates else judged
    return [work] if work is not None and work.check_files else []


def _rewritten(work: Step) -> str:
    return (
        f"The check that the PM runs is no longer the one of before this task, which has changed files of its command: "
        f"{', '.join(work.check_files)}. What it says is worth what these changes are worth: judge them as well."
    )


def changed_said(files: Sequence[str], kept: str) -> str:
    """Return which files a step changed that was only to look, and what became of the changes."""
    named = ", ".join(f"{name!a}" for name in files[:FILES_NAMED])
    more = f" and {len(files) - FILES_NAMED} more" if len(files) > FILES_NAMED else ""
    became = f"taken out, and kept as {kept}" if kept else "left there as it was found"
    return f"{named}{more}; {became}"


def _uncompared(work: Step) -> str:
    return (
        f"Nobody could compare {work.elsewhere} with what it was before {work.id}: whether anything was changed there "
        f"is not known. Judge by the files themselves whether the work is there."
    )


def _ignored(work: Step) -> str:
    """Return what lies beside the work of a step, so that a judge in the same tree does not take it for a part."""
    named = ", ".join(f"{name!a}" for name in work.ignored[:FILES_NAMED])
    return (
        f"The commit of {work.id} has nothing of what git ignores in its tree, such as {named}. The work must hold "
        f"without that, apart from what anybody can build or install again."
    )


def _strewn(state: PMState, step: Step) -> list[str]:
    """Return what earlier judges of the same work changed themselves, or for the last review, all that only looked."""
    if Gate.CRITERIA in step.gates:
        others = [each for each in state.steps.values() if each.strewn]
    elif step.judges:
        others = list(state.steps.among(state.steps.judges_of(step.judges)))
    else:
        return []
    return [
        f"{each.id} was only to look, and changed {changed_said(each.strewn, each.strewn_kept)}. What it says of the "
        f"work may rest on that."
        for each in others[:REPORTS_NAMED]
        if each.strewn and each.id != step.id
    ]


def criteria_for(state: PMState, step: Step) -> str:
    """Return how the agent knows that it is done."""
    wanted = _wanted(state, step)
    more = step.directive.criteria if step.directive else ""
    return f"{wanted}\n{more}" if more else wanted


def _wanted(state: PMState, step: Step) -> str:
    if Gate.DECISION in step.gates:
        return "At least one handoff of yours with `**Action:**` and `**Run:**` lies in handoffs/."
    if Gate.CRITERIA in step.gates or not (step.subtask or step.done_when):
        return "\n".join(f"- {criterion}" for criterion in state.brief.criteria)
    return step.done_when or step.title
