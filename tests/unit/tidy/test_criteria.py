from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import criteria
import pytest
import summary
import task_file
from baseline import Baseline
from comparison import Comparison
from order import Order
from result import Ended, Result
from subtasks import Left, Subtask

DONE = Ended(
    Subtask("f401", "Mend F401", ("F401",), ("a.py",), 2, unsafe=False), 1, approved=True, changed=True
)
ASIDE = Ended(Subtask("e711", "Try E711", ("E711",), ("b.py",), 1, unsafe=True), 3, approved=False, why="No.")
GOOD = Result(
    base="b" * 40,
    tip="c" * 40,
    branch="task/x",
    branch_tip="c" * 40,
    before=Counter({("a.py", "F401"): 2, ("b.py", "E711"): 1, ("b.py", "E722"): 1}),
    after=Counter({("b.py", "E711"): 1, ("b.py", "E722"): 1}),
    baseline=Baseline("b" * 40, None, note="No tests were found."),
    tests=Comparison("c" * 40, ran=True, passed=1, passed_before=1),
    subtasks=(DONE, ASIDE),
    left=(Left("E722", "bare-except", 1, "ruff has no fix for it"),),
    commits=("abc Mend F401",),
    merges=0,
)
LOST = Comparison("c" * 40, ran=True, newly_failing={"t.py::a": "why"})


@pytest.fixture(scope="module")
def shipped_criteria(template):
    return task_file.parse((template / "task.md").read_text(encoding="utf-8")).criteria


def met(shipped_criteria: Iterable[str], result: Result) -> list[bool]:
    return [criteria.mark(criterion, result) == "" for criterion in shipped_criteria]


def test_a_good_run_meets_all(shipped_criteria):
    assert met(shipped_criteria, GOOD) == [True, True, True]
    shown = "- [x] No test that passed before fails after (evidence: "
    assert (
        criteria.marked(shipped_criteria[0], "", GOOD)
        == f"{shown}{GOOD.tip[:12]}, artifacts/reviews/summary.md)"
    )
    nothing_done = replace(GOOD, commits=())
    assert criteria.marked(shipped_criteria[0], "", nothing_done) == f"{shown}artifacts/reviews/summary.md)"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"tests": LOST}, [False, True, True]),
        ({"after": GOOD.before}, [True, False, True]),
        ({"after": GOOD.before, "subtasks": (), "commits": ()}, [True, True, True]),
        ({"merges": 1}, [True, True, False]),
        ({"commits": ()}, [True, True, False]),
        ({"branch_tip": "d" * 40}, [True, True, False]),
    ],
)
def test_each_criterion_can_fail(shipped_criteria, change, expected):
    assert met(shipped_criteria, replace(GOOD, **change)) == expected


def test_a_criterion_of_the_users_own_is_left_to_the_user():
    why = criteria.mark("The code is beautiful", GOOD)
    assert criteria.marked("The code is beautiful", why, GOOD).startswith(
        "- [ ] The code is beautiful (reason: "
    )


def test_the_summary_says_what_was_done_and_what_not(tmp_path):
    order = Order("r", "review", "accept", "", 1, None, "", tmp_path, tmp_path, tmp_path, "b", "task/x", None)
    text = summary.describe(GOOD, order)
    for part in (
        "| F401 | 2 | 0 |",
        "| **all** | **4** | **2** |",
        "- done in 1 attempt: `f401`",
        "- **set aside** after 3 attempts: `e711`: Try E711. No.",
        "| E722 | bare-except | 1 | ruff has no fix for it |",
        "| E711 | | 1 | tried and given up: see its subtask |",
        "git diff bbbbbbbbbbbb task/x",
        "git merge task/x",
    ):
        assert part in text
