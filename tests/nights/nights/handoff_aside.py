"""Handoffs are saved under a temporary name and renamed five minutes later, after the agent's turn is over.

Person: none is needed.

In the morning: complete; greet is on the branch and works; the handoff cost no attempt.
"""

from tests.nights.acts import saves_aside
from tests.nights.agents import Cast
from tests.nights.judging.orders import only_one_run
from tests.nights.night import MINUTE, Job, Morning, Night, Trouble
from tests.nights.troubles import renames

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [saves_aside]}),
    troubles=(Trouble(renames(5 * MINUTE), after=0),),
    expects=Morning(dead=7 * MINUTE, also=(only_one_run("dev", "greet"),)),
)
