"""The same step hangs twice in a row, with an older Claude Code: in the stream, and before the headers.

Person: none is needed.

In the morning: complete; greet is on the branch and works. Each hang was known within ten minutes.
"""

from tests.clis.answers import Then
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Hanging, Weather

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        hanging=(
            Hanging(Moment("dev", "greet", step=1), Then.HANG),
            Hanging(Moment("dev", "greet", number=2)),
        )
    ),
    expects=Morning(dead=2 * 12 * MINUTE),
    factor=20.0,
)
