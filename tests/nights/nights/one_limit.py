"""A subscription's five-hour limit in the middle of the work.

Person: none is needed.

The first developer is limited at its third request. Claude Code shows the end in whole minutes; the true one lies 50
seconds later, and the service lifts it another 30 seconds late.

In the morning: complete; greet and total are on the branch and work. Nobody asked the service while the limit was known
to hold, and work went on within two minutes of its true end. The conversation went on. What is said of
the limit's end is its minute.
"""

from tests.nights.judging.orders import goes_on
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude"},
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=2), lasts=20 * MINUTE, minute=50, late=30),)
    ),
    expects=Morning(also=(goes_on("dev", "greet"),)),
    lasts=300.0,
)
