"""The developer's CLI is killed four times, each time after real progress.

Person: none is needed.

In the morning: complete; greet is on the branch and works, and so do the notes of the four runs lie there: nothing that
was written before a crash is lost.
"""

from tests.nights.acts import writes_half
from tests.nights.agents import Cast, works
from tests.nights.moments import Moment
from tests.nights.night import Job, Morning, Night, Trouble
from tests.nights.troubles import kills_agent

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [writes_half, writes_half, writes_half, writes_half, works]}),
    troubles=tuple(
        Trouble(kills_agent, Moment("dev", "greet", number=each, step=2)) for each in (1, 2, 3, 4)
    ),
    expects=Morning(dead=4 * 120.0),
)
