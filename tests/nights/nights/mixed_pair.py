"""opencode develops, Claude Code does the rest: while Claude Code is limited, nothing else can go on.

Person: none is needed.

The first run of the developer claims files that are not there. In the morning: complete; greet is on the branch and
works; work went on within two minutes of the limit's end.
"""

from tests.nights.acts import names_ghosts
from tests.nights.agents import Cast, works
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude", "dev": "opencode"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [names_ghosts, works]}),
    weather=lambda: Weather(refusing=(Refusing(Moment("review", "greet"), lasts=15 * MINUTE, minute=20),)),
    lasts=400.0,
)
