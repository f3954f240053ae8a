import os
import pty
import subprocess
import sys
import threading

import pytest

from orchestrator.cli.pager import painted
from tests.unit.cli.repository import ID


def shown(task, *words):
    said = task("diff", "tidy", *words)
    assert (said.code, said.err) == (0, ""), said
    return said.out


def test_the_whole_change_is_what_came_onto_the_branch(shop, task):
    shop.work()
    shop.work("pkg/b.py", "B = 1\n")
    shop.commit("mine.txt")
    said = shown(task)
    assert "+NAME = 'greet'" in said
    assert "+++ b/pkg/b.py" in said
    assert "mine.txt" not in said
    assert (
        subprocess.run(
            ["git", "apply", "--check"], input=said, cwd=shop.project, text=True, check=False
        ).returncode
        == 0
    )


def test_the_statistics_alone(shop, task):
    shop.work()
    assert shown(task, "--stat").splitlines()[0].split() == ["greet.py", "|", "1", "+"]


def test_what_came_from_the_users_branch_is_not_the_tasks(shop, task):
    """After a rebase, or a merge of `main` into the branch by hand, the base is still where the task began."""
    shop.work()
    mine = shop.commit("mine.txt")
    shop.git("branch", "-f", "task/tidy", mine)
    tip = shop.work("other.py", "X = 1\n")
    shop.state_json(base=mine)
    assert "mine.txt" not in shown(task, "--stat")
    assert shop.at("task/tidy") == tip


def test_nothing_changed_is_said_and_no_error(shop, task):
    shop.git("branch", "task/tidy", shop.base)
    said = task("diff", "tidy")
    assert (said.code, said.out, "no change" in said.err) == (0, "", True)


# Of a step ----------------------------------------------------------------------------------------


@pytest.fixture
def steps(shop):
    """Two subtasks, of which the first took two tries."""
    rejected = shop.work("greet.py", "NAME = 'gret'\n", branch="rejected")
    shop.git("update-ref", "refs/tasks/task/tidy/one/2-1", rejected)
    shop.git("update-ref", "-d", "refs/heads/rejected")
    one, two = shop.work(), shop.work("two.py", "TWO = 2\n")
    made = shop.house.step
    shop.state_json(
        steps=[
            made("dev:one", agent="dev", subtask="one", commit=one, attempts=2),
            made("test:one", agent="test", subtask="one"),
            made("dev:two", agent="dev", subtask="two", commit=two),
            made("accept", agent="review"),
        ]
    )
    shop.journal(
        {"kind": "work_committed", "step": "dev:one", "attempt": 1, "commit": rejected},
        {"kind": "work_committed", "step": "dev:one", "attempt": 2, "commit": one},
        {"kind": "work_committed", "step": "dev:two", "attempt": 1, "commit": two},
    )
    return shop


@pytest.mark.parametrize("name", ["dev:two", "two"])
def test_a_step_is_shown_by_itself(steps, task, name):
    said = shown(task, name)
    assert "+TWO = 2" in said
    assert "greet.py" not in said


def test_a_judge_is_shown_what_it_judged(steps, task):
    assert "+NAME = 'greet'" in shown(task, "test:one")


def test_a_rejected_try_is_shown_by_its_number(steps, task):
    assert "+NAME = 'gret'" in shown(task, "dev:one", "--attempt", "1")
    assert "+NAME = 'greet'" in shown(task, "dev:one", "--attempt", "2")


def test_a_try_that_was_gathered_is_shown_too(steps, task):
    """Of a complete task with many tries one ref holds them all; its message names them."""
    kept = steps.at("refs/tasks/task/tidy/one/2-1")
    (steps.home / "journal" / "000000000001.jsonl").unlink()
    message = f"Work kept by the PM\n\nrefs/tasks/task/tidy/one/2-1 {kept}\n"
    gathered = steps.git("commit-tree", f"{kept}^{{tree}}", "-p", kept, "-m", message)
    steps.git("update-ref", "refs/tasks/kept/tidy", gathered)
    steps.git("update-ref", "-d", "refs/tasks/task/tidy/one/2-1")
    assert "+NAME = 'gret'" in shown(task, "one", "--attempt", "1")


def test_the_tries_are_listed(steps, task):
    rows = [line.split() for line in shown(task, "--list").splitlines()[1:]]
    assert [(row[0], row[1], " ".join(row[3:])) for row in rows] == [
        ("dev:one", "1", "not used"),
        ("dev:one", "2", "the last"),
        ("dev:two", "1", "the last"),
    ]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["dev:three"], 2, "no step or subtask 'dev:three'; steps with a change: dev:one, dev:two"),
        (["accept"], 1, "accept has changed nothing yet"),
        (["one", "--attempt", "7"], 1, "attempt 7 at dev:one has left nothing; kept attempts: 1, 2"),
        (["--attempt", "1"], 2, "--attempt needs a step"),
    ],
)
def test_what_cannot_be_shown_is_said(steps, task, words, code, why):
    said = task("diff", "tidy", *words)
    assert (said.code, why in said.err) == (code, True), said


def test_work_from_a_box_is_shown_with_all_its_commits(shop, task):
    """There an agent commits by itself, as often as it likes."""
    shop.work("a.py", "A = 1\n")
    last = shop.work("b.py", "B = 1\n")
    step = shop.house.step("dev:one", agent="dev", subtask="one", commit=last)
    shop.state_json(steps=[step], agents=[shop.house.agent(host="me@box", state="gone")])
    said = shown(task, "one", "--stat")
    assert "a.py" in said
    assert "b.py" in said


