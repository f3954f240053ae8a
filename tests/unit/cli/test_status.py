import json
import os
import subprocess
import sys
import time

import pytest

from orchestrator.cli import state_file
from orchestrator.cli.screen import width_of
from orchestrator.formats.amounts import UNCOUNTED
from orchestrator.testing.local_zone import local_zone
from tests.unit.cli.conftest import AT

HEAVY = {
    "apscheduler",
    "dataclasses",
    "libtmux",
    "pathlib",
    "platformdirs",
    "pydantic",
    "shutil",
    "subprocess",
    "tempfile",
    "typing",
    "watchdog",
}


def test_it_shows_steps_agents_criteria_and_the_daemon(house, task):
    house.task()
    said = task("status", "tidy")
    assert said.code == 0
    assert said.err == ""
    for part in (
        "tidy  running  DEVELOPING",
        f"project   {house.project}"[:60],
        "Rename it",
        "process 77",
        "[x] No test fails",
    ):
        assert part in said.out
    assert "daemon down; as of " in said.out


def test_a_task_that_ended_shows_its_result(house, task):
    house.task(state="partial")
    said = task("status", "tidy", "--exit-code")
    assert said.code == 7
    assert "tidy  complete in part\n" in said.out
    for line in (
        "asked     Tidy: take away what can be",
        "outcome   at work; 1 of 2 steps passed",
        "work      branch task/tidy at 0123456789: 1 commit",
        "not done  nothing",
        "next      task merge tidy takes over what is done",
    ):
        assert f"{line}\n" in said.out


def test_complete_on_a_word_says_so_in_its_first_line(house, task):
    house.task(state="complete", counts=house.state_json()["counts"] | {"attested": 1})
    said = task("status", "tidy", "--exit-code")
    assert said.code == 0
    assert said.out.startswith(
        "tidy  complete, but 1 of 1 success criteria rests on its judge's word alone\n"
    )
    house.task(state="running", counts=house.state_json()["counts"] | {"attested": 1})
    assert task("status", "tidy").out.startswith("tidy  running  DEVELOPING\n")


def test_next_command_works_from_the_current_folder(house, task, monkeypatch):
    """A name is a project's own: typed elsewhere it may mean another project's task, and merge that."""
    house.task(state="complete", questions=[house.question()])
    other = house.root / "other"
    (other / "tasks" / "tidy").mkdir(parents=True)
    (house.project / "tasks" / "tidy").mkdir(parents=True)
    house.task("tidy-99999999", state="complete", project=str(other))
    said = task("status", "tidy-0a1b2c3d").out
    assert "task merge tidy-0a1b2c3d takes" in said
    assert "task answer tidy-0a1b2c3d q1" in said
    monkeypatch.chdir(other)
    assert "task merge tidy-0a1b2c3d takes" in task("status", "--project", str(house.project)).out
    monkeypatch.chdir(house.project)
    assert "task merge tidy takes" in task("status", "tidy").out
    next_of_other = task("status", "tidy-99999999").out.partition("\nnext")[2].partition("\n")[0]
    assert "task merge tidy-99999999 takes" in next_of_other


def test_a_changed_config_is_taken_over_from_any_folder(house, task):
    house.task(edited=[{"key": "dev.model", "old": "a", "new": "b"}])
    assert "task start tidy --project" in " ".join(task("status", "tidy").out.split())


def test_branch_is_shown_as_of_its_last_look(house, task):
    house.task(outcome=house.state_json()["outcome"] | {"branch_seen": 946_728_000.0})
    assert "1 commit (the branch as of " in " ".join(task("status", "tidy").out.split())
    document = json.loads(task("status", "tidy", "--json").out)
    assert document["outcome"]["branch_seen"] == "2000-01-01T12:00:00Z"


def test_a_task_that_rests_without_its_folder_says_so(house, task):
    house.task(state="complete")
    assert "is missing" in " ".join(task("status", "tidy").out.split())
    (house.project / "tasks/tidy").mkdir(parents=True)
    assert "is missing" not in " ".join(task("status", "tidy").out.split())


