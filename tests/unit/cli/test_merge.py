import json
import stat

import pytest


def merged(task, *words):
    said = task("merge", "tidy", *words)
    assert (said.code, said.err) == (0, ""), said
    return said.out


def refused(task, *words):
    said = task("merge", "tidy", *words)
    assert (said.code, said.out) == (1, ""), said
    return said.err


def test_a_complete_task_is_merged_by_fast_forward(shop, task):
    tip = shop.work()
    said = merged(task)
    assert shop.at() == tip
    assert (shop.project / "greet.py").read_text() == "NAME = 'greet'\n"
    assert "greet.py | 1 +" in said
    assert f"fast-forward, main went from {shop.base[:10]} to {tip[:10]}" in said
    assert "task merge tidy --undo" in said


def test_a_branch_of_the_users_that_went_on_gets_a_merge_commit(shop, task):
    tip, mine = shop.work(), shop.commit("mine.txt")
    assert "merge commit" in merged(task)
    assert shop.git("show", "-s", "--format=%P %s", "main") == f"{mine} {tip} Merge branch 'task/tidy'"


@pytest.mark.parametrize("how", ["option", "setting"])
def test_a_merge_commit_is_made_where_the_user_wants_one(shop, task, how):
    tip = shop.work()
    if how == "setting":
        shop.git("config", "--global", "merge.ff", "false")
    merged(task, *(["--no-ff"] if how == "option" else []))
    assert shop.git("show", "-s", "--format=%P", "main") == f"{shop.base} {tip}"


def test_merge_refused_by_config_names_rebase(shop, task):
    shop.work()
    mine = shop.commit("mine.txt")
    shop.git("config", "merge.ff", "only")
    assert "task rebase tidy" in refused(task)
    assert shop.at() == mine


@pytest.mark.parametrize("diverged", [False, True])
def test_a_dry_run_says_the_same_and_does_nothing(shop, task, diverged):
    shop.work()
    if diverged:
        shop.commit("mine.txt")
    before = shop.refs()
    said = merged(task, "--dry-run")
    assert "would merge task/tidy (1 commit, " in said
    assert "greet.py | 1 +" in said
    assert (shop.refs(), shop.git("status", "--porcelain")) == (before, "")
    assert not (shop.home / "merged.json").exists()


def test_the_daemon_looks_anew_at_what_was_merged_or_undone(shop, task, daemon):
    """What it told before says that the work is still to be taken over."""
    shop.work()
    merged(task)
    merged(task, "--undo")
    assert [request["verb"] for request in daemon.heard] == ["checkin", "checkin"]


def test_a_daemon_that_refuses_to_look_takes_nothing_back(shop, task, daemon):
    tip = shop.work()
    daemon.reply = lambda _home, _request: (False, "not now")
    merged(task)
    assert shop.at() == tip


def test_what_is_merged_already_is_said_and_no_error(shop, task):
    shop.work()
    merged(task)
    assert "is in main already" in merged(task)


# What is not whole --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reported", "said"),
    [
        ({"state": "running"}, "it is running"),
        ({"state": "stopped", "why": "the user stopped it"}, "it is stopped (the user stopped it)"),
        (
            {"state": "partial", "why": "1 subtask set aside: Do b"},
            "it is complete in part (1 subtask set aside: Do b)",
        ),
        ({"steps": [{"id": "dev:two", "status": "set_aside"}]}, "set aside: dev:two"),
        ({"steps": [{"id": "accept", "status": "pending"}]}, "not done: accept"),
        ({"criteria": [{"text": "No test fails", "met": False}]}, "not met: No test fails"),
        ({"questions": [{"id": "q7"}]}, "asked: q7"),
    ],
)
def test_what_is_not_whole_is_merged_only_if_that_is_wanted(shop, task, reported, said):
    tip = shop.work()
    shop.state_json(**reported)
    err = refused(task)
    assert said in err
    assert "--anyway" in err
    assert shop.at() == shop.base
    assert f"not complete: {said}" in merged(task, "--anyway")
    assert shop.at() == tip


def test_branch_that_was_set_back_to_its_base_can_be_put_back(shop, task):
    """It "has no commit of its own", and nothing was said of the work that was accepted."""
    left = shop.work()
    shop.git("update-ref", "refs/heads/task/tidy", shop.base)
    shop.state_json(tip=left)
    assert f"branch --force task/tidy {left[:10]}" in refused(task)
    assert f"branch --force task/tidy {left[:10]}" in refused(task, "--anyway")


@pytest.mark.parametrize("lost", [False, True])
def test_what_was_not_accepted_is_merged_only_if_that_is_wanted(shop, task, lost):
    """Commits that somebody put on the branch after the task was complete came along unsaid."""
    accepted = shop.work()
    later = shop.work("stray.py")
    left, at = (later, accepted) if lost else (accepted, later)
    shop.git("update-ref", "refs/heads/task/tidy", at)
    shop.state_json(tip=left)
    err = refused(task)
    assert at[:10] in err
    assert f"branch --force task/tidy {left[:10]}" in err
    assert shop.at() == shop.base
    merged(task, "--anyway")
    assert shop.at() == at
    shop.git("update-ref", "refs/heads/task/tidy", left)
    merged(task)


