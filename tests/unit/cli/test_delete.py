import json
import os

import pytest

from orchestrator.cli import progress, removal, restoring
from orchestrator.model.errors import Unavailable
from tests.unit.cli.repository import ID


@pytest.fixture
def kept(shop):
    """A task with a branch, a kept try, a worktree and its folder in the project."""
    shop.work()
    rejected = shop.work("no.py", branch="rejected")
    shop.git("update-ref", "refs/tasks/task/tidy/one/2-1", rejected)
    shop.git("update-ref", "-d", "refs/heads/rejected")
    tree = shop.house.state / "worktrees" / ID / "one"
    shop.git("worktree", "add", "-q", "-b", "task-work/tidy/one", str(tree), "task/tidy")
    folder = shop.project / "tasks" / "tidy"
    (folder / "handoffs").mkdir(parents=True)
    (folder / "task.md").write_text("# Task\n")
    (folder / "link").symlink_to("/etc/passwd")
    (shop.project / ".git" / "info" / "exclude").write_text("/tasks/tidy/\n*.o\n")
    home = shop.state_json()
    (home / "journal").mkdir()
    (home / "journal" / "000000000001.jsonl").write_text("{}\n")
    (home / "runs" / "r-1").mkdir(parents=True)
    (home / "runs" / "r-1" / "pane.log").write_text("at work\n")
    return shop


def everything(shop):
    """Return what there is of the task, anywhere."""
    trees = shop.git("worktree", "list", "--porcelain").count("worktree ")
    folders = [shop.home, shop.project / "tasks", shop.house.state / "worktrees" / ID]
    return sorted(shop.refs()), trees, [str(folder) for folder in folders if folder.exists()]


NOTHING: tuple[list[str], int, list[str]] = (["refs/heads/main"], 1, [])


def test_what_goes_is_listed_first_and_nothing_is_done_unasked(kept, task):
    before = everything(kept)
    said = task("delete", "tidy", "--unmerged")
    assert (said.code, "--yes" in said.err) == (2, True)
    for name in (
        "task/tidy",
        "task-work/tidy/one",
        "refs/tasks/task/tidy/one/2-1",
        "tasks/tidy",
        str(kept.home),
    ):
        assert name in said.out
    assert everything(kept) == before


def test_on_a_terminal_it_says_how_far_it_is(kept, task, monkeypatch):
    """Worktrees of gigabytes took minutes to delete or to pack, without a word."""
    monkeypatch.setattr(progress, "is_shown", lambda: True)
    said = task("archive", "tidy", "--yes")
    assert said.code == 0
    shown = [line for line in said.err.split("\r\033[K") if line]
    for begins in (
        "bundling the commits of tidy",
        "packing tidy",
        "reading the archive",
        "removing the worktrees",
    ):
        assert [line for line in shown if line.startswith(begins)], begins
    assert said.err.endswith("\r\033[K")
    assert "\r" not in said.out


def test_a_no_deletes_nothing(kept, task, monkeypatch):
    monkeypatch.setattr(removal, "confirmed", lambda _, *, yes: yes)
    monkeypatch.setattr("orchestrator.cli.deleting.confirmed", lambda _, *, yes: yes)
    before = everything(kept)
    said = task("delete", "tidy", "--unmerged")
    assert (said.code, "nothing was deleted" in said.out) == (1, True)
    assert everything(kept) == before


def test_what_only_a_worktree_of_the_tasks_own_stands_on_is_lost(kept, task):
    """It goes with the task: that a worktree has its commits checked out saves none of them."""
    before = everything(kept)
    said = task("delete", "tidy", "--yes")
    assert said.code == 1
    assert "task/tidy: 1 commit in no other branch" in said.err
    assert everything(kept) == before


def test_work_that_lies_uncommitted_is_named(kept, task):
    tree = kept.house.state / "worktrees" / ID / "one"
    (tree / "new.py").write_text("NEW = 1\n")
    said = task("delete", "tidy", "--yes")
    assert (said.code, f"{tree}: holds uncommitted work" in said.err) == (1, True)


