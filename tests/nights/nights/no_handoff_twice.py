"""The developer writes its work and ends its turn without a handoff, also when told; so does the next run.

Person: none is needed.

In the morning: complete; greet is on the branch and works. A fresh run was tried before anybody was asked.
"""

from tests.nights.acts import says_nothing
from tests.nights.agents import Cast, works
from tests.nights.night import Job, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [says_nothing, says_nothing, works]}),
)
