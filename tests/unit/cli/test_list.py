import os
import time

from orchestrator.cli.screen import width_of
from tests.unit.cli.conftest import AT


def test_it_says_how_to_begin_when_there_is_nothing(house, task):
    said = task("list")
    assert (said.code, said.out) == (
        0,
        "no tasks yet; to begin one, in a project's folder: task start NAME\n",
    )


def test_a_full_disk_is_said(house, task, daemon, monkeypatch):
    """An agent that a full disk had ended stood in the list as at work, without a word."""
    real = os.statvfs
    house.task()
    assert "is full" not in task("list").out
    full = os.statvfs_result((4096, 4096, 1000, 3, 3, 10, 9, 9, *real(house.state)[8:]))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert "is full" in task("list").out


def test_archived_tasks_are_not_denied(house, task):
    """It said that there were no tasks yet while an archive held one."""
    (house.state / "archive").mkdir()
    (house.state / "archive" / "old-0a1b2c3d.tar.gz").touch()
    said = task("list").out
    assert "yet" not in said
    assert "task list --archived" in said


def test_tasks_of_other_projects_are_not_denied(house, task):
    """It said that there were no tasks yet while another project had one."""
    house.task("there-00000002", project="/somewhere/else")
    assert task("list", "--project", str(house.project)).out.startswith(f"no task of {house.project};")


def test_it_says_so_before_anything_was_ever_started(house, task):
    house.state.rmdir()
    assert task("list").code == 0
    assert not house.state.exists()


def test_it_shows_the_task_that_changed_last_at_the_top(house, task):
    house.task("old-00000001", steps=[house.step(since=AT - 2.0)])
    house.task("new-00000002", steps=[house.step(since=AT - 1.0)])
    lines = task("list").out.splitlines()
    assert lines[0].startswith("TASK")
    assert [line.split()[0] for line in lines[1:3]] == ["new", "old"]
    assert lines[-1].startswith("daemon down")


def test_a_task_folder_that_was_renamed_is_said(house, task):
    """`task status` said so; the list showed the task as if all of it were there."""
    house.task(state="complete")
    folder = house.project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    assert "folder missing" not in task("list").out
    folder.rename(folder.with_name("other"))
    said = task("list").out
    assert "complete, folder missing" in said
    assert f"{folder} is missing" in " ".join(said.split())
    assert task("list", "--json").json["tasks"][0]["folder_missing"] is True
    folder.parent.rename(house.project.parent / "away")
    house.project.rmdir()
    assert "folder missing" not in task("list").out, "the whole project is"


def test_the_json_document_has_its_documented_shape(house, task):
    house.task(questions=[house.question()])
    said = task("list", "--json").json
    assert said["tasks"] == [
        {
            "id": "tidy-0a1b2c3d",
            "task": "tidy",
            "project": str(house.project),
            "phase": "DEVELOPING",
            "state": "running",
            "limited": None,
            "steps_passed": 1,
            "steps_set_aside": 0,
            "steps_total": 2,
            "agents_live": 1,
            "criteria": 1,
            "criteria_met": 1,
            "criteria_attested": 0,
            "questions_open": 1,
            "branch_moved": None,
            "folder_missing": False,
            "last_checkin": "2025-11-27T14:35:00Z",
            "updated": "2025-11-27T14:35:00Z",
        }
    ]
    assert said["daemon"] == {"up": False, "as_of": None, "room": True}
    words = set(task("help", "json").out.split())
    assert set(said["tasks"][0]) <= words


def test_complete_on_a_word_is_not_bare_complete(house, task):
    """A task whose reviewer named nothing but its own file stood in the list like any other that is complete."""
    counts = house.state_json()["counts"] | {"criteria": 3, "met": 3}
    house.task("word-00000001", state="complete", counts=counts | {"attested": 2})
    house.task("done-00000002", state="complete", counts=counts)
    house.task("work-00000003", state="running", counts=counts | {"attested": 2})
    said = task("list").out
    lines = {line.split()[0]: line for line in said.splitlines()}
    assert "complete, 2 of 3 on word" in lines["word"]
    assert "word-00000001: 2 of 3 success criteria rest on their judge's word alone" in said
    assert said.count("on word") == 1
    assert said.count("word alone") == 1


def test_only_one_project_if_asked(house, task):
    house.task("here-00000001")
    house.task("there-00000002", project="/somewhere/else")
    said = task("list", "--project", str(house.project), "--json").json
    assert [each["task"] for each in said["tasks"]] == ["here"]


def test_a_damaged_task_does_not_hide_the_others(house, task):
    house.task("good-00000001")
    (house.home("bad-00000002") / "state.json").write_text("{")
    said = task("list")
    assert "good  running" in said.out
    assert "bad   damaged" in said.out
    assert said.err.startswith("bad-00000002: ")


def test_one_that_the_daemon_has_not_begun_is_shown(house, task):
    house.asked_for("new-00000001")
    assert "requested" in task("list").out


def test_what_is_left_of_a_start_that_was_refused_is_not_shown(house, task):
    house.home("new-00000001")
    assert task("list", "--json").json["tasks"] == []


def test_folders_that_are_no_tasks_are_passed_over(house, task):
    for name in ("tidy", "tidy-xyz", "-00000001", ".hidden-0000000g"):
        (house.state / "tasks" / name).mkdir(parents=True)
    assert task("list", "--json").json["tasks"] == []


def test_nothing_is_wider_than_80_columns(house, task):
    house.task(f"{'n' * 64}-00000001", project="/a" * 60, phase="EXPLORING")
    assert max(map(width_of, task("list").out.splitlines())) <= 80


def test_checkin_alone_does_not_change_the_time_of_a_task(house, task):
    """Tasks that had been complete for hours were said to be updated minutes ago, at a look at their branches."""
    now = time.time()
    house.task("old-00000001", updated=now, started_at=None, steps=[house.step(since=now - 7300)], agents=[])
    house.task("new-00000002", updated=now, started_at=None, steps=[house.step(since=now - 130)], agents=[])
    heading, first, second = task("list").out.splitlines()[:3]
    assert "CHANGED" in heading
    assert (first.split()[0], "2 min ago" in first) == ("new", True)
    assert (second.split()[0], "2 h ago" in second) == ("old", True)


def test_a_task_that_was_stopped_has_changed_then(house, task):
    """No step of it moves as it is stopped while it waits for an answer."""
    house.task(state="stopped", started_at=1.0, moved_at=time.time() - 120, steps=[], agents=[], questions=[])
    (house.project / "tasks" / "tidy").mkdir(parents=True)
    (line,) = [line for line in task("list").out.splitlines() if "stopped" in line]
    assert "2 min ago" in line
