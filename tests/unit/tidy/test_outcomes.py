import json

import outcomes
import pytest
from outcomes import Outcomes


def line(test: str, outcome: str, when: str = "call", words: str = "") -> str:
    return json.dumps({"id": test, "outcome": outcome, "when": when, "words": words})


def passed(*tests: str) -> Outcomes:
    return Outcomes(frozenset(tests))


def test_the_worst_phase_is_the_outcome():
    found = outcomes.read(
        [
            line("a.py::one", "passed", "setup"),
            line("a.py::one", "passed"),
            line("a.py::one", "failed", "teardown", "boom"),
            line("a.py::two", "passed"),
            line("a.py::three", "skipped", "setup"),
            line("a.py::four", "xfailed"),
            line("a.py::five", "passed", "setup"),
        ]
    )
    assert found.passed == {"a.py::two"}
    assert found.failed == {"a.py::one": "boom"}
    assert found.skipped == {"a.py::three", "a.py::four"}


def test_a_line_that_was_cut_off_is_passed_over():
    assert outcomes.read([line("a.py::one", "passed"), '{"id": "a.py::t', "", "[]", "3"]) == passed(
        "a.py::one"
    )


def test_imports_of_several_processes_are_put_together():
    found = outcomes.read(['{"imported": ["a.py"]}', '{"imported": ["b.py"]}'])
    assert found.imported == {"a.py", "b.py"}


def test_failing_and_skipped_tests_are_lost():
    now = Outcomes(frozenset(), {"a.py::one": "why"}, frozenset({"a.py::two"}))
    assert outcomes.lost(["a.py::one", "a.py::two"], now) == {
        "a.py::one": "why",
        "a.py::two": "It is skipped now.",
    }


def test_a_test_that_failed_before_is_not_lost():
    assert outcomes.lost(["a.py::one"], Outcomes(frozenset({"a.py::one"}), {"a.py::old": "why"})) == {}


def test_a_test_that_is_not_run_any_more_is_lost():
    assert outcomes.lost(["a.py::one", "a.py::two"], passed("a.py::one")) == {
        "a.py::two": "It is not run any more."
    }


def test_a_name_that_changes_from_run_to_run_is_not_lost():
    assert outcomes.lost(["a.py::t[17]", "a.py::one"], passed("a.py::t[42]", "a.py::one")) == {}


def test_a_module_that_can_no_longer_be_read_explains_its_tests():
    now = Outcomes(failed={"tests/a.py": "ImportError: no os"})
    assert "can no longer be read: ImportError" in outcomes.lost(["tests/a.py::one"], now)["tests/a.py::one"]
    assert now.unread == {"tests/a.py": "ImportError: no os"}


def test_where_a_test_lives():
    assert outcomes.home("tests/a.py::Class::test[a::b]") == "tests/a.py"
    assert outcomes.home("tests/a.py") == "tests/a.py"
    assert outcomes.home("tests.test_a.Class.test_one") == "tests.test_a"
    assert outcomes.home("unittest.loader._FailedTest.tests.test_a") == "tests.test_a"


def test_the_gist_of_a_failure():
    first = "def f():\n>   g()\nE   KeyError: 'old'\n"
    pytests = f"{first}\n>   h()\nE   AssertionError: assert 1 == 2\nE     +1\na.py:3: X"
    assert outcomes.gist(pytests) == "AssertionError: assert 1 == 2"
    syntax = 'E     File "/tmp/a.py", line 1\nE       print x\nE   SyntaxError: Missing parentheses\n'
    assert outcomes.gist(syntax) == "SyntaxError: Missing parentheses"
    assert outcomes.gist('Traceback\n  File "a.py"\nValueError: no\n\n') == "ValueError: no"
    assert outcomes.gist("") == ""


def test_what_belongs_to_the_tests():
    assert outcomes.is_of_tests("tests/data.py")
    assert outcomes.is_of_tests("pkg/test_a.py")
    assert outcomes.is_of_tests("conftest.py")
    assert not outcomes.is_of_tests("pkg/latest.py")


@pytest.mark.parametrize(
    ("path", "may_be"),
    [
        ("test/normalizer_issue_files/E40.py", True),
        ("pkg/tests/bad_encoding2.py", True),
        ("testing/data/W29.py", True),
        ("tests/fixtures/test_a.py", True),
        ("testdata/conftest.py", True),
        ("test/testOfflineSchema.py", False),
        ("tests/unit/conftest.py", False),
        ("tests/__init__.py", False),
        ("src/shop/till.py", False),
        ("test.py", False),
    ],
)
def test_what_may_be_data_of_tests(path, may_be):
    assert outcomes.may_be_data(path) is may_be
