"""The developer's conversation grows too long, twice; a fresh one is not.

Person: none is needed.

In the morning: complete; greet is on the branch and works; what was written before the context was full is not lost.
"""

from tests.nights.acts import reads_much
from tests.nights.agents import Cast
from tests.nights.night import Job, Morning, Night
from tests.nights.service import Filling, Weather

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [reads_much(12), reads_much(12), reads_much(2)]}),
    weather=lambda: Weather(filling=(Filling("dev", results=8, times=2),)),
    expects=Morning(dead=2 * 120.0),
)
