import json
from pathlib import Path

import feedback
import pytest
from order import Order

FILES = ("src/a.py", "src/b c.py", "tests/a.py")


def order(task: Path, *, text: str = "", attempt: int = 2) -> Order:
    (task / "order.md").write_text(text, encoding="utf-8")
    return Order.from_environment(
        {
            f"ORCHESTRATOR_{name}": value
            for name, value in {
                "RUN": "r-1",
                "AGENT": "dev",
                "STEP": "dev:f401",
                "SUBTASK": "f401",
                "ATTEMPT": str(attempt),
                "ORDER": str(task / "order.md"),
                "TASK_DIR": str(task),
                "WORKSPACE": str(task),
                "SCRATCHPAD": str(task),
                "BASE": "c0ffee",
                "BRANCH": "task/x",
            }.items()
        }
    )


@pytest.fixture
def compared(tmp_path):
    """Writes down what the check of an attempt found."""

    def write(attempt, newly_failing, suspects):
        folder = tmp_path / "artifacts" / "tests"
        folder.mkdir(parents=True, exist_ok=True)
        said = {"newly_failing": dict.fromkeys(newly_failing, "why"), "broken": {}, "suspects": suspects}
        (folder / f"f401-attempt-{attempt}.json").write_text(json.dumps(said), encoding="utf-8")

    return write


def test_what_was_said_of_other_subtasks_does_not_count(tmp_path, compared):
    compared(1, ["t.py::one"], [])
    tests = tmp_path / "artifacts" / "tests"
    (tests / "f401-attempt-1.json").rename(tests / "f4-attempt-1.json")
    assert feedback.read(order(tmp_path), FILES) == feedback.Feedback()


def test_the_first_attempt_has_none(tmp_path):
    assert feedback.read(order(tmp_path, attempt=1), FILES) == feedback.Feedback()


def test_the_tests_are_those_of_all_earlier_attempts(tmp_path, compared):
    compared(1, ["t.py::one"], [])
    compared(2, ["t.py::two"], [])
    assert feedback.read(order(tmp_path, attempt=3), FILES).tests == {"t.py::one", "t.py::two"}


def test_the_files_are_those_that_the_order_names(tmp_path, compared):
    compared(1, ["t.py::one"], ["src/a.py"])
    text = f"Rejected.\n\n{feedback.marked(['src/b c.py', 'other.py'])}\n\nsrc/a.py is mentioned only"
    assert feedback.read(order(tmp_path, text=text), FILES).files == {"src/b c.py"}


def test_without_a_name_they_are_the_suspects(tmp_path, compared):
    compared(1, ["t.py::one"], ["src/a.py", "not/of/the/subtask.py"])
    assert feedback.read(order(tmp_path, text="Do it better."), FILES).files == {"src/a.py"}


def test_a_name_within_a_name_is_not_meant(tmp_path):
    text = feedback.marked(["more/src/a.py", "src/a.pyi"])
    assert feedback.read(order(tmp_path, text=text), FILES).files == frozenset()


def test_all_that_is_marked_is_found_again(tmp_path):
    assert feedback.read(order(tmp_path, text=feedback.marked(FILES)), FILES).files == set(FILES)
