"""A developer writes nothing and says COMPLETE; its judges approve without a look. Told of it, it does the work.

Person: none is needed.

In the morning: complete, and the work is there: greet is on the branch and works.
"""

from tests.nights.acts import approves, does_nothing
from tests.nights.agents import Cast, works
from tests.nights.night import Job, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast(
        {
            ("dev", "greet"): [does_nothing, works],
            ("test", "greet"): [approves],
            ("review", "greet"): [approves],
        }
    ),
    in_ci=True,
)
