"""opencode's developer lists artifacts that are not there, once; told of them, it hands in properly.

Person: none is needed.

In the morning: complete; greet is on the branch and works; no file is named as an artifact that is not there.
"""

from tests.nights.acts import names_ghosts
from tests.nights.agents import Cast, works
from tests.nights.night import Job, Night

NIGHT = Night(
    runtimes={"*": "opencode"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [names_ghosts, works]}),
    lasts=400.0,
)
