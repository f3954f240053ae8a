"""Which pending steps may start: their needs, their time, their tree, and a free slot."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.model.actions import Inspect
from orchestrator.model.agents import Role
from orchestrator.model.host_names import is_box
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.families import caps_of, rules_of
from orchestrator.pm.plan.preparation_faults import waiting_for_answer
from orchestrator.pm.plan.work_location import host_of

if TYPE_CHECKING:
    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.steps import Marks, Steps
    from orchestrator.pm.state.task_state import PMState


EVERY: Final = -1
"""Every step: all bits."""

_NO_CLI: Final = frozenset({"auto", "command"})
"""Runtimes that are no account of an agent CLI."""

OPEN: Final = math.inf
"""When steps may start that wait for the PM agent's decision: never by time alone."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The steps that only wait for their time, at one moment: `admitted` of `steps`.

    Live runs occupy slots, steps and trees. A step that was only to look keeps its slot and tree until it is known
    whether it changed anything.
    """

    steps: Steps
    admitted: Marks

    def first(self, at: float, among: Marks = EVERY) -> Step | None:
        """Return the step of `among` that starts first at a moment, or None if none may.

        What was begun is finished before anything new begins: first come the steps of subtasks under way, and of none;
        then subtasks that are repeated; then new ones; each in the order of the plan.
        """
        left = self.admitted & among
        going_on = left & (self.steps.free | _under_way(self.steps))
        again = left & self.steps.again & ~going_on
        for tier in (going_on, again, left & ~going_on & ~again):
            for step in self.steps.among(tier):
                if at >= step.not_before:
                    return step
        return None


def floor_of(state: PMState, limits: Limits) -> Floor:
    """Return what is free now, with as many runs at once as the limits or the task say.

    As many subtasks are under way as agents may work, but for those that pause, unless the family says otherwise: one
    whose work is only being committed or merged needs its slot again at once, and would wait behind what was begun in
    between. What would only wait behind runs of this task, for its host or its agent CLI, is not opened: it would take
    a place of the task from what can begin.
    """
    steps, live, looks = state.steps, state.live_runs, _looks(state)
    caps, rules = caps_of(state.brief), rules_of(state.brief)
    runs_at_once = min(limits.max_concurrent_runs, caps.all or limits.max_concurrent_runs)
    left = steps.pending & steps.ready & ~steps.joint
    if len(live) + len(looks) >= runs_at_once or not left:
        return Floor(steps, 0)
    for run in live:
        step = steps[run.step]
        left &= ~(steps.mark(step.id) | steps.of_tree(step.kind, step.workspace))
        if rules.keeps_claims and step.claims and not step.settled:
            left &= ~steps.rivals(step) | steps.of_subtask(step.subtask)
        if rules.one_run_per_agent:
            left &= ~steps.of_agent(step.agent)
    for group, most in caps.groups:
        if sum(steps[run.step].group == group for run in live) >= most:
            left &= ~steps.of_group(group)
    for step in looks:
        left &= ~steps.of_tree(step.kind, step.workspace)
    for step in waiting_for_answer(state, limits.max_failed_preparations):
        left &= ~steps.mark(step.id)
    busy = sum(not steps.of_subtask(each) & steps.pausing for each in steps.under_way)
    if rules.finishes_first and busy >= runs_at_once:
        left &= steps.free | _under_way(steps)
    return Floor(steps, left & ~_kept_apart(steps) & ~_without_a_place(state, limits))


def _without_a_place(state: PMState, limits: Limits) -> Marks:
    """Return the steps for which runs of this task alone leave no place on this machine or with their agent CLI.

    Agents with a check of the daemon's own are left out: a check uses no CLI.
    """
    on_host, per_cli = limits.max_local_runs, limits.max_runs_per_cli
    if on_host is None and per_cli is None:
        return 0
    config, found = state.brief.config, 0
    here = sum(not run.on_box for run in state.live_runs)
    clis = Counter(_cli_of(state, run.agent) for run in state.live_runs if run.purpose is Purpose.WORK)
    for name, agent in state.agents.items():
        is_full = on_host is not None and here >= on_host and not is_box(host_of(config, name))
        cli = "" if agent.check else _cli_of(state, name)
        is_used = bool(cli) and per_cli is not None and clis[cli] >= per_cli
        found |= state.steps.of_agent(name) if is_full or is_used else 0
    return found


def _cli_of(state: PMState, agent: str) -> str:
    """Return the agent CLI whose account an agent uses; empty if it is a command, or not known."""
    known = state.agents.get(agent)
    return "" if known is None or known.runtime in _NO_CLI else known.runtime


def _looks(state: PMState) -> list[Step]:
    """Return the steps that only looked, and that are being inspected for changes."""
    steps = (state.steps[each.step] for each in state.outbox.values() if isinstance(each, Inspect))
    return [step for step in steps if step.workspace]


def held(state: PMState) -> bool:
    """Return whether a question about the whole task is open: then nothing new starts."""
    return any(not question.step for question in state.open_questions)


def next_start(state: PMState, limits: Limits) -> float | None:
    """Return the next moment at which a step may start that only waits for its time, or None.

    A step that also waits for something else is checked when that happens, not when its time comes.
    """
    steps = state.steps
    if held(state):
        return None
    ordered, others_from = left_by_pm(state)
    if others_from:
        return _next_start_led(state, floor_of(state, limits), ordered, others_from)
    if not steps.pausing:
        return None
    pausing = steps.pausing & floor_of(state, limits).admitted
    return min((step.not_before for step in steps.among(pausing)), default=None)


def _next_start_led(state: PMState, floor: Floor, ordered: Marks, others_from: float) -> float | None:
    """Return the next start while a PM agent holds back the steps that it did not order."""
    steps, mine = state.steps, floor.admitted & ordered
    moments = [step.not_before for step in steps.among(steps.pausing & mine)]
    if others_from != OPEN:
        rest = floor.admitted & ~mine
        moments += [max(step.not_before, others_from) for step in steps.among(rest)]
    return min(moments, default=None)


def has_pm(state: PMState) -> bool:
    """Return whether an agent is the PM of a task, and was not given up."""
    return bool(state.brief.config.pm) and not state.consultation.given_up and Role.PM.value in state.agents


def left_by_pm(state: PMState) -> tuple[Marks, float]:
    """Return the steps that may start whatever the PM agent decides next, and when all others may.

    While a consultation is open, only the consultation and ordered steps may start. News that came up meanwhile leads
    to the next consultation, not to a start.
    """
    consultation = state.consultation
    if not has_pm(state):
        return EVERY, 0.0
    mine = 0
    for step in (*consultation.ordered, *([consultation.step] if consultation.step else [])):
        mine |= state.steps.mark(step)
    if consultation.step:
        return mine, OPEN
    return mine, 0.0 if consultation.fresh else consultation.held_until


def may_be_ordered(state: PMState) -> Marks:
    """Return the steps that only wait for a slot, a tree or their time."""
    steps = state.steps
    asks = steps.mark(state.consultation.step) if state.consultation.step else 0
    return steps.pending & steps.ready & ~_kept_apart(steps) & ~asks


def _kept_apart(steps: Steps) -> Marks:
    """Return the steps that must not begin a subtask now, because another one claims the same files.

    That is one under way; or one that is to be repeated, even if it has to pause first: what it began may lie there.
    """
    under_way, rivals = _under_way(steps), 0
    for step in steps.among(under_way & steps.claiming):
        rivals |= steps.rivals(step)
    repeated = (steps.again | steps.pausing) & steps.claiming & steps.pending & steps.ready & ~under_way
    for step in steps.among(repeated):
        if not rivals & steps.mark(step.id):
            rivals |= steps.rivals(step) & ~steps.mark(step.id)
    return rivals & ~under_way & ~steps.free


def _under_way(steps: Steps) -> Marks:
    """Return the steps of all subtasks that are under way."""
    found = 0
    for subtask in steps.under_way:
        found |= steps.of_subtask(subtask)
    return found