@pytest.mark.parametrize("folder", ["two", "two.2", "two.10"])
def test_a_step_at_work_is_shown_as_it_lies_in_its_tree(shop, task, folder):
    """In the last of its lives, each of which has a folder of its own."""
    tip = shop.work()
    tree = shop.house.state / "worktrees" / ID / folder
    if folder == "two.10":
        tree.with_name("two.9").mkdir(parents=True)
    shop.git("worktree", "add", "-q", "-b", "task-work/tidy/two", str(tree), tip)
    (tree / "greet.py").write_text("NAME = 'hello'\n")
    (tree / "new.py").write_text("NEW = 1\n")
    shop.state_json(
        state="running", steps=[shop.house.step("dev:two", agent="dev", subtask="two", status="working")]
    )
    before = shop.git("status", "--porcelain", cwd=tree)
    said = shown(task, "two")
    assert "-NAME = 'greet'\n+NAME = 'hello'" in said
    assert "+NEW = 1" in said
    assert shop.git("status", "--porcelain", cwd=tree) == before


# On a terminal ------------------------------------------------------------------------------------


def on_terminal(words, **environ):
    """Return what a command shows on a terminal."""
    leader, follower = pty.openpty()
    seen = list[bytes]()

    def read():
        try:
            while data := os.read(leader, 65536):
                seen.append(data)
        except OSError:
            pass

    reader = threading.Thread(target=read)
    reader.start()
    command = [sys.executable, "-m", "orchestrator.cli", *words]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        env=os.environ | {"TERM": "xterm"} | environ,
        check=False,
    )
    os.close(follower)
    reader.join()
    os.close(leader)
    assert done.returncode == 0
    return b"".join(seen).decode().replace("\r\n", "\n")


def test_a_terminal_gets_colours_and_the_users_pager(shop):
    shop.work()
    pager = shop.house.root / "pager"
    pager.write_text("#!/bin/sh\necho paged; cat\n")
    pager.chmod(0o755)
    said = on_terminal(["diff", "tidy"], GIT_PAGER=str(pager))
    assert "paged\n" in said
    assert "\x1b[32m+NAME = 'greet'\x1b[0m" in said


def test_a_pager_of_the_repository_is_not_run(shop):
    """An agent could have set it."""
    shop.work()
    shop.git("config", "core.pager", f"touch {shop.house.root}/run; cat")
    shop.git("config", "--global", "core.pager", "sed s/greet/paged/")
    said = on_terminal(["diff", "tidy"])
    assert "paged.py" in said
    assert not (shop.house.root / "run").exists()


def test_what_agents_wrote_does_nothing_to_a_terminal(shop):
    shop.work("greet.py", "\x1b]0;owned\x07\x1b[8mhidden\x1b[0m \u202e\n")
    said = on_terminal(["diff", "tidy"], PAGER="cat")
    assert "\x1b]0;" not in said
    assert "\x1b[8m" not in said
    assert "\u202e" not in said
    assert "hidden" in said


def test_no_colour_where_none_is_wanted(shop):
    shop.work()
    assert "\x1b" not in on_terminal(["diff", "tidy"], PAGER="cat", NO_COLOR="1")
    shop.git("config", "--global", "color.ui", "never")
    assert "\x1b" not in on_terminal(["diff", "tidy"], PAGER="cat")


def test_lines_are_painted_by_what_they_are():
    """A removed line that reads like a heading is a removed line."""
    lines = [
        "diff --git a/x b/x",
        "--- a/x",
        "+++ b/x",
        "@@ -1,2 +1 @@ def f",
        "--- is removed",
        " stays",
        "+++ b",
    ]
    codes = [line.partition("m")[0].removeprefix("\x1b[") for line in painted(lines)]
    assert codes == ["1", "1", "1", "36", "31", " stays", "1"]


def test_deleted_branch_differs_from_one_never_made(shop, house, task):
    """Its commits outlast it, and are named with the command that brings it back."""
    made = shop.work()
    shop.state_json(steps=[house.step("dev:one", agent="dev", subtask="one", commit=made)])
    shop.git("update-ref", "-d", "refs/heads/task/tidy")
    said = task("diff", "tidy")
    assert said.code == 1
    assert "nothing was made" not in said.err
    assert made[:10] in said.err
    shop.git(*said.err.strip().rpartition(": git ")[2].split())
    assert shop.at("task/tidy") == made


def test_commits_that_git_has_removed_are_not_offered(shop, house, task):
    shop.state_json(steps=[house.step("dev:one", agent="dev", subtask="one", commit="f" * 40)])
    said = task("diff", "tidy")
    assert (said.code, "git -C" in said.err) == (1, False)
    assert "nothing was made" not in said.err


def test_a_deleted_branch_is_restored_at_what_was_accepted(shop, house, task):
    """A later commit that no judge has accepted was never on the branch."""
    accepted = shop.work("one.py")
    later = shop.work("two.py")
    steps = [house.step("dev:one", commit=accepted), house.step("dev:two", commit=later, status="pending")]
    shop.state_json(steps=steps, tip=accepted)
    shop.git("branch", "-D", "task/tidy")
    said = task("diff", "tidy").err
    assert f"branch task/tidy {accepted[:10]}" in said
    assert later[:10] not in said


def test_a_branch_that_lost_accepted_work_is_not_just_unchanged(shop, task):
    accepted = shop.work()
    shop.state_json(tip=accepted)
    shop.git("update-ref", "refs/heads/task/tidy", shop.base)
    said = task("diff", "tidy").err
    assert "it lacks work that was accepted" in said
    assert f"--force task/tidy {accepted[:10]}" in said
