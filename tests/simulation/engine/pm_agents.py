"""A PM agent in a simulated world. It decides well, badly, twice, late or never."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Final

from orchestrator.formats.handoff import handoff_name, render_decision
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.testing.fake_process import FOREVER
from tests.simulation.engine.agents import MINUTE, Agent
from tests.simulation.engine.shared_state import Life

Naps = Generator[float, None, None]

ASKED: Final = "pm:"
"""Prefix of the ids of steps that ask for a decision."""

_LISTED: Final = re.compile(r"You may order these steps:\n- (\S+) for ")
_TARGETS: Final = ("dev", "explore", "review", "s1", "s2", "dev:s1", "accept", "plan", "nobody", "pm", "")


def decides(agent: Agent) -> Life:
    """Wait a while, decide, and exit."""
    yield agent.random.uniform(1, 4 * MINUTE)
    if agent.dice.deviates(agent.dice.behaviour.bad):
        how = agent.random.choice(
            (
                _decides_nothing,
                _writes_an_unknown_action,
                _hangs,
                _exits_with_an_error,
                _decides_anything,
                _decides_late,
            )
        )
        agent.dice.did(f"as PM {how.__name__.strip('_').replace('_', ' ')}")
        return (yield from how(agent))
    _write(agent, _best(agent))
    return (yield from agent.exits())


def _best(agent: Agent) -> PMDecision:
    """Return what the briefing suggests: to order the first step that may start, or that the task is complete."""
    order = agent.shared.files.read(Path(agent.environment["ORDER"])).decode()
    found = _LISTED.search(order)
    if found is None:
        return PMDecision(PMAction.COMPLETE, agent.process.run)
    return PMDecision(PMAction.ORDER, agent.process.run, found[1], "Mind the tests.")


def _decides_nothing(agent: Agent) -> Life:
    return (yield from agent.exits())


def _hangs(agent: Agent) -> Life:
    del agent
    yield FOREVER
    return 0


def _exits_with_an_error(agent: Agent) -> Life:
    if agent.random.random() < 0.5:
        _write(agent, _best(agent))
    yield 1.0
    return 3


def _decides_late(agent: Agent) -> Life:
    yield 15 * MINUTE
    _write(agent, _best(agent))
    return 0


def _decides_anything(agent: Agent) -> Life:
    for _ in range(agent.random.randint(1, 3)):
        action = agent.random.choice(list(PMAction))
        options = agent.random.choice(((), ("left", "right"), ("abandon", "retry")))
        target = agent.random.choice(_TARGETS) or "None"
        decision = PMDecision(action, agent.process.run, target, "So be it", options=options)
        _write(agent, replace(decision, target="" if target == "None" else target))
        yield agent.random.uniform(0, MINUTE)
    return (yield from agent.exits())


def _writes_an_unknown_action(agent: Agent) -> Life:
    head = f"# Handoff: pm\n**Action:** PERHAPS\n**Run:** {agent.process.run}\n"
    _put(agent, head.encode())
    yield 30.0
    if agent.random.random() < 0.5:
        _write(agent, _best(agent))
    return 0


def _write(agent: Agent, decision: PMDecision) -> None:
    _put(agent, render_decision(agent.shared.clock.now(), decision).encode())


def _put(agent: Agent, data: bytes) -> None:
    """Write a decision under the next free name."""
    at = agent.shared.clock.now()
    while agent.shared.files.entry(path := agent.folder / handoff_name("pm", at)) is not None:
        at += 1
    agent.put(path, data, counts=True)
