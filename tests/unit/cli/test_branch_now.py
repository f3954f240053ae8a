"""What is said of the branch of a task at rest, held against git: its user may have moved or deleted it since."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.branch_now import with_branch_now
from orchestrator.workspaces.branch_files import commit_of

WORK = "branch `task/tidy` at {}: 1 commit; check after: exited 0"
NEXT = "`task diff tidy-1` shows what is done, `task merge tidy-1` takes it over"


def git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=u", "-c", "user.email=u@localhost")
    done = subprocess.run(
        ["git", "-C", str(folder), *author, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name in ("first", "second"):
        git(folder, "commit", "-q", "--allow-empty", "-m", name)
    git(folder, "branch", "task/tidy")
    return folder


def at_rest(code: Path, tip: str, state: str = "complete", step: str = NEXT) -> dict[str, Any]:
    outcome = {"work": WORK.format(tip[:10]), "next": step, "branch_seen": 1.0}
    return {
        "id": "tidy-1", "state": state, "project": str(code), "code": str(code), "branch": "task/tidy",
        "base": git(code, "rev-parse", "main~1"), "tip": tip, "outcome": outcome,
    }  # fmt: skip


def test_branch_in_its_place_leaves_the_result(code):
    view = at_rest(code, git(code, "rev-parse", "task/tidy"))
    assert with_branch_now(view, 5.0) is view
    git(code, "pack-refs", "--all", "--prune")
    assert with_branch_now(view, 5.0) is view


@pytest.mark.parametrize("there", [True, False])
def test_outputs_in_a_folder_that_is_gone_are_not_said_to_be_there(code, there):
    """ "2 files handed in by 1 agent in tasks/tidy/…" was said while the task's folder was gone."""
    view = at_rest(code, git(code, "rev-parse", "task/tidy"))
    where = "tasks/tidy/orchestration/agents/*/task_output"
    view["task"], view["outcome"]["work"] = (
        "tidy",
        f"nothing is there; 2 files handed in by 1 agent in {where}",
    )
    if there:
        (code / "tasks" / "tidy").mkdir(parents=True)
    said = with_branch_now(view, 5.0)["outcome"]["work"]
    assert said.startswith("nothing is there; 2 files handed in by 1 agent in ")
    assert (where in said) == there


@pytest.mark.parametrize("packed", [False, True])
def test_deleted_branch_is_not_offered_for_merging(code, packed):
    view = at_rest(code, tip := git(code, "rev-parse", "task/tidy"))
    if packed:
        git(code, "pack-refs", "--all")
    git(code, "branch", "-D", "task/tidy")
    outcome = with_branch_now(view, 5.0)["outcome"]
    assert outcome["work"] == f"there is no branch `task/tidy`: it was at {tip[:10]}; check after: exited 0"
    assert outcome["next"] == "`task diff tidy-1` says how to get the branch back"
    assert outcome["branch_seen"] == 5.0


def test_moved_branch_is_said_to_be_elsewhere(code):
    view = at_rest(
        code, tip := git(code, "rev-parse", "task/tidy"), "partial", f"`task start tidy` goes on; {NEXT}"
    )
    git(code, "branch", "-f", "task/tidy", "main~1")
    now = git(code, "rev-parse", "task/tidy")
    outcome = with_branch_now(view, 5.0)["outcome"]
    assert f"branch `task/tidy` is at {now[:10]}, where the PM left it at {tip[:10]};" in outcome["work"]
    assert outcome["next"].startswith("`task start tidy` goes on; `task merge tidy-1` says what is different")
    assert "takes it over" not in outcome["next"]


def test_moved_project_has_nothing_to_merge(code):
    view = at_rest(code, git(code, "rev-parse", "task/tidy"))
    code.rename(code.with_name("elsewhere"))
    outcome = with_branch_now(view, 5.0)["outcome"]
    assert f"in {code}, which is missing" in outcome["work"]
    assert outcome["next"] == f"put {code} back to where it was"


def test_running_task_is_left_to_the_daemon(code):
    view = at_rest(code, git(code, "rev-parse", "task/tidy"), "running")
    git(code, "branch", "-D", "task/tidy")
    assert with_branch_now(view, 5.0) is view


