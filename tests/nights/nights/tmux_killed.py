"""The tmux server is killed twice, with every agent in it.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work. What was written before is not lost.
"""

from tests.nights.acts import works_slowly
from tests.nights.agents import Cast
from tests.nights.moments import Moment
from tests.nights.night import Morning, Night, Trouble
from tests.nights.troubles import kills_tmux

NIGHT = Night(
    runtimes={"*": "claude"},
    cast=lambda: Cast({("dev", "greet"): [works_slowly(3)]}),
    troubles=(
        Trouble(kills_tmux, Moment("dev", "greet", step=4)),
        Trouble(kills_tmux, Moment("test", "total", step=1)),
    ),
    expects=Morning(dead=2 * 120.0),
)
