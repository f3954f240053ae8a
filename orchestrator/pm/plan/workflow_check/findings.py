"""What the check of a design works on and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from orchestrator.model.workflow import PLAN_FILE, AgentKind
from orchestrator.pm.plan.workflow_check.needs import Needs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from orchestrator.model.workflow import WorkflowAgent, WorkflowPlan
    from orchestrator.model.workflow_records import SharedStatus


class Weight(StrEnum):
    """How much a finding weighs."""

    FAULT = "fault"  # the design must not be run as it is
    ADVICE = "advice"  # worth a thought; it may be meant so


class Rule(StrEnum):
    """The rules that a design is held to."""

    # The plan and its agents
    NO_WORK = "no_work"  # there is no agent that works
    WORKFLOW_NAME = "workflow_name"  # `workflow` is the task's name
    SUMMARY_NAME = "summary_name"  # `summary` is `conversation_summary_WORKFLOW.md`
    AGENT_TWICE = "agent_twice"  # an agent's id is its own
    AGENT_RESERVED = "agent_reserved"  # `archival_agent` and `none` name no agent
    TASK_ID_FORM = "task_id_form"  # a task_id is `SLUG_EPOCH`
    TASK_ID_TWICE = "task_id_twice"  # a task_id is unique in the workflow
    WORKSPACE_KIND = "workspace_kind"  # PoCs work in `scratch`; architects and verifiers are `read_only`
    FILES_PATTERN = "files_pattern"  # `files` are paths or patterns inside the project
    FILES_READ_ONLY = "files_read_only"  # who only reads changes no files
    VERIFIER_WORKS = "verifier_works"  # a verifier has no needs, inputs, outputs, evidence, files
    BOUNDS_DEPTH = "bounds_depth"  # a depth of 0 leaves resolver and architect without work
    # Needs and inputs
    NEED_UNKNOWN = "need_unknown"  # a need is an agent of the plan
    NEED_SELF = "need_self"  # no agent needs itself
    NEED_TWICE = "need_twice"  # a need is listed once
    NEED_VERIFIER = "need_verifier"  # verifiers are never verified, so nothing can need them
    NEED_ON_CALL = "need_on_call"  # agents that only answer escalations are not needed by others
    CYCLE = "cycle"  # needs form no circle
    INPUT_UNKNOWN = "input_unknown"  # an input comes from an agent of the plan
    INPUT_NOT_NEEDED = "input_not_needed"  # an input comes from an agent that is needed
    INPUT_NOT_WRITTEN = "input_not_written"  # an input is an output or evidence of its source
    INPUT_TWICE = "input_twice"  # an input is listed once
    HANDOFF_UNCLEAR = "handoff_unclear"  # who needs work says what it reads of it
    # Verifiers, checkpoints, groups
    VERIFIER_MISSING = "verifier_missing"  # every agent that works has a verifier
    VERIFIER_UNKNOWN = "verifier_unknown"  # a verifier is an agent of the plan
    VERIFIER_SELF = "verifier_self"  # nobody verifies itself
    VERIFIER_KIND = "verifier_kind"  # a verifier is of the kind `verifier`
    VERIFIER_OF_VERIFIER = "verifier_of_verifier"  # nobody verifies verifiers
    VERIFIER_IDLE = "verifier_idle"  # a verifier verifies somebody
    CHECKPOINT_TWICE = "checkpoint_twice"  # a checkpoint's id is its own
    CHECKPOINT_VERIFIER = "checkpoint_verifier"  # a checkpoint's verifier is an agent of the kind `verifier`
    CHECKPOINT_SUBJECT = "checkpoint_subject"  # subjects are agents of the plan that work
    CHECKPOINT_FEW = "checkpoint_few"  # a checkpoint has at least two subjects
    CHECKPOINT_SUBJECT_TWICE = "checkpoint_subject_twice"  # an agent is a subject of one checkpoint, once
    CHECKPOINT_NEEDS = "checkpoint_needs"  # subjects of a checkpoint do not need each other
    CHECKPOINT_OTHER_VERIFIER = "checkpoint_other_verifier"  # subjects have the checkpoint's verifier
    CHECKPOINT_CRITERIA = "checkpoint_criteria"  # a checkpoint has joint criteria
    GROUP_UNKNOWN = "group_unknown"  # an agent's group is in `groups`
    GROUP_UNUSED = "group_unused"  # a group has agents
    GROUP_CAP = "group_cap"  # a group's cap is not above `max_parallel`
    FILES_OVERLAP = "files_overlap"  # agents that may run at the same time change different files
    # Proofs of concept, escalation
    POC_MISSING = "poc_missing"  # an agent of the kind `poc` has a `poc`
    POC_KIND = "poc_kind"  # only agents of the kind `poc` have one
    POC_HOLDS = "poc_holds"  # a PoC says when it passes
    POC_FAILS = "poc_fails"  # a PoC says when it fails
    POC_PROTECTS_NOBODY = "poc_protects_nobody"  # a PoC protects somebody
    POC_PROTECTS_UNKNOWN = "poc_protects_unknown"  # a PoC protects agents of the plan
    POC_PROTECTS_UNNEEDING = "poc_protects_unneeding"  # who is protected needs the PoC
    RISK_UNASSESSED = "risk_unassessed"  # a workflow that is not simple tries its assumptions
    ESCALATION_UNKNOWN = "escalation_unknown"  # agents under `escalation` are in the plan
    ESCALATION_KIND = "escalation_kind"  # agents under `escalation` are of the kind `architect`
    ESCALATION_NEEDS = "escalation_needs"  # who answers escalations can start at any time: it needs nobody
    USER_POINTS = "user_points"  # the plan says where the user steps in
    # Outputs, evidence, criteria
    OUTPUT_PATH = "output_path"  # outputs are files in `task_output/`
    OUTPUT_TWICE = "output_twice"  # an output is listed once
    OUTPUTS_MISSING = "outputs_missing"  # who works leaves an output, or changes files
    EVIDENCE_MISSING = "evidence_missing"  # who works shows evidence
    EVIDENCE_TWICE = "evidence_twice"  # the id of evidence is its own
    EVIDENCE_PATH = "evidence_path"  # evidence is a file in `task_output/`
    CRITERION_UNCOVERED = "criterion_uncovered"  # each success criterion of task.md is in the plan
    CRITERION_UNKNOWN = "criterion_unknown"  # criteria of the plan are in task.md
    CRITERION_TWICE = "criterion_twice"  # a criterion is listed once
    CRITERION_UNPROVEN = "criterion_unproven"  # a criterion names the evidence that meets it
    CRITERION_EVIDENCE = "criterion_evidence"  # that evidence is in the plan
    # Texts
    INSTRUCTIONS_PATH = "instructions_path"  # instructions lie in the agent's folder
    INSTRUCTIONS_MISSING = "instructions_missing"  # every agent has instructions
    INSTRUCTIONS_EMPTY = "instructions_empty"  # instructions say something
    INSTRUCTIONS_UNFINISHED = "instructions_unfinished"  # instructions hold no placeholders
    INSTRUCTIONS_INPUTS = "instructions_inputs"  # instructions name each input file
    INSTRUCTIONS_OUTPUTS = "instructions_outputs"  # instructions name each output and evidence
    INSTRUCTIONS_PATHS = "instructions_paths"  # outputs of others in instructions are inputs
    INSTRUCTIONS_NOTES = "instructions_notes"  # instructions say how notes are kept
    INSTRUCTIONS_RESULTS = "instructions_results"  # a verifier's instructions name its results file
    SUMMARY_MISSING = "summary_missing"  # the conversation summary exists
    SUMMARY_SECTIONS = "summary_sections"  # the conversation summary has its six sections
    # What is around the plan
    PERSONA_UNKNOWN = "persona_unknown"  # a persona is a definition that is found
    RUNTIME_UNKNOWN = "runtime_unknown"  # a runtime is one that is there
    COMMAND_MISSING = "command_missing"  # who runs as a command has one
    STATUS_TASK = "status_task"  # `shared_status.json` is of this workflow
    STATUS_AGENTS = "status_agents"  # `shared_status.json` has the plan's agents
    STATUS_DEPENDENCIES = "status_dependencies"  # dependencies in `shared_status.json` are the needs
    STATUS_VERIFIERS = "status_verifiers"  # verifiers in `shared_status.json` are the plan's
    APPROVAL_VOID = "approval_void"  # what was approved is what stands there


MOST_HINTS: Final = 50
"""For so many wrong names the check looks for the right one."""

ADVICE: Final = frozenset(
    {
        Rule.CHECKPOINT_CRITERIA,
        Rule.FILES_OVERLAP,
        Rule.GROUP_CAP,
        Rule.GROUP_UNUSED,
        Rule.HANDOFF_UNCLEAR,
        Rule.RISK_UNASSESSED,
        Rule.SUMMARY_SECTIONS,
        Rule.USER_POINTS,
    }
)
"""The rules that are worth a thought only."""


@dataclass(frozen=True, slots=True)
class DesignFinding:
    """One finding: which rule, where in the plan or in which other file, what is wrong, and what to do."""

    rule: Rule
    text: str
    correction: str
    path: tuple[str | int, ...] = ()
    """Where in the plan, such as `("agents", 2, "needs", 0)`; what is wrong in another file, is caused there."""

    file: str = PLAN_FILE
    line: int = 0
    """The line in `file`, where that is not the plan."""

    @property
    def weight(self) -> Weight:
        """How much it weighs."""
        return Weight.ADVICE if self.rule in ADVICE else Weight.FAULT


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a plan refers to. None: not known, and so not checked."""

    task: str | None = None
    criteria: tuple[str, ...] | None = None
    """The success criteria of task.md."""

    instructions: Mapping[str, str | None] | None = None
    """The texts of instructions by path; None for a file that is not there."""

    summary: str | None = None
    """The text of the conversation summary; empty if it is not there."""

    personas: Collection[str] | None = None
    runtimes: Collection[str] | None = None
    commands: Collection[str] | None = None
    """The personas that name a program."""

    status: SharedStatus | None = None
    approval_hash: str | None = None
    """What an approval would sign now."""


