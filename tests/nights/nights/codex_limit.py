"""Codex at its plan's limit: "try again at 3:47 PM", and the service lifts it late.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work; nobody asked while the limit was known to hold,
and work went on within two minutes of its end.
"""

from tests.nights.judging.orders import goes_on
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "codex"},
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=2), lasts=20 * MINUTE, minute=40, late=60),)
    ),
    expects=Morning(also=(goes_on("dev", "greet"),)),
    lasts=300.0,
)
