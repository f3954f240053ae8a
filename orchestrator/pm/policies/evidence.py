"""The gate CRITERIA: each success criterion is marked met, with evidence that exists (H10, U11).

::

    report ─▶ every criterion marked? ─▶ its evidence is looked up ─▶ does every met criterion have some that exists?
                   │ no                 (checks here, files and commits by an action)         │ no
                   └────────▶ the report is written again ◀──────────────────────────────────┘
                                still none ─▶ the criterion is not met
                                still none but the judge's own word ─▶ it is met, and the result says by what
    The task's branch is put back to what was accepted before that (`policies.branch`).
              an unmet criterion ─▶ planned anew, set aside, or a question, as task.md's `rejections:` says

    What a reviewer writes is a claim. Marks count only once their evidence has been looked up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.formats.evidence import references
from orchestrator.formats.named_files import files_named, files_stated
from orchestrator.model.actions import ResolveEvidence, TendBranch
from orchestrator.model.evidence import BY_USER, EvidenceKind, Reference, Resolution
from orchestrator.model.handoff import CriterionMark, Report, Verdict
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Purpose
from orchestrator.model.task import AcceptedEvidence, AfterRejections, WorkspaceKind
from orchestrator.pm.plan.asking import ABANDON, ACCEPT, ANEW, RETRY
from orchestrator.pm.policies.completion import go_through
from orchestrator.pm.policies.gates.kind import GateKind, awaited, begin_checking
from orchestrator.pm.policies.rejections import plan_more
from orchestrator.pm.policies.reopen import set_aside
from orchestrator.pm.policies.retries import block, written_again
from orchestrator.pm.state.changes import CriteriaMarked
from orchestrator.pm.state.results import accepted_work, counts_as_check, rebased_since
from orchestrator.pm.state.step_changes import BranchJudged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orchestrator.model.facts import EvidenceResolved
    from orchestrator.pm.state.draft import Draft
    from orchestrator.pm.state.task_state import PMState

NAMED: Final = 10
FORM: Final = (
    "Name files on the task's branch, or in the folder of an agent's own `cwd:` (`path` or `path:line`), files in "
    "`artifacts/`, commits of this task, or checks that the PM ran on accepted work (`check test:ID`). A handoff is no "
    "evidence, nor is an empty file"
)
_UNMET: Final = (RETRY, ANEW, ACCEPT, ABANDON)
_UNMARKED: Final = CriterionMark("", met=False, reason="the review did not mark it")


class CriteriaGate(GateKind):
    """Each success criterion is marked met, with evidence that exists."""

    def take(self, draft: Draft, step: str, report: Report) -> bool:
        """Have the evidence of the marks looked up; the result decides how the step goes on."""
        mark_criteria(draft, step, report)
        return True


def mark_criteria(draft: Draft, step: str, report: Report) -> None:
    """Read a report's marks, and have the evidence that they name looked up."""
    wanted = draft.state.brief.criteria
    contradiction = _contradiction(report, wanted)
    if contradiction and written_again(draft, step, contradiction):
        return
    marked = _as_marked(report, rejected=bool(contradiction))
    unmarked = [criterion for criterion in wanted if _plain(criterion) not in marked]
    missing = f"these success criteria are not marked: {'; '.join(unmarked[:NAMED])}"
    if unmarked and written_again(draft, step, missing):
        return
    marks = tuple(replace(marked.get(_plain(each), _UNMARKED), text=each) for each in wanted)
    bare = [mark.text for mark in marks if mark.met and not mark.evidence]
    without = f"these criteria are marked met without `(evidence: …)`: {'; '.join(bare[:NAMED])}. {FORM}"
    if bare and written_again(draft, step, without):
        return
    pointed = {each: None for mark in marks for each in _pointed_at(draft.state, mark)}
    elsewhere = tuple(each for each in pointed if each.kind is not EvidenceKind.CHECK)
    if not draft.state.base:
        look_up(draft, step, marks, elsewhere)
        return
    begin_checking(draft, step, "the task's branch is looked at")
    attempt = draft.step(step).attempt
    draft.act(TendBranch(draft.new_id("a"), step, attempt, marks, elsewhere))


def _contradiction(report: Report, wanted: Sequence[str]) -> str:
    """Return how the marks of a report contradict each other or its verdict; empty if they do not."""
    marks = report.criteria or ()
    met, unmet = ({_plain(mark.text) for mark in marks if mark.met is is_met} for is_met in (True, False))
    both = [each for each in wanted if _plain(each) in met & unmet]
    if both:
        return f"these success criteria are marked met, and not met: {'; '.join(both[:NAMED])}"
    if report.verdict is Verdict.REJECTED and met and not unmet:
        return "it rejects the work, and marks no success criterion as not met: say which one is not, and why"
    return ""


