"""What the page shows of the tasks' files; whatever agents wrote stays text."""

import pytest

from orchestrator.cli.serving.page import Picture, page
from orchestrator.cli.tasks import TaskRecord
from orchestrator.formats.text import names
from tests.unit.cli.conftest import AT
from tests.unit.reporting.test_pages import INJECTIONS, TAGS, seen

OWN = TAGS | names("link script noscript section form input button label textarea")
VOID = {"link", "input"}
ATTRIBUTES = names(
    "lang charset name content rel href src defer class role data-part data-title data-key id hidden method action "
    "type value maxlength scope"
)


def shown(house, note=""):
    homes = sorted((house.state / "tasks").iterdir())
    made = [TaskRecord(str(house.state), home.name) for home in homes]
    return Picture().shown(made, "daemon up", AT + 60, daemon_up=True, form="secret", note=note)


def test_all_of_a_task_is_shown(house):
    agents = [house.agent("explore", state="gone", step="explore"), house.agent()]
    house.task(questions=[house.question(holds=["dev-1"])], agents=agents, why="at work", notices=["careful"])
    text = page(shown(house))
    (card,) = shown(house).tasks
    assert (card.name, card.state, card.phase, card.counts) == (
        "tidy",
        "running",
        "DEVELOPING",
        "1 of 2 passed",
    )
    assert [each.partition(":")[0] for each in card.agents] == ["dev-1", "explore"], "who lives comes first"
    assert "alive since" in card.agents[0]
    assert "busy since" in card.agents[0]
    assert "evidence: process 77" in card.agents[0]
    assert [step[:2] for step in card.steps] == [("explore", "passed"), ("dev-1", "working")]
    for part in ("Keep the old name?", "rename", "waiting for the answer: dev-1", "careful", "at work"):
        assert part in text
    assert 'href="report/tidy-0a1b2c3d"' in text


def test_a_page_without_tasks_says_how_to_begin():
    assert "task start NAME" in page(Picture().shown([], "daemon down", AT, daemon_up=False, form=""))


@pytest.mark.parametrize("damage", [{"steps": [7]}, {"agents": ["x"]}, {"questions": [None]}, {"counts": 7}])
def test_a_state_that_cannot_be_shown_hides_no_other(house, damage):
    house.task("other-0a1b2c3e")
    house.task(**damage)
    other, tidy = shown(house).tasks
    assert (other.state, tidy.state) == ("running", "damaged")
    assert "daemon stop" in tidy.why


def test_a_damaged_file_is_named(house):
    (house.task() / "state.json").write_text("{")
    (card,) = shown(house).tasks
    assert (card.state, card.readable, "is damaged" in card.why) == ("damaged", False, True)


def test_a_card_says_what_status_says(house):
    """It said complete of a task that rests on a judge's word, and nothing of edits, limits and boxes."""
    limit = {
        "since": AT,
        "refused_at": AT,
        "resets_at": None,
        "next_try": AT + 120,
        "words": "5 h",
        "refusals": 1,
    }
    counts = {"passed": 2, "set_aside": 0, "open": 0, "total": 2, "criteria": 2, "met": 2, "attested": 1}
    house.task("over-0a1b2c3d", state="complete", counts=counts)
    failing = [{"what": "its log", "since": AT, "why": "no route"}]
    house.task(
        edited=[{"key": "test.check"}],
        brief_fault="line 3: no goal",
        limited=limit,
        boxes=[{"address": "box:/x", "lost": "", "failing": failing, "missing": []}],
    )
    over, tidy = shown(house).tasks
    assert (over.state, "1 of 2" in over.but) == ("complete", True)
    assert ", but 1 of 2 success criteria rests" in page(shown(house)), "the table says it as well"
    said = dict(tidy.facts)
    assert "next try at" in said["limited"]
    assert "line 3: no goal" in page(shown(house))
    assert "test.check changed since the start" in said["task.md"]
    assert "box:/x: its log cannot be fetched" in said["box"]


def test_a_criterion_that_nobody_has_judged_is_said(house):
    house.task(state="complete")
    brief = house.project / "tasks" / "tidy" / "task.md"
    brief.parent.mkdir(parents=True, exist_ok=True)
    brief.write_text(
        "# Task: Tidy\n\n## Goal\nTake away what can be.\n\n## Success Criteria\n- zzz.py exists\n"
    )
    (card,) = shown(house).tasks
    assert "nobody has judged: zzz.py exists" in dict(card.facts)["task.md"]


def test_table_and_card_agree_on_a_branch_that_is_gone(house):
    """The table went on saying complete: its copy of the record was made before the branch was looked at again."""
    house.task(state="complete")
    record, picture = TaskRecord(str(house.state), "tidy-0a1b2c3d"), Picture()
    for moved in ("", "no branch"):
        record.moved = moved, moved
        content = picture.shown([record], "", AT, daemon_up=True, form="")
        assert ("no branch" in str(content.rows)) == bool(moved)


def test_a_task_that_is_being_deleted_is_not_shown_as_whole(house):
    (house.task(state="complete") / "leaving.json").write_text("{}")
    content = shown(house)
    (card,) = content.tasks
    assert (card.state, "being deleted" in card.why) == ("removing", True)
    assert "removing" in content.rows[0]


def test_a_record_is_made_fit_once(house, monkeypatch):
    house.task()
    record, picture = TaskRecord(str(house.state), "tidy-0a1b2c3d"), Picture()
    made = []

    def counted(view):
        made.append(1)
        return view

    monkeypatch.setattr("orchestrator.cli.serving.page.cleaned", counted)
    for _ in range(3):
        picture.shown([record], "", AT, daemon_up=True, form="")
    assert len(made) == 1
    picture.shown([TaskRecord(str(house.state), "tidy-0a1b2c3d")], "", AT, daemon_up=True, form="")
    assert len(made) == 2


def test_secrets_are_masked(house):
    house.task(why="the key is sk-ant-api03-" + "a" * 40)
    assert "sk-ant" not in page(shown(house))


def hostile(house, text):
    """Put a text wherever a state.json has one."""
    outcome = dict.fromkeys(("asked", "outcome", "work", "not_done", "cost", "next"), text)
    house.task(
        why=text,
        phase=text,
        state=text,
        project=text,
        outcome=outcome | {"branch_seen": None},
        notices=[text],
        steps=[house.step(text, title=text, why=text, status=text, agent=text)],
        agents=[house.agent(text, step=text, state=text, turn=text, evidence=text, host=text, pane=text)],
        questions=[house.question(text, text=text, options=[text], holds=[text], deadline=AT, default=text)],
    )


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_stays_text(house, text):
    hostile(house, text)
    html = page(shown(house, note=text))
    made = seen(html, VOID)
    assert made.tags <= OWN
    assert made.attributes <= ATTRIBUTES
    assert made.links == ["page.css", "live.js", "report/tidy-0a1b2c3d"]
    assert made.open == []
    assert " ".join(text.split())[:200] in " ".join("".join(made.text).split())
