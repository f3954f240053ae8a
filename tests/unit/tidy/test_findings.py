import json
from collections import Counter
from pathlib import Path

import findings
import pytest
from errors import LinterError
from findings import SYNTAX, Edit, Finding, Safety
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path("/somewhere/project")


def row(
    name: str = "a.py", code: str | None = "F401", applicability: str = "safe", **other: object
) -> dict[str, object]:
    place = {"row": 1, "column": 8}
    fix = {
        "applicability": applicability,
        "edits": [{"location": place, "end_location": place, "content": "x"}],
    }
    return {
        "filename": str(ROOT / name),
        "code": code,
        "name": "unused-import",
        "message": "`os` imported but unused",
        "location": place,
        "fix": fix,
        **other,
    }


def parse(*rows: dict[str, object]) -> list[Finding]:
    return findings.parse(json.dumps(rows), ROOT)


def test_a_finding_is_read_with_its_fix():
    (found,) = parse(row())
    assert (found.path, found.code, found.row) == ("a.py", "F401", 1)
    assert found.fix is not None
    assert found.fix.safety is Safety.SAFE
    assert found.fix.edits == (Edit((1, 8), (1, 8), "x"),)


def test_a_fix_that_ruff_only_displays_is_none():
    (found,) = parse(row(applicability="display"))
    assert found.fix is None


def test_no_code_is_a_syntax_error():
    (found,) = parse(row(code=None, fix=None))
    assert found.code == SYNTAX


def test_what_lies_outside_of_the_project_is_not_taken():
    assert parse(row(name="../other/a.py") | {"filename": "/somewhere/other/a.py"}) == []


def test_nothing_printed_is_nothing_found():
    assert findings.parse("", ROOT) == []


@pytest.mark.parametrize(
    "output", ["nonsense", "[1]", '[{"code": "F401"}]', "{}x", '[{"filename": "/a", "code": 1}]']
)
def test_what_is_not_ruffs_json_is_refused(output):
    with pytest.raises(LinterError, match="not understood"):
        findings.parse(output, Path("/"))


COUNTS = st.dictionaries(
    st.tuples(st.sampled_from(["a.py", "b.py"]), st.sampled_from(["F401", "I001"])), st.integers(0, 5)
).map(Counter)


@given(COUNTS)
def test_totals_agree_however_they_are_taken(counts):
    by_code, by_path = findings.by_code(counts), findings.by_path(counts)
    assert by_code.total() == by_path.total() == counts.total()
    assert findings.of(counts, ["F401"], ["a.py", "b.py"]) == by_code["F401"]


@given(COUNTS, COUNTS)
def test_a_file_has_risen_if_its_total_has(before, after):
    then, now = findings.by_path(before), findings.by_path(after)
    assert set(findings.risen(before, after)) == {path for path in ("a.py", "b.py") if now[path] > then[path]}
