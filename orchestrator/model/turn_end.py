"""What the files of a workflow's agent said when a turn of it had ended, and what is kept of that."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.model.workflow_records import AgentStatus, EscalationResolution, PocJudgement, Session


@dataclass(frozen=True, slots=True)
class SubjectEnd:
    """What a verifier left about one agent that it judges.

    `claim` is the status that it gave that agent, `missing` what its results file says is missing; `fault` is why that
    file does not count. `version` is of the agent's outputs as they lie there now. `judgement` is the decision on a
    proof of concept, which `tries` says that this is.
    """

    agent: str
    claim: AgentStatus | None = None
    missing: tuple[str, ...] = ()
    fault: str = ""
    version: str = ""
    tries: bool = False
    judgement: PocJudgement | None = None


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What an agent left when its turn ended, as the daemon read it from its files.

    `claim` is the status in its entry of `shared_status.json`. `stale` is the task id of a session that belongs to
    another task. `missing` are outputs and evidence of the plan that are not there, `outputs` those that are, each with
    its SHA-256, and `version` is the hash of that list. `faults` are the files that cannot be read. `words` are the
    last lines that it printed. `subjects` are what a verifier left about each agent that it judges. `refused` are the
    changes of its notes that are put back, as they are not its own to make. `resolution` is what a resolver answered,
    and `answer` what an architect on call decided: the text of its outputs.
    """

    claim: AgentStatus | None = None
    session: Session | None = None
    stale: str = ""
    missing: tuple[str, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    version: str = ""
    faults: tuple[str, ...] = ()
    words: str = ""
    subjects: tuple[SubjectEnd, ...] = ()
    refused: tuple[str, ...] = ()
    resolution: EscalationResolution | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """What is known of an agent of a workflow beyond its steps: its session, and the outputs that it handed in.

    `judgement` is the last decision on it, if it is a proof of concept. `passed` are the outputs that its verifier
    passed last. `instructions` is the text of its instructions, if an adaptation wrote it; `reruns` counts how often it
    was run again because an input of it changed. `task_id` is that of the question which an agent on call answers, if
    it is not the plan's, and `answer` what it decided.
    """

    session: Session | None = None
    outputs: tuple[tuple[str, str], ...] = ()
    version: str = ""
    judgement: PocJudgement | None = None
    passed: tuple[tuple[str, str], ...] | None = None
    instructions: str = ""
    reruns: int = 0
    task_id: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class HandIn:
    """What a run handed in: the outputs and the evidence of its agent, each with its SHA-256.

    `number` counts those of the agent. `version` is the hash of the list.
    """

    agent: str
    number: int
    task_id: str
    at: float
    run: str
    version: str
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictGiven:
    """What a run of a verifier said of an agent: that it passes, or what is missing.

    `number` counts those on the agent. `version` is of the outputs that it judged. `judgement` is the decision on a
    proof of concept.
    """

    agent: str
    number: int
    task_id: str
    at: float
    by: str
    run: str
    version: str
    missing: tuple[str, ...] = ()
    judgement: PocJudgement | None = None
