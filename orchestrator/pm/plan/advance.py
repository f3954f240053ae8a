"""Starting every step that may start, with its run and order, and deriving the state of the task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from orchestrator.formats.amounts import on_word_said
from orchestrator.model.actions import End, Inspect, Launch, Notify, TendBranch
from orchestrator.model.coordination import HandoffStatus
from orchestrator.model.handoff import Order
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Ending, Purpose, Run
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.plan.acknowledgements import let_go
from orchestrator.pm.plan.asking import withdraw_question
from orchestrator.pm.plan.checkpoints import await_checkpoints
from orchestrator.pm.plan.consultations import consult, is_consultation, run_before
from orchestrator.pm.plan.families import rules_of
from orchestrator.pm.plan.handing_on import moved, received_by
from orchestrator.pm.plan.orders import context_for, criteria_for, instructions_for
from orchestrator.pm.plan.readiness import EVERY, floor_of, held, left_by_pm, next_start
from orchestrator.pm.plan.skills import skills_for
from orchestrator.pm.plan.tree_lives import begins_life, life_of
from orchestrator.pm.plan.work_location import host_of, is_prepared
from orchestrator.pm.state.changes import OrderClosed, OrderGiven, PhaseMoved, TaskMoved
from orchestrator.pm.state.order_names import order_name
from orchestrator.pm.state.results import counts, delivered, shortfalls
from orchestrator.pm.state.run_changes import RunEnding, RunOpened
from orchestrator.pm.state.step_changes import StepMoved, TreeBegun
from orchestrator.pm.state.transitions import phase_path

if TYPE_CHECKING:
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.steps import Marks
    from orchestrator.pm.state.task_state import PMState

ACTIVE: Final = frozenset({TaskState.RUNNING, TaskState.WAITING})


def advance(draft: Draft) -> None:
    """Start every step that may start, then update the state of the task."""
    if draft.state.state in ACTIVE:
        _drop_hopeless(draft)
        await_checkpoints(draft)
        if not held(draft.state):
            _start_what_may(draft)
    settle(draft)


def _start_what_may(draft: Draft) -> None:
    """Start what the rules allow. If an agent is the PM and there is news, ask it first."""
    ordered, others_from = left_by_pm(draft.state)
    _start(draft, ordered)
    if ordered == EVERY or draft.state.consultation.step:
        return
    if draft.state.consultation.fresh:
        waits = floor_of(draft.state, draft.limits).first(draft.at)
        if waits is not None:
            asks = consult(draft, waits)
            _start(draft, draft.state.steps.mark(asks))
    elif draft.at >= others_from:
        _start(draft, EVERY)


def _start(draft: Draft, among: Marks) -> None:
    while (step := floor_of(draft.state, draft.limits).first(draft.at, among)) is not None:
        start(draft, step.id)


def _drop_hopeless(draft: Draft) -> None:
    """Set aside every step that needs one which was set aside; repeat, as that may affect further steps."""
    while (step := _hopeless(draft.state)) is not None:
        lost = _lost_need(draft.state, step)
        why, replaced = f"needs {lost.id}, which was set aside", lost.replaced
        draft.change(StepMoved(step.id, StepState.SET_ASIDE, draft.at, why, replaced=replaced))


def _hopeless(state: PMState) -> Step | None:
    return state.steps.first(state.steps.pending & state.steps.hopeless)


def _lost_need(state: PMState, step: Step) -> Step:
    """Return a set-aside step that a hopeless step needs; prefer one given up for good to one that was replaced."""
    lost = [need for each in step.needs if (need := state.steps[each]).state is StepState.SET_ASIDE]
    return min(lost, key=lambda need: need.replaced)


def start(draft: Draft, step: str) -> None:
    """Begin or continue a step's attempt: its worktree is made ready, then comes its check, then the agent."""
    here = draft.step(step)
    draft.change(StepMoved(step, StepState.WORKING, draft.at, keep_tree=here.keep_tree))
    if is_prepared(draft.state.brief.config, here) and not here.prepared:
        _open(draft, here, Purpose.PREPARE, f"{here.agent}-prepare")
    else:
        begin(draft, step)


def begin(draft: Draft, step: str) -> None:
    """Begin in a tree that is ready: first the check that the daemon runs itself, then the agent."""
    here = draft.step(step)
    agent = draft.state.agents.get(here.agent)
    if agent is not None and agent.check and here.check_exit is None:
        _open(draft, here, Purpose.CHECK, f"{here.agent}-check")
    else:
        open_work(draft, step)


def open_work(draft: Draft, step: str) -> None:
    """Give a step's agent an order and a run."""
    here = draft.step(step)
    second = draft.new_order_second()
    run = _open(draft, here, Purpose.WORK, here.agent, order_name(second, draft.state.utc_offset))
    skills = skills_for(draft.state, here)
    order = Order(
        name=run.order,
        run=run.id,
        step=step,
        target=run.instance,
        at=float(int(draft.at)),  # its name may be some seconds ahead, as each needs a second of its own
        instructions=instructions_for(draft.state, here),
        context=context_for(draft.state, here, draft.limits, skills),
        skills=skills,
        criteria=criteria_for(draft.state, here),
    )
    draft.change(OrderGiven(order), *moved(received_by(draft.state, here), HandoffStatus.ACCEPTED))


