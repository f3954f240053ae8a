"""The developer runs the same command 300 times, with the same result, whatever is said to it.

Person: none is needed.

In the morning: complete; greet is on the branch and works. The repetition was seen and ended long before its end: fewer
than 40 answers went to it, and a fresh run did the work.
"""

from tests.nights.acts import repeats
from tests.nights.agents import Cast, works
from tests.nights.night import Job, Morning, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [repeats(300), works]}, thinks=0.1),
    expects=Morning(wasted=20),
    lasts=300.0,
    in_ci=True,
)