def _as_marked(report: Report, *, rejected: bool) -> dict[str, CriterionMark]:
    """Return the marks of a report by criterion. If it contradicts itself, what it says to be met is not."""
    marks = {_plain(mark.text): mark for mark in report.criteria or ()}
    for mark in report.criteria or ():
        if rejected and (report.verdict is Verdict.REJECTED or not mark.met):
            why = mark.reason or "the review contradicts itself"
            marks[_plain(mark.text)] = CriterionMark(mark.text, met=False, reason=why)
    return marks


def look_up(
    draft: Draft, step: str, marks: tuple[CriterionMark, ...], references: tuple[Reference, ...]
) -> None:
    """Have looked up what the marks of a review name as evidence; without such a reference, judge it at once."""
    names_files = any(mark.met and files_named(mark.text) for mark in marks)
    if not (references or names_files or accepted_work(draft.state)):
        _judge(draft, step, marks, {})
        return
    begin_checking(draft, step, "its evidence is being looked up")
    attempt = draft.step(step).attempt
    draft.act(ResolveEvidence(draft.new_id("a"), step, attempt, marks, references))


def evidence_resolved(draft: Draft, fact: EvidenceResolved) -> None:
    """Handle the result of looking up the evidence of a step's marks."""
    found = [
        action
        for action in draft.state.outbox.values()
        if isinstance(action, ResolveEvidence) and (action.step, action.attempt) == (fact.step, fact.attempt)
    ]
    draft.close_actions(ResolveEvidence, step=fact.step, attempt=fact.attempt)
    if not (found and awaited(draft, fact.step, fact.attempt)):
        return
    if fact.reason:
        block(draft, fact.step, f"the evidence of {fact.step} could not be looked up: {fact.reason}")
        return
    if fact.empty is not draft.step(fact.step).empty:
        draft.change(BranchJudged(fact.step, fact.empty))
    _judge(draft, fact.step, found[-1].marks, {each.reference: each for each in fact.found}, fact.absent)


def accepted_by_user(state: PMState, question: str) -> tuple[CriterionMark, ...]:
    """Return a mark for each criterion; unmet ones are met by the user's word, which is the evidence."""
    known = {mark.text: mark for mark in state.criteria if mark.met}
    word = (f"{BY_USER}{question}",)
    return tuple(
        known.get(criterion) or CriterionMark(criterion, met=True, evidence=word)
        for criterion in state.brief.criteria
    )


def _judge(
    draft: Draft,
    step: str,
    marks: Sequence[CriterionMark],
    found: Mapping[str, Resolution],
    absent: Sequence[str] = (),
) -> None:
    """Pass the review if every criterion is met with evidence that exists; else it is written again, or fails.

    `absent` are files that the criteria name themselves, and that are not there.
    """
    state, judged, faults, named = (
        draft.state,
        list[CriterionMark](),
        dict[str, str](),
        dict[str, list[str]](),
    )
    for mark in marks:
        if not mark.met:
            judged.append(mark)
            continue
        held, missing = _weighed(state, mark, found)
        without = [path for path in files_named(mark.text) if path in absent]
        missing += _stated_and_absent(state, mark, without)
        if missing or not held:
            faults[mark.text] = "; ".join(missing[:NAMED]) or "nothing that can be looked up is named"
        evidence = tuple(each.reference for each in held)
        details = [each.detail for each in held]
        if without and details:
            named[mark.text] = without
            details[-1] += f"; {_said(without)}, which the criterion names, is {_nowhere(state)}"
        attested = bool(held) and all(each.own for each in held)
        judged.append(replace(mark, evidence=evidence, details=tuple(details), attested=attested))
    if faults:
        wrong = "; ".join(f"'{text}': {why}" for text, why in list(faults.items())[:NAMED])
        if written_again(draft, step, f"the evidence does not hold for {wrong}. {FORM}"):
            return
    if _more_is_wanted(draft, step, [mark.text for mark in judged if mark.attested]):
        return
    if _named_is_absent(draft, step, {text: each for text, each in named.items() if text not in faults}):
        return
    judged = [_without_evidence(mark, faults[mark.text]) if mark.text in faults else mark for mark in judged]
    draft.change(CriteriaMarked(tuple(judged)))
    unmet = [mark for mark in judged if not mark.met]
    if unmet:
        _not_met(draft, step, unmet)
    else:
        go_through(draft, step)


def _stated_and_absent(state: PMState, mark: CriterionMark, absent: Sequence[str]) -> list[str]:
    """Return the files of which a criterion says that they are there, and which are not."""
    stated = [path for path in files_stated(mark.text) if path in absent]
    return [f"`{path}`, which the criterion says is there, is {_nowhere(state)}" for path in stated]


