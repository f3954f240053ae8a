"""A house of three CLIs: Claude Code plans and judges, Codex develops, Gemini CLI tests.

Person: none is needed.

Only Codex is limited, and only Gemini CLI's service is overloaded. In the morning: complete; greet is on the branch and
works; nobody but Codex was called limited.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude", "dev": "codex", "test": "gemini"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=1), lasts=15 * MINUTE, minute=30),
            Refusing(Moment("test", "greet"), Trouble.OVERLOADED, lasts=5 * MINUTE),
        )
    ),
    expects=Morning(dead=2 * 120.0),
    lasts=400.0,
)
