"""What `task status` shows of a task, as one document, without secrets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from orchestrator.daemon.core.task_paths import code_of
from orchestrator.formats.redact import redacted
from orchestrator.model.budget import Budget, Measure
from orchestrator.model.limits import Limits
from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.pm.plan.preparation_faults import fails_alike
from orchestrator.pm.policies.budget import budget_of
from orchestrator.pm.state.results import counts
from orchestrator.pm.state.usage_limits import parked, shown_reset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orchestrator.daemon.boxes.transfer_status import TransferStatus
    from orchestrator.daemon.projections.outcome import Outcome
    from orchestrator.model.handoff import CriterionMark
    from orchestrator.model.plan import Step
    from orchestrator.model.question import Question
    from orchestrator.model.run import Run
    from orchestrator.model.usage import Usage
    from orchestrator.pm.state.runs import Runs
    from orchestrator.pm.state.task_state import PMState


VERSION: Final = 1

PAGED: Final = 2
"""The version of a `state.json` that names pages."""

USUAL: Final = Limits()

NOTICES_SHOWN: Final = 10
"""How many of the last notices are shown, here and in progress.md."""

HELD_SHOWN: Final = 50
"""How many of the steps that wait for an answer are named."""


@dataclass(frozen=True, slots=True)
class Unjournaled:
    """What is shown of a task beside its state: files `behind` on boxes, and for what runs are `waiting`.

    `brief_fault` is why an edit of task.md is not in force; empty if there is no such edit.
    """

    behind: Sequence[TransferStatus] = ()
    waiting: Mapping[str, str] = field(default_factory=dict)
    brief_fault: str = ""


NOTHING: Final = Unjournaled()


def projection(
    state: PMState,
    *,
    last_checkin: float,
    at: float,
    limits: Limits = USUAL,
    outcome: Outcome | None = None,
    unjournaled: Unjournaled = NOTHING,
) -> dict[str, Any]:
    """Return what `task status` shows, without secrets. Times are seconds since the epoch."""
    steps = visible_steps(state.steps.values(), state.runs)
    return document_of(state, last_checkin, at, limits, outcome, unjournaled, steps=steps)


def document_of(  # noqa: PLR0913 (it is gathered from several sources)
    state: PMState,
    last_checkin: float,
    at: float,
    limits: Limits,
    outcome: Outcome | None,
    unjournaled: Unjournaled,
    *,
    steps: list[dict[str, Any]] | None = None,
    pages: list[str] | None = None,
) -> dict[str, Any]:
    """Return the document, with the steps themselves or with the names of the pages that hold them."""
    return {
        "version": VERSION if pages is None else PAGED,
        "id": state.id,
        "task": state.name,
        "project": state.project,
        "phase": state.phase.value,
        "state": state.state.value,
        "why": masked(state.why),
        "limited": next((_limit(step) for step in sorted(parked(state), key=_next_try)), None),
        "counts": asdict(counts(state)),
        "goal": masked(state.brief.goal),
        "goal_before": masked(state.goal_before),
        "outcome": {} if outcome is None else _outcome(outcome),
        **({"steps": steps} if pages is None else {"pages": pages}),
        "agents": [_agent(run, unjournaled.waiting.get(run.id, "")) for run in _shown(state)],
        "boxes": [_behind(each) for each in unjournaled.behind],
        "questions": [_question(state, each) for each in state.open_questions],
        "criteria": [_criterion(mark) for mark in state.criteria],
        "usage": _used(state, limits, at),
        "used_by": [
            {"agent": agent, "runs": spent.runs, "time": spent.time, **_usage(spent.usage)}
            for agent, spent in state.runs.spent.items()
        ],
        "edited": [
            {"key": each.key, "was": masked(each.was), "now": masked(each.now)} for each in state.edited
        ],
        "brief_fault": masked(unjournaled.brief_fault),
        "branch": state.branch,
        "base": state.base,
        "tip": state.tip,
        "code": str(code_of(state.project, state.brief)),
        "started_at": state.started_at,
        "moved_at": state.moved_at or None,
        "last_checkin": last_checkin or None,
        "updated": at,
        "notices": [masked(notice) for notice in state.notices[-NOTICES_SHOWN:]],
        "noticed": max(state.noticed, len(state.notices)),
    }


masked: Final = lru_cache(maxsize=8192)(redacted)
"""Cached: most texts were shown before."""


def _held_up(state: PMState, question: Question) -> list[str]:
    """Return the steps that wait for the answer to a question; none for a question about the whole task."""
    if not question.step:
        return []
    waiting = state.steps.waiting(question.step) & state.steps.unsettled
    for step in fails_alike(state, question):
        waiting |= state.steps.mark(step.id)
    return [each.id for each in islice(state.steps.among(waiting), HELD_SHOWN)]


def _shown(state: PMState) -> list[Run]:
    """Return the live runs, and the latest run of each instance."""
    latest = [state.runs[run] for run in state.runs.latest.values()]
    return [run for run in latest if run.purpose is Purpose.WORK or run.live]


def visible_steps(steps: Iterable[Step], runs: Runs) -> list[dict[str, Any]]:
    """Return steps as they are shown; of consultations only the open one, as they are not part of the plan."""
    return [
        _step(step, runs.tries(step.id))
        for step in steps
        if Gate.DECISION not in step.gates or not step.settled
    ]


def _next_try(step: Step) -> float:
    return step.not_before


def _step(step: Step, tries: int) -> dict[str, Any]:
    return {
        "id": step.id,
        "agent": step.agent,
        "title": masked(step.title),
        "status": step.state.value,
        "attempts": step.attempt,
        "tries": tries,
        "phase": step.phase.value,
        "subtask": step.subtask,
        "needs": list(dict.fromkeys((*step.needs, *step.after))),
        "since": step.since,
        "began": step.began_at or None,
        "said": masked(step.feedback[-1]) if step.feedback else "",
        "why": masked(step.why),
        **({} if (limit := _limit(step)) is None else {"limit": limit}),
        "replaced": step.replaced,
        "commit": step.commit,
        "unchanged": masked(step.unchanged),
        "check": step.check_exit,
        "cause": None
        if step.cause is None
        else {
            "what": masked(step.cause.what),
            "run": step.cause.run,
            "lines": [masked(line) for line in step.cause.lines],
        },
    }


def _limit(step: Step) -> dict[str, Any] | None:
    """Return what is known of the usage limit that a step waits for."""
    limit = step.limit
    if limit is None or not step.limited:
        return None
    return {
        "since": limit.since,
        "refused_at": limit.at,
        "refusals": limit.refusals,
        "words": masked(limit.words),
        "resets_at": shown_reset(limit),
        "next_try": step.not_before,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    lines = {key: masked(text) for key, text in asdict(outcome).items() if key != "branch_seen"}
    return {**lines, "branch_seen": outcome.branch_seen}


def _used(state: PMState, limits: Limits, at: float) -> dict[str, Any]:
    """Return what the task has used, and may use. Times are in seconds."""
    worked, budget = state.worked.counted(at, busy=bool(state.runs.live)), budget_of(state, limits)
    return {
        **_usage(state.runs.usage),
        "time": worked.time,
        "idle": worked.idle,
        "limits": {each.value: budget.of(each) for each in Measure},
        "defaults": [Measure.TOKENS.value] if _is_by_default(state, budget) else [],
    }


def _is_by_default(state: PMState, budget: Budget) -> bool:
    """Return whether a task's token limit is the default, which nobody has set."""
    own = state.brief.config.limits.tokens is not None or Measure.TOKENS.value in state.raised
    return not own and budget.tokens == USUAL.max_task_tokens


