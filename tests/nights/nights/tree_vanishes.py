"""The developer's working tree is removed while it works.

Person: none is needed.

In the morning: complete; greet and total are on the branch and work. What lay in the tree uncommitted went with it; it
was said at once, and the work was done again.
"""

from tests.nights.acts import works_slowly
from tests.nights.agents import Cast, works
from tests.nights.moments import Moment
from tests.nights.night import Morning, Night, Trouble
from tests.nights.troubles import removes_tree

NIGHT = Night(
    runtimes={"*": "claude"},
    cast=lambda: Cast({("dev", "greet"): [works_slowly(4), works]}),
    troubles=(Trouble(removes_tree, Moment("dev", "greet", step=3)),),
    expects=Morning(loses_by_trouble=True),
)
