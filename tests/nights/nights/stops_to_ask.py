"""The developer ends its turn with a question that its order answers already.

Person: none is needed.

In the morning: complete; greet is on the branch and works.
"""

from tests.nights.acts import asks_first
from tests.nights.agents import Cast
from tests.nights.night import Job, Night

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [asks_first]}),
)
