"""What the screen says, from the files of tasks alone."""

import re

import pytest

from orchestrator.cli.screen import width_of
from orchestrator.cli.tasks import TaskRecord
from orchestrator.cli.watching import picture
from tests.unit.cli.conftest import AT
from tests.unit.cli.watching.injections import INJECTIONS, NUMBERS

NOW = AT + 90
WIDTH = 78


def plain(line):
    """Return a line without the colours of `screen.paint`, which are all that may be in it."""
    return re.sub(r"\033\[[0-9]+m", "", line)


def texts(listing):
    return [plain(listing.heading), *(plain(row.text) for row in listing.rows)]


def record(house, **reported):
    house.task(**reported)
    return TaskRecord(str(house.state), "tidy-0a1b2c3d")


def test_the_headline_counts_tasks_and_questions(house):
    tidy = record(house, questions=[house.question()])
    assert picture.headline([tidy], "daemon up", WIDTH) == "task watch   1 task, 1 question   daemon up"
    assert "0 tasks, 0 questions" in picture.headline([], "daemon down", WIDTH)


def test_tasks_are_shown_as_task_list_shows_them(house, task):
    tidy = record(house)
    listing = picture.tasks_listing([tidy], 80, NOW)
    assert [row.key for row in listing.rows] == ["tidy-0a1b2c3d"]
    heading, line = texts(listing)
    said = task("list").out.splitlines()
    assert heading.split() == said[0].split()
    assert line.split()[:4] == said[1].split()[:4]


def test_steps_stand_in_the_graph_of_their_needs(house):
    steps = [
        house.step(),
        house.step("dev:one", agent="dev", needs=["explore"], status="working", since=NOW - 5),
        house.step("dev:two", agent="dev", needs=["explore"], status="pending"),
        house.step("accept", needs=["dev:one", "dev:two"], status="pending"),
    ]
    lines = texts(picture.steps_listing({"steps": steps}, WIDTH, NOW))
    assert [line.split("  ")[0].rstrip() for line in lines[1:]] == ["*", "├─>", "o │", "o─┘"]
    assert "dev:one" in lines[2]
    assert "5 s ago" in lines[2]


def test_steps_of_an_older_state_have_no_graph(house):
    steps = [{key: value for key, value in house.step().items() if key != "needs"}]
    assert texts(picture.steps_listing({"steps": steps}, WIDTH, NOW))[0].startswith("STEP")


def test_agents_that_live_come_first_with_evidence(house):
    agents = [house.agent("old", state="gone", evidence="exited 0"), house.agent()]
    lines = texts(picture.agents_listing({"agents": agents}, WIDTH, NOW))
    assert [line.split()[0] for line in lines] == ["RUN", "dev", "old"]
    assert "process 77" in lines[1]
    said = " ".join(picture.agent_details(agents[1], WIDTH, NOW))
    assert "alive since" in said
    assert "evidence: process 77" in said


def test_questions_of_all_tasks_are_named_by_task_and_id(house):
    tidy = record(house, questions=[house.question(), house.question("q2", text="Which\nname?")])
    listing = picture.questions_listing([tidy], WIDTH, NOW)
    assert [row.key for row in listing.rows] == ["tidy-0a1b2c3d q1", "tidy-0a1b2c3d q2"]
    assert "Which name?" in texts(listing)[2]


def test_a_question_is_shown_with_all_that_hangs_on_it(house):
    asked = house.question(holds=["dev:one"], default="keep", deadline=NOW + 60)
    said = "\n".join(picture.question_details(asked, WIDTH, NOW))
    assert all(part in said for part in ("Keep the old name?", "1) keep", "2) rename", "dev:one"))
    assert re.search(r"if nobody answers by .*: keep", said)


def test_a_step_says_why_it_is_where_it_is(house):
    step = house.step(
        status="failed",
        why="its check failed",
        said="Not yet.",
        cause={"what": "check exited 1", "run": "r-1", "lines": [f"line {n}" for n in range(9)]},
    )
    said = picture.step_details(step, WIDTH, NOW)
    assert "  why: its check failed" in said
    assert "  feedback: Not yet." in said
    assert said[-1] == "  | line 8"
    assert sum(line.startswith("  | ") for line in said) == picture.CAUSE_LINES


def test_a_damaged_task_says_what_is_wrong_and_what_to_do(house):
    (house.task() / "state.json").write_text("{")
    damaged = TaskRecord(str(house.state), "tidy-0a1b2c3d")
    assert "damaged" in texts(picture.tasks_listing([damaged], WIDTH, NOW))[1]
    said = " ".join(picture.task_details(damaged, WIDTH, NOW))
    assert "is damaged" in said
    assert "task daemon start" in said


def test_a_task_that_was_only_requested_says_so(house):
    house.asked_for("tidy-0a1b2c3d")
    waiting = TaskRecord(str(house.state), "tidy-0a1b2c3d")
    assert "requested" in " ".join(picture.task_details(waiting, WIDTH, NOW))


@pytest.mark.parametrize("text", INJECTIONS, ids=NUMBERS)
def test_no_text_reaches_the_screen_as_a_command(house, text):
    """Whatever an agent wrote, and wherever: no line holds a control character, and no row is wider than the screen."""
    step = house.step(
        text,
        title=text,
        why=text,
        said=text,
        needs=[text],
        cause={"what": text, "run": text, "lines": [text]},
    )
    agent = house.agent(text, step=text, evidence=text, state=text, turn=text, host=text, pane=text)
    asked = house.question(text=text, options=[text], holds=[text], default=text, deadline=NOW)
    tidy = record(
        house, steps=[step], agents=[agent], questions=[asked], notices=[text], why=text, phase=text
    )
    listings = [
        picture.tasks_listing([tidy], WIDTH, NOW),
        picture.questions_listing([tidy], WIDTH, NOW),
        picture.steps_listing(tidy.view, WIDTH, NOW),
        picture.agents_listing(tidy.view, WIDTH, NOW),
    ]
    rows = [line for listing in listings for line in texts(listing)]
    lines = rows + picture.task_details(tidy, WIDTH, NOW) + picture.step_details(step, WIDTH, NOW)
    lines += picture.agent_details(agent, WIDTH, NOW) + picture.question_details(asked, WIDTH, NOW)
    assert len(lines) > 15
    assert [line for line in lines if not line.isprintable()] == []
    assert [line for line in rows if width_of(line) > WIDTH] == []


def test_a_branch_that_is_gone_is_not_offered_for_merging(house, tmp_path):
    """What the daemon wrote when the task ended stood there still, with the command that merges it."""
    place = {"code": str(tmp_path / "away"), "branch": "task/tidy", "base": "0" * 40, "tip": "1" * 40}
    outcome = {
        "work": "branch `task/tidy` at 0123456789: 1 commit",
        "next": "`task merge tidy` takes it over",
    }
    said = "\n".join(
        picture.task_details(record(house, state="complete", outcome=outcome, **place), 200, NOW)
    )
    assert "which is missing" in said
    assert "takes it over" not in said