def _usage(usage: Usage) -> dict[str, Any]:
    """Return tokens and US dollars; null if no program reported them."""
    tokens = usage.tokens or None
    return {
        "tokens": tokens,
        "input": usage.input if tokens else None,
        "output": usage.output if tokens else None,
        "cached": usage.cached if tokens else None,
        "cost": usage.cost,
        "estimate": usage.estimate,
        "prices": usage.prices or None,
        "unpriced": list(usage.unpriced),
        "partial": usage.partial,
        "context": usage.context,
        "window": usage.window,
    }


def _behind(each: TransferStatus) -> dict[str, Any]:
    return {
        "address": each.box,
        "lost": masked(each.lost),
        "failing": [
            {"what": failing.what, "since": failing.since, "why": masked(failing.why)}
            for failing in each.failing
        ],
        "missing": [asdict(missing) for missing in each.missing],
    }


def _agent(run: Run, obstacle: str) -> dict[str, Any]:
    return {
        "name": run.instance,
        "run": run.id,
        "agent": run.agent,
        "step": run.step,
        "state": run.life.value,
        "turn": run.turn.value,
        "evidence": f"waits: {obstacle}" if obstacle else run.evidence,
        "since": run.since,
        "turn_since": run.turn_since or run.since,
        "host": run.host,
        "pane": run.pane,
        "pid": run.pid,
        "order": run.order,
        **_usage(run.usage),
    }


def _question(state: PMState, question: Question) -> dict[str, Any]:
    return {
        "id": question.id,
        "step": question.step,
        "text": masked(question.text),
        "options": list(question.options),
        "asked_at": question.asked_at,
        "kind": question.kind.value,
        "run": question.run,
        "default": question.default,
        "deadline": question.deadline,
        "holds": _held_up(state, question),
    }


def _criterion(mark: CriterionMark) -> dict[str, Any]:
    return {
        "text": masked(mark.text),
        "met": mark.met,
        "evidence": [masked(each) for each in mark.evidence],
        "details": [masked(each) for each in mark.details],
        "reason": masked(mark.reason),
        "attested": mark.met and mark.attested,
    }
