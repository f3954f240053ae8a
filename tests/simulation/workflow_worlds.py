"""Worlds of workflows: random plans, agents that lie, crash and escalate, a late user, and a daemon that is killed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.model.settings import Settings
from tests.auditor.audit import AUDITED, audit
from tests.simulation.engine.box_faults import BoxRates
from tests.simulation.engine.fault_schedule import HALF_A_DAY, FaultSchedule
from tests.simulation.engine.fresh_worlds import WorldResult, result_of
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.notification_sink import NOTIFY
from tests.simulation.engine.run import Failed, Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.workflow_tasks import WorkflowTask, drawn_plan, with_answers, with_boxes
from tests.simulation.engine.world import World

SIZES: Final = ((2, 5), (4, 9), (8, 20), (20, 60), (60, 200))
OFTEN: Final = (0.45, 0.35, 0.15, 0.045, 0.005)
"""How many agents work in a workflow, and how often: large ones are rare, as they take minutes."""

CERTAIN: Final = replace(
    HALF_A_DAY, rates=replace(HALF_A_DAY.rates, power=0), habits=replace(HALF_A_DAY.habits, eager=0)
)
"""No power cut takes away what agents wrote, and nothing is started again: an auditor finds all files."""


ANSWERED: Final = ".answered"
"""What the seed of a world has in which agents escalate more, and agents answer."""

BOXED: Final = ".boxed"
"""What the seed of a world has in which some agents work on boxes that are often cut off, lost, or late."""

BOX_RATES: Final = BoxRates(cut=10, reboot=3, refuse=1, empty=1, wipe=1, hinder=2)
"""Several faults of each box in the half day that such a world has."""


def seeds(drawn: str, count: int) -> list[str]:
    """Return the seeds of so many worlds: agents answer in every other one, and every third one has boxes."""
    return [
        f"{drawn}.{number}{ANSWERED if number % 2 else ''}{BOXED if number % 3 == 2 else ''}"
        for number in range(count)
    ]


def is_answered(seed: str) -> bool:
    """Return whether agents answer what is escalated in the world of a seed."""
    return ANSWERED in seed


def is_boxed(seed: str) -> bool:
    """Return whether agents work on boxes in the world of a seed."""
    return BOXED in seed


def is_certain(seed: str) -> bool:
    """Return whether the files of a seed's world are all there at its end."""
    return Scenario(seed).random("workflow.certain").random() < 0.5


def workflow_world(scenario: Scenario, most: int = 200, bad: float | None = None) -> World:
    """Return the world of a seed: one workflow, or two that share the daemon."""
    random = scenario.random("workflow.world")
    least, largest = random.choices(SIZES, OFTEN)[0]
    sizes = [min(random.randint(least, largest), most)] + [3] * (random.random() < 0.2)
    tasks = list[WorkflowTask]()
    for name, size in zip(("alpha", "beta"), sizes, strict=False):
        workspace = random.choice(("worktree", "worktree", "worktree", "shared"))
        unanswered = random.choice(("", "", "retry after 4 h"))
        plan = drawn_plan(name, scenario.random(f"workflow.plan.{name}"), size, workspace)
        if is_answered(scenario.seed):
            plan = with_answers(plan, scenario.random(f"workflow.answers.{name}"))
        task = WorkflowTask(name, workspace=workspace, unanswered=unanswered, plan=plan)
        if is_boxed(scenario.seed):
            task = with_boxes(task, scenario.random(f"workflow.boxes.{name}"))
        tasks.append(task)
    behaviour = Behaviour(
        bad=random.choice((0.0, 0.15, 0.3)) if bad is None else bad,
        rejects=random.choice((0.0, 0.15, 0.4)),
        leftovers=random.choice((0.0, 0.05)),
        longest=random.choice((2.0, 20.0, 90.0)),
        asks=scenario.random("workflow.asks").choice((0.2, 0.5, 0.8)) if is_answered(scenario.seed) else 0.0,
    )
    settings = Settings(notify=NOTIFY)
    settings = replace(settings, limits=replace(settings.limits, max_concurrent_runs=max(4, sizes[0] // 5)))
    return World(scenario, tuple(tasks), behaviour, settings, deaf=random.choice((0.0, 0.1, 0.5)))


def simulate_workflow(
    seed: str, most: int = 200, schedule: FaultSchedule | None = None, bad: float | None = None
) -> Outcome:
    """Run the workflows of a seed; where all files are there at the end, an auditor looks at them. Raises Failed."""
    schedule = schedule or (CERTAIN if is_certain(seed) else HALF_A_DAY)
    if is_boxed(seed):
        schedule = replace(schedule, boxes=BOX_RATES)
    worlds = list[World]()

    def world_of(scenario: Scenario) -> World:
        worlds.append(workflow_world(scenario, most, bad))
        return worlds[-1]

    outcome = simulate_world(seed, schedule.days, None, schedule, world_of)
    if schedule.rates.power == 0:
        found = [each for task in worlds[0].user_tasks for each in audit(files_of(worlds[0], task))]
        if found:
            raise Failed(seed, outcome.days, [Finding(Law.AUDITED, str(each)) for each in found[:10]], {})
        outcome.counts["workflows audited"] += len(worlds[0].user_tasks)
    return outcome


def files_of(world: World, task: UserTask) -> dict[str, bytes]:
    """Return the files that an auditor looks at, by their paths in the task's folder."""

    def beneath(folder: Path) -> Iterator[Path]:
        for entry in world.files.entries(folder):
            if entry.is_folder:
                yield from beneath(folder / entry.name)
            elif entry.is_file:
                yield folder / entry.name

    paths = [each for part in AUDITED for each in beneath(task.folder / part)]
    return {str(path.relative_to(task.folder)): world.files.read(path) for path in paths}


def kept_workflows() -> list[tuple[str, int]]:
    """Return the seeds of workflows that once broke a law, each with its most agents."""
    text = Path(__file__).with_name("kept_workflows.txt").read_text()
    rows = [line.partition("#")[0].split() for line in text.splitlines()]
    return [(row[0], int(row[1])) for row in rows if row]


def simulate_one(seed: str, most: int) -> WorldResult:
    """Run the workflows of a seed, and return the result."""
    return result_of(seed, lambda: simulate_workflow(seed, most=most))


def how_to_keep(seed: str, most: int) -> str:
    """Return how a world that failed is run again, and kept."""
    again = f"scripts/simulate --workflows 1 --most {most} --seed {seed}"
    return f"again: {again}\n  keep it: echo '{seed} {most}' >> tests/simulation/kept_workflows.txt"
