"""The step that follows from each of its changes."""

from __future__ import annotations

from typing import Final

from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.quick_replace import replace
from orchestrator.pm.state.step_changes import (
    BranchJudged,
    StepApproved,
    StepChange,
    StepChecked,
    StepCommitted,
    StepFed,
    StepHurried,
    StepInspected,
    StepLacked,
    StepLimited,
    StepMoved,
    StepOrdered,
    StepPrepared,
    StepQueued,
    StepRemembered,
    StepReopened,
    StepReported,
    StepRevised,
    StepRewired,
    StepStrewed,
    StepTallied,
    StepTroubled,
    TreeBegun,
)
from orchestrator.pm.state.transitions import STEPS, IllegalMove

_SETTLED: Final = frozenset({StepState.PASSED, StepState.SET_ASIDE})

_HELD_UP: Final = frozenset({StepState.PENDING, StepState.WORKING})
"""The states in which a usage limit may hold a step up: it is retried, and may be refused again."""


def step_after(was: Step, change: StepChange) -> Step:  # noqa: C901, PLR0912 (a case per change)
    """Return a step as it is after a change.

    Raises:
        IllegalMove: `pm.transitions` has no such move of a step.

    """
    match change:
        case StepRewired():
            return replace(was, after=change.after)
        case StepRevised(planned=planned):
            return as_planned(was, planned)
        case StepMoved():
            return _moved(was, change)
        case StepTallied() | StepLimited():
            return _counted(was, change)
        case StepHurried():
            return replace(was, not_before=0.0)
        case StepFed():
            return replace(was, feedback=change.feedback)
        case StepRemembered():
            return replace(was, blockers=change.blockers)
        case StepLacked():
            return replace(was, gap=change.gap)
        case StepReopened():
            return _reopened(was, change)
        case StepReported():
            return replace(was, report=change.report, artifacts=change.artifacts, unchanged=change.unchanged)
        case StepChecked():
            return replace(
                was,
                check_exit=change.exit,
                check_lines=change.lines,
                check_commit=change.commit,
                check_as_before=change.as_before,
            )
        case StepTroubled():
            return replace(was, cause=change.cause)
        case StepApproved():
            return replace(was, approved=True)
        case StepCommitted():
            return replace(was, commit=change.commit, ignored=change.ignored, check_files=change.check_files)
        case StepQueued():
            return replace(was, queued_at=change.at, behind=change.behind)
        case StepPrepared():
            return replace(was, prepared=True)
        case TreeBegun():
            return replace(was, tree_life=change.life)
        case StepInspected():
            files = change.check_files
            return replace(was, elsewhere=change.where, uncompared=change.uncompared, check_files=files)
        case StepStrewed():
            return replace(was, strewn=change.files, strewn_kept=change.kept)
        case BranchJudged():
            return replace(was, empty=change.empty)
        case StepOrdered():
            return replace(was, directive=change.directive)


def as_planned(was: Step, planned: Step) -> Step:
    """Return a step with what another plan says of it."""
    return replace(
        was,
        agent=planned.agent,
        title=planned.title,
        instructions=planned.instructions,
        phase=planned.phase,
        needs=planned.needs,
        after=planned.after,
        kind=planned.kind,
        workspace=planned.workspace,
        gates=planned.gates,
        judges=planned.judges,
        done_when=planned.done_when,
        claims=planned.claims,
        bounds=planned.bounds,
        group=planned.group,
    )


def _moved(was: Step, change: StepMoved) -> Step:
    if change.to not in STEPS[was.state]:
        raise IllegalMove(f"step {was.id}: {was.state} to {change.to}")
    return replace(
        was,
        state=change.to,
        since=change.at,
        began_at=change.at if change.to is StepState.WORKING and not was.began_at else was.began_at,
        why=change.why,
        not_before=change.not_before,
        keep_tree=change.keep_tree,
        limit=was.limit if change.to in _HELD_UP else None,
        limited=change.limited,
        carries=was.carries and (bool(was.starts_from) or not change.anew),
        replaced=change.replaced and change.to is StepState.SET_ASIDE,
        queued_at=0.0 if change.to in _SETTLED else was.queued_at,
        cause=None if change.to is StepState.PASSED else was.cause,
        prepared=was.prepared and (change.to is not StepState.PENDING or change.keep_tree),
    )


def _counted(was: Step, change: StepTallied | StepLimited) -> Step:
    if isinstance(change, StepTallied):
        return replace(was, tally=change.tally)
    not_before = was.not_before if change.not_before is None else change.not_before
    return replace(was, limit=change.limit, not_before=not_before)


def _reopened(was: Step, change: StepReopened) -> Step:
    if StepState.PENDING not in STEPS[was.state] and was.state is not StepState.PENDING:
        raise IllegalMove(f"step {was.id}: {was.state} reopened")
    return replace(
        was,
        state=StepState.PENDING,
        attempt=change.attempt,
        tally=_over_attempts(was.tally),
        since=change.at,
        why=change.why,
        not_before=0.0,
        keep_tree=False,
        approved=False,
        check_exit=None,
        check_lines=(),
        check_as_before=False,
        check_commit="",
        commit="",
        last_commit=was.commit or was.last_commit,
        report=was.report if change.recheck else "",
        artifacts=was.artifacts if change.recheck else (),
        directive=None,
        limit=None,
        limited=False,
        carries=change.carries,
        starts_from=was.commit if change.carries else "",
        unchanged="",
        elsewhere="",
        replaced=False,
        empty=False,
        uncompared=False,
        strewn=(),
        strewn_kept="",
        ignored=(),
        check_files=(),
        queued_at=was.queued_at if change.queued else 0.0,
        behind=False,
        recheck=change.recheck,
        prepared=False,
    )


def _over_attempts(tally: Tally) -> Tally:
    """Return what of a step's tally is counted across its attempts."""
    return Tally(
        rejections=tally.rejections, blocks=tally.blocks, replans=tally.replans, conflicts=tally.conflicts
    )
