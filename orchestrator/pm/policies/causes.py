"""Why something failed, in words for people and agents: the cause is shown beside its effect (law 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from orchestrator.model.cause import Cause
from orchestrator.pm.state.step_changes import StepTroubled

if TYPE_CHECKING:
    from orchestrator.model.run import Run
    from orchestrator.pm.state.draft import Draft

SHOWN: Final = 8
"""How many lines of output a question shows. The log has all of them."""

SHORT: Final = 10
"""How many characters of a commit's hash are shown."""


def note_cause(draft: Draft, run: Run, what: str, lines: Sequence[str]) -> None:
    """Record why a step's run, or its check, failed."""
    draft.change(StepTroubled(run.step, Cause(what, run.id, tuple(lines))))


def with_cause(draft: Draft, step: str, text: str) -> str:
    """Return a question's text with the last lines that the step's last run printed, and where its log is."""
    cause = draft.step(step).cause
    if cause is None or not cause.run:
        return text
    where = f"\n  the whole log: task logs {draft.state.id} {cause.run}"
    return f"{text}{printed(cause.lines[-SHOWN:])}{where}"


def printed(lines: Sequence[str]) -> str:
    """Return lines of output as the end of a sentence that they support; empty if there are none."""
    if not lines:
        return ""
    return "; its last lines:" + "".join(f"\n    {line}" for line in lines)


def strayed(branch: str, tip: str, wanted: str, kept: str) -> str:
    """Return a notice that somebody moved the branch, and what became of it."""
    found = f"at {tip[:SHORT]}, where no step had brought it" if tip else "gone"
    held = f"; what else it had is kept as {kept}" if kept else ""
    return f"{branch} was {found}: it is at {wanted[:SHORT]} again, as accepted{held}"
