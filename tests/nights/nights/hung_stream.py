"""A stream hangs in its middle with pings, and later a request is not answered at all.

Person: none is needed.

Claude Code's spinner goes on all the while. In the morning: complete; greet and total are on the branch and work. Each
hang was known within ten minutes; nobody was called busy for longer.
"""

from tests.clis.answers import Then
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Hanging, Weather

NIGHT = Night(
    runtimes={"*": "claude"},
    weather=lambda: Weather(
        hanging=(Hanging(Moment("dev", "greet", step=2), Then.PING), Hanging(Moment("test", "greet", step=1)))
    ),
    expects=Morning(dead=2 * 12 * MINUTE),
    factor=20.0,
)
