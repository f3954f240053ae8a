"""Files are read again when they have changed, and only then."""

import json

import pytest

from orchestrator.cli import branch_now, state_file, tasks
from orchestrator.cli.watching import tasks_seen
from orchestrator.cli.watching.run_screen import KEPT, RunScreen
from orchestrator.cli.watching.tasks_seen import TasksSeen


@pytest.fixture
def seen(house):
    return TasksSeen(str(house.state), lambda _: True)


@pytest.fixture
def reads(monkeypatch):
    """The folders of tasks whose `state.json` was read."""
    read, whole = [], state_file.read_state

    def counted(home):
        read.append(home)
        return whole(home)

    monkeypatch.setattr(tasks, "read_state", counted)
    return read


def test_nothing_is_read_while_nothing_changes(house, seen, reads):
    house.task()
    assert seen.look()
    assert len(reads) == 1
    assert not seen.look()
    assert len(reads) == 1


def test_only_the_task_that_changed_is_read(house, seen, reads):
    house.task()
    other = house.task("other-0a1b2c3e")
    assert seen.look()
    part = other / "part"
    part.write_text(json.dumps(house.state_json("other-0a1b2c3e", phase="REVIEWING")))
    part.rename(other / "state.json")
    del reads[:]
    assert seen.look()
    assert reads == [str(other)]
    assert {record.view["phase"] for record in seen.records} == {"DEVELOPING", "REVIEWING"}


def test_tasks_come_and_go(house, seen):
    assert not seen.look()
    home = house.task()
    assert seen.look()
    assert [record.name for record in seen.records] == ["tidy"]
    home.rename(house.root / "away")
    assert seen.look()
    assert seen.records == []


def test_tasks_at_work_stand_first_and_the_newest_of_them(house, seen):
    for number, (state, began) in enumerate([("complete", 9.0), ("running", 1.0), ("waiting", 2.0)]):
        house.task(f"t{number}-0a1b2c3d", state=state, started_at=began)
    seen.look()
    assert [record.name for record in seen.records] == ["t2", "t1", "t0"]


def test_only_the_tasks_that_are_meant_are_shown(house):
    house.task()
    house.task("other-0a1b2c3e")
    seen = TasksSeen(str(house.state), lambda record: record.name == "other")
    seen.look()
    assert [record.name for record in seen.records] == ["other"]


def test_a_folder_that_others_may_write_is_named(house, seen):
    house.task()
    house.state.chmod(0o777)
    assert seen.look()
    assert "can be written by others" in seen.fault
    house.state.chmod(0o700)
    assert seen.look()
    assert (seen.fault, len(seen.records)) == ("", 1)


def test_the_daemon_is_down_or_up(house, seen, daemon):
    house.task()
    seen.look_at_daemon()
    assert (seen.daemon_up, seen.daemon) == (True, "daemon up")


def test_a_daemon_that_is_down_is_said_to_be(house, seen):
    house.task()
    seen.look()
    seen.look_at_daemon()
    assert not seen.daemon_up
    assert seen.daemon.startswith("daemon down; as of ")


# The terminal of a run ----------------------------------------------------------------------------


@pytest.fixture
def log(house):
    folder = house.task() / "runs" / "dev-run"
    folder.mkdir(parents=True)
    return folder / "pane.log"


def test_the_last_lines_are_shown_and_those_that_come(house, log):
    log.write_text("".join(f"line {n}\n" for n in range(KEPT + 50)))
    shown = RunScreen(str(log.parents[2]), "dev-run")
    assert len(shown.lines) == KEPT
    assert shown.lines[-1] == f"line {KEPT + 49}"
    assert not shown.look()
    with log.open("a") as file:
        file.write("one \x1b[31mmore\x1b[0m\nhalf")
    assert shown.look()
    assert shown.lines[-1] == "one more"


def test_a_log_may_come_later(house, log):
    shown = RunScreen(str(log.parents[2]), "dev-run")
    assert not shown.look()
    log.write_text("first\n")
    assert shown.look()
    assert list(shown.lines) == ["first"]


def test_secrets_on_a_terminal_are_masked(house, log):
    log.write_text("export API_KEY=sk-ant-REDACTED\n")
    shown = RunScreen(str(log.parents[2]), "dev-run")
    assert "A1B2C3" not in shown.lines[-1]


def test_a_run_by_an_odd_name_shows_nothing(house):
    home = house.task()
    assert RunScreen(str(home), "../../../etc").fault


def test_a_log_that_is_no_plain_file_is_named(house, log):
    log.mkdir()
    shown = RunScreen(str(log.parents[2]), "dev-run")
    assert "pane.log is not a plain file" in shown.fault
    assert not shown.look()


def test_a_branch_that_its_user_deleted_is_seen(house, seen, reads, monkeypatch):
    """`task watch` showed what the daemon had written of a branch that was gone, for as long as it was open."""
    where = [("", "")]
    monkeypatch.setattr(branch_now, "branch_moved", lambda _: where[0])
    monkeypatch.setattr(tasks_seen, "BRANCHES", 0.0)
    house.task(state="complete")
    assert seen.look()
    assert not seen.look()
    where[0] = ("no branch", "there is no branch")
    assert seen.look()
    assert seen.records[0].moved == ("no branch", "there is no branch")
    assert len(reads) == 1
