"""The daemon's own look at the tests; its exit status is what decides.

usage: check.py baseline | compare

    baseline   run the tests and record them                      0 recorded, 2 could not be
    compare    run them again, and say what newly fails           0 nothing, 1 something, 2 cannot be told
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import baseline
import task_file
from agent import end_tidily
from artifacts import Artifacts
from comparison import compare
from errors import TidyError
from order import Order
from repository import Repository
from whole_file import write_json
from wording import bullets, say

SAME, WORSE, UNKNOWN = 0, 1, 2


def record(order: Order) -> int:
    """Run the tests as they are, and write down what they say."""
    say("Running the project's tests before anything is changed …")
    limit = task_file.read(order.task_dir).test_seconds
    found = baseline.take(Repository(order.workspace), order.project, limit)
    write_json(Artifacts.of(order).baseline, found.to_json())
    say(found.summary())
    return SAME


def judge(order: Order) -> int:
    """Run the tests after a change, and say whether something newly fails."""
    say("Running the project's tests on the change …")
    artifacts = Artifacts.of(order)
    # What an earlier look found must not be taken for this one's.
    artifacts.comparison(order).unlink(missing_ok=True)
    before = artifacts.read_baseline(order.base)
    workspace = Repository(order.workspace)
    found = compare(workspace, before, order.project, workspace.fork(order.branch))
    write_json(artifacts.comparison(order), found.to_json())
    say(found.summary())
    for line in bullets([*found.newly_failing, *found.broken], limit=10).splitlines():
        say(f"  {line}")
    return WORSE if found.worse else SAME


def main(arguments: Sequence[str]) -> int:
    """Do what the one argument says.

    Returns:
        The exit status that the daemon judges by.
    """
    actions = {"baseline": record, "compare": judge}
    if len(arguments) != 1 or arguments[0] not in actions:
        sys.stderr.write("usage: check.py baseline | compare\n")
        return UNKNOWN
    end_tidily()
    try:
        return actions[arguments[0]](Order.from_environment(os.environ))
    except TidyError as error:
        sys.stderr.write(f"{error}\n")
    except Exception:  # noqa: BLE001 - Python's own status for a bug is 1, which here would mean "worse"
        traceback.print_exc()
    return UNKNOWN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
