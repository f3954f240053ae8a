"""The developer works on a box whose cable is out for half an hour, while the agent there works on.

Person: none is needed.

In the morning: complete; greet is on the branch and works: its commits came from the box. It was called unreachable,
not dead, and nothing was started twice.
"""

from tests.nights.acts import works_on_a_box, works_slowly
from tests.nights.agents import Cast
from tests.nights.far import cuts_box
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night, Trouble

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",), config=("bring: branch",)),),
    cast=lambda: Cast({("dev", "greet"): [works_slowly(6, then=works_on_a_box)]}),
    troubles=(Trouble(cuts_box(30 * MINUTE), Moment("dev", "greet", step=2)),),
    box=True,
    expects=Morning(dead=2 * 120.0),
    lasts=300.0,
)
