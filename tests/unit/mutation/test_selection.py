"""Which tests a mutant is put to."""

from tests.mutation.mutants import Mutant
from tests.mutation.selection import Clean

HERE, ELSEWHERE = "orchestrator/pm/here.py", "orchestrator/pm/elsewhere.py"


def a_mutant(lines: tuple[int, int], scope: str = "act") -> Mutant:
    return Mutant("0123456789", HERE, lines, scope, "a", "b", lambda: "")


def clean(**lines: dict[str, list[int]]) -> Clean:
    return Clean(
        [
            {
                "seconds": dict.fromkeys(lines, 10.0),
                "failed": ["failing"],
                "lines": {**lines, "failing": {HERE: [5]}},
            }
        ]
    )


def test_those_that_run_its_lines_the_most_concerned_first():
    seen = clean(
        wide={HERE: [5], ELSEWHERE: [1, 2, 3, 4]},
        narrow={HERE: [5, 6]},
        other={HERE: [9]},
    )
    assert seen.chosen(a_mutant((5, 6))).tests == ("narrow", "wide")


def test_files_take_turns():
    names = ("a.py::one", "a.py::two", "b.py::three")
    seen = clean(**{name: {HERE: [5], ELSEWHERE: [*range(size)]} for size, name in enumerate(names)})
    assert seen.chosen(a_mutant((5, 5))).tests == ("a.py::one", "b.py::three", "a.py::two")


def test_a_test_that_fails_on_the_code_as_it_is_kills_nothing():
    assert clean().chosen(a_mutant((5, 5))).tests == ()


def test_tests_beyond_the_time_are_left_out_but_for_the_first():
    seen = clean(one={HERE: [5]}, two={HERE: [5]}, three={HERE: [5]})
    assert len(seen.chosen(a_mutant((5, 5)), most_seconds=25.0).tests) == 2
    assert len(seen.chosen(a_mutant((5, 5)), most_seconds=1.0).tests) == 1


def test_line_without_tests_is_given_to_its_modules_tests():
    """A line that no test is seen to run is put to all of its module."""
    seen = clean(one={HERE: [5]}, two={ELSEWHERE: [1]})
    assert seen.chosen(a_mutant((1, 1), scope="")).tests == ("one",)
    assert clean(two={ELSEWHERE: [1]}).chosen(a_mutant((1, 1))).tests == ()
