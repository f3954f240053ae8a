"""Claude Code is upgraded while a developer is limited: its conversation goes on in the new version.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work.
"""

from tests.nights.judging.orders import goes_on
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night, Trouble
from tests.nights.service import Refusing, Weather
from tests.nights.troubles import upgrades

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=2), lasts=20 * MINUTE, minute=10),)
    ),
    lasts=300.0,
    expects=Morning(also=(goes_on("dev", "greet"),)),
    troubles=(Trouble(upgrades("claude"), Moment("dev", "greet", step=2)),),
)
