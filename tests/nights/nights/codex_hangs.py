"""Codex on a stream that hangs with keep-alive comments.

Person: none is needed.

In the morning: complete; greet is on the branch and works. The hang was known within ten minutes.
"""

from tests.clis.answers import Then
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Hanging, Weather

NIGHT = Night(
    runtimes={"*": "codex"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(hanging=(Hanging(Moment("dev", "greet", step=2), Then.PING),)),
    expects=Morning(dead=12 * MINUTE),
    factor=20.0,
)