def test_the_report_of_a_task_that_rests_is_named(house, task):
    """Its age is said, and whether the task went on since: it may be of an earlier end.

    While the task is at work, the page is not its result.
    """
    page = house.project / "tasks/tidy/report.html"
    page.parent.mkdir(parents=True)
    house.task(state="complete")
    assert "report.html" not in task("status", "tidy").out
    page.write_text("x")
    os.utime(page, (0, 1_000_000))
    said = "".join(task("status", "tidy").out.split())
    assert f"report{page}(written" in said
    assert "dago;thetaskwentonsince:`taskreporttidy`writesitanew)" in said
    os.utime(page)
    assert "wentonsince" not in "".join(task("status", "tidy").out.split())
    house.task(state="running")
    assert "report.html" not in task("status", "tidy").out


def test_what_failed_is_shown_where_it_stands(house, task):
    """A step that failed shows the last lines of its run, and which log has the rest."""
    cause = {"what": "exited 127", "run": "r-1", "lines": ["sh: 1: ./dev.sh: not found"]}
    house.task(steps=[house.step() | {"status": "failed", "why": "exited 127", "cause": cause}])
    said = task("status", "tidy").out
    assert "    | sh: 1: ./dev.sh: not found\n" in said
    assert "task logs tidy r-1" in said


def test_an_open_question_comes_with_the_command_that_answers_it(house, task):
    house.task(state="waiting", questions=[house.question(text="Keep the old name? " * 10)])
    out = task("status", "tidy").out
    assert "task answer tidy q1 NUMBER" in out
    assert out.count("Keep the old name?") == 10
    assert "2) rename" in out


def test_a_daemon_that_lives_is_said_to_be_up(house, task, daemon):
    house.task()
    assert "; daemon up\n" in task("status", "tidy").out


def test_a_daemon_whose_beat_is_old_is_not_trusted(house, task, daemon):
    house.task()
    daemon.beat(1_764_254_100.0)
    assert "daemon up, but its last heartbeat was" in task("status", "tidy").out


@pytest.mark.parametrize(("blocks", "inodes", "room"), [(3, 9, False), (900, 0, False), (900, 9, True)])
def test_a_full_disk_is_said(house, task, daemon, monkeypatch, blocks, inodes, room):
    real = os.statvfs

    def full(path):
        return os.statvfs_result((4096, 4096, 1000, blocks, blocks, 10, inodes, inodes, *real(path)[8:]))

    house.task()
    monkeypatch.setattr(os, "statvfs", full)
    said = " ".join(task("status", "tidy").out.split())
    assert ("is full" not in said) is room
    assert ("what is shown is as of" not in said) is room
    assert task("status", "tidy", "--json").json["daemon"]["room"] is room


def test_an_edit_that_cannot_be_taken_is_said(house, task):
    """It stood in the PM's log alone: whoever had edited task.md believed the edit to be in force."""
    house.task(brief_fault="task.md, line 7: `dev.modle` is no key")
    said = " ".join(task("status", "tidy").out.split())
    assert (
        "your edit cannot be taken, and the last good one is in force: task.md, line 7: `dev.modle`" in said
    )


def test_requests_that_nobody_hears_are_counted(house, task, monkeypatch):
    """After an order to a complete task, given while no daemon ran, nothing but "merge it" was said."""
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    home = house.task()
    assert "requests that wait" not in task("status", "tidy").out
    (home / "requests").mkdir(exist_ok=True)
    for name in ("20260101-a.json", "20260101-a.reply.json", ".20260101-b"):
        (home / "requests" / name).touch()
    assert "requests that wait for it: 1" in task("status", "tidy").out


