"""The service of Codex is down for two hours in the middle of the work: every request is answered with 503.

Person: none is needed, and none is asked.

In the morning: complete; greet is on the branch and works. The work went on within minutes of the service's recovery.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import HOUR, MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    # Claude Code tries by itself for 20 real seconds in each run: beside that the pauses between runs are nothing here.
    runtimes={"*": "codex"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=1), Trouble.OVERLOADED, lasts=2 * HOUR),)
    ),
    # A pause of a minute and a half at most, then a CLI that starts and asks in real time.
    expects=Morning(dead=5 * MINUTE),
    lasts=360.0,
)
