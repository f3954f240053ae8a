"""Consultations: the PM agent is asked what to do next when there is news and a step may start (H9).

::

    news, and a step may start ─▶ pm:N opens, its run gets a briefing ─┬─ decides, ends its turn ─▶ passed
                                                                           └─ fails, or is silent ─▶ set aside: the
                                                                           rules

    While it is open, only steps that it orders may start. A consultation is a step like any other, so its run is
    launched, watched, ended and recovered after a restart like every run.
"""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import cut_at_word
from orchestrator.model import facts as f
from orchestrator.model.agents import Role
from orchestrator.model.plan import Gate, Step, StepState
from orchestrator.model.run import Ending, Life
from orchestrator.model.task import WorkspaceKind
from orchestrator.pm.plan.asking import POLICY, SETTING, USER
from orchestrator.pm.plan.readiness import has_pm
from orchestrator.pm.state import changes as c
from orchestrator.pm.state.consultation_changes import BriefingExtended, ConsultationBegun, ConsultationOpened
from orchestrator.pm.state.run_changes import RunBelieved
from orchestrator.pm.state.step_changes import StepAdded, StepMoved, StepReopened, StepReported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

TREE: Final = "pm"
_TITLE: Final = "What is done next"
_INSTRUCTIONS: Final = "Decide what is done next. What came up, and what you may order, stands below."
_LONGEST: Final = 200
_SAID: Final = frozenset({StepState.BLOCKED, StepState.FAILED, StepState.SET_ASIDE, StepState.PENDING})
_BACK: Final = 8
"""How many consultations to go back in search of a conversation that can be continued."""


def is_consultation(step: Step) -> bool:
    """Return whether a step is a consultation of the PM agent."""
    return Gate.DECISION in step.gates


def consult(draft: Draft, waits: Step) -> str:
    """Open a consultation because the step `waits` may start; return its id."""
    step = Step(
        id=f"{Role.PM.value}:{draft.state.consultation.number + 1}",
        agent=Role.PM.value,
        title=_TITLE,
        instructions=_INSTRUCTIONS,
        phase=waits.phase,
        workspace=_tree(draft.state),
        gates=(Gate.DECISION,),
        since=draft.at,
    )
    draft.change(StepAdded(step), ConsultationOpened(step.id, draft.at))
    return step.id


def run_before(state: PMState, step: Step) -> str:
    """Return the PM agent's last run, whose conversation the next one continues; empty if there is none."""
    steps = state.steps
    earlier = steps.consultations & ((steps.mark(step.id) << 1) - 1)
    for _ in range(_BACK):
        if not earlier:
            break
        last = steps.placed(earlier.bit_length() - 1)
        if (run := state.runs.last_at_work_on(last.id)) is not None:
            return run.id
        earlier ^= steps.mark(last.id)
    return ""


def note_news(draft: Draft, fact: f.Fact) -> None:
    """Keep the effects of a fact as news for the next consultation, except those that the PM agent caused."""
    if not has_pm(draft.state) or isinstance(fact, f.DecisionLanded):
        return
    news = tuple(dict.fromkeys(line for change in draft.changes for line in _news(draft, fact, change)))
    if news:
        draft.change(BriefingExtended(news))


def _news(draft: Draft, fact: f.Fact, change: c.Change) -> Iterator[str]:
    match change:
        case c.TaskBegun() | ConsultationBegun():
            yield "the task begins" if isinstance(change, c.TaskBegun) else "the task was started again"
        case c.BriefTaken(agents=None):
            yield "the user edited task.md: read it again"
        case StepReported(step=step, report=report) if not is_consultation(draft.step(step)):
            yield f"{draft.step(step).agent} on {step} handed in handoffs/{report}{_said(fact)}"
        case StepMoved(step=step, to=to, why=why) if not is_consultation(draft.step(step)):
            yield from _moved(draft, step, to, why)
        case StepReopened(step=step, why=why):
            yield f"{step} is to be done again: {_cut(why)}"
        case RunBelieved(run=name, life=Life.GONE, evidence=evidence):
            run = draft.state.runs[name]
            ours = (
                run.ending in {Ending.SUPERSEDED, Ending.STOPPED, Ending.DONE} or run.reported_at is not None
            )
            if not ours and not is_consultation(draft.step(run.step)):
                yield f"{run.instance} on {run.step} {_cut(evidence)}"
        case c.QuestionAnswered(question=asked, text=text, by=by) if by in {USER, POLICY, SETTING}:
            question = draft.state.questions[asked]
            yield f"{asked} ({_cut(question.text)}) was answered by {by}: {_cut(text)}"
        case c.QuestionAsked(question=question) if question.step:
            if not is_consultation(draft.step(question.step)):
                yield f"the user is asked about {question.step} ({question.id}): {_cut(question.text)}"
        case _:
            return


def _moved(draft: Draft, step: str, to: StepState, why: str) -> Iterator[str]:
    if to is StepState.PASSED:
        yield f"{step} has passed"
    elif to in _SAID and why and draft.step(step).state is to:
        yield f"{step} is {to.value}: {_cut(why)}"


def _said(fact: f.Fact) -> str:
    report = fact.report if isinstance(fact, f.ReportLanded) else None
    if report is None:
        return ""
    return f": {report.status.value}" + (f", {report.verdict.value}" if report.verdict else "")


def _cut(text: str) -> str:
    return cut_at_word(" ".join(text.split()), _LONGEST)


def _tree(state: PMState) -> str:
    """Return the name of the PM agent's own tree, which no subtask shares; empty in the user's own tree."""
    kind = state.brief.config.workspace
    if kind is not WorkspaceKind.WORKTREE:
        return ""
    names = chain([TREE], (f"{TREE}-{number}" for number in count(2)))
    return next(name for name in names if not state.steps.of_tree(kind, name))