def test_a_step_that_was_planned_anew_is_not_missed(shop, task):
    tip = shop.work()
    replaced = shop.house.step("dev:two", status="set_aside", replaced=True)
    shop.state_json(steps=[shop.house.step("dev:one"), replaced])
    merged(task)
    assert shop.at() == tip


def test_a_branch_without_a_commit_is_nothing_to_merge(shop, task):
    shop.git("branch", "task/tidy", shop.base)
    assert "has no commit of its own" in refused(task)


def test_work_that_stayed_on_a_box_is_said_to_be_there(shop, task):
    shop.git("branch", "task/tidy", shop.base)
    shop.state_json(agents=[shop.house.agent(host="me@box", state="gone")])
    assert "its agents work on me@box; `bring: branch`" in refused(task)


def test_a_task_without_a_branch_says_where_its_work_is(shop, task):
    assert "has no branch task/tidy" in refused(task)
    shop.state_json(base="")
    assert f"it works in your own tree, {shop.project}" in refused(task)


# What stands in the way ---------------------------------------------------------------------------


def test_files_at_odds_are_listed_and_nothing_is_touched(shop, task):
    shop.work("notes.txt", "by the task\n")
    mine = shop.commit(text="by the user, later\n")
    said = refused(task)
    assert "\n  notes.txt\n" in said
    assert f"git -C {shop.project} merge task/tidy" in said
    assert (shop.at(), shop.git("status", "--porcelain")) == (mine, "")


@pytest.mark.parametrize("diverged", [False, True])
@pytest.mark.parametrize("kind", ["changed", "untracked", "ignored"])
def test_what_is_not_committed_is_never_overwritten(shop, task, kind, diverged):
    name = "notes.txt" if kind == "changed" else "greet.py"
    shop.work(name, "by the task\n")
    if diverged:
        shop.commit("mine.txt")
    if kind == "ignored":
        (shop.project / ".git" / "info" / "exclude").write_text("greet.py\n")
    (shop.project / name).write_text("not committed\n")
    before = shop.at()
    assert f"\n  {name}\n" in refused(task)
    assert shop.at() == before
    assert (shop.project / name).read_text() == "not committed\n"


def test_other_files_that_are_not_committed_stay_as_they_are(shop, task):
    tip = shop.work()
    (shop.project / "notes.txt").write_text("changed\n")
    (shop.project / "new.txt").write_text("new\n")
    merged(task)
    assert shop.at() == tip
    assert shop.git("status", "--porcelain").splitlines() == ["M notes.txt", "?? new.txt"]


def test_a_staged_change_keeps_a_merge_commit_from_being_made(shop, task):
    shop.work()
    shop.commit("mine.txt")
    (shop.project / "mine.txt").write_text("staged\n")
    shop.git("add", "mine.txt")
    assert "\n  mine.txt\n" in refused(task)


@pytest.mark.parametrize("what", ["rebase", "merge"])
def test_nothing_is_merged_in_the_middle_of_something(shop, task, what):
    shop.work()
    shop.git("switch", "-q", "-c", "side", shop.base)
    shop.commit(text="aside\n")
    shop.git("switch", "-q", "main")
    shop.commit(text="on main\n")
    with pytest.raises(Exception, match="non-zero exit"):
        shop.git(what, "side")
    assert f"a {what} is in progress in {shop.project}" in refused(task)


def test_detached_head_and_own_branch_are_no_merge_target(shop, task):
    shop.work()
    shop.git("checkout", "-q", "--detach")
    assert "no branch is checked out" in refused(task)
    shop.git("switch", "-q", "task/tidy")
    assert "task/tidy itself is checked out" in refused(task)


def test_branch_without_the_base_names_rebase(shop, task):
    shop.git("switch", "-q", "--orphan", "other")
    shop.commit("other.txt")
    shop.git("branch", "-f", "task/tidy", shop.base)
    shop.work()
    said = refused(task)
    assert "the merge would also bring 1 commit from elsewhere" in said
    assert "task rebase tidy" in said


def test_a_linked_worktree_is_merged_into_where_the_project_is(shop, task):
    tip = shop.work()
    tree = shop.house.root / "a tree"
    shop.git("worktree", "add", "-q", "-b", "side", str(tree))
    shop.state_json(project=str(tree), code=str(tree))
    merged(task)
    assert (shop.at("side"), shop.at()) == (tip, shop.base)


def test_a_path_with_a_blank_is_quoted_where_it_is_to_be_typed(shop, task):
    tree = shop.house.root / "a tree"
    shop.git("worktree", "add", "-q", "-b", "side", str(tree))
    shop.work("notes.txt", "by the task\n")
    (tree / "notes.txt").write_text("not committed\n")
    shop.state_json(project=str(tree))
    assert f"git -C '{tree}' stash" in refused(task)


