"""The check fails whatever the developer tries, and the last review ticks every criterion all the same.

Person: none is needed: `rejections: set-aside`.

In the morning: not complete. A failing check is not made good by a tick.
"""

from tests.nights.acts import ticks_all, works_wrongly
from tests.nights.agents import Cast
from tests.nights.night import ENDED, Job, Morning, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",), config=("test.check: python3 -m unittest -q", "rejections: set-aside")),),
    cast=lambda: Cast({("dev", "greet"): [works_wrongly], ("review", "accept"): [ticks_all("greet")]}),
    expects=Morning(ends=ENDED - {"complete"}, there=(), absent=("greet",)),
)
