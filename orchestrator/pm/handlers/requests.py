"""The user's requests: start, stop, spawn, an edited task.md. Each request is handled once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orchestrator.formats.redact import redacted
from orchestrator.model.config_changes import config_changes, digest, keys_of
from orchestrator.model.plan import Gate, Step, StepState, Tally
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Ending
from orchestrator.model.task import TaskState
from orchestrator.pm.handlers.spawning import STATE_NAMES
from orchestrator.pm.plan.advance import ACTIVE, end_run
from orchestrator.pm.plan.asking import withdraw, withdraw_question
from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.plan.plan_edits import judges_of_the_whole, planner
from orchestrator.pm.plan.readiness import has_pm
from orchestrator.pm.policies.causes import SHORT
from orchestrator.pm.policies.consultation_end import begin_anew
from orchestrator.pm.policies.reopen import feed, reopen
from orchestrator.pm.policies.retries import try_launches_now
from orchestrator.pm.state.changes import (
    BranchPlaced,
    BriefTaken,
    ConfigEdited,
    CriteriaMarked,
    RequestAcknowledged,
    SkillsFound,
    TaskBegun,
    TaskMoved,
    ZoneSet,
)
from orchestrator.pm.state.step_changes import StepAdded, StepReopened, StepTallied

if TYPE_CHECKING:
    from orchestrator.model.config_changes import ConfigChange
    from orchestrator.model.facts import BriefChanged, StopAsked, TaskStarted
    from orchestrator.model.task import Config
    from orchestrator.pm.state.draft import Draft


def task_started(draft: Draft, fact: TaskStarted) -> None:
    """Start a task, or continue one that had ended."""
    if not draft.state.id:
        _begin(draft, fact)
    elif fact.brief.config.family != (family := draft.state.brief.config.family):
        draft.reply = (
            f"{fact.name} was begun with the plan family {family}, and keeps it: write `family: {family}`, or "
            f"begin another task"
        )
        draft.refused = True
        return
    elif draft.state.state is TaskState.COMPLETE and _asks_the_same(draft, fact):
        draft.reply = (
            f"{fact.name} is complete already; change the goal or the criteria in its task.md for more"
        )
    elif (changes := _config_changes(draft, fact)) and fact.confirmed != digest(fact.brief.config):
        _ask_to_confirm(draft, fact, changes)
        return
    elif draft.state.state in ACTIVE:
        _take_over(draft, fact, changes)
    else:
        _go_on(draft, fact, changes)
    if draft.state.skills != fact.skills and draft.state.state in ACTIVE:
        draft.change(SkillsFound(fact.skills))
    draft.change(RequestAcknowledged(fact.request))


def _config_changes(draft: Draft, fact: TaskStarted) -> tuple[ConfigChange, ...]:
    return config_changes(draft.state.brief.config, fact.brief.config)


def _ask_to_confirm(draft: Draft, fact: TaskStarted, changes: tuple[ConfigChange, ...]) -> None:
    """Have a person confirm a changed Agent Config: agents can write task.md too, and it names commands to run."""
    differences = "\n".join(f"  {redacted(each.words())}" for each in changes)
    draft.reply = f"Agent Config in task.md differs from what {fact.name} was started with:\n{differences}"
    draft.refused, draft.confirm = True, digest(fact.brief.config)


def _take_over(draft: Draft, fact: TaskStarted, changes: tuple[ConfigChange, ...]) -> None:
    """Let a running task continue with a changed Agent Config, as far as its steps can follow."""
    if late := [each for each in changes if each.needs_stop]:
        draft.reply = (
            f"{fact.name} runs, and {keys_of(late)} in its task.md can take effect only after a stop: "
            f"`task stop {draft.state.id}`, then start it again"
        )
        draft.refused = True
        return
    asked = ", ".join(question.id for question in draft.state.open_questions)
    waits = asked and draft.state.state is TaskState.WAITING
    draft.reply = f"{fact.name} waits for an answer to {asked}" if waits else f"{fact.name} runs already"
    try_launches_now(draft)
    if changes:
        draft.change(BriefTaken(fact.brief, fact.agents), ConfigEdited(()))
        draft.notice(f"Agent Config of task.md was applied: {keys_of(changes)}")
        if any(each.prepares for each in changes):
            _prepare_again(draft)
        draft.reply = f"{fact.name} has {keys_of(changes)} as task.md says now"
        if draft.state.live_runs:
            draft.reply += "; current runs end first"
        if asked := ", ".join(question.id for question in draft.state.open_questions):
            draft.reply += f"; it still waits for an answer to {asked}"
        _report_boxes(draft, fact)


def _prepare_again(draft: Draft) -> None:
    """Withdraw what asks about a preparation that task.md has changed since, and try it again."""
    for question in draft.state.open_questions:
        if question.kind is QuestionKind.PREPARATION:
            withdraw_question(draft, question)
            reopen(draft, question.step, "its preparation was changed in task.md", carries=True)
            tally = draft.step(question.step).tally
            draft.change(StepTallied(question.step, replace(tally, preparations=0)))


def _begin(draft: Draft, fact: TaskStarted) -> None:
    draft.change(
        TaskBegun(
            fact.task,
            fact.name,
            fact.project,
            fact.brief,
            fact.agents,
            fact.base,
            fact.at,
            fact.history,
            fact.links,
        )
    )
    if fact.utc_offset:
        draft.change(ZoneSet(fact.utc_offset))
    if fact.history:
        draft.notice(f"{len(fact.history)} handoffs existed before; they are history and are ignored")
    if fact.found:
        draft.change(BranchPlaced(fact.found))
        draft.notice(f"{draft.state.branch} existed before, at {fact.found[:SHORT]}: the work begins upon it")
    for step in family_of(fact.brief).first_steps(fact.brief):
        draft.change(StepAdded(replace(step, since=fact.at)))
    draft.reply = f"{fact.name} runs"
    _report_boxes(draft, fact)


def _report_boxes(draft: Draft, fact: TaskStarted) -> None:
    """Report which boxes of pools were chosen, to the user and in the log."""
    for text in fact.chosen:
        draft.notice(text)
    draft.reply = "; ".join((draft.reply, *fact.chosen))


def _asks_the_same(draft: Draft, fact: TaskStarted) -> bool:
    old, new = draft.state.brief, fact.brief
    return (old.goal, old.criteria) == (new.goal, new.criteria)


def _go_on(draft: Draft, fact: TaskStarted, changes: tuple[ConfigChange, ...]) -> None:
    was, same = draft.state.state, _asks_the_same(draft, fact)
    # A task begun in the user's own tree has no base yet; one that has keeps it.
    base = draft.state.base or fact.base
    draft.change(
        BriefTaken(fact.brief, fact.agents, base),
        ConfigEdited(()),
        TaskMoved(TaskState.RUNNING, "started again", draft.at),
    )
    begin_anew(draft)
    if any(each.prepares for each in changes):
        _prepare_again(draft)
    steps = [step for step in draft.state.steps.values() if not is_consultation(step)]
    hanging = [step for step in steps if _hangs(draft, step)]
    if same and all(step.settled for step in steps):
        hanging = [step for step in steps if step.state is StepState.SET_ASIDE and not step.replaced]
    for step in hanging:
        withdraw(draft, step.id)
        goes_on = step.state is not StepState.SET_ASIDE
        why = "the task was started again"
        draft.change(StepReopened(step.id, step.attempt + 1, fact.at, why, carries=goes_on))
        draft.change(StepTallied(step.id, Tally()))
    if any(step.state is StepState.SET_ASIDE for step in hanging):
        for judge in judges_of_the_whole(draft.state):
            if judge.state is StepState.PASSED:
                reopen(draft, judge.id, "what was set aside is tried again")
                draft.change(CriteriaMarked(()))
    if not same:
        _plan_again(draft, "The goal or the criteria in task.md have changed.")
    if same and not hanging and all(step.settled for step in steps):
        what_helps = "change its task.md, or give an order (`task order`)"
        draft.reply = f"{fact.name} has nothing left to try ({STATE_NAMES.get(was, was)}): {what_helps}"
    else:
        draft.reply = f"{fact.name} goes on from where it was ({STATE_NAMES.get(was, was)})"
    _report_boxes(draft, fact)


def _plan_again(draft: Draft, why: str) -> bool:
    """Have what is still to be done planned for what task.md asks for now. Return whether there is a plan to change."""
    plan = planner(draft.state)
    if plan is None or plan.state is StepState.PENDING:
        return False
    feed(draft, plan.id, f"{why} Plan what is still to be done.")
    reopen(draft, plan.id, "task.md asks for something else now")
    return True


def _hangs(draft: Draft, step: Step) -> bool:
    """Return whether a step would never go on by itself: it has no run and no open question."""
    if step.state in {StepState.FAILED, StepState.WORKING}:
        return not draft.runs_of(step.id)
    asked = any(question.step == step.id for question in draft.state.open_questions)
    asked |= any(case.step == step.id and case.open for case in draft.state.cases.values())
    asks_the_user = bool({Gate.APPROVED, Gate.POC}.intersection(step.gates))
    waits = step.state is StepState.CHECKING and asks_the_user and not step.approved
    return (step.state is StepState.BLOCKED or waits) and not asked


def stop_asked(draft: Draft, fact: StopAsked) -> None:
    """Stop the PM's work on a task and end its agents. Their unfinished steps are repeated when it goes on."""
    draft.change(RequestAcknowledged(fact.request))
    if draft.state.state not in ACTIVE:
        draft.reply = f"{draft.state.name} is {STATE_NAMES.get(draft.state.state, draft.state.state)} already"
        return
    live = draft.state.live_runs
    draft.change(TaskMoved(TaskState.STOPPED, "the user stopped it", draft.at))
    for run in live:
        end_run(draft, run, Ending.STOPPED)
    names = ", ".join(run.instance for run in live)
    draft.reply = f"{draft.state.name} is stopped" + (f"; ending {names}" if names else "")


