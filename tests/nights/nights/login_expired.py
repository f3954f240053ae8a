"""The login expires in the middle of the night.

Person: needed, to log in again. They come after ten minutes, log in, and answer the question.

In the morning: complete; greet and total are on the branch and work. One question was asked, and what was written
before the login expired was gone on with.
"""

from tests.clis.answers import Trouble
from tests.nights.judging.orders import goes_on
from tests.nights.moments import Moment
from tests.nights.night import Job, Morning, Night, Planned
from tests.nights.service import Refusing, Weather
from tests.nights.troubles import logs_in

NIGHT = Night(
    runtimes={"*": "codex"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(refusing=(Refusing(Moment("dev", "greet", step=3), Trouble.UNAUTHORIZED),)),
    person="to log in again",
    planned=(Planned("account|logged in|login", "go on|retry|continue", puts_right=logs_in),),
    expects=Morning(also=(goes_on("dev", "greet"),)),
)
