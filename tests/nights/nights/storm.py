"""The service is overloaded again and again: ten minutes of 529, then of 500, then a stream that is cut off.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work.
"""

from tests.clis.answers import Then, Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Hanging, Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude"},
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=2), Trouble.OVERLOADED, lasts=10 * MINUTE),
            Refusing(Moment("test", "greet"), Trouble.SERVER_ERROR, lasts=10 * MINUTE),
            Refusing(Moment("dev", "total", step=1), Trouble.OVERLOADED, lasts=10 * MINUTE),
        ),
        hanging=(Hanging(Moment("review", "greet"), Then.DROP),),
    ),
    # Three bursts, and after each a pause that had grown.
    expects=Morning(dead=3 * 120.0),
)
