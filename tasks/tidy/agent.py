"""How every agent program of this template runs: order in, work, exactly one report out."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from types import FrameType

from errors import OrderError, TidyError
from order import Order
from report import Report, Status, deliver
from wording import first_line, say


def carry_out(work: Callable[[Order], Report]) -> int:
    """Do `work` for the order in the environment and deliver its report.

    A fault that a person can put right, and a bug as well, become a BLOCKED report: an agent that dies
    without one would only be asked again.

    Returns:
        The exit status: 0 when a report was delivered, 2 when there is no order to report on.
    """
    end_tidily()
    try:
        order = Order.from_environment(os.environ)
    except OrderError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    handoff = deliver(_outcome(work, order), order)
    say(f"Report: {handoff.name}")
    return 0


def end_tidily() -> None:
    """Let TERM and HUP unwind the program, so that tests it started end with it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _unwind)


def _unwind(number: int, _frame: FrameType | None) -> None:
    # A second signal must not cut the unwinding short.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def _outcome(work: Callable[[Order], Report], order: Order) -> Report:
    try:
        return work(order)
    except TidyError as error:
        say(f"Blocked: {first_line(str(error))}")
        return Report(done="Nothing.", status=Status.BLOCKED, blockers=first_line(str(error)))
    except Exception as error:  # noqa: BLE001 - the outermost frame: a bug too must reach the PM as a report
        trace = traceback.format_exc()
        sys.stderr.write(trace)
        return Report(
            done="Nothing.",
            status=Status.BLOCKED,
            blockers=f"A bug in this template's `{order.agent}`: {first_line(repr(error))}. "
            "The trace is in this run's pane log.",
        )
