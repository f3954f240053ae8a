"""Three limits in one night, with an older Claude Code, which leaves a dialog standing at its prompt.

Person: none is needed.

dev, test and the last review are limited in turn. The first limit is lifted on time, the second a minute late, the
third two minutes late; each is shown in whole minutes, as if it ended 10, 30 and 59 seconds earlier than it does.

In the morning: complete; greet is on the branch and works. After each of the three, work went on within two minutes,
and nobody asked while a limit was known to hold.
"""

from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=1), lasts=20 * MINUTE, minute=10),
            Refusing(Moment("test", "greet", step=1), lasts=20 * MINUTE, minute=30, late=60),
            Refusing(Moment("review", "accept", step=1), lasts=20 * MINUTE, minute=59, late=120),
        )
    ),
    expects=Morning(dead=3 * 120.0),
    lasts=420.0,
)