# Whose git ----------------------------------------------------------------------------------------


def hook(shop, name, text):
    path = shop.project / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_the_users_hooks_run_in_their_own_merge(shop, task):
    shop.work()
    hook(shop, "post-merge", "touch merged-by-hook")
    merged(task)
    assert (shop.project / "merged-by-hook").exists()


def test_a_hook_that_refuses_leaves_all_as_it_was(shop, task):
    shop.work()
    mine = shop.commit("mine.txt")
    hook(shop, "pre-merge-commit", "echo no >&2; exit 1")
    said = task("merge", "tidy")
    assert (said.code, "main is unchanged" in said.err) == (1, True)
    assert (shop.at(), shop.git("status", "--porcelain")) == (mine, "")
    assert not (shop.project / ".git" / "MERGE_HEAD").exists()
    assert not (shop.home / "merged.json").exists()


def test_looking_runs_no_program_that_the_repository_names(shop, task):
    shop.work()
    trap = shop.house.root / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {shop.house.root}/run\ncat\n")
    trap.chmod(trap.stat().st_mode | stat.S_IXUSR)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command"):
        shop.git("config", key, str(trap))
    (shop.project / ".git" / "info" / "attributes").write_text("* diff=x\n")
    merged(task, "--dry-run")
    assert not (shop.house.root / "run").exists()


# Undone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["--no-ff"]], ids=str)
def test_an_undo_sets_the_branch_back_to_where_it_stood(shop, task, words):
    tip = shop.work()
    (shop.project / "notes.txt").write_text("changed\n")
    merged(task, *words)
    assert "would set main" in merged(task, "--undo", "--dry-run")
    said = merged(task, "--undo")
    assert f"back to {shop.base[:10]}" in said
    assert (shop.at(), shop.at("task/tidy")) == (shop.base, tip)
    assert not (shop.project / "greet.py").exists()
    assert (shop.project / "notes.txt").read_text() == "changed\n"
    assert "has not merged tidy" in refused(task, "--undo")
    merged(task)


@pytest.mark.parametrize("words", [[], ["--no-ff"]], ids=str)
def test_what_came_on_top_is_not_taken_away(shop, task, words):
    shop.work()
    merged(task, *words)
    merge = shop.at()
    mine = shop.commit("mine.txt")
    said = refused(task, "--undo")
    revert = said.rpartition(": ")[2].strip()
    assert f"git -C {shop.project} revert " in revert
    assert shop.at() == mine
    shop.git(*revert.split()[3:], "--no-edit")
    assert not (shop.project / "greet.py").exists()
    assert merge != shop.at()


def test_what_others_have_is_not_taken_away(shop, task):
    shop.work()
    merged(task)
    shop.git("update-ref", "refs/remotes/origin/main", "main")
    assert "origin/main has the merge of tidy already" in refused(task, "--undo")


def test_an_undo_overwrites_nothing_that_is_not_committed(shop, task):
    shop.work()
    merged(task)
    (shop.project / "greet.py").write_text("by the user\n")
    assert "\n  greet.py\n" in refused(task, "--undo")
    assert (shop.project / "greet.py").read_text() == "by the user\n"


def test_an_undo_needs_the_branch_that_was_merged_into(shop, task):
    shop.work()
    merged(task)
    shop.git("switch", "-q", "-c", "other")
    assert f"git -C {shop.project} switch main" in refused(task, "--undo")


def test_a_merge_that_was_killed_before_its_end_can_be_undone(shop, task):
    """The note is written ahead of the merge, and says all that an undo needs."""
    tip = shop.work()
    note = {"branch": "main", "before": shop.base, "tip": tip, "at": 0.0}
    (shop.home / "merged.json").write_text(json.dumps(note))
    (shop.home / "merged.json").chmod(0o600)
    assert "nothing to undo" in merged(task, "--undo")
    shop.git("merge", "-q", "task/tidy")
    (shop.home / "merged.json").write_text(json.dumps(note))
    merged(task, "--undo")
    assert shop.at() == shop.base


@pytest.mark.parametrize("note", ["{", "[]", '{"branch": "main", "before": "-x", "tip": "y"}'])
def test_a_note_that_does_not_read_is_said(shop, task, note):
    shop.work()
    (shop.home / "merged.json").write_text(note)
    said = task("merge", "tidy", "--undo")
    assert said.code != 0
    assert said.err.count("\n") == 1


def test_the_daemon_need_not_be_up(shop, task):
    shop.work()
    assert not (shop.house.state / "daemon.lock").exists()
    merged(task)
    assert not (shop.house.state / "daemon.lock").exists()


def test_where_there_is_nothing_no_option_is_named(shop, task):
    """A task that waits, with nothing on its branch, was to be merged by --anyway, which then refused as well."""
    shop.git("branch", "task/tidy", shop.base)
    shop.state_json(state="waiting", questions=[{"id": "q7"}])
    said = refused(task)
    assert "nothing to merge" in said
    assert "--anyway" not in said
