"""test: says what the daemon's own run of the tests found, and rejects what makes one newly fail."""

from __future__ import annotations

import sys

import feedback
from agent import carry_out
from artifacts import Artifacts
from check import SAME, WORSE
from comparison import Comparison
from errors import TidyError
from order import Order
from outcomes import gist
from report import Report, Verdict
from whole_file import read_json
from wording import bullets, plain, say

TESTS_SHOWN = 20


def tell(order: Order) -> Report:
    """Put the check's result into words; the verdict is the check's exit status."""
    artifacts = Artifacts.of(order)
    match order.check_exit:
        case None:
            raise TidyError(
                "The daemon has not run check.py compare before this step, so nothing can be told."
            )
        case status if status not in {SAME, WORSE}:
            done = (
                f"Whether the change does harm could not be told: the check ended with exit status {status}. "
                "What cannot be told is not approved. The check's own words are in its log."
            )
            say(done)
            return Report(done=done, verdict=Verdict.REJECTED)
        case status:
            found = Comparison.from_json(read_json(artifacts.comparison(order)))
    if found.worse != (status == WORSE):
        raise TidyError(f"The check ended with exit status {status}, which is not what it wrote down.")
    verdict = Verdict.APPROVED if status == SAME else Verdict.REJECTED
    say(f"{verdict}: {found.summary()}")
    return Report(done=in_words(found), verdict=verdict, artifacts=(artifacts.comparison(order),))


def in_words(found: Comparison) -> str:
    """What the check found, for a person and for the next attempt of dev."""
    parts = [found.summary()]
    if found.newly_failing:
        failing = [
            f"{plain(test)}: {gist(words)}" if words else plain(test)
            for test, words in found.newly_failing.items()
        ]
        parts.append("Passed before, fail now, twice:\n" + bullets(failing, limit=TESTS_SHOWN))
    if found.suspects:
        parts.append(feedback.marked(found.suspects))
    if found.broken:
        parts.append("No longer compile:\n" + bullets(f"{path}: {why}" for path, why in found.broken.items()))
        parts.append(feedback.marked(found.broken))
    if found.unsteady:
        parts.append(
            "Failed once and passed again, so not counted:\n" + bullets(found.unsteady, limit=TESTS_SHOWN)
        )
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(carry_out(tell))
