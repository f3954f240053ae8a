"""The plan family `research`: an answer to a question, each claim of it with a source.

    read ─▶ write ─▶ accept

`read` collects sources, and passes only if its report lists at least two (the gate `sources`). `write` puts the
answer into the repository. `accept` judges the success criteria against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orchestrator.model.agents import Agent, Role
from orchestrator.model.handoff import Report, Subtask
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import Brief, Phase, WorkspaceKind
from orchestrator.pm.policies.gates import PASSES, GateKind, Judgement

WANTED = 2


def agents(brief: Brief) -> tuple[str, ...]:
    """Return the agents that ship and read, write and judge."""
    del brief
    return (Role.EXPLORE, Role.DEV, Role.REVIEW)


def first_steps(brief: Brief) -> tuple[Step, ...]:
    """Return the whole plan: it has no subtasks."""
    criteria = "\n".join(f"- {criterion}" for criterion in brief.criteria)
    return (
        Step(
            "read",
            Role.EXPLORE,
            "Read",
            f"Collect what answers this: {brief.goal}",
            Phase.EXPLORING,
            workspace="look",
            gates=("sources",),
        ),
        Step(
            "write",
            Role.DEV,
            "Write",
            f"Write the answer, each claim with its source, into a file of the repository: {brief.goal}",
            Phase.DEVELOPING,
            needs=("read",),
            kind=WorkspaceKind.WORKTREE,
            workspace="answer",
            gates=(Gate.COMMIT, Gate.MERGED),
        ),
        Step(
            "accept",
            Role.REVIEW,
            "Success criteria",
            f"Judge each success criterion against what lies on the task's branch:\n{criteria}",
            Phase.REVIEWING,
            needs=("write",),
            workspace="look",
            gates=(Gate.CRITERIA,),
        ),
    )


def subtask_steps(brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return nothing: no step of this family plans."""
    del brief, subtasks, steps
    return ()


def loose_steps(brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
    """Return one step that looks around and reports."""
    del brief
    title = instructions.strip().split("\n")[0][:80]
    return (
        Step(f"{agent.name}-{number}", agent.name, title, instructions, Phase.EXPLORING, workspace="look"),
    )


class SourcesGate(GateKind):
    """The report names at least two sources."""

    form = "## Sources\n- (an address or a file, one line for each; at least two)"
    sections = ("Sources",)

    def judge(self, step: Step, report: Report) -> Judgement:
        """Have the report written again if it lists fewer sources than that."""
        del step
        listed = [line for line in report.section("Sources").splitlines() if line.lstrip().startswith("- ")]
        if len(listed) < WANTED:
            return Judgement(again=f"`## Sources` lists {len(listed)} of at least {WANTED} sources")
        return PASSES
