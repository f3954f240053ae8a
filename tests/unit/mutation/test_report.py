"""What is said of the mutants that were tried."""

import pytest

from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.report import EXPLAINED, Stale, check_explanations, counted, explanations
from tests.mutation.sandbox import ROOT
from tests.mutation.trial import Result, Verdict

PATH = "orchestrator/pm/m.py"


def a_mutant(name: str) -> Mutant:
    return Mutant(name, PATH, (1, 1), "", "a", "b", lambda: "")


def a_result(name: str, verdict: Verdict) -> Result:
    return Result(name, PATH, verdict, "", 1, 0.1, "m", "s")


def results(*verdicts: Verdict) -> dict[str, Result]:
    return {str(number): a_result(str(number), verdict) for number, verdict in enumerate(verdicts)}


def test_untested_counts_as_alive_and_explained_not_at_all():
    found = results(Verdict.KILLED, Verdict.TYPES, Verdict.ENDLESS, Verdict.ALIVE, Verdict.UNTESTED)
    count = counted(map(a_mutant, found), found, explained=["3"])
    assert (count.dead, count.judged) == (3, 4)
    assert count.share == 0.75


def test_an_error_is_neither_dead_nor_alive():
    found = results(Verdict.KILLED, Verdict.ERROR)
    assert counted(map(a_mutant, found), found, []).judged == 1


def test_a_sample_has_bounds_and_a_whole_has_none():
    found = results(*[Verdict.KILLED] * 90, *[Verdict.ALIVE] * 10)
    low, high = counted(map(a_mutant, [*found, *map(str, range(100, 900))]), found, []).interval()
    assert low == pytest.approx(0.826, abs=0.001)
    assert high == pytest.approx(0.945, abs=0.001)
    assert counted(map(a_mutant, found), found, []).interval() == (0.9, 0.9)


def test_an_explanation_of_what_is_not_there_is_stale():
    with pytest.raises(Stale, match="gone"):
        check_explanations({"gone": PATH}, {PATH: [a_mutant("0")]}, {})


def test_an_explanation_of_what_is_dead_is_stale():
    found = results(Verdict.KILLED, Verdict.ALIVE)
    there = {PATH: [*map(a_mutant, found)]}
    check_explanations({"1": PATH}, there, found)
    with pytest.raises(Stale, match="dead"):
        check_explanations({"0": PATH}, there, found)


def test_a_result_reads_as_it_was_written():
    result = a_result("0", Verdict.ENDLESS)
    assert Result.read(result.line()) == result


def test_every_explanation_names_a_mutant_of_today():
    entries = explanations(EXPLAINED)
    mutants = {path: mutants_of(path, (ROOT / path).read_text("utf-8")) for path in set(entries.values())}
    check_explanations(entries, mutants, {})