def test_a_lock_file_that_nobody_holds_is_no_daemon(house, task, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__RESTART", "false")
    house.task()
    (house.state / "daemon.lock").write_text("1\n")
    (house.state / "daemon.beat").write_text("{no json")
    assert "daemon down" in task("status", "tidy").out


def test_the_json_document_has_its_documented_shape(house, task):
    house.task(questions=[house.question()])
    said = task("status", "tidy", "--json").json
    assert said["task"] == "tidy"
    assert said["steps"][0] == {
        **house.step(),
        "since": "2025-11-27T14:35:00Z",
        "began": "2025-11-27T14:35:00Z",
        "limit": None,
    }
    moments = dict.fromkeys(("since", "turn_since"), "2025-11-27T14:35:00Z")
    assert said["agents"][0] == {**house.agent(), **moments}
    assert said["questions"] == [{**house.question(), "asked_at": "2025-11-27T14:35:00Z"}]
    assert {said[key] for key in ("started_at", "last_checkin", "updated")} == {"2025-11-27T14:35:00Z"}
    assert said["daemon"] == {"up": False, "as_of": "2025-11-27T14:35:00Z", "room": True}


USED = {
    "tokens": 1_234_567,
    "cost": 3.4,
    "time": 7800.0,
    "idle": 60.0,
    "limits": {"tokens": None, "cost": 20.0, "time": None},
}


def test_usage_of_task_and_agents_is_shown(house, task):
    house.task(usage=USED, agents=[house.agent() | {"tokens": 12_300, "cost": 0.5}])
    said = task("status", "tidy").out
    assert "\nused      1.2M tokens, $3.40 of $20, 2 h 10 min\n" in said
    assert "12k, $0.50" in said


def test_estimate_shows_its_day_and_unpriced_models(house, task):
    guess = {"estimate": 0.4, "prices": "2025-10-27", "unpriced": ["x\x1b[2J"]}
    house.task(usage=USED | guess, agents=[house.agent() | {"tokens": 12_300, "estimate": 0.5}])
    said = task("status", "tidy").out
    words = " ".join(said.split())
    assert "used 1.2M tokens, ~$3.80 of $20, 2 h 10 min; costs by prices of 2025-10-27, " in words
    assert "days old; no price is known of x" in words
    assert "12k, ~$0.50" in said
    assert "\x1b" not in said


def test_a_limit_that_nobody_set_is_shown_once_something_is_used(house, task):
    limits = {"limits": {"tokens": 300_000_000}, "defaults": ["tokens"]}
    house.task(usage={"tokens": None, "cost": None, "time": 60.0, **limits})
    assert "used" not in task("status", "tidy").out
    house.task(usage={"tokens": 1000, "cost": None, "time": 60.0, **limits})
    assert "\nused      1k tokens of 300M, 1 min\n" in task("status", "tidy").out


@pytest.mark.parametrize("usage", [USED, USED | {"tokens": None, "cost": None, "limits": {}}])
def test_use_that_is_not_all_counted_is_said_to_be_so(house, task, usage):
    for partial in (True, False):
        house.task(usage=usage | {"partial": partial})
        assert (UNCOUNTED in " ".join(task("status", "tidy").out.split())) is partial


@pytest.mark.parametrize("usage", [None, USED | {"tokens": None, "cost": None, "limits": {}}])
def test_usage_is_hidden_without_reports(house, task, usage):
    house.task(usage=usage)
    said = task("status", "tidy").out
    assert "used" not in said
    assert "USED" not in said


def test_a_limit_is_shown_before_anything_is_used(house, task):
    house.task(usage={"tokens": None, "cost": None, "time": 0.0, "limits": {"tokens": 2_000_000}})
    assert "\nused      0 tokens of 2M\n" in task("status", "tidy").out


def test_what_never_was_is_null(house, task):
    house.task(last_checkin=None)
    assert task("status", "tidy", "--json").json["last_checkin"] is None
    assert "check-in  none;" in task("status", "tidy").out


def test_the_json_document_names_the_report(house, task):
    house.task()
    assert task("status", "tidy", "--json").json["report"] is None
    path = house.project / "tasks" / "tidy" / "report.html"
    path.parent.mkdir(parents=True)
    path.write_text("x")
    os.utime(path, (946_728_000.0, 946_728_000.0))
    assert task("status", "tidy", "--json").json["report"] == {
        "path": str(path),
        "written": "2000-01-01T12:00:00Z",
        "outdated": True,
    }


def test_the_json_help_names_every_field(house, task):
    house.task(questions=[house.question()])
    shape = task("status", "tidy", "--json").json
    text = task("help", "json").out
    rows = [row for key in ("steps", "agents", "questions", "criteria") for row in shape[key]]
    words = set(text.replace(",", " ").replace("[]", " ").split())
    assert {key for row in [shape, shape["daemon"], *rows] for key in row} <= words


@pytest.mark.parametrize(
    ("state", "code"), [("complete", 0), ("failed", 1), ("waiting", 3), ("running", 4), ("stopped", 5)]
)
def test_exit_code_shows_the_state_only_on_request(house, task, state, code):
    house.task(state=state)
    assert task("status", "tidy", "--exit-code").code == code
    assert task("status", "tidy").code == 0


def test_nothing_is_wider_than_80_columns(house, task):
    long = "a very long text about nearly everything " * 5
    house.task(
        steps=[
            house.step("s" * 64, agent="a" * 64, title=long, why=long),
            house.step("x", title="名前" * 60),
        ],
        agents=[house.agent("n" * 64, evidence=long, host="user@" + "h" * 60)],
        questions=[house.question(text=long, options=[long])],
        criteria=[{"text": long, "met": False, "evidence": []}],
        notices=[long],
    )
    lines = task("status", "tidy").out.splitlines()
    assert max(map(width_of, lines)) <= 80


LIMIT = {
    "since": 3_184_324_500.0,
    "refused_at": 3_184_324_560.0,
    "refusals": 2,
    "words": "You've hit your limit\x1b[2J · resets 3pm",
    "resets_at": 3_184_410_900.0,
    "next_try": 3_184_410_870.0,
}
"""Seen on a Thursday; it ends on the Friday."""


def test_a_task_that_a_limit_holds_up_says_so(house, task):
    why = "limited: You've hit your limit"
    house.task(limited=LIMIT, steps=[house.step(status="pending", why=why, limit=LIMIT)], agents=[])
    with local_zone("UTC"):
        said = task("status", "tidy")
        listed = task("list")
    words = " ".join(said.out.split())
    assert "tidy limited DEVELOPING" in words
    assert "limited since Thu 27 Nov 2070 14:35, until Fri 28 Nov 2070 14:35 (You've hit your limit" in words
    assert (
        "refused 2 times, most recently at Thu 27 Nov 2070 14:36; next try at Fri 28 Nov 2070 14:34" in words
    )
    assert "; next try at Fri 28 Nov 2070 14:34" in said.out
    assert "tidy  limited" in listed.out
    assert "\x1b" not in said.out


@pytest.mark.parametrize(
    "limit",
    [
        {**LIMIT, "resets_at": 3_184_324_540.0},
        {**LIMIT, "refused_at": 1_764_254_100.0, "resets_at": 1_764_254_160.0},
    ],
    ids=["refused after its end", "not tried since"],
)
def test_a_limit_whose_end_is_past_was_to_end_then(house, task, limit):
    house.task(limited=limit, steps=[house.step(status="pending", limit=limit)], agents=[])
    said = " ".join(task("status", "tidy").out.split())
    assert ", should have ended at " in said
    assert ", until " not in said


def test_what_was_due_while_nobody_was_there_is_said_so(house, task):
    """With the daemon down it said "next try at 14:34" for a day, and "if nobody answers by" of a day long past."""
    limit = {**LIMIT, "next_try": AT}
    asked = house.question(deadline=AT, default="set-aside")
    house.task(
        limited=limit, steps=[house.step(status="pending", why="limited", limit=limit)], questions=[asked]
    )
    with local_zone("UTC"):
        said = " ".join(task("status", "tidy").out.split())
    assert "; the next try was due at Thu 27 Nov 2025 14:35" in said
    assert "nobody answered by Thu 27 Nov 2025 14:35, so this will be taken: set-aside" in said
    assert "next try at" not in said
    assert "if nobody answers" not in said


def test_a_stopped_task_is_not_said_to_try_again(house, task):
    house.task(state="stopped", steps=[house.step(status="pending", why="limited: resets 3pm", limit=LIMIT)])
    out = task("status", "tidy").out
    assert "resets 3pm" in out
    assert "tried again" not in out


def test_json_shows_a_usage_limit_beside_the_state(house, task):
    house.task(limited=LIMIT, steps=[house.step(status="pending", limit=LIMIT)])
    document = json.loads(task("status", "tidy", "--json").out)
    assert document["state"] == "running"
    assert (
        document["limited"]["next_try"] == document["steps"][0]["limit"]["next_try"] == "2070-11-28T14:34:30Z"
    )
    (listed,) = json.loads(task("list", "--json").out)["tasks"]
    assert (listed["state"], listed["limited"]["resets_at"]) == ("running", "2070-11-28T14:35:00Z")


def test_a_notice_of_another_day_bears_its_day(house, task):
    house.task(notices=["2025-11-27T14:35:03Z dev runs again", "14:35 as an older version wrote it"])
    with local_zone("UTC"):
        said = task("status", "tidy")
    assert "! Thu 27 Nov 2025 14:35 dev runs again" in said.out
    assert "! 14:35 as an older version wrote it" in said.out


def test_no_control_character_of_an_agent_reaches_the_terminal(house, task):
    bad = "a\x1b[2Jb\x07c\u202ed\x9be\rf\u2028g\ud800"
    house.task(
        why=bad,
        state="failed",
        steps=[house.step(title=bad)],
        agents=[house.agent(evidence=bad)],
        questions=[house.question(text=bad, options=[bad])],
        criteria=[{"text": bad, "met": False, "evidence": []}],
        notices=[bad],
        phase=bad,
    )
    said = task("status", "tidy")
    assert said.code == 0
    assert all(sign.isprintable() or sign == "\n" for sign in said.out)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value"),
        (b'{"version": 1', "delimiter"),
        (b"\xff\xfe\x00", "codec"),
        (b"[]", "it holds no object"),
        (b'{"version": 1, "task": "tidy"}', "project, phase, state"),
        (b'{"version": 99}', "another version"),
        (b"[" * 100_000, "damaged"),
    ],
)
def test_a_damaged_state_is_one_sentence(house, task, content, why):
    (house.home("tidy-0a1b2c3d") / "state.json").write_bytes(content)
    said = task("status", "tidy")
    assert said.code == 1
    assert said.out == ""
    assert why in said.err
    assert "task daemon start" in said.err
    assert said.err.count("\n") == 1


