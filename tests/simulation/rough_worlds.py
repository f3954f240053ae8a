"""Worlds in which a breakage of the daemon shows soon, and in which a sound daemon breaks no law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from orchestrator.model.sections import DaemonSettings, LogSettings
from orchestrator.model.settings import Settings
from tests.simulation.engine.box_faults import BoxRates
from tests.simulation.engine.fault_schedule import BUSY
from tests.simulation.engine.faults import CALM, HOUR, NEVER, Chances, Rates
from tests.simulation.engine.run import Outcome, simulate_world
from tests.simulation.engine.scenario import Scenario
from tests.simulation.engine.shared_state import Behaviour
from tests.simulation.engine.sweep import run_small_task, sweep
from tests.simulation.engine.user import Habits
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World

ROUGH: Final = replace(
    BUSY,
    rates=Rates(kill=24, power=6, tmux=1, full=0, git=1, clock=8, suspend=8, eio=0),
    chances=Chances(launch=0.2, torn=1.0, steps=40),
    habits=Habits(latest=HOUR, restless=0.5),
)
"""Much goes wrong, and the user is restless: half a day of it has as much in it as weeks of a calmer world."""

ON_BOXES: Final = replace(
    ROUGH,
    rates=Rates(kill=12, power=2, tmux=0, full=0, git=0, clock=0, suspend=0, eio=0),
    chances=Chances(launch=0.1, late=0.1, steps=40),
    boxes=BoxRates(cut=24, reboot=4, refuse=2, empty=2, wipe=1, hinder=6, at=4),
)
"""Connections are cut all the time."""

TIDIED: Final = replace(
    ON_BOXES,
    rates=replace(ON_BOXES.rates, kill=8, power=1),
    boxes=BoxRates(cut=60, reboot=1, refuse=2, empty=0, wipe=0, hinder=1, at=1),
    habits=Habits(latest=300.0, restless=0, eager=0, tidy=0.9),
)
"""The user deletes tasks soon after they are over, also while their boxes are away."""

LITTERED: Final = replace(
    ROUGH, rates=replace(ROUGH.rates, kill=6, power=1, clock=0, suspend=0, tree=24, launcher=12)
)
"""Worktrees are removed all the time, and launchers die."""

UNDISTURBED: Final = replace(BUSY, rates=CALM, chances=NEVER, habits=Habits(latest=HOUR, restless=0, eager=1))
"""Nothing goes wrong but usage limits, and clocks that are off."""


def on_boxes(scenario: Scenario) -> World:
    """Three tasks with agents on two boxes. Two share a repository there, and one has its architect elsewhere."""
    user_tasks = (
        UserTask("alpha", architect=True, box="near", architects_box="far", brings=True),
        UserTask("beta", box="near", brings=True, hooks=True),
        UserTask("gamma", architect=True, box="far"),
    )
    return World(scenario, user_tasks, Behaviour(bad=0.2, odd=0.5, longest=60.0, subtasks=2), deaf=0.3)


def by_two_machines(scenario: Scenario) -> World:
    """Two tasks whose subtasks are done on a box and here by turns, each in a repository of its own there."""
    user_tasks = (
        UserTask("alpha", architect=True, box="near", architects_box="near", brings=True, helped=True),
        UserTask("beta", box="far", brings=True, helped=True, checks=True),
    )
    behaviour = Behaviour(bad=0.2, odd=0.2, longest=60.0, subtasks=4, overlapping=0.5)
    return World(scenario, user_tasks, behaviour, deaf=0.3)


def soon_over(scenario: Scenario) -> World:
    """Two small tasks with agents on boxes, which are soon over."""
    user_tasks = (UserTask("alpha", box="near", brings=True), UserTask("beta", box="far"))
    return World(
        scenario, user_tasks, Behaviour(bad=0.1, rejects=0, odd=0.2, longest=5.0, subtasks=1), deaf=0.3
    )


def of_programs(scenario: Scenario) -> World:
    """Two tasks whose agents are programs with hooks. Much goes wrong with their models."""
    user_tasks = (UserTask("alpha", hooks=True), UserTask("beta", hooks=True))
    return World(scenario, user_tasks, Behaviour(bad=0.4, odd=0.3, longest=60.0, subtasks=1), deaf=0.1)


def soon_passive(scenario: Scenario, deaf: float = 0.5) -> World:
    """Three tasks that become passive after a minute without input."""
    settings = Settings(daemon=DaemonSettings(passivate_after=60), logs=LogSettings(pack_after=60))
    settings = replace(settings, limits=replace(settings.limits, check_in_interval=60))
    user_tasks = (UserTask("alpha"), UserTask("beta", checks=True), UserTask("gamma", hooks=True))
    behaviour = Behaviour(bad=0.1, odd=0.2, longest=60.0, subtasks=1)
    return World(scenario, user_tasks, behaviour, settings, deaf=deaf)


def limited(scenario: Scenario) -> World:
    """Three tasks whose agents all use one service."""
    user_tasks = tuple(UserTask(name, hooks=True) for name in ("alpha", "beta", "gamma"))
    return World(scenario, user_tasks, Behaviour(bad=0, rejects=0, odd=0, longest=180.0, subtasks=3))


def littered(scenario: Scenario) -> World:
    """Two tasks whose agents fail often, and leave processes behind that go on writing."""
    user_tasks = (UserTask("alpha"), UserTask("beta", checks=True, hooks=True))
    behaviour = Behaviour(bad=0.4, rejects=0.3, leftovers=0.7, longest=60.0, subtasks=2)
    return World(scenario, user_tasks, behaviour, deaf=0.3)


# Each takes the number of worlds, of changes, or of seeds to try at most, and raises what is found first --------------


def rough(worlds: int) -> list[Outcome]:
    """Run worlds of all kinds for half a day each."""
    return [simulate_world(f"f{number}", 0.5, schedule=ROUGH) for number in range(worlds)]


def rough_on_boxes(worlds: int) -> list[Outcome]:
    """Run worlds with agents on boxes for some hours each."""
    return [
        simulate_world(f"g{number}", 0.4, schedule=ON_BOXES, world_of=on_boxes) for number in range(worlds)
    ]


def rough_by_two_machines(worlds: int) -> list[Outcome]:
    """Run worlds in which work is done on a box and here by turns for some hours each."""
    schedule = replace(ON_BOXES, rates=replace(ON_BOXES.rates, kill=6, power=1))
    schedule = replace(schedule, boxes=BoxRates(cut=6, reboot=1, refuse=0, empty=0, wipe=0, hinder=0, at=4))
    return [
        simulate_world(f"t{number}", 0.4, schedule=schedule, world_of=by_two_machines)
        for number in range(worlds)
    ]


def rough_and_tidied(worlds: int) -> list[Outcome]:
    """Run worlds with agents on boxes whose tasks are deleted for a few hours each."""
    return [
        simulate_world(f"d{number}", 0.2, schedule=TIDIED, world_of=soon_over) for number in range(worlds)
    ]


def rough_of_programs(worlds: int) -> list[Outcome]:
    """Run worlds whose agents are programs with hooks for a day each, with few faults of the machine."""
    schedule = replace(BUSY, rates=Rates(kill=2, full=0, eio=0))
    return [
        simulate_world(f"p{number}", 1.0, schedule=schedule, world_of=of_programs) for number in range(worlds)
    ]


def rough_and_passive(worlds: int) -> list[Outcome]:
    """Run worlds whose tasks are soon passive, and wanted again, for half a day each."""
    return [
        simulate_world(f"s{number}", 0.5, schedule=ROUGH, world_of=soon_passive) for number in range(worlds)
    ]


def passive_without_watchers(worlds: int) -> list[Outcome]:
    """Run worlds whose tasks are soon passive, whose watchers see nothing, and whose daemon is never restarted."""
    schedule = replace(UNDISTURBED, habits=Habits(latest=HOUR, restless=0.5, eager=1))
    return [
        simulate_world(
            f"s{number}", 0.3, schedule=schedule, world_of=lambda each: soon_passive(each, deaf=1.0)
        )
        for number in range(worlds)
    ]


def rough_with_limits(worlds: int, world_of: Callable[[Scenario], World] = limited) -> list[Outcome]:
    """Run worlds in which nothing goes wrong but usage limits for a day each."""
    return [
        simulate_world(f"u{number}", 1.0, schedule=UNDISTURBED, world_of=world_of) for number in range(worlds)
    ]


def rough_and_littered(worlds: int) -> list[Outcome]:
    """Run worlds with leftover processes and lost worktrees for half a day each."""
    return [
        simulate_world(f"l{number}", 0.5, schedule=LITTERED, world_of=littered) for number in range(worlds)
    ]


def a_small_task(_: int) -> None:
    """Run one small task, in which nothing goes wrong."""
    run_small_task()


def a_kill_ahead_of_every_change(changes: int) -> None:
    """Run a small task again and again, with a kill ahead of another of its first changes each time."""
    sweep(range(1, changes))


def a_kill_around_the_first_nudge(changes: int) -> None:
    """Do the same from the first nudge on, with agents that report only after they are nudged."""
    _, faults = run_small_task(nudged=True)
    first = faults.firsts["type"]
    sweep(range(first, first + changes), nudged=True)
