"""Gemini CLI at its daily quota: a dialog that counts nothing down and tells no hook.

Person: none is needed.

In the morning: complete; greet is on the branch and works. The dialog was answered by nobody: the run was ended, and
another went on after the quota's end.
"""

from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "gemini"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(refusing=(Refusing(Moment("dev", "greet", step=2), lasts=45 * MINUTE),)),
    # The dialog does not say when: it may be asked again while the quota lasts, with growing pauses.
    expects=Morning(wasted=6),
    lasts=300.0,
)
