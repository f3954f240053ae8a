"""The briefing: what a consultation shows the PM agent, in at most forty lines."""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Final

from orchestrator.pm.plan.consultations import is_consultation
from orchestrator.pm.plan.readiness import may_be_ordered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.pm.state.task_state import PMState

NEWS: Final = 9
STEPS: Final = 6
FEW: Final = 3
_LONGEST: Final = 240


def digest(state: PMState, limits: Limits) -> str:
    """Return the briefing for the PM agent."""
    consultation = state.consultation
    ready = state.steps.among(may_be_ordered(state))
    running = [run for run in state.live_runs if not is_consultation(state.steps[run.step])]
    parts = [
        *_part(
            "News since you were last asked, the newest first:",
            reversed(consultation.briefing),
            NEWS,
            len(consultation.briefing),
        ),
        *_part(
            "You may order these steps:",
            (_worded(step, state.runs.tries(step.id)) for step in ready),
            STEPS,
            may_be_ordered(state).bit_count(),
        ),
        *_part(
            "At work:",
            (
                f"{run.instance} on {run.step} since {_clock(run.opened_at)}, {run.evidence}"
                for run in running
            ),
            FEW,
            len(running),
        ),
        *_part(
            "The user is asked:",
            (f"{each.id}: {each.text}" for each in state.open_questions),
            FEW,
            len(state.open_questions),
        ),
        *_part("Counted against bounds:", *_counted(state, limits)),
        *_part("Success criteria:", state.brief.criteria, FEW, len(state.brief.criteria)),
        _line(f"Task: {state.brief.title}; {_how_far(state)}."),
    ]
    return "\n".join(parts)


def _part(title: str, lines: Iterable[str], most: int, number: int) -> list[str]:
    """Return a title, the first `most` lines and how many more there are; nothing if there are none."""
    if not number:
        return []
    shown = [f"- {_line(line)}" for line in islice(lines, most)]
    return [title, *shown, *([f"- and {number - most} more"] if number > most else [])]


def _worded(step: Step, tries: int) -> str:
    said = f" (attempts so far: {tries})" if tries else ""
    return f"{step.id} for {step.agent}: {step.title}{said}"


def _counted(state: PMState, limits: Limits) -> tuple[list[str], int, int]:
    lines = []
    for step in state.steps.among(state.steps.unsettled):
        if is_consultation(step):
            continue
        counts = [
            f"{what} {count} of {most}"
            for what, count, most in (
                ("rejected", step.tally.rejections, limits.max_rejections),
                ("blocked", step.tally.blocks, limits.max_blocks),
                ("crashed", step.tally.crashes, limits.max_crashes),
                ("silent", step.tally.silences, limits.max_inactive_runs),
                ("planned anew", step.tally.replans, limits.max_replans),
            )
            if count
        ]
        if counts:
            lines.append(f"{step.id}: {', '.join(counts)}")
    return lines, FEW, len(lines)


def _how_far(state: PMState) -> str:
    mine = state.consultation.number  # all consultations but the open one are settled
    unsettled = state.steps.unsettled.bit_count() - bool(state.consultation.step)
    return f"{len(state.steps) - mine - unsettled} of {len(state.steps) - mine} steps are settled"


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(at))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
