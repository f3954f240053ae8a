"""A developer writes nothing, ever, and says COMPLETE; everybody approves, and the last review ticks every criterion.

Person: none is needed to see that nothing is there; `rejections: set-aside` says what is to be done about it.

In the morning: not complete, for greet is not on the branch; whatever is shown does not say that it is.
"""

from tests.nights.acts import approves, does_nothing, ticks_all
from tests.nights.agents import Cast
from tests.nights.night import ENDED, Job, Morning, Night

NIGHT = Night(
    runtimes={"*": "codex"},
    jobs=(Job(parts=("greet",), config=("rejections: set-aside",)),),
    cast=lambda: Cast(
        {
            ("dev", "greet"): [does_nothing],
            ("test", "greet"): [approves],
            ("review", "greet"): [approves],
            ("review", "accept"): [ticks_all("greet")],
        }
    ),
    expects=Morning(ends=ENDED - {"complete"}, there=(), absent=("greet",)),
)
