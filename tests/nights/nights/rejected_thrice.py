"""A review rejects the same subtask three times; `rejections: set-aside` says what is to be done then.

Person: none is needed.

In the morning: complete in part, and said so everywhere: total is on the branch and works, greet was set aside.
"""

from tests.nights.acts import rejects
from tests.nights.agents import Cast
from tests.nights.night import ENDED, Job, Morning, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(config=("rejections: set-aside",)),),
    cast=lambda: Cast({("review", "greet"): [rejects("The greeting is not polite enough.")]}),
    expects=Morning(ends=ENDED - {"complete", "failed"}, there=("total",), absent=("greet",)),
    lasts=300.0,
)
