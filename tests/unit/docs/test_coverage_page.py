"""The page of coverage and its guard."""

from tests.branch_coverage import SLACK, Reached, by_package, page, published, regressions


def _file(lines, branches, covered_lines, covered_branches):
    return {
        "summary": {
            "num_statements": lines,
            "num_branches": branches,
            "covered_lines": covered_lines,
            "covered_branches": covered_branches,
        }
    }


def test_files_are_summed_by_package():
    report = {
        "files": {
            "orchestrator/layout.py": _file(10, 0, 10, 0),
            "orchestrator/pm/decide.py": _file(20, 10, 15, 5),
            "orchestrator/pm/plan/asking.py": _file(10, 0, 10, 0),
        }
    }
    found = by_package(report)
    assert found == {"orchestrator": Reached(40, 10, 40), "orchestrator/pm": Reached(30, 10, 30)}
    assert found["orchestrator/pm"].share == 75.0


def test_a_page_is_read_back():
    found = {"orchestrator": Reached(1000, 200, 1080), "orchestrator/pm": Reached(30, 10, 30)}
    assert published(page(found)) == {"orchestrator": 90.0, "orchestrator/pm": 75.0}


def test_only_what_fell_by_more_than_chance_is_named():
    found = {"orchestrator/pm": Reached(900, 100, 749), "orchestrator/model": Reached(900, 100, 749)}
    before = {
        "orchestrator/pm": 74.9 + SLACK + 0.1,
        "orchestrator/model": 74.9 + SLACK,
        "orchestrator/gone": 99.0,
    }
    assert [line.partition(":")[0] for line in regressions(found, before)] == ["orchestrator/pm"]