def test_a_branch_that_the_user_looks_at_keeps_the_task(kept, task):
    kept.git("switch", "-q", "task/tidy")
    said = task("delete", "tidy", "--yes", "--unmerged")
    assert (said.code, f"task/tidy is checked out in {kept.project}" in said.err) == (1, True)


def test_a_folder_that_the_user_tracks_stays(kept, task):
    kept.git("add", "-f", "tasks/tidy/task.md")
    kept.git("commit", "-q", "-m", "Track it")
    said = task("delete", "tidy", "--yes", "--unmerged")
    assert (said.code, "you track it in git" in said.out) == (0, True)
    assert (kept.project / "tasks" / "tidy" / "task.md").exists()
    assert not kept.home.exists()


def test_a_folder_that_leads_elsewhere_is_not_followed(kept, task):
    folder = kept.project / "tasks" / "tidy"
    folder.rename(kept.house.root / "elsewhere" / "tidy")
    folder.symlink_to(kept.house.root / "elsewhere" / "tidy")
    assert task("delete", "tidy", "--yes", "--unmerged").code == 1
    assert (kept.house.root / "elsewhere" / "tidy" / "task.md").exists()


def test_a_namesake_in_the_same_repository_keeps_its_branch(kept, task):
    """Two projects in one repository: their tasks of one name have one branch."""
    other = kept.project / "sub"
    other.mkdir()
    kept.house.task("tidy-00000002", project=str(other), base=kept.base, state="complete", agents=[])
    said = task("delete", ID, "--yes", "--unmerged")
    assert (said.code, "tidy-00000002" in said.out) == (0, True)
    assert kept.at("task/tidy")
    assert not kept.home.exists()


def test_what_agents_made_read_only_goes_too(kept, task):
    closed = kept.project / "tasks" / "tidy" / "scratchpad"
    closed.mkdir()
    (closed / "file").write_text("x")
    (closed / "file").chmod(0)
    closed.chmod(0o500)
    assert task("delete", "tidy", "--yes", "--unmerged").code == 0
    assert everything(kept) == NOTHING


def test_a_project_that_is_gone_leaves_nothing_behind(kept, task):
    kept.project.rename(kept.house.root / "moved")
    said = task("delete", "tidy", "--yes", "--unmerged")
    assert (said.code, "is not a folder" in said.out) == (0, True)
    assert not kept.home.exists()
    assert not (kept.house.state / "worktrees" / ID).exists()


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_with_the_daemon_down_what_is_at_work_stays(kept, task, state):
    kept.state_json(state=state)
    said = task("delete", "tidy", "--yes", "--unmerged")
    assert (said.code, "the daemon is down" in said.err) == (1, True)
    assert kept.home.exists()


def test_the_daemon_is_asked_to_let_go_first(kept, task, daemon):
    daemon.reply = lambda _home, _request: (False, "tidy is running: `task stop tidy` first")
    before = everything(kept)
    said = task("delete", "tidy", "--yes", "--unmerged")
    assert (said.code, "`task stop tidy` first" in said.err) == (1, True)
    assert daemon.heard[-1]["verb"] == "release"
    assert everything(kept)[:2] == before[:2]


# Cut off ------------------------------------------------------------------------------------------


class Cut(Exception):
    """The command is killed here."""


STEPS = ["_end_session", "drop_trees", "drop_refs", "drop_folder", "include", "sweep"]


