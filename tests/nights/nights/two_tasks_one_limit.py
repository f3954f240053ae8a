"""Two tasks at once on one subscription, which is limited while both work.

Person: none is needed.

The limit strikes the developer of the first task; the developer of the second one hears of it by its own next request.

In the morning: both complete; greet is on the one branch, total on the other, and each works. After the first refusal
of each nobody asked while the limit was known to hold; both went on within two minutes of its end.
"""

from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job("first", ("greet",)), Job("second", ("total",))),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=1), lasts=20 * MINUTE, minute=20, late=20),)
    ),
    # The second task's agent cannot know before it has asked once itself.
    expects=Morning(wasted=1),
    lasts=300.0,
)
