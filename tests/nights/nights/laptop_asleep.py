"""The laptop's lid is closed for an hour, twice: once while an agent works, once while a limit lasts.

Person: none is needed.

Every process stands still meanwhile, and the clock goes on. In the morning: complete; greet and total are on the branch
and work. Nobody was taken for silent, hung or overdue for having been asleep.
"""

from tests.nights.acts import works_slowly
from tests.nights.agents import Cast
from tests.nights.moments import Moment
from tests.nights.night import HOUR, MINUTE, Morning, Night, Trouble
from tests.nights.service import Refusing, Weather
from tests.nights.troubles import stands_still

NIGHT = Night(
    runtimes={"*": "claude"},
    cast=lambda: Cast({("dev", "greet"): [works_slowly(4)]}),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "total", step=1), lasts=20 * MINUTE, minute=5),)
    ),
    troubles=(
        Trouble(stands_still(HOUR), Moment("dev", "greet", step=2)),
        Trouble(stands_still(HOUR), Moment("dev", "total", step=1)),
    ),
    expects=Morning(dead=3 * 120.0),
    lasts=420.0,
)