def brief_changed(draft: Draft, fact: BriefChanged) -> None:
    """Apply the goal and the criteria of an edited task.md; report which parts of its Agent Config need a start."""
    if draft.state.state not in ACTIVE:
        return
    _note_config(draft, fact.brief.config)
    old = draft.state.brief
    new = replace(fact.brief, config=old.config, workflow=old.workflow, skill=old.skill)
    if new == old:
        return
    draft.change(BriefTaken(new))
    parts = {"goal": new.goal != old.goal, "success criteria": new.criteria != old.criteria}
    changed = [part for part, differs in parts.items() if differs] or ["title"]
    planned = f"; {_planned_for_it(draft)}" if new.goal != old.goal else ""
    draft.notice(f"task.md was edited, and counts from now on: its {' and its '.join(changed)}{planned}")
    if new.criteria != old.criteria:
        for judge in judges_of_the_whole(draft.state):
            if judge.state in {StepState.PASSED, StepState.CHECKING}:
                reopen(draft, judge.id, "the success criteria in task.md have changed")


def _planned_for_it(draft: Draft) -> str:
    """Have the rest planned for another goal, within the bound: agents can write task.md too. Return what is done.

    Where an agent is the PM, it hears of the edit, and decides.
    """
    plan = planner(draft.state)
    if plan is None or has_pm(draft.state):
        return "the plan stays as it is"
    if plan.state is StepState.PENDING:
        return "the plan is yet to be made"
    if plan.tally.replans >= draft.limits.max_replans:
        return "the plan stays as it is, as it was made anew as often as `limits.max_replans` allows"
    draft.change(StepTallied(plan.id, replace(plan.tally, replans=plan.tally.replans + 1)))
    _plan_again(draft, "The goal in task.md has changed.")
    return "what is still to be done is planned anew"


def _note_config(draft: Draft, config: Config) -> None:
    """Record how an edited Agent Config differs from the active one, and report when it will take effect."""
    changes = config_changes(draft.state.brief.config, config)
    if changes == draft.state.edited:
        return
    draft.change(ConfigEdited(changes))
    if changes:
        how = (
            "stop the task and start it again"
            if any(each.needs_stop for each in changes)
            else "start it again"
        )
        draft.notice(
            f"{keys_of(changes)} in task.md differs from the active configuration: {how} to apply it"
        )
    else:
        draft.notice("Agent Config of task.md equals the active configuration again")
