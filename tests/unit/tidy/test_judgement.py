import json
from collections import Counter

import judgement
import pytest
from comparison import Comparison
from findings import Counts
from judgement import Judgement
from subtasks import Subtask

SUBTASK = Subtask("f401", "Mend F401", ("F401",), ("a.py", "b.py"), 3, unsafe=False)
BEFORE = Counter({("a.py", "F401"): 2, ("b.py", "F401"): 1, ("c.py", "I001"): 1})
BETTER = Counter({("b.py", "F401"): 1, ("c.py", "I001"): 1})
GOOD = Comparison("c0ffee", ran=True, passed=3, passed_before=3)


def objections(
    after: Counts = BETTER,
    changed: tuple[str, ...] = ("a.py",),
    tests: Comparison = GOOD,
    before: Counts = BEFORE,
) -> tuple[str, ...]:
    return judgement.objections(SUBTASK, before, after, changed, tests)


def test_fewer_findings_and_no_harm_is_approved():
    assert objections() == ()


def test_new_finding_may_replace_one_in_the_same_file():
    assert objections(after=BETTER + Counter({("a.py", "I001"): 1})) == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"tests": Comparison("c0ffee", ran=True, newly_failing={"t.py::one": "why"})},
            "Newly failing tests, 1: t.py::one",
        ),
        ({"tests": Comparison("c0ffee", ran=False, broken={"a.py": "invalid"})}, "No longer compiling: a.py"),
        ({"changed": ("a.py", "c.py")}, "none of this subtask's were changed: c.py"),
        ({"after": BETTER + Counter({("c.py", "I001"): 1})}, "went up: c.py from 1 to 2"),
        (
            {"after": BEFORE, "changed": ()},
            "Nothing got better: ruff found 3 things to mend here before, and finds 3",
        ),
    ],
)
def test_each_rule_has_its_reason(change, reason):
    (reported,) = objections(**change)
    assert reason in reported


def test_what_was_only_to_be_tried_may_change_nothing():
    tried = Subtask("f401-try", "Try to mend F401", ("F401",), ("a.py", "b.py"), 3, unsafe=True)
    assert judgement.objections(tried, BEFORE, BEFORE, (), GOOD) == ()
    assert judgement.objections(tried, BEFORE, BEFORE, ("a.py",), GOOD)


def test_what_was_mended_on_the_way_needs_no_change():
    gone = Counter({("c.py", "I001"): 1})
    assert objections(before=gone, after=gone, changed=()) == ()


def test_a_judgement_reads_as_it_was_written():
    made = Judgement(3, 1, 1, 0, 2, ("because",))
    assert Judgement.from_json(json.loads(json.dumps(made.to_json()))) == made
    assert not made.approved
