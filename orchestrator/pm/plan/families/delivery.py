"""The family `delivery` (H4, H9).

::

    explore ─┬─▶ plan ─▶ [architect] ─▶ for each subtask, in order:  dev ─▶ test ─▶ review  ─▶ accept
    baseline ┘                                                        ▲──── rejected ────┘

`baseline` runs the check that task.md gives for `test` before anything is changed. The orders of plan, dev and judges
say how it ended; work that fails it in just the same way is not rejected for that alone. Without such a check there is
no baseline.

The subtasks come from the plan's report. They are worked on at the same time, as far as their `needs` and `files` and
`limits.max_concurrent_runs` allow, each in a worktree of its own that starts from everything accepted before. Their
work comes onto the task's branch one after the other (`pm.policies.merging`). `accept` judges the success criteria at
the end.

An agent with a folder of its own (`dev.cwd:`, or a box) works there as in a shared tree. Its work is judged in the
task's tree if its commits are fetched there; otherwise by its report, and by what is on the task's branch. Subtasks
that share a tree are worked on one after another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from orchestrator.model.agents import Agent, Role
from orchestrator.model.names import BASELINE
from orchestrator.model.plan import Gate, Step
from orchestrator.model.task import Approval, Brief, Phase, WorkspaceKind
from orchestrator.pm.plan.work_location import leaves_a_tree, location_of
from orchestrator.pm.state.claims import WHOLE, claims_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.handoff import Subtask

ACCEPT: Final = "accept"
LOOK: Final = "look"
"""The tree of the steps that only read: the tip of the task's branch."""

PHASE_OF_ROLE: Final = {
    Role.EXPLORE: Phase.EXPLORING,
    Role.PLAN: Phase.PLANNING,
    Role.ARCHITECT: Phase.PLANNING,
    Role.DEV: Phase.DEVELOPING,
    Role.TEST: Phase.TESTING,
    Role.REVIEW: Phase.REVIEWING,
}


def agents(brief: Brief) -> tuple[str, ...]:
    """Return the agents that every delivery needs."""
    roles = [Role.EXPLORE, Role.PLAN, Role.DEV, Role.TEST, Role.REVIEW]
    return tuple(role.value for role in (*roles, *([Role.ARCHITECT] if brief.config.architect else [])))


def first_steps(brief: Brief) -> tuple[Step, ...]:
    """Return explore, plan and, where the task asks for one, architect."""
    steps = [
        _step(brief, "explore", Role.EXPLORE, "Explore", "Analyse what the goal touches."),
        _step(
            brief,
            "plan",
            Role.PLAN,
            "Plan",
            "Design how to reach the goal, and break that into subtasks, listed under `## Subtasks`.",
            needs=("explore",),
            gates=(Gate.SUBTASKS, Gate.APPROVED)
            if Approval.PLAN in brief.config.approve
            else (Gate.SUBTASKS,),
        ),
    ]
    if (overrides := brief.config.agents.get(Role.TEST.value)) is not None and overrides.check:
        steps[1] = replace(steps[1], after=(BASELINE,))
        steps.insert(1, _baseline(brief))
    if brief.config.architect:
        steps.append(
            _step(
                brief,
                "architect",
                Role.ARCHITECT,
                "Architecture",
                "Settle design, interfaces and structure for the goal.",
                needs=("explore",),
            )
        )
        steps[-2] = replace(steps[-2], needs=("architect",))
        steps[-2], steps[-1] = steps[-1], steps[-2]
    return tuple(steps)


def _baseline(brief: Brief) -> Step:
    """Return the step that only runs the check of `test`, in a tree of its own, while explore looks around.

    If the task has no worktrees, it runs in the user's own tree, like every step.
    """
    step = _step(
        brief, BASELINE, Role.TEST, "Check before any change", "Run the check before anything is changed."
    )
    return replace(
        step,
        phase=Phase.EXPLORING,
        workspace=BASELINE if step.workspace else "",
        only_check=True,
    )


def subtask_steps(brief: Brief, subtasks: Sequence[Subtask], steps: Mapping[str, Step]) -> tuple[Step, ...]:
    """Return dev, test and review for each subtask, one subtask after the other, and the last review."""
    added = [step for subtask in subtasks for step in _chain(brief, subtask)]
    if ACCEPT not in steps:
        added.append(_accept(brief, tuple(step.id for step in added if step.phase is Phase.REVIEWING)))
    return tuple(added)


