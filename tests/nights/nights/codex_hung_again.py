"""Codex hangs twice in a row on the same step, in the middle of an answer, with keep-alive comments.

Person: none is needed.

In the morning: complete; greet is on the branch and works. Each hang was known within ten minutes, also the second one,
before which no call had brought anything.
"""

from tests.clis.answers import Then
from tests.nights.acts import explains_first
from tests.nights.agents import Cast
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Hanging, Weather

NIGHT = Night(
    runtimes={"*": "codex"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [explains_first]}),
    weather=lambda: Weather(
        hanging=(
            Hanging(Moment("dev", "greet"), Then.PING),
            Hanging(Moment("dev", "greet", number=2), Then.PING),
        )
    ),
    expects=Morning(dead=2 * 10 * MINUTE),
    factor=20.0,
)
