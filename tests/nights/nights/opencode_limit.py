"""opencode told to come back in 40 minutes: it would wait that long by itself, in a pane that seems at work.

Person: none is needed.

In the morning: complete; greet is on the branch and works; work went on within two minutes of the limit's end.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "opencode"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=2), Trouble.RATE_LIMITED, lasts=40 * MINUTE),)
    ),
    lasts=400.0,
)