def loose_steps(brief: Brief, agent: Agent, number: int, instructions: str) -> tuple[Step, ...]:
    """Return the steps of one order for one agent, outside the plan. A developer's work is judged like a subtask."""
    name = f"{agent.name}-{number}"
    title = instructions.strip().split("\n")[0][:80]
    step = _step(brief, name, agent.role or Role.EXPLORE, title, instructions, agent=agent.name)
    if agent.role is not Role.DEV:
        return (step,)
    work = _writing(brief, step, name, Gate.COMMIT)
    return work, *_judges(brief, work, name, instructions)


def _chain(brief: Brief, subtask: Subtask) -> tuple[Step, ...]:
    done = f"\nDone when: {subtask.done_when}" if subtask.done_when else ""
    work = replace(
        _step(
            brief,
            f"dev:{subtask.id}",
            Role.DEV,
            subtask.text,
            subtask.text + done,
            needs=tuple(f"review:{other}" for other in subtask.needs),
            agent=subtask.agent,
        ),
        after=("plan",),
        subtask=subtask.id,
        done_when=subtask.done_when,
    )
    work = _writing(brief, work, subtask.id, Gate.COMMIT)
    alone = work.kind is not WorkspaceKind.WORKTREE or location_of(brief.config, work.agent) is not None
    work = replace(work, claims=(WHOLE,) if alone else claims_of(subtask.files))
    return work, *_judges(brief, work, subtask.id, subtask.text + done)


def _judges(brief: Brief, work: Step, name: str, text: str) -> tuple[Step, Step]:
    """Return test and review of a step's work, in the tree of that step. The review has it merged."""
    test, review = f"test:{name}", f"review:{name}"
    leaves = leaves_a_tree(brief.config, work.agent)
    gates = (Gate.VERDICT, Gate.MERGED) if _own_tree(brief) and leaves else (Gate.VERDICT,)
    order = f"Test the work on: {text}"
    tests = _step(
        brief, test, Role.TEST, work.title, order, needs=(work.id,), gates=(Gate.VERDICT, Gate.CHECK)
    )
    order = f"Review the work on: {text}"
    looks = _step(brief, review, Role.REVIEW, work.title, order, needs=(test,), gates=gates)
    return _judging(brief, tests, work, name), _judging(brief, looks, work, name)


def _judging(brief: Brief, step: Step, work: Step, tree: str) -> Step:
    """Let a step judge the work of another, in the tree in which it was done."""
    step = replace(step, subtask=work.subtask, judges=work.id)
    if location_of(brief.config, step.agent) or not leaves_a_tree(brief.config, work.agent):
        return step
    return replace(step, kind=brief.config.workspace, workspace=_tree(brief, tree))


def _accept(brief: Brief, after: tuple[str, ...]) -> Step:
    own = _own_tree(brief) and leaves_a_tree(brief.config, Role.DEV)
    where = "what lies on the task's branch" if own else "the work as it lies in the folder where it was done"
    return replace(
        _step(
            brief,
            ACCEPT,
            Role.REVIEW,
            "Success criteria",
            f"Judge each success criterion against {where}. Repeat each under "
            "`## Success Criteria`, marked met or not, with evidence.",
            needs=("plan",),
            gates=(Gate.CRITERIA,),
        ),
        after=after,
    )


def _step(  # noqa: PLR0913 (a form with blanks)
    brief: Brief,
    step: str,
    role: Role,
    title: str,
    instructions: str,
    *,
    needs: tuple[str, ...] = (),
    gates: tuple[Gate, ...] = (),
    agent: str = "",
) -> Step:
    agent = agent or role.value
    reads = WorkspaceKind.READ_ONLY if _own_tree(brief) else brief.config.workspace
    own = location_of(brief.config, agent) is not None
    return Step(
        id=step,
        agent=agent,
        title=title,
        instructions=instructions,
        phase=PHASE_OF_ROLE.get(role, Phase.EXPLORING),
        needs=needs,
        kind=WorkspaceKind.SHARED if own else reads,
        workspace=LOOK if _own_tree(brief) and not own else "",
        gates=gates,
    )


def _writing(brief: Brief, step: Step, tree: str, *gates: Gate) -> Step:
    if not _own_tree(brief) or not leaves_a_tree(brief.config, step.agent):
        return replace(step, gates=(Gate.CHANGED,))
    return replace(step, kind=brief.config.workspace, workspace=_tree(brief, tree), gates=gates)


def _own_tree(brief: Brief) -> bool:
    return brief.config.workspace is WorkspaceKind.WORKTREE


def _tree(brief: Brief, name: str) -> str:
    return name if _own_tree(brief) else ""
