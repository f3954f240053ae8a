"""aider develops, without tools; Claude Code does the rest. aider's service is overloaded once.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude", "dev": "aider"},
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet"), Trouble.OVERLOADED, lasts=5 * MINUTE),)
    ),
    expects=Morning(dead=2 * 120.0),
    lasts=300.0,
)