@pytest.mark.parametrize("verb", ["delete", "archive"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", STEPS)
def test_cut_off_at_any_step_the_same_command_goes_on(kept, task, monkeypatch, verb, when, step):
    words = [verb, "tidy", "--yes", *(["--unmerged"] if verb == "delete" else [])]
    with monkeypatch.context() as patched:
        real = getattr(removal, step)

        def cut(*arguments):
            if when == "after":
                real(*arguments)
            raise Cut

        patched.setattr(removal, step, cut)
        assert task(*words).code == 1
    if kept.home.exists():
        said = task("status", "tidy")
        assert (said.code, "is being deleted or archived" in said.err) == (1, True)
        assert json.loads(task("list", "--json").out)["tasks"][0]["state"] == "removing"
        assert task(verb, "tidy").code == 0
    pinned = [f"refs/tasks/archived/{ID}"] if verb == "archive" else []
    assert everything(kept) == (["refs/heads/main", *pinned], 1, [])
    task("delete", "nobody")
    assert not list((kept.house.state / "leaving").iterdir())


def test_a_half_deleted_task_is_not_archived(kept, task):
    (kept.home / "leaving.json").write_text('{"why": "delete"}')
    said = task("archive", "tidy", "--yes")
    assert (said.code, "deleting tidy was interrupted" in said.err) == (1, True)


def test_a_half_archived_task_is_deleted_only_as_any_other(kept, task):
    """Nothing of it is in a file yet."""
    (kept.home / "leaving.json").write_text('{"why": "archive"}')
    said = task("delete", "tidy", "--yes")
    assert (said.code, "this work is nowhere else" in said.err) == (1, True)


# Archives -----------------------------------------------------------------------------------------


def contents(shop):
    """Return every file of the task, anywhere, but for what its daemon left to be heard."""
    roots = (shop.home, shop.project / "tasks" / "tidy")
    return {
        str(path): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for root in roots
        for path in sorted(root.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("folder", ["one", "one.2"])
def test_an_archive_holds_all_and_brings_it_back(kept, task, folder):
    """Also what lies in another life of a tree than the first."""
    tree = kept.house.state / "worktrees" / ID / folder
    if not tree.exists():
        kept.git("worktree", "move", str(tree.with_name("one")), str(tree))
    (tree / "new.py").write_text("NEW = 1\n")
    before, refs, mode = contents(kept), kept.refs(), kept.home.stat().st_mode
    assert task("archive", "tidy", "--yes").code == 0
    assert sorted(kept.refs()) == ["refs/heads/main", f"refs/tasks/archived/{ID}"]
    assert not kept.home.exists()
    kept.git("reflog", "expire", "--expire=now", "--all")
    kept.git("gc", "--prune=now", "-q")
    assert task("archive", "tidy", "--restore").code == 0
    assert contents(kept) == before
    back = kept.refs()
    assert {ref: back.get(ref) for ref in refs if "task-work" not in ref} == {
        ref: commit for ref, commit in refs.items() if "task-work" not in ref
    }
    assert kept.git("show", "refs/tasks/task/tidy/one/0-1:new.py") == "NEW = 1"
    assert kept.home.stat().st_mode == mode
    assert "/tasks/tidy/" in (kept.project / ".git" / "info" / "exclude").read_text()


@pytest.mark.parametrize("verb", ["status", "diff", "merge"])
def test_archived_task_is_reported_with_how_to_restore_it(house, task, verb):
    house.task(state="complete", agents=[], base="")
    assert task("archive", "tidy", "--yes").code == 0
    for where in ((), ("--project", str(house.project))):
        said = task(verb, "tidy", *where)
        assert (said.code, said.out) == (2, "")
        words = said.err.strip().splitlines()[-1].split()
        assert (words[0], words[-1]) == ("task", "--restore")
    assert task(*words[1:]).code == 0
    assert task("status", "tidy").code == 0


def test_a_task_without_a_branch_is_archived_too(house, task):
    home = house.task(state="complete", agents=[], base="")
    assert task("archive", "tidy", "--yes").code == 0
    assert task("archive", "tidy", "--restore").code == 0
    assert (home / "state.json").exists()


def test_a_new_task_in_the_place_of_an_archived_one_is_kept(kept, task):
    """It is not restored over, by its folder or by its state; the archive alone can be deleted."""
    assert task("archive", "tidy", "--yes").code == 0
    folder = kept.project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    new = kept.house.task("tidy-11111111", state="complete", agents=[], base="")
    for _ in ("a folder and a state", "a state alone"):
        said = task("archive", "tidy", "--restore")
        assert (said.code, "has a new task tidy" in said.err) == (1, True)
        if folder.exists():
            folder.rmdir()
    assert task("delete", "tidy", "--archived", "--yes").code == 0
    assert sorted(kept.refs()) == ["refs/heads/main"]
    assert (list((kept.house.state / "archive").glob("*.gz")), new.exists()) == ([], True)


RESTORING = ["_unpack", "_bring_refs", "_place", "exclude", "drop_folder"]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", RESTORING)
def test_a_restore_that_is_cut_off_goes_on(kept, task, monkeypatch, when, step):
    before = contents(kept)
    assert task("archive", "tidy", "--yes").code == 0
    with monkeypatch.context() as patched:
        real, count = getattr(restoring, step), iter(range(9))

        def cut(*arguments):
            if step == "drop_folder" and next(count) < 2:
                return real(*arguments)  # those ahead of unpacking and placing
            if when == "after":
                real(*arguments)
            raise Cut

        patched.setattr(restoring, step, cut)
        assert task("archive", "tidy", "--restore").code == 1
    if step != "drop_folder":
        assert task("archive", "tidy", "--restore").code == 0
    assert contents(kept) == before
    assert kept.at("task/tidy")
    assert f"refs/tasks/archived/{ID}" not in kept.refs()
    assert [name for name in os.listdir(kept.house.state / "archive") if name.endswith(".gz")] == []  # noqa: PTH208


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b\x08"], ids=str)
def test_what_is_no_archive_is_said_and_hides_no_other(kept, task, data):
    assert task("archive", "tidy", "--yes").code == 0
    (kept.house.state / "archive" / "bad-00000001.tar.gz").write_bytes(data)
    said = task("list", "--archived", "--json")
    assert (said.code, [each["task"] for each in said.json["archived"]]) == (0, ["tidy"])
    assert "bad-00000001.tar.gz cannot be read" in said.err


def test_an_archive_whose_ground_is_gone_says_so(kept, task):
    assert task("archive", "tidy", "--yes").code == 0
    kept.git("update-ref", "-d", f"refs/tasks/archived/{ID}")
    kept.git("switch", "-q", "--orphan", "other")
    kept.commit("other.txt")
    kept.git("branch", "-D", "main")
    kept.git("reflog", "expire", "--expire=now", "--all")
    kept.git("gc", "--prune=now", "-q")
    said = task("archive", "tidy", "--restore")
    assert (said.code, f"no longer has commit {kept.base[:10]}" in said.err) == (1, True)
    assert not kept.home.exists()


def test_an_archive_that_could_not_be_written_takes_nothing_away(kept, task, monkeypatch):
    def full(*_):
        raise Unavailable("no room")

    monkeypatch.setattr("orchestrator.cli.packing._write", full)
    assert task("archive", "tidy", "--yes").code == 1
    assert kept.at("task/tidy")
    assert (kept.project / "tasks" / "tidy" / "task.md").exists()
    assert (kept.home / "journal" / "000000000001.jsonl").exists()


@pytest.mark.parametrize("own", [True, False])
def test_a_merge_is_advised_only_where_it_would_save_anything(kept, task, own):
    """Of a task of which only rejected tries were left it was said to be taken over by `task merge`."""
    if not own:
        kept.git("merge", "-q", "task/tidy")
    said = task("delete", "tidy")
    assert "refs that keep tries" in said.err
    assert ("task merge tidy" in said.err) is own


def test_a_merge_that_would_refuse_is_not_advised(kept, task):
    """ "to merge it: task merge tidy" was said of a task complete in part, of which that merges nothing."""
    kept.house.task(**json.loads((kept.home / "state.json").read_text()) | {"state": "partial"})
    assert "to merge it: task merge tidy --anyway;" in task("delete", "tidy").err


def test_an_archived_task_has_the_state_that_all_verbs_say(kept, task):
    """`task list` said "complete in part", and `task list --archived` "partial"."""
    kept.house.task(**json.loads((kept.home / "state.json").read_text()) | {"state": "partial"})
    assert task("archive", "tidy", "--yes").code == 0
    assert "complete in part" in task("list", "--archived").out
    assert "its state is: complete in part" in task("archive", "tidy", "--restore").out
