"""The project's tests fail before anybody has changed anything, and go on failing: nobody was asked to mend them.

Person: none is needed: `rejections: set-aside`.

In the morning: complete in part, and said so: greet and total are on the branch and work, each written once. Every
developer and judge knew what had failed before. The check is said to have failed before and after.
"""

from tests.nights.acts import approves
from tests.nights.agents import Cast
from tests.nights.judging.orders import first_order_bears, only_one_run
from tests.nights.night import ENDED, Job, Morning, Night

FAILS = """\
import unittest


class Weather(unittest.TestCase):
    def test_the_sun_shines(self):
        assert False, 'it rains'
"""

NIGHT = Night(
    runtimes={"*": "claude"},
    jobs=(Job(config=("test.check: python3 -m unittest -q", "rejections: set-aside")),),
    files={"tests/test_weather.py": FAILS},
    cast=lambda: Cast({("test", "greet"): [approves], ("test", "total"): [approves]}),
    expects=Morning(
        ends=ENDED - {"complete", "failed"},
        there=("greet", "total"),
        shown=("check before: exited 1", "check after: exited 1"),
        also=(
            *(only_one_run("dev", part) for part in ("greet", "total")),
            *(first_order_bears(agent, "greet", "it rains") for agent in ("dev", "test", "review")),
        ),
    ),
)