def _open(draft: Draft, step: Step, purpose: Purpose, name: str, order: str = "") -> Run:
    new_life = begins_life(draft.state, step, purpose)
    run = Run(
        id=draft.new_id("r"),
        step=step.id,
        attempt=step.attempt,
        agent=step.agent,
        instance=_free_instance(draft.state, name),
        purpose=purpose,
        opened_at=draft.at,
        since=draft.at,
        progress_at=draft.at,
        order=order,
        receipts=_receipts(draft.state, step.agent, purpose),
        resumes="" if new_life or purpose is not Purpose.WORK else _resumed(draft.state, step),
        host=host_of(draft.state.brief.config, step.agent),
    )
    draft.change(RunOpened(run))
    if new_life:
        draft.change(TreeBegun(step.id, life_of(draft.state, step) + 1))
    draft.act(Launch(id=draft.new_id("a"), run=run.id))
    return run


def _receipts(state: PMState, agent: str, purpose: Purpose) -> bool:
    """Return whether a run's program will report that it has received its order."""
    return purpose is Purpose.WORK and agent in state.agents and state.agents[agent].receipts


def _resumed(state: PMState, step: Step) -> str:
    """Return the run that a step's next run resumes: the last one of its work, or the PM agent's last one."""
    if is_consultation(step):
        return run_before(state, step)
    if not (step.keep_tree or step.carries) or rules_of(state.brief).fresh_conversations:
        return ""
    run = state.runs.last_at_work_on(step.id)
    if run is not None and run.ending is Ending.TREE_LOST:
        return ""  # a program finds its conversation again only in the folder in which it began
    earliest = step.attempt - 1 if step.carries else step.attempt
    return run.id if run is not None and run.attempt >= earliest else ""


def _free_instance(state: PMState, name: str) -> str:
    """Return `name`, or `name-2` and so on while a live run uses it."""
    taken = {run.instance for run in state.live_runs}
    return next(
        free
        for number in range(1, len(taken) + 2)
        if (free := name if number == 1 else f"{name}-{number}") not in taken
    )


def end_run(draft: Draft, run: Run, ending: Ending) -> None:
    """End one run. Its order stays open until it is gone, so that its last words are still read (law 5).

    A permission question for its program is withdrawn.
    """
    if run.ending is Ending.NOT:
        let_go(draft, run)
        draft.change(RunEnding(run.id, ending, draft.at))
        draft.act(End(id=draft.new_id("a"), run=run.id))


def close_order(draft: Draft, run: Run) -> None:
    """Stop expecting a report on a run's order."""
    if run.order in draft.state.orders:
        draft.change(OrderClosed(run.order))


def settle(draft: Draft) -> None:
    """Update the task's state, and its phase: that of the earliest open step (H10)."""
    state = draft.state
    if state.state not in ACTIVE:
        return
    earliest = state.steps.first(state.steps.unsettled)
    looked_at = any(isinstance(action, Inspect | TendBranch) for action in state.outbox.values())
    if earliest is None and not (state.live_runs or looked_at):
        _withdraw_idle_questions(draft)
        state = draft.state
        if not state.open_questions:
            if not state.base or state.tended == len(state.runs):
                _finish(draft)
                return
            draft.act(TendBranch(draft.new_id("a")))
    waiting = bool(state.open_questions) and not _anything_moves(draft)
    wanted = TaskState.WAITING if waiting else TaskState.RUNNING
    if state.state is not wanted:
        draft.change(TaskMoved(wanted, "waits for an answer" if waiting else "goes on", draft.at))
    if waiting:
        _move_phase(draft, Phase.BLOCKED)
    elif earliest is not None:
        _move_phase(draft, earliest.phase)


def _withdraw_idle_questions(draft: Draft) -> None:
    """Withdraw what the PM agent asks about no step: with all steps settled, nobody does anything with the answer."""
    for question in draft.state.open_questions:
        if question.step and is_consultation(draft.step(question.step)):
            withdraw_question(draft, question)
            draft.notice(
                f"{question.id} was withdrawn: every step is settled, and nothing waits for its answer"
            )


def _finish(draft: Draft) -> None:
    """End a task whose steps are all settled: complete, complete in part, or failed (U11)."""
    missing = shortfalls(draft.state)
    if missing:
        _move_phase(draft, Phase.BLOCKED)
        ended = TaskState.PARTIAL if delivered(draft.state) else TaskState.FAILED
        draft.change(TaskMoved(ended, "; ".join(missing), draft.at))
    else:
        _move_phase(draft, Phase.COMPLETE)
        counted = counts(draft.state)
        met = on_word_said(counted.attested, counted.criteria) or "every criterion is met"
        passed = (
            "every step passed or was planned anew" if draft.state.steps.replaced else "every step passed"
        )
        draft.change(TaskMoved(TaskState.COMPLETE, f"{passed}, {met}", draft.at))


def _anything_moves(draft: Draft) -> bool:
    state = draft.state
    if state.live_runs or any(not isinstance(action, Notify) for action in state.outbox.values()):
        return True
    return next_start(state, draft.limits) is not None


def _move_phase(draft: Draft, goal: Phase) -> None:
    for phase in phase_path(draft.state.phase, goal):
        draft.change(PhaseMoved(phase))
