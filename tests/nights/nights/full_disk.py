"""The disk is full for 45 minutes while the developer works.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work. While it was full that was said; nobody was left
at a dialog by it, and nothing was lost.
"""

from tests.nights.acts import works_slowly
from tests.nights.agents import Cast
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Night, Trouble
from tests.nights.troubles import fills_disk

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet", "total")),),
    cast=lambda: Cast({("dev", "greet"): [works_slowly(10)]}),
    troubles=(Trouble(fills_disk(45 * MINUTE), Moment("dev", "greet", step=3)),),
    disk="size=400m",
    lasts=300.0,
)
