"""A weekly limit that ends in three days: nothing can be done about it tonight.

Person: none is needed, and none can help.

In the morning: the task is not complete and has not failed; it waits for the day, and says which. Nobody asked the
service in vain more than a few times.
"""

from tests.nights.moments import Moment
from tests.nights.night import HOUR, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(Refusing(Moment("dev", "greet", step=1), lasts=3 * 24 * HOUR * 60, window="seven_day"),)
    ),
    # 72 real hours: what is shown is then three days away by the clock on the wall as well.
    expects=Morning(ends=frozenset({"running", "limited"}), there=(), dead=8 * HOUR),
    lasts=60.0,
)
