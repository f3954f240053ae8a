"""Two limits in one night, with an older Claude Code, which leaves a dialog standing at its prompt.

Person: none is needed.

First the developer is limited, and let in again five seconds past the minute that was shown; then the tester, whose
limit ends 59 seconds past the minute that was shown, and is lifted a minute late.

In the morning: complete; greet is on the branch and works. After each of the two, work went on within two minutes, and
nobody asked while a limit was known to hold.
"""

from tests.nights.judging.orders import goes_on
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=1), lasts=15 * MINUTE, minute=5),
            Refusing(Moment("test", "greet", step=1), lasts=15 * MINUTE, minute=59, late=60),
        )
    ),
    expects=Morning(dead=2 * 120.0, also=(goes_on("dev", "greet"), goes_on("test", "greet"))),
    lasts=480.0,
)