def _named_is_absent(draft: Draft, step: str, absent: Mapping[str, Sequence[str]]) -> bool:
    """Ask a judge once whether a criterion is met that names a file which is not there. Return whether it is asked.

    It may be right: a program may write that file. Then its mark counts, and is shown with the file.
    """
    if not absent or draft.step(step).tally.asks:
        return False
    named = "; ".join(f"'{text}' names {_said(paths)}" for text, paths in list(absent.items())[:NAMED])
    why = f"{named}: {_nowhere(draft.state)}. If it is to be there, the criterion is not met; else mark it as before"
    return written_again(draft, step, why)


def _said(paths: Sequence[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _nowhere(state: PMState) -> str:
    own = state.brief.config.workspace is WorkspaceKind.WORKTREE
    return f"{f'not on the branch {state.branch}' if own else 'not in the project'}, nor among the artifacts"


def _more_is_wanted(draft: Draft, step: str, attested: Sequence[str]) -> bool:
    """Ask a judge for more than its own word where task.md wants that. Return whether it is asked.

    Once it has been asked often enough its word counts, and the result names it: the task ends complete in part.
    """
    if not attested or draft.state.brief.config.evidence is not AcceptedEvidence.INDEPENDENT:
        return False
    named = "; ".join(f"'{text}'" for text in attested[:NAMED])
    why = f"nothing but what you wrote yourself while judging shows these criteria to be met: {named}. {FORM}"
    return written_again(draft, step, why)


def _without_evidence(mark: CriterionMark, why: str) -> CriterionMark:
    """Return a criterion as not met, after it was claimed repeatedly with evidence that does not exist."""
    return replace(
        mark, met=False, evidence=(), details=(), attested=False, reason=f"its evidence does not hold: {why}"
    )


def _not_met(draft: Draft, step: str, unmet: Sequence[CriterionMark]) -> None:
    """Have the missing work planned, give it up, or ask: unmet criteria are treated as task.md wants for rejections."""
    named = "; ".join(f"{mark.text} ({mark.reason or 'no reason given'})" for mark in unmet[:NAMED])
    if plan_more(draft, f"these success criteria are not met: {named}"):
        return
    text = f"not every success criterion is met: {named}"
    if draft.state.brief.config.after_rejections is AfterRejections.SET_ASIDE:
        set_aside(draft, step, text)
    else:
        block(draft, step, text, _UNMET, QuestionKind.CRITERIA)


def _weighed(
    state: PMState, mark: CriterionMark, found: Mapping[str, Resolution]
) -> tuple[list[Resolution], list[str]]:
    """Return the parts of a mark's evidence that exist, and each claim in it that is false."""
    held, missing = dict[str, Resolution](), list[str]()
    for item in mark.evidence:
        named, whole = references(item, _checks(state))
        for each in named:
            looked = _of_check(state, each) if each.kind is EvidenceKind.CHECK else found.get(each.text)
            if looked is not None and looked.exists:
                held.setdefault(each.text, looked)
            elif whole:
                missing.append(f"`{each.text}` {looked.detail if looked else 'was not looked up'}")
    return list(held.values()), missing


def _pointed_at(state: PMState, mark: CriterionMark) -> Iterator[Reference]:
    for item in mark.evidence if mark.met else ():
        yield from references(item, _checks(state))[0]


def _checks(state: PMState) -> frozenset[str]:
    """Return the steps whose check was run."""
    return frozenset(step.id for step in state.steps.values() if step.check_exit is not None)


def _of_check(state: PMState, reference: Reference) -> Resolution:
    """Return the result of a check that is named by its step or its run."""
    run = state.runs.get(reference.target)
    step = state.steps.get(reference.target if run is None else run.step)
    if step is None or (run is None and step.check_exit is None):
        return Resolution(reference.text, exists=False, detail="is no check of this task")
    if run is not None and (run.purpose is not Purpose.CHECK or run.exit is None):
        return Resolution(reference.text, exists=False, detail="is a run of an agent and no check")
    if run is not None and run.attempt != step.attempt:
        detail = f"is of attempt {run.attempt} of {step.id}, which was done again since"
        return Resolution(reference.text, exists=False, detail=detail)
    if not counts_as_check(state, step):
        return Resolution(reference.text, exists=False, detail="is no check of accepted work")
    if rebased_since(state, step):
        return Resolution(reference.text, exists=False, detail="ran before the work was rebased")
    if run is not None and run.exit is not None:
        return Resolution(reference.text, run.exit.clean, str(run.exit))
    return Resolution(reference.text, not step.check_exit, f"exited {step.check_exit}")


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")
