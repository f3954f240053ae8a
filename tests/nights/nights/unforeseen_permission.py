"""The developer wants a command that nobody foresaw.

Person: needed, to allow it or not. They come after ten minutes and allow it.

In the morning: complete; greet is on the branch and works. One question was asked, and the agent waited for its answer.
"""

from tests.nights.acts import wants
from tests.nights.agents import Cast
from tests.nights.judging.orders import only_one_run
from tests.nights.night import Job, Morning, Night, Planned

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(parts=("greet",)),),
    cast=lambda: Cast({("dev", "greet"): [wants("docker compose up -d shop-database")]}),
    person="to allow a command that starts a service of theirs",
    planned=(Planned("docker compose", "^allow"),),
    expects=Morning(also=(only_one_run("dev", "greet"),)),
)
