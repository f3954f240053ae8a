"""A bad night: a limit, the daemon killed while it lasts, a cut stream, a turn without a handoff, tmux killed, a hang.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work.
"""

from tests.clis.answers import Then
from tests.nights.acts import says_nothing
from tests.nights.agents import Cast, works
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night, Trouble
from tests.nights.service import Hanging, Refusing, Weather
from tests.nights.troubles import kills_daemon, kills_tmux

NIGHT = Night(
    runtimes={"*": "claude"},
    cast=lambda: Cast({("dev", "greet"): [works, says_nothing, works]}),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=2), lasts=5 * MINUTE, minute=10),),
        hanging=(
            Hanging(Moment("test", "greet"), Then.DROP),
            Hanging(Moment("dev", "total", step=2), Then.PING),
        ),
    ),
    troubles=(
        Trouble(kills_daemon(), Moment("dev", "greet", step=2)),
        Trouble(kills_tmux, Moment("review", "greet")),
    ),
    expects=Morning(dead=20 * MINUTE),
    factor=20.0,
    lasts=600.0,
)
