"""A house of four CLIs: Claude Code plans and accepts, Codex develops, Gemini CLI tests, opencode explores.

Person: none is needed.

Only Codex is limited, and only Gemini CLI's service is overloaded. In the morning: complete; greet is on the branch and
works; nobody but Codex was called limited.
"""

from tests.clis.answers import Trouble
from tests.nights.moments import Moment
from tests.nights.night import MINUTE, Job, Morning, Night
from tests.nights.service import Refusing, Weather

NIGHT = Night(
    runtimes={"*": "claude", "dev": "codex", "test": "gemini", "explore": "opencode"},
    jobs=(Job(parts=("greet",)),),
    weather=lambda: Weather(
        refusing=(
            Refusing(Moment("dev", "greet", step=1), lasts=20 * MINUTE, minute=30),
            Refusing(Moment("test", "greet"), Trouble.OVERLOADED, lasts=5 * MINUTE),
        )
    ),
    expects=Morning(dead=2 * 120.0),
    lasts=400.0,
)
