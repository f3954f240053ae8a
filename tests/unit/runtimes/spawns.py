"""A run as a runtime is told of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.model.agents import Agent
from orchestrator.runtimes import Spawn

SPAWN = Spawn(
    agent=Agent("dev"),
    folder=Path("/state/tasks/t-1/runs/r-1"),
    workspace=Path("/project"),
    granted=(Path("/project/tasks/t/handoffs"), Path("/project/tasks/t/artifacts/code")),
    order=Path("/state/tasks/t-1/runs/r-1/order.md"),
    prompt="# Agent: dev\nDo `it`; $HOME\n-x",
    session="11111111-2222-4333-8444-555555555555",
    environ={"HOME": "/home/user"},
)


def a_spawn(**changed: Any) -> Spawn:
    return replace(SPAWN, **changed)
