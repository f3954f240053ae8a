"""The daemon is killed four times: while it plans, while an agent works, while one judges, and between two subtasks.

Person: none is needed: its service manager starts it again, after a minute.

In the morning: complete; greet and total are on the branch and work. No agent was started twice, none was disturbed.
"""

from tests.nights.moments import Moment
from tests.nights.night import Night, Trouble
from tests.nights.troubles import kills_daemon

NIGHT = Night(
    runtimes={"*": "claude-2.1.197"},
    troubles=(
        Trouble(kills_daemon(), Moment("plan")),
        Trouble(kills_daemon(), Moment("dev", "greet", step=2)),
        Trouble(kills_daemon(), Moment("review", "greet")),
        Trouble(kills_daemon(), Moment("dev", "total", step=3)),
    ),
)
