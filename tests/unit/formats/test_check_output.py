"""Whether two runs of a check failed in the same way: of several programs, as they print."""

from __future__ import annotations

import pytest

from orchestrator.formats.check_output import failed_alike

UNITTEST = """\
======================================================================
FAIL: test_old (tests.test_old.Old.test_old)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/me/.local/state/ao/worktrees/shop-0123abcd/{tree}/tests/test_old.py", line 8, in test_old
    assert False, 'it does not'
AssertionError: it does not
----------------------------------------------------------------------
Ran {count} tests in {time}s
FAILED (failures=1)"""
PYTEST = """\
{dots}
=================================== FAILURES ===================================
tmp_path = PosixPath('/tmp/pytest-of-me/pytest-{count}/test_old0')
E       assert <Thing object at 0x7f{count}0a0b0c0d> is None
=========================== short test summary info ============================
FAILED tests/test_old.py::test_old - AssertionError
{ruler} 1 failed, {count} passed, 2 warnings in {time}s {ruler}"""
CARGO = "test result: FAILED. {count} passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in {time}s"
GO = "--- FAIL: TestOld ({time}s)\n    old_test.go:7: it does not\nFAIL\nFAIL\texample.org/shop\t{time}s"
JEST = "Tests:       1 failed, {count} passed, {count} total\nTime:        {time} s, estimated 1 s"
MOCHA = "  {count} passing ({count}ms)\n  1 failing\n  1) it does not:"
NODE = "# tests {count}\n# pass {count}\n# fail 1\n# duration_ms {time}"
MAVEN = "Tests run: 3, Failures: 1\n[INFO] Total time:  {time} s\n[INFO] Finished at: 2026-01-{count}T03:04:05+01:00"
CTEST = "{count}% tests passed, 1 tests failed out of {count}\nTotal Test time (real) =   {time} sec"


def printed(form: str, tree: str, count: int, time: str) -> list[str]:
    """Return what a run prints in which `count` tests pass."""
    some = {"dots": f"{'.' * count}F      [100%]", "ruler": "=" * count}
    return form.format(tree=tree, count=count, time=time, **some).splitlines()


@pytest.mark.parametrize("form", [UNITTEST, PYTEST, CARGO, GO, JEST, MOCHA, NODE, MAVEN, CTEST])
def test_the_same_failure_is_known_again(form: str) -> None:
    """Work that adds tests which pass, in another tree and at another time, fails just as before."""
    assert failed_alike(printed(form, "baseline", 12, "0.012"), printed(form, "greet.2", 14, "3.4"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1 failed, 3 passed in 0.1s", "2 failed, 3 passed in 0.1s"),
        ("FAILED (failures=1)", "FAILED (failures=1, errors=1)"),
        ("FAILED tests/test_old.py::test_old", "FAILED tests/test_new.py::test_new"),
        ("AssertionError: it does not", "AssertionError: it never does"),
        ("old_test.go:7: it does not", "old_test.go:8: it does not"),
        ("AssertionError: 3 != 4", "AssertionError: 3 != 5"),
        ("F...E", "F...F"),
        ("5 examples, 1 failure", "5 examples, 2 failures"),
        ("1 failing", "2 failing"),
    ],
)
def test_another_failure_is_another(old: str, new: str) -> None:
    assert failed_alike([old], [old])
    assert not failed_alike([old], [new])
    assert not failed_alike([old], [old, new])


def test_silent_check_compares_to_nothing() -> None:
    """A check that prints nothing may fail for any reason."""
    assert not failed_alike([], [])
    assert not failed_alike(["   "], ["...."])