def test_branch_is_found_from_a_worktree_and_a_folder_within(code, tmp_path):
    tip = git(code, "rev-parse", "task/tidy")
    git(code, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    (tmp_path / "tree" / "deep").mkdir()
    assert commit_of(str(tmp_path / "tree" / "deep"), "task/tidy") == tip
    assert commit_of(str(code), "task/none") == ""


def test_what_cannot_be_read_is_not_known(code, tmp_path):
    assert commit_of(str(tmp_path), "task/tidy") is None
    ref = code / ".git" / "refs" / "heads" / "task" / "tidy"
    ref.write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert commit_of(str(code), "task/tidy") is None
    ref.unlink()
    (code / ".git" / "packed-refs").mkdir()
    assert commit_of(str(code), "task/tidy") is None
    (code / ".git" / "reftable").mkdir()
    assert commit_of(str(code), "task/tidy") is None


def test_status_says_what_git_says_now(house, task):
    house.project.mkdir(exist_ok=True)
    git(house.project, "init", "-q", "-b", "main")
    git(house.project, "commit", "-q", "--allow-empty", "-m", "first")
    tip = git(house.project, "rev-parse", "main")
    house.task(state="complete", tip=tip)
    assert "there is no branch task/tidy: it was at" in task("status", "tidy").out
    seen = json.loads(task("status", "tidy", "--json").out)["outcome"]
    assert seen["work"] == f"there is no branch `task/tidy`: it was at {tip[:10]}"
    assert seen["branch_seen"].startswith(time.strftime("%Y"))
    report = task("report", "tidy", "--md").out
    assert "there is no branch" in report
    assert "takes over what is done" not in report


def test_the_list_says_that_a_branch_is_gone(house, task, code):
    """`task list` said "complete" of work whose branch was deleted, while `task status` said that there was none."""
    tip = git(code, "rev-parse", "task/tidy")
    view = at_rest(code, tip)
    house.task(**{key: view[key] for key in ("state", "project", "code", "branch", "base", "tip", "outcome")})
    (code / "tasks" / "tidy").mkdir(parents=True)
    assert task("list").out.splitlines()[1].split()[:2] == ["tidy", "complete"]
    assert task("list", "--json").json["tasks"][0]["branch_moved"] is None
    git(code, "branch", "-D", "task/tidy")
    said = task("list").out
    assert "complete, no branch" in said
    assert f"tidy-0a1b2c3d: there is no branch task/tidy: it was at {tip[:10]}" in said
    assert task("list", "--json").json["tasks"][0]["branch_moved"].startswith("there is no branch")
    git(code, "branch", "task/tidy", "main~1")
    assert "complete, branch moved" in task("list").out
    code.rename(code.with_name("elsewhere"))
    assert "complete, project missing" in task("list").out


def test_a_branch_that_was_merged_may_be_deleted(house, task, code):
    """Whoever takes the work over deletes the branch: that is no alarm, and the work is not said to be gone."""
    view = at_rest(code, tip := git(code, "rev-parse", "task/tidy"), step="it is merged already")
    work = f"branch `task/tidy` at {tip[:10]}: 1 commit, all of it in your tree's HEAD; check after: exited 0"
    view["outcome"] = {"work": work, "next": "it is merged already"}
    house.task(**{key: view[key] for key in ("state", "project", "code", "branch", "base", "tip", "outcome")})
    git(code, "branch", "-D", "task/tidy")
    assert "no branch" not in task("list").out
    said = " ".join(task("status", "tidy").out.split())
    assert f"it was at {tip[:10]}, all of it in your tree's HEAD when it was there" in said
    assert "next it is merged already" in said
    view["outcome"] = {"work": f"there is no branch `task/tidy`: {work}", "next": "it is merged already"}
    assert with_branch_now(view, 5.0) is view  # the daemon has seen it


def test_what_is_next_knows_of_a_missing_project(code, tmp_path):
    """A task that worked in its user's own tree has no branch; one may have its code elsewhere than its project."""
    gone = str(tmp_path / "gone")
    view = at_rest(code, git(code, "rev-parse", "task/tidy")) | {"project": gone}
    shared = view | {"base": "", "branch": "", "tip": "", "code": gone}
    outcome = with_branch_now(shared, 5.0)["outcome"]
    assert outcome["next"] == f"put {gone} back to where it was"
    assert f"in {gone}, which is missing" in outcome["work"]
    elsewhere = view | {"code": str(code)}
    elsewhere["outcome"] = view["outcome"] | {
        "next": "`task diff t-1` shows it; `task start t --project p` goes on"
    }
    outcome = with_branch_now(elsewhere, 5.0)["outcome"]
    assert outcome["next"] == f"`task diff t-1` shows it; put {gone} back to where it was"
    assert outcome["work"] == view["outcome"]["work"]


def criterion(text, detail):
    return {
        "text": "It works",
        "met": True,
        "evidence": [text],
        "details": [detail],
        "reason": "",
        "attested": False,
    }


@pytest.mark.parametrize(
    ("text", "detail", "path"),
    [
        ("artifacts/log.txt:2", "5 lines", "tasks/tidy/artifacts/log.txt"),
        ("tasks/tidy/artifacts/log.txt", "9 bytes", "tasks/tidy/artifacts/log.txt"),
        ("orchestration/agents/a/task_output/x", "", "tasks/tidy/orchestration/agents/a/task_output/x"),
        ("notes.md", "9 bytes in the project", "notes.md"),
    ],
)
def test_evidence_that_was_deleted_is_not_said_to_be_there(code, text, detail, path):
    """A memory file of a skill that was deleted, or an artifact, stood in the result as what shows a criterion."""
    view = at_rest(code, git(code, "rev-parse", "task/tidy")) | {"task": "tidy"}
    view["criteria"] = [criterion(text, detail)]
    (code / path).parent.mkdir(parents=True, exist_ok=True)
    (code / path).write_text("it works\n")
    assert with_branch_now(view, 5.0)["criteria"] == view["criteria"]
    (code / path).unlink()
    (found,) = with_branch_now(view, 5.0)["criteria"]
    was = detail or "there"
    assert found == view["criteria"][0] | {"details": [f"{was} when it was judged; it is missing now"]}
    at_work = view | {"state": "running"}
    assert with_branch_now(at_work, 5.0) is at_work


@pytest.mark.parametrize("moved", [["-D", "task/tidy"], ["-f", "task/tidy", "main~1"]])
def test_evidence_on_a_branch_that_is_gone_is_said_to_be_history(code, moved):
    """ "1 line on the branch task/tidy" was said of a branch that was deleted."""
    view = at_rest(code, git(code, "rev-parse", "task/tidy")) | {"task": "tidy"}
    view["criteria"] = [
        criterion("a.txt", "1 line on the branch task/tidy"),
        criterion("it", "check: exited 0"),
    ]
    assert with_branch_now(view, 5.0)["criteria"] == view["criteria"]
    git(code, "branch", *moved)
    found, other = with_branch_now(view, 5.0)["criteria"]
    assert "when it was judged" in found["details"][0]
    assert other == view["criteria"][1]
