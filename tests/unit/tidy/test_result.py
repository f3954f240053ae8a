import json

import pytest
import result
from artifacts import Artifacts
from comparison import Comparison
from errors import ArtifactError
from judgement import Judgement
from subtasks import Subtask

SUBTASK = Subtask("e711", "Try to mend E711", ("E711",), ("a.py",), 4, unsafe=True)
GOOD = Comparison("aaa", ran=True, passed=2, passed_before=2)
BAD = Comparison("bbb", ran=True, newly_failing={"t.py::one": "why"})
NOTHING = Judgement(4, 4, 0, 0, 0, ("Nothing got better.",))
DONE = Judgement(4, 0, 1, 4, 4)


@pytest.fixture
def artifacts(tmp_path):
    for folder in ("tests", "code", "reviews"):
        (tmp_path / folder).mkdir()
    return Artifacts(tmp_path)


def lay(
    artifacts: Artifacts, comparisons: list[Comparison], reviews: list[Judgement], subtask: str = "e711"
) -> None:
    for attempt, compared in enumerate(comparisons, 1):
        name = f"{subtask}-attempt-{attempt}"
        (artifacts.folder / "tests" / f"{name}.json").write_text(
            json.dumps(compared.to_json()), encoding="utf-8"
        )
        (artifacts.folder / "code" / f"{name}.diff").touch()
    for attempt, review in enumerate(reviews, 1):
        path = artifacts.folder / "reviews" / f"{subtask}-attempt-{attempt}.json"
        path.write_text(json.dumps(review.to_json()), encoding="utf-8")


def test_subtask_set_aside_lists_each_objection_once(artifacts):
    lay(artifacts, [BAD, GOOD, GOOD], [NOTHING, NOTHING])
    ended = result.how_it_ended(SUBTASK, artifacts)
    assert (ended.approved, ended.attempts) == (False, 3)
    assert ended.why == "Newly failing tests, 1: t.py::one. Nothing got better."


def test_one_that_the_tests_always_rejected_was_never_reviewed(artifacts):
    lay(artifacts, [BAD, BAD, BAD], [])
    ended = result.how_it_ended(SUBTASK, artifacts)
    assert (ended.approved, ended.why) == (False, "Newly failing tests, 1: t.py::one.")


def test_the_last_review_decides(artifacts):
    lay(artifacts, [BAD, GOOD], [DONE])
    ended = result.how_it_ended(SUBTASK, artifacts)
    assert (ended.approved, ended.changed, ended.attempts) == (True, True, 2)


def test_one_that_was_not_begun_is_said_to_be(artifacts):
    lay(artifacts, [GOOD], [DONE], subtask="e711-try")
    assert result.how_it_ended(SUBTASK, artifacts).why == "It was not reviewed."


def test_attempts_are_in_the_order_of_their_numbers(artifacts):
    lay(artifacts, [GOOD] * 11, [])
    assert [path.stem for path in artifacts.comparisons("e711")][-2:] == [
        "e711-attempt-10",
        "e711-attempt-11",
    ]


def test_review_finds_the_comparison_of_its_commit(artifacts):
    lay(artifacts, [BAD, GOOD], [])
    assert artifacts.comparison_of("e711", "aaa") == GOOD
    with pytest.raises(ArtifactError, match="not been compared for ccc"):
        artifacts.comparison_of("e711", "ccc")
    (artifacts.folder / "tests" / "e711-attempt-2.json").write_text("{", encoding="utf-8")
    with pytest.raises(ArtifactError):
        artifacts.comparison_of("e711", "aaa")
