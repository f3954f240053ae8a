"""Codex and a service that answers 503 and 500 for ten minutes, twice.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "codex"},
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=1), Trouble.OVERLOADED, lasts=10 * MINUTE),
            Refusing(Moment("review", "greet"), Trouble.SERVER_ERROR, lasts=10 * MINUTE),
        )
    ),
    expects=Morning(dead=2 * 120.0),
)