@dataclass(frozen=True, slots=True)
class Design:
    """A plan with what every part of the check asks for."""

    plan: WorkflowPlan
    around: Surroundings
    agents: Mapping[str, WorkflowAgent]
    """By id; of two with one id the first."""

    needs: Needs
    on_call: frozenset[str]
    """Agents that only answer escalations: they start when they are asked."""

    read_by_verifier: Mapping[str, set[str]]
    """Whose outputs each verifier may read: its subjects', and what those need."""

    _hinted: set[str] = field(default_factory=set)
    """Names that hints were looked for, which takes long in a plan of many agents."""

    @classmethod
    def of(cls, plan: WorkflowPlan, around: Surroundings) -> Design:
        """Return a design to check."""
        agents: dict[str, WorkflowAgent] = {}
        for agent in plan.agents:
            agents.setdefault(agent.id, agent)
        named = {plan.escalation.resolver, plan.escalation.loop} - {"", plan.escalation.architect}
        on_call = frozenset(
            name for name in named if name in agents and agents[name].kind is AgentKind.ARCHITECT
        )
        reads: dict[str, set[str]] = {}
        for agent in agents.values():
            if agent.verifier:
                reads.setdefault(agent.verifier, set()).update((agent.id, *agent.needs))
        return cls(plan, around, agents, Needs.of(plan.agents), on_call, reads)

    @property
    def numbered(self) -> Iterator[tuple[int, WorkflowAgent]]:
        """The agents with their places in the plan; of two with one id only the first."""
        return ((at, agent) for at, agent in enumerate(self.plan.agents) if self.agents[agent.id] is agent)

    def has_verifier(self, agent: WorkflowAgent) -> bool:
        """Return whether an agent of the plan that can verify is this one's verifier."""
        judge = self.agents.get(agent.verifier)
        return judge is not None and judge.kind is AgentKind.VERIFIER

    def writes(self, agent: str, path: str) -> bool:
        """Return whether a file is an output of an agent, or its evidence."""
        source = self.agents.get(agent)
        return source is not None and path in {*source.outputs, *(each.path for each in source.evidence)}

    def inputs_hold(self, agent: WorkflowAgent) -> bool:
        """Return whether each input of an agent is a file that one of its needs writes, or all that it writes."""
        return all(
            each.source in agent.needs and (not each.path or self.writes(each.source, each.path))
            for each in agent.inputs
        )

    def near(self, name: str) -> str:
        """Return a hint at the agent that a wrong name may mean."""
        import difflib  # only once something is wrong

        self._hinted.add(name)
        if len(self._hinted) > MOST_HINTS:
            return "name an agent of this plan"
        near = difflib.get_close_matches(name, list(self.agents), n=1)
        return f"did you mean {near[0]}?" if near else "name an agent of this plan"
