"""The end of a turn of an agent that hands in by files: they are read once, and become the run's handoff and a fact.

::

    turn over, or process gone ─▶ read the agent's files ─▶ report (pm.policies.turn_ends) ─▶ handoff ─▶ ReportLanded

The agent of a phase of a composite skill has one such file, its memory file (`daemon.ingest.phase_ends`). After a
crash the files count if they say all that is needed; otherwise the crash does.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

from orchestrator import layout
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.ingest.phase_ends import phase_end
from orchestrator.formats.handoff import handoff_name
from orchestrator.formats.redact import redacted
from orchestrator.formats.report import render_report
from orchestrator.formats.text import cut, neutral
from orchestrator.formats.workflow.results import read_judgement, read_resolution, read_results
from orchestrator.formats.workflow.session import read_session
from orchestrator.model.errors import BadFile
from orchestrator.model.facts import ReportLanded
from orchestrator.model.plan import Gate, StepState
from orchestrator.model.run import Ending, Purpose
from orchestrator.model.turn_end import SubjectEnd, TurnEnd
from orchestrator.model.workflow import (
    DECISION_FILE,
    OUTPUT_FOLDER,
    RESULTS_FILE,
    SESSION_FILE,
    AgentKind,
    WorkflowAgent,
)
from orchestrator.model.workflow_records import EscalationResolution, PocJudgement, VerificationResults
from orchestrator.pm.plan.families.workflow import agents_now, on_call, resolution_file
from orchestrator.pm.policies.turn_ends import hands_in_by_files, holds, report_of, subjects_of
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from orchestrator.model.limits import Limits
    from orchestrator.model.plan import Step
    from orchestrator.model.run import Exit, Run
    from orchestrator.model.workflow_records import AgentStatus, Session
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files

TRIES: Final = 60
"""How many seconds ahead a free name for the handoff is looked for."""

ANSWER: Final = 8000
"""How many characters are kept of what an architect decided."""

WORDS: Final = 400
"""How many characters are kept of an agent's last words."""


def turn_end(  # noqa: PLR0913, PLR0917 (it gathers what many places say)
    files: Files,
    folder: Path,
    state: PMState,
    run: str,
    at: float,
    limits: Limits,
    keep: Callable[[str, bytes], None],
    words: str,
    how: Exit | None = None,
    take: Callable[[Run, Sequence[str]], None] | None = None,
) -> ReportLanded | None:
    """Return what the end of a turn means for a run; None if it hands in by a handoff, or its crash counts.

    `folder` is the task's folder; `keep` stores the report, and the outputs, by their hashes. `how` is how the run's
    process ended, if it did. `take` brings here what a run elsewhere left in its files, of its outputs those named.

    Raises:
        OSError: the disk cannot be read or written now.

    """
    known = state.runs.get(run)
    if known is None or not _is_awaited(state, known):
        return None
    step, kept = state.steps[known.step], list[bytes]()
    if Gate.MEMORY in step.gates:
        if take is not None:
            take(known, ())
        report = phase_end(files, state, known, kept)
    elif state.brief.workflow is not None:
        root = WorkflowFolder(files, folder)
        if take is not None:
            take(known, _wanted_of(state, step))
        turn = read_turn(root, state, step, subjects_of(state, step), words)
        report = report_of(state, known, turn, limits)
        kept += _outputs(root, step.agent, turn) if holds(report) else ()
    else:
        return None
    if how is not None and not (how.clean and known.ending is Ending.NOT) and not holds(report):
        return None
    for each in kept:
        keep(sha256(each).hexdigest(), each)
    data = render_report(known.instance, at, report).encode("utf-8", "replace")
    for second in range(TRIES):
        name = handoff_name(known.instance, at + second)
        if files.create(layout.handoffs(folder) / name, data, 0o644, durable=False):
            digest = sha256(data).hexdigest()
            keep(digest, data)
            return ReportLanded(at, f"{run}:{name}", name, digest, known.instance, report)
    return None


def _outputs(root: WorkflowFolder, agent: str, turn: TurnEnd) -> Iterator[bytes]:
    """Yield what an agent hands in, to be kept: whoever builds on it gets that, whatever lies there by then."""
    for path, digest in turn.outputs:
        data = root.output(agent, path)
        if data is not None and sha256(data).hexdigest() == digest:
            yield data


def _is_awaited(state: PMState, run: Run) -> bool:
    step = state.steps[run.step]
    return (
        run.live
        and run.purpose is Purpose.WORK
        and run.order in state.orders
        and hands_in_by_files(step)
        and (step.attempt, step.state) == (run.attempt, StepState.WORKING)
    )