@pytest.fixture
def paged(house):
    """Leave a task whose steps lie in two pages."""
    home = house.task(version=2, pages=["0000-aa.json", "0001-bb.json"])
    (home / "pages").mkdir()
    for name, step in (("0000-aa.json", "dev-1"), ("0001-bb.json", "dev-65")):
        (home / "pages" / name).write_text(json.dumps([house.step(step, title=f"Title of {step}")]))
    return home / "pages"


def test_steps_in_pages_are_shown_like_any_others(house, task, paged):
    said = task("status", "tidy")
    assert said.code == 0
    assert "Title of dev-1" in said.out
    assert said.out.index("dev-1 ") < said.out.index("dev-65")


def test_a_page_that_is_replaced_just_now_is_found_again(house, task, paged, monkeypatch):
    new, opened = paged / "0001-cc.json", []

    def replaced(home, page):
        opened.append(page)
        if len(opened) == 1:
            house.task(version=2, pages=["0000-aa.json", new.name])
            (paged / "0001-bb.json").rename(new)
        return read_page(home, page)

    read_page = state_file._read_page
    monkeypatch.setattr(state_file, "_read_page", replaced)
    assert "Title of dev-65" in task("status", "tidy").out
    assert opened[-1] == new.name


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff"])
def test_a_page_that_does_not_read_is_one_sentence(house, task, paged, content):
    if content is None:
        (paged / "0001-bb.json").unlink()
    else:
        (paged / "0001-bb.json").write_bytes(content)
    said = task("status", "tidy")
    assert (said.code, said.out) == (1, "")
    assert "pages" in said.err
    assert said.err.count("\n") == 1


