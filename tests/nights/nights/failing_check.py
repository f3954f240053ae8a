"""The developer breaks its own test and claims that all passes; the PM's check finds it. The second try is right.

Person: none is needed.

In the morning: complete; greet is on the branch and works. The order of the second try bore what the check had printed.
"""

from tests.nights.acts import works_wrongly
from tests.nights.agents import Cast, works
from tests.nights.judging.orders import second_order_bears
from tests.nights.night import Job, Morning, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",), config=("test.check: python3 -m unittest -q",)),),
    cast=lambda: Cast({("dev", "greet"): [works_wrongly, works]}),
    expects=Morning(also=(second_order_bears("dev", "greet", "it does not"),)),
)