def read_turn(
    folder: WorkflowFolder, state: PMState, step: Step, judged: Sequence[str], words: str
) -> TurnEnd:
    """Return what the files of a step's agent say now; `judged` are the agents whose work it judges."""
    plan = state.brief.workflow
    agents = agents_now(plan, state.records) if plan else {}
    own, faults = agents[step.agent], list[str]()
    resolves = Gate.RESOLUTION in step.gates
    session, stale = _session(folder, own, faults)
    subjects = [agents[each] for each in judged]
    outputs = () if subjects or resolves else manifest(folder, own)
    named = {each for each, _ in outputs}
    resolution = _resolution(folder, own, step, faults) if resolves else None
    return TurnEnd(
        claim=None if subjects or resolves else _claim(folder, own.id, faults),
        session=session,
        stale=stale,
        missing=()
        if subjects or resolves
        else tuple(f"task_output/{each}" for each in wanted(own) if each not in named),
        outputs=outputs,
        version=version_of(outputs),
        faults=tuple(faults),
        words=cut(redacted(neutral(words)), WORDS),
        subjects=tuple(_subject(folder, each, faults) for each in subjects),
        resolution=resolution,
        answer=_answer(folder, own, outputs) if plan and own.id in on_call(plan) else "",
    )


def _wanted_of(state: PMState, step: Step) -> tuple[str, ...]:
    """Return the files that count in the `task_output/` of a step's agent."""
    if Gate.RESOLUTION in step.gates:
        return (resolution_file(int(step.id.rpartition(":")[2])),)
    plan = state.brief.workflow
    return wanted(agents_now(plan, state.records)[step.agent]) if plan else ()


def wanted(agent: WorkflowAgent) -> tuple[str, ...]:
    """Return the files that an agent must leave in its `task_output/`, in the order of the plan."""
    return tuple(dict.fromkeys([*agent.outputs, *(each.path for each in agent.evidence)]))


def manifest(folder: WorkflowFolder, agent: WorkflowAgent) -> tuple[tuple[str, str], ...]:
    """Return the outputs and the evidence of an agent that exist, each with its SHA-256."""
    found = ((path, folder.digest(agent.id, path)) for path in wanted(agent))
    return tuple((path, digest) for path, digest in found if digest)


def version_of(outputs: tuple[tuple[str, str], ...]) -> str:
    """Return the version of some outputs: the hash of their list."""
    return sha256("".join(f"{digest}  {path}\n" for path, digest in outputs).encode()).hexdigest()


def _claim(folder: WorkflowFolder, agent: str, faults: list[str]) -> AgentStatus | None:
    try:
        return SharedStatusFile(folder).claim(agent)
    except (BadFile, Unreadable) as error:
        faults.append(str(error))
        return None


def _session(folder: WorkflowFolder, agent: WorkflowAgent, faults: list[str]) -> tuple[Session | None, str]:
    """Return an agent's session and, if that belongs to another task, that task's id instead."""
    path = f"agents/{agent.id}/{SESSION_FILE}"
    try:
        data = folder.read(path)
        session = read_session(data, path) if data else None
    except (BadFile, Unreadable) as error:
        faults.append(str(error))
        return None, ""
    if session is not None and session.task_id != agent.task_id:
        return None, session.task_id
    return session, ""


def _resolution(
    folder: WorkflowFolder, agent: WorkflowAgent, step: Step, faults: list[str]
) -> EscalationResolution | None:
    """Return what a resolver answered. A file about another task is a fault."""
    path = f"agents/{agent.id}/{OUTPUT_FOLDER}/{resolution_file(int(step.id.rpartition(':')[2]))}"
    try:
        data = folder.read(path)
        said = read_resolution(data, path) if data else None
    except (BadFile, Unreadable) as error:
        faults.append(str(error))
        return None
    if said is not None and said.task_id != agent.task_id:
        faults.append(f"{path} is about the task {said.task_id}, and yours is {agent.task_id}")
        return None
    return said


def _answer(folder: WorkflowFolder, agent: WorkflowAgent, outputs: Sequence[tuple[str, str]]) -> str:
    """Return what an architect on call decided: the text of its outputs."""
    texts = [(folder.output(agent.id, path) or b"").decode("utf-8", "replace") for path, _ in outputs]
    return cut(redacted(neutral("\n".join(texts).strip())), ANSWER)


def _subject(folder: WorkflowFolder, agent: WorkflowAgent, faults: list[str]) -> SubjectEnd:
    """Return what a verifier left about an agent; a file about another task counts for nothing."""
    tries, wrong = agent.kind is AgentKind.POC, list[str]()
    results = _about(folder, agent, RESULTS_FILE, read_results, wrong)
    judgement = _about(folder, agent, DECISION_FILE, read_judgement, wrong) if tries else None
    return SubjectEnd(
        agent.id,
        _claim(folder, agent.id, faults),
        results.missing_evidence if results is not None else (),
        "; ".join(wrong),
        version_of(manifest(folder, agent)),
        tries,
        judgement,
    )


_Said = TypeVar("_Said", VerificationResults, PocJudgement)


def _about(
    folder: WorkflowFolder,
    agent: WorkflowAgent,
    name: str,
    read: Callable[[bytes, str], _Said],
    wrong: list[str],
) -> _Said | None:
    path = f"agents/{agent.id}/{name}"
    try:
        data = folder.read(path)
        said = read(data, path) if data else None
    except (BadFile, Unreadable) as error:
        wrong.append(str(error))
        return None
    if said is not None and said.task_id != agent.task_id:
        wrong.append(f"{path} is about the task {said.task_id}, and {agent.id} works on {agent.task_id}")
        return None
    return said