def test_requested_task_is_shown_as_such(house, task):
    house.asked_for("tidy-0a1b2c3d")
    said = task("status", "tidy")
    assert said.code == 6
    assert "the daemon has not begun it" in said.err


def test_a_state_folder_of_somebody_else_is_not_read(house, task, monkeypatch):
    (house.root / "link").symlink_to(house.state)
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(house.root / "link"))
    said = task("status", "tidy")
    assert said.code == 2
    assert "symbolic link" in said.err


def test_it_imports_nothing_heavy(house):
    house.task(agents=[house.agent(f"dev-{n}") for n in range(200)])
    script = (
        "import sys; from orchestrator.cli.main import main; main(sys.argv[1:]);"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    for words in (["status", "tidy"], ["status", "tidy", "--json"], ["list"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True
        )
        assert "tidy" in done.stdout
        assert HEAVY.isdisjoint(name.split(".")[0] for name in done.stderr.split())
        assert "orchestrator.model" not in done.stderr


def test_colour_is_for_terminals_that_want_it(house):
    house.task()

    def on_a_terminal(**environment: str) -> str:
        leader, follower = os.openpty()
        command = [sys.executable, "-m", "orchestrator.cli", "status", "tidy"]
        subprocess.run(
            command, stdout=follower, check=True, env={**os.environ, "TERM": "xterm", **environment}
        )
        os.close(follower)
        shown = os.read(leader, 65_536).decode()
        os.close(leader)
        return shown

    assert "\x1b[36mworking" in on_a_terminal()
    assert "\x1b" not in on_a_terminal(NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(TERM="dumb")


def test_a_closed_pipe_is_no_error(house):
    house.task(steps=[house.step(f"s{n}") for n in range(5000)])
    command = f"{sys.executable} -m orchestrator.cli status tidy | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_document_survives_a_json_reader(house):
    house.task()
    command = [sys.executable, "-m", "orchestrator.cli", "status", "tidy", "--json"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout.count(b"\n") == 1
    assert json.loads(done.stdout)["id"] == "tidy-0a1b2c3d"


def test_what_is_said_of_a_turn_is_said_with_its_own_moment(house, task):
    """An agent may live for hours, and wait for its model since a minute."""
    now = time.time()
    house.task(agents=[house.agent(since=now - 7200, turn_since=now - 120, evidence="waits for its model")])
    (line,) = [line for line in task("status", "tidy").out.splitlines() if "waits for its model" in line]
    assert "2 min ago" in line
    assert "2 h" not in line


def test_what_does_not_come_from_a_box_is_said_with_cause(house, task):
    failing = {
        "what": "handoffs, events and exits",
        "since": time.time() - 90,
        "why": "no rsync there: install it",
    }
    missing = {"instance": "dev", "run": "r-1", "ended": time.time() - 60}
    house.task(boxes=[{"address": "alpha", "lost": "", "failing": [failing], "missing": [missing]}])
    said = " ".join(task("status", "tidy").out.split())
    for part in (
        "alpha: handoffs, events and exits cannot be fetched since",
        "no rsync there: install it",
        "task checkin tidy",
        "alpha: dev ended at",
    ):
        assert part in said
    (box,) = json.loads(task("status", "tidy", "--json").out)["boxes"]
    assert box["missing"][0]["ended"].endswith("Z")


@pytest.mark.parametrize(("state", "waits"), [("alive", True), ("unreachable", True), ("gone", False)])
def test_a_step_that_waits_for_its_last_run_says_so(house, task, state, waits):
    """It is to be done again, and the run that was asked to end has not ended."""
    step = house.state_json("tidy-0a1b2c3d")["steps"][0] | {
        "id": "dev:a",
        "status": "pending",
        "why": "rejected",
    }
    agent = house.state_json("tidy-0a1b2c3d")["agents"][0] | {"run": "r-7", "step": "dev:a", "state": state}
    house.task(steps=[step], agents=[agent])
    out = task("status", "tidy").out
    assert ("rejected; it waits until its last run has ended (r-7)" in out) is waits


@pytest.mark.parametrize(("state", "shown"), [("alive", True), ("unreachable", False), ("unknown", False)])
def test_what_nobody_sees_is_not_said_to_be_busy(house, task, state, shown):
    agent = house.state_json("tidy-0a1b2c3d")["agents"][0] | {"state": state, "turn": "busy", "evidence": ""}
    house.task(agents=[agent])
    assert ("busy" in task("status", "tidy").out) is shown


def test_one_cause_that_stops_all_transfers_is_said_once(house, task):
    """One rsync that is missing stops what steers and what is large."""
    noon, why = 1_764_254_100.0, "no rsync there: install it"
    failing = [
        {"what": "handoffs, events and exits", "since": noon, "why": why},
        {"what": "artifacts and logs", "since": noon + 120, "why": why},
        {"what": "statuses", "since": noon + 3, "why": "no such folder"},
    ]
    house.task(boxes=[{"address": "alpha", "lost": "", "failing": failing, "missing": []}])
    said = " ".join(task("status", "tidy").out.split())
    assert said.count(why) == 1
    assert "27 Nov 2025 14:35, artifacts and logs since" in said
    assert "alpha: statuses cannot be fetched since" in said


def test_box_that_does_not_answer_is_said_in_status(house, task):
    house.task(
        boxes=[{"address": "alpha", "lost": "alpha is unreachable since noon", "failing": [], "missing": []}]
    )
    assert "box       alpha is unreachable since noon" in task("status", "tidy").out


def test_notices_that_are_not_shown_are_counted(house, task):
    """At most 7 were counted: those that state.json has beside the three that are shown."""
    notices = [f"2025-11-27T14:35:03Z notice {n}" for n in range(10)]
    house.task(notices=notices, noticed=41)
    said = task("status", "tidy").out
    assert "notice 6" not in said
    assert "! … and 38 earlier: task why tidy noticed -n 41" in said
    house.task(notices=notices[:3], noticed=3)
    assert "earlier" not in task("status", "tidy").out


def test_only_attempts_that_were_begun_are_tries(house, task):
    house.task(steps=[house.step(attempts=4, tries=3), house.step("plan", attempts=4, tries=1)])
    first, second = (line for line in task("status", "tidy").out.splitlines() if "Look around" in line)
    assert ("3" in first.split(), "4" in first.split()) == (True, False)
    assert not {"1", "4"} & set(second.split())


def test_a_step_that_was_planned_anew_is_not_given_up(house, task):
    """ "set_aside" stood there of a subtask whose goal was reached in another way."""
    steps = [
        house.step("dev:a", status="set_aside", replaced=True),
        house.step("dev:b", status="set_aside", replaced=False),
    ]
    house.task(steps=steps)
    lines = task("status", "tidy").out.splitlines()
    assert any("dev:a" in line and "planned anew" in line for line in lines)
    assert any("dev:b" in line and "set aside" in line for line in lines)


def test_criteria_that_nobody_judged_yet_are_counted(house, task):
    """A workflow's criteria are marked one by one: "1 of 1 met" was said of the first of two."""
    counts = house.state_json()["counts"] | {"criteria": 2}
    house.task(counts=counts, criteria=[{"text": "It works", "met": True, "evidence": []}])
    assert "success criteria: 1 of 2 met, 1 not judged yet" in task("status", "tidy").out


def test_step_of_a_workflow_names_its_agent_whatever_its_name(house, task):
    """An agent called `verify` was left out beside `verify:draft`."""
    house.task(steps=[house.step() | {"id": "verify:draft", "agent": "verify"}])
    assert "verify:draft  verify" in task("status", "tidy").out


def test_question_that_words_answer_shows_how(house, task):
    house.task(state="waiting", questions=[house.question() | {"kind": "stuck"}])
    assert "task answer tidy q1 TEXT" in task("status", "tidy").out
    house.task(state="waiting", questions=[house.question() | {"kind": "permission"}])
    assert "task answer tidy q1 TEXT" not in task("status", "tidy").out
