import json

import pytest


def test_nothing_to_answer(house, task):
    house.task()
    assert task("questions").out == "no question is waiting for your answer\n"
    said = task("answer", "q1", "yes")
    assert (said.code, said.err) == (2, "task: no question is waiting for an answer\n")


def test_all_questions_of_all_tasks_with_the_command_for_each(house, task):
    house.task("one-00000001", questions=[house.question("q1"), house.question("q2", options=[])])
    house.task("two-00000002", questions=[house.question("q1")])
    out = task("questions").out
    for command in ("task answer one q1 NUMBER", "task answer one q2 TEXT", "task answer two q1 NUMBER"):
        assert command in out


def test_tasks_of_the_same_name_are_called_by_their_id(house, task):
    house.task("one-00000001", questions=[house.question()])
    house.task("one-00000002", project="/other")
    assert "task answer one-00000001 q1 NUMBER" in task("questions").out


def test_only_one_task_if_asked(house, task):
    house.task("one-00000001", questions=[house.question("q1")])
    house.task("two-00000002", questions=[house.question("q2")])
    assert [each["id"] for each in task("questions", "two", "--json").json["questions"]] == ["q2"]


def test_the_json_document_has_its_documented_shape(house, task):
    house.task(questions=[house.question()])
    (said,) = task("questions", "--json").json["questions"]
    assert said == {
        "task": "tidy",
        "task_id": "tidy-0a1b2c3d",
        "project": str(house.project),
        **house.question(),
        "asked_at": "2025-11-27T14:35:00Z",
    }
    assert set(said) <= set(task("help", "json").out.split())


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["tidy", "q1", "keep"], "keep"),
        (["q1", "2"], "rename"),
        (["q1", "Rename"], "rename"),
        (["q1", "neither", "of", "them"], "neither of them"),
        (["q1", "3"], "3"),
        (["tidy-0a1b2c3d", "q1", "0"], "0"),
        (["tidy", "q1", "--", "--keep"], "--keep"),
    ],
)
def test_an_answer_is_a_text_or_the_number_of_an_option(house, task, daemon, words, text):
    house.task(questions=[house.question()])
    assert task("answer", *words).code == 0
    assert daemon.heard[0]["verb"] == "answer"
    assert daemon.heard[0]["arguments"] == {"question": "q1", "text": text}


def test_an_option_that_is_a_number_is_that_option(house, task, daemon):
    house.task(questions=[house.question(options=["5", "2", "1"])])
    task("answer", "q1", "2")
    assert daemon.heard[0]["arguments"]["text"] == "2"


def test_when_several_tasks_ask_the_task_must_be_named(house, task, daemon):
    house.task("one-00000001", questions=[house.question()])
    house.task("two-00000002", questions=[house.question()])
    said = task("answer", "q1", "keep")
    assert said.code == 2
    assert "  task answer one-00000001 q1 keep\n  task answer two-00000002 q1 keep\n" in said.err
    assert daemon.heard == []


@pytest.mark.parametrize("words", [["q1"], ["tidy", "q1"], ["tidy"]])
def test_an_answer_needs_a_question_and_a_text(house, task, words):
    house.task(questions=[house.question()])
    said = task("answer", *words)
    assert said.code == 2
    assert "task answer NAME ID TEXT" in said.err


def test_a_question_that_is_not_open_is_refused(house, task):
    house.task(questions=[house.question()])
    said = task("answer", "tidy", "q9", "keep")
    assert said.code == 2
    assert "no open question 'q9'" in said.err


def test_questions_show_dependants_and_default_answer(house, task):
    question = house.question(holds=["test:a", "accept"], default="set-aside", deadline=1_764_340_500.0)
    house.task(questions=[question])
    out = task("questions").out
    assert "waiting for the answer: test:a, accept" in out
    assert "nobody answered by Fri 28 Nov 2025" in out
    assert ": set-aside" in out
    assert task("questions", "--json").json["questions"][0]["deadline"] == "2025-11-28T14:35:00Z"


@pytest.mark.parametrize("number", ["0", "3"])
def test_a_number_that_no_option_has_is_said_to_be_passed_on(house, task, daemon, number):
    """It may be meant (a port, say), or be a slip: the agent was given it, and nothing was said of that."""
    house.task(questions=[house.question()])
    said = task("answer", "tidy", "q1", number)
    assert (said.code, f"{number} is the number of no option" in said.out) == (0, True)
    assert "no option" not in task("answer", "tidy", "q1", "2").out


def test_an_answer_that_nobody_has_heard_yet_is_said(house, task, monkeypatch):
    """A question that was answered while no daemon ran was listed as before, as if nothing had been typed."""
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    home = house.task(questions=[house.question()])
    said = task("questions").out
    assert "daemon down" in said
    assert "wait for it" not in said
    (home / "requests").mkdir(exist_ok=True)
    (home / "requests" / "20260101-a.json").touch()
    assert "requests that wait for it: 1 (an answer of yours may be one of them)" in task("questions").out


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        ({"text": "retry", "by": "the user"}, "was answered by the user"),
        ({"text": "set-aside", "by": "task.md"}, "was answered by task.md"),
        ({"text": "retry"}, "was answered"),
        ({"text": "(withdrawn)", "by": "the PM"}, "was withdrawn"),
    ],
)
def test_a_closed_question_says_how_it_was_closed(house, task, closed, told):
    """Somebody answers a question that the phone, the page or the deadline has answered before."""
    home = house.task(questions=[house.question("q2")])
    change = {"kind": "question_answered", "question": "q1", "at": 1_764_254_100.0, **closed}
    line = {"n": 2, "fact": {"kind": "answered"}, "changes": [change], "actions": []}
    (home / "journal").mkdir(exist_ok=True)
    (home / "journal" / "0000000001.jsonl").write_text(json.dumps(line) + "\n")
    said = task("answer", "tidy", "q1", "retry")
    assert said.code == 2
    assert f"q1 of tidy {told}" in said.err
    assert "27 Nov 2025 14:35" in said.err
    assert ("retry" in said.err) is (closed["text"] == "retry")
