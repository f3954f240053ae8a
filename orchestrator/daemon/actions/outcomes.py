"""Has workers do something for a task, and gives the loop the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.core.hints import OutcomeHint, RunHint

if TYPE_CHECKING:
    from collections.abc import Callable

    from orchestrator.daemon.core.context import Context
    from orchestrator.daemon.core.worker_pool import Executor
    from orchestrator.model.facts import Fact


def carry_out(
    context: Context,
    task: str,
    key: str,
    work: Callable[[float], Fact | None],
    executor: Executor | None = None,
) -> None:
    """Have work done, by the workers for this machine unless others are given; its outcome goes to the loop."""
    clock, post = context.clock, context.post
    (executor or context.executor).do(f"{task}/{key}", lambda: post(OutcomeHint(task, work(clock.now()))))


def look_at(context: Context, task: str, key: str, run: str, executor: Executor) -> None:
    """Have the loop look at a run after the work of the same key."""
    post, hint = context.post, RunHint(task, run)
    executor.do(f"{task}/{key}", lambda: post(hint))
