import json
import re

import planning
import pytest
from errors import ArtifactError
from findings import SYNTAX, Finding, Fix, Safety
from hypothesis import given
from hypothesis import strategies as st
from planning import Why
from subtasks import Plan, Subtask
from task_file import Settings

SAFE, UNSAFE = Fix(Safety.SAFE, ()), Fix(Safety.UNSAFE, ())


def found(code: str, path: str = "src/a.py", fix: Fix | None = SAFE, row: int = 1) -> Finding:
    return Finding(path, code, f"name-of-{code.lower()}", "message", row, fix)


def plan(
    *findings: Finding,
    settings: Settings | None = None,
    tested: tuple[str, ...] = ("src/a.py",),
    most: int = 20,
) -> Plan:
    return planning.make_plan(findings, settings or Settings(), tested=tested, most=most)


def order(made: Plan) -> list[tuple[str, ...]]:
    return [subtask.rules for subtask in made.subtasks]


def test_faults_come_first_and_imports_last():
    """What is only tried comes after all that is safe."""
    made = plan(
        *[found("I001")] * 4,
        *[found("UP032")] * 5,
        *[found("C414", fix=UNSAFE)] * 4,
        *[found("F541")] * 4,
        *[found("W291")] * 9,
    )
    assert order(made) == [("F541",), ("UP032",), ("W291",), ("I001",), ("C414",)]
    assert [subtask.unsafe for subtask in made.subtasks] == [False] * 4 + [True]


def test_rare_rules_of_one_theme_are_put_together():
    made = plan(found("F541"), found("E713"), found("UP032"), *[found("F401")] * 4)
    assert order(made) == [("F401",), ("E713", "F541"), ("UP032",)]
    assert made.subtasks[1].id == "few-of-each-faults"


def test_too_many_subtasks_are_put_together_before_any_is_left():
    findings = [found(code) for code in ("F401", "F541", "F811", "F632") for _ in range(5)]
    assert len(plan(*findings).subtasks) == 4
    assert len(plan(*findings, most=2).subtasks) == 1


def test_a_rule_in_many_files_is_cut_into_reviewable_portions():
    findings = [found("F401", f"src/p{n // 10}/m{n:03}.py") for n in range(70)]
    made = plan(*findings)
    assert [len(subtask.files) for subtask in made.subtasks] == [30, 30, 10]
    assert [subtask.id for subtask in made.subtasks] == [f"f401-name-of-f401-{n}" for n in (1, 2, 3)]
    assert made.subtasks[2].title == "Mend F401 name of f401: 10 findings in 10 files under src/p6"


@pytest.mark.parametrize(
    ("finding", "why"),
    [
        (found("E722", fix=None), Why.NO_FIX),
        (found("E711", fix=UNSAFE, path="src/other.py"), Why.UNTESTED),
        (found("E711", fix=UNSAFE, path="tests/test_a.py"), Why.TEST),
        (found("I001"), Why.SETTING),
        (found("F401", path="docs/conf.py"), Why.SETTING),
        (found("T201", fix=UNSAFE), planning.NOT_TRIED["T201"]),
    ],
)
def test_what_is_left_to_a_person_is_left_with_its_reason(finding, why):
    made = plan(finding, settings=Settings(only=("src", "tests"), leave=("I",)))
    assert made.subtasks == ()
    assert [left.why for left in made.left] == [why]


def test_a_test_that_tests_by_importing_keeps_its_imports():
    findings = [
        found("F401", "tests/test_a.py"),
        found("F401", "tests/test_b.py"),
        found("F541", "tests/test_a.py"),
    ]
    made = planning.make_plan(findings, Settings(), tested=(), most=9, by_importing={"tests/test_a.py"})
    assert sum(subtask.findings for subtask in made.subtasks) == 2
    assert [(left.code, left.why) for left in made.left] == [("F401", Why.IMPORT)]


def test_file_that_reexports_keeps_its_imports():
    findings = [found("F401"), found("F401", "src/b.py"), found("F541")]
    made = planning.make_plan(findings, Settings(), tested=(), most=9, taken_from={"src/b.py"})
    assert sum(subtask.findings for subtask in made.subtasks) == 2
    assert [(left.code, left.findings, left.why) for left in made.left] == [("F401", 1, Why.TAKEN)]


def test_it_keeps_them_beside_another_rule_of_the_same_subtask():
    findings = [found("F401"), found("F401", "src/b.py"), found("F541", "src/b.py")]
    (subtask,) = planning.make_plan(findings, Settings(), tested=(), most=9, taken_from={"src/b.py"}).subtasks
    assert subtask.rules == ("F401", "F541")
    assert "src/b.py" in subtask.files
    assert subtask.keep_imports == ("src/b.py",)
    said = json.loads(json.dumps(subtask.to_json()))
    assert Subtask.from_json(said) == subtask


def test_what_is_to_stay_as_it_stands_is_left():
    findings = [found("W291", "test/cases/E40.py"), found("W291", "test/helper.py")]
    made = planning.make_plan(
        findings, Settings(), tested=(), most=9, as_they_stand={"test/cases/E40.py": Why.DATA}
    )
    assert [subtask.files for subtask in made.subtasks] == [("test/helper.py",)]
    assert [left.why for left in made.left] == [Why.DATA]


def test_a_file_that_does_not_parse_is_left():
    made = plan(found(SYNTAX, fix=None), found("F401"), found("F401", path="src/b.py"))
    assert [subtask.files for subtask in made.subtasks] == [("src/b.py",)]
    assert {left.why for left in made.left} == {Why.NO_FIX, Why.SYNTAX}


def test_the_slower_the_tests_the_fewer_the_subtasks():
    assert planning.most_subtasks(0.2) == 20
    assert planning.most_subtasks(150) == 12
    assert planning.most_subtasks(3600) == 6


FINDINGS = st.lists(
    st.builds(
        found,
        code=st.sampled_from(["F401", "F541", "E711", "UP032", "I001", "W291", "SIM118", "T201", SYNTAX]),
        path=st.sampled_from(
            [f"src/{name}.py" for name in ("a", "b", "c d", "-x", "new\nline")] + ["tests/test_a.py"]
        ),
        fix=st.sampled_from([SAFE, UNSAFE, None]),
    ),
    max_size=60,
)


@given(FINDINGS, st.integers(1, 6))
def test_nothing_is_forgotten_and_nothing_is_planned_twice(findings, most):
    made = plan(*findings, most=most)
    planned = sum(subtask.findings for subtask in made.subtasks)
    assert planned + sum(left.findings for left in made.left) == len(findings)
    assert len(made.subtasks) <= most
    assert planned == 0 or made.subtasks


@given(FINDINGS)
def test_ids_and_titles_are_as_a_plan_must_have_them(findings):
    made = plan(*findings)
    ids = [subtask.id for subtask in made.subtasks]
    assert len(set(ids)) == len(ids)
    for subtask in made.subtasks:
        assert re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", subtask.id)
        assert re.fullmatch(r"[^()\[\]\n]+", subtask.title)


@given(FINDINGS)
def test_a_plan_reads_as_it_was_written(findings):
    made = plan(*findings)
    assert Plan.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_a_subtask_that_is_not_of_the_plan_is_refused():
    with pytest.raises(ArtifactError, match="no subtask 'other'"):
        plan(found("F401")).subtask("other")
