import pytest

from orchestrator.formats.handoff import read_report
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import CriterionMark, Report, Subtask


def report(title: str, body: str) -> Report:
    return read_report(f"**Status:** COMPLETE\n## {title}\n{body}".encode(), "r")


def faults(title: str, body: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        report(title, body)
    return [str(fault) for fault in caught.value.faults]


# Artifacts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "path"),
    [
        ("- artifacts/code/a.py", "artifacts/code/a.py"),
        ("* `artifacts/code/a.py`", "artifacts/code/a.py"),
        ("1. artifacts/code/a.py", "artifacts/code/a.py"),
        ("- artifacts/code/a.py - the parser", "artifacts/code/a.py"),
        ("- artifacts/code/a.py – the parser", "artifacts/code/a.py"),
        ("- artifacts/code/a.py (new)", "artifacts/code/a.py"),
        ("- artifacts/code/a.py: the parser", "artifacts/code/a.py"),
        ("- `my file (1) - x.md` (new)", "my file (1) - x.md"),
        ("- [the parser](artifacts/code/a.py) - new", "artifacts/code/a.py"),
        ("- **artifacts/code/a.py** - new", "artifacts/code/a.py"),
        ("- **`a.py`** - new", "a.py"),
        ("- my file.md", "my file.md"),
        ("- /abs/path/x", "/abs/path/x"),
        ("- a-b/c-d.md", "a-b/c-d.md"),
    ],
)
def test_an_artifact_is_a_path_without_marks_and_remarks(item, path):
    assert report("Artifacts Generated", item).artifacts == (path,)


@pytest.mark.parametrize("body", ["None", "- None", "- none.", "N/A", "", "- None (nothing to hand in)"])
def test_no_artifacts_are_no_artifacts(body):
    assert report("Artifacts Generated", body).artifacts == ()


def test_prose_between_artifacts_is_ignored():
    body = "I wrote these:\n\n- a.py\n  - parses\n  - `b.py`\n  - c/d.py\n\n```\n- no.py\n```\nThat is all.\n"
    assert report("Artifacts Generated", body).artifacts == ("a.py", "b.py", "c/d.py")


def test_too_many_artifacts_and_bad_paths_are_refused():
    assert faults("Artifacts Generated", "- x\n" * 2001) == [
        "line 2003: more than 2000 artifacts: name their folder"
    ]
    assert faults("Artifacts Generated", "- a\x1b[2Jb") == ["line 3: the path holds a control character"]
    assert "longer than 4096" in faults("Artifacts Generated", "- " + "x" * 4097)[0]


# Subtasks ----------------------------------------------------------------------------------------


def test_subtasks_are_read():
    body = (
        "In this order:\n\n"
        "- [parser] Write the parser (all of it) (agent: dev; needs: none)\n"
        "  Done when: `pytest -q` passes (green)\n"
        "* [lexer-2] Write the lexer,\n"
        "  also for tabs (needs: parser, `docs`; agent: dev-2; done: it lexes; really)\n"
        "2. [docs] Write the docs.\n"
        "  - **Done when:** they read well\n"
    )
    assert report("Subtasks", body).subtasks == (
        Subtask("parser", "Write the parser (all of it)", "dev", (), "`pytest -q` passes (green)"),
        Subtask("lexer-2", "Write the lexer, also for tabs", "dev-2", ("parser", "docs"), "it lexes; really"),
        Subtask("docs", "Write the docs.", "dev", (), "they read well"),
    )


def test_no_subtasks_are_said_to_be_none():
    assert report("Subtasks", "None").subtasks == ()
    assert report("Subtasks", "- None").subtasks == ()
    assert report("Completed Work", "x").subtasks is None


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("", "line 2: lists nothing: write `- [id] text"),
        ("Later.", "line 2: lists nothing"),
        ("- no id", "line 3: is not a subtask: write `- [id] text"),
        ("- [ ] a box", "is no id"),
        ("- [A] x", "'A' is no id"),
        ("- [../x] x", "'../x' is no id"),
        ("- [a]", "line 3: has no text"),
        ("- [a] (agent: dev)", "line 3: has no text"),
        ("- [a] x (agent: Dev)", "'Dev' is no agent"),
        ("- [a] x (agent: dev; priority: high)", "'dev; priority: high' is no agent"),
        ("- [a] x (agent: dev; agent: test)", "has agent, agent: give each only once"),
        ("- [a] x (agent: dev", "close the parenthesis"),
        ("- [a] x (needs: b c)", "'b c' is no id"),
        ("- [none] x", "the id cannot be `none`"),
        ("- [a] x\n- [b] y\n- [a] z", "line 5: the id 'a' is in line 3 already"),
        ("- [a] " + "x" * 9000, "line 3: is longer than 8192 characters"),
    ],
)
def test_subtasks_are_read_strictly(body, reported):
    assert reported in faults("Subtasks", body)[0]


def test_too_many_subtasks_are_refused():
    body = "".join(f"- [s{n}] x\n" for n in range(5001))
    assert faults("Subtasks", body) == ["line 5003: more than 5000 subtasks"]


# Marks of criteria -------------------------------------------------------------------------------


def test_marks_of_criteria_are_read():
    body = (
        "- [x] All tests pass (evidence: artifacts/tests/log.txt, `a, b.md`)\n"
        "- [X] It is fast\n"
        "- [ ] It is documented (for users) (reason: no time (yet))\n"
        "- [ ] It is small.\n  Reason: it grew\n"
        "- [x] Both (evidence: a.md; reason: seen by eye).\n"
    )
    assert report("Success Criteria", body).criteria == (
        CriterionMark("All tests pass", met=True, evidence=("artifacts/tests/log.txt", "a, b.md")),
        CriterionMark("It is fast", met=True),
        CriterionMark("It is documented (for users)", met=False, reason="no time (yet)"),
        CriterionMark("It is small.", met=False, reason="it grew"),
        CriterionMark("Both", met=True, evidence=("a.md",), reason="seen by eye"),
    )


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ("All met.", "lists nothing"),
        ("- All tests pass", "line 3: is not a mark of a criterion"),
        ("- [y] x", "line 3: is not a mark of a criterion"),
        ("- [x] (evidence: a)", "names no criterion"),
        ("- [x] a (evidence: a) b", "close the parenthesis"),
    ],
)
def test_marks_are_read_strictly(body, reported):
    assert reported in faults("Success Criteria", body)[0]
