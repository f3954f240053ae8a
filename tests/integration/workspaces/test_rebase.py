"""A task's commits made anew upon another one, with real git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from orchestrator.workspaces.rebase import replayed
from orchestrator.workspaces.repository import Repository


class Place:
    """A repository with one commit, `base`."""

    def __init__(self, project: Path) -> None:
        self.project = project
        project.mkdir()
        self.git("init", "-q", "-b", "main")
        self.base = self.commit("a.txt", "".join(f"{n}\n" for n in range(20)))

    @property
    def repository(self) -> Repository:
        return Repository.of(self.project, 30, os.environ)

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.project, capture_output=True, text=True, check=True
        ).stdout.strip()

    def commit(self, name: str, text: str, message: str = "A change", author: str = "") -> str:
        (self.project / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message, *([f"--author={author}"] if author else []))
        return self.git("rev-parse", "HEAD")

    def on(self, branch: str) -> None:
        self.git("switch", "-q", *(["-c", branch, self.base] if branch == "task" else [branch]))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    (tmp_path / "gitconfig").write_text("[user]\nname = A User\nemail = user@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    return Place(tmp_path / "project")


def test_each_commit_is_made_anew_with_author_and_message(place: Place) -> None:
    place.on("task")
    one = place.commit("one.txt", "one\n", "First\n\nwith a body", "Ada <ada@example.org>")
    two = place.commit("two.txt", "two\n", "Second")
    place.on("main")
    onto = place.commit("mine.txt", "mine\n")
    made = replayed(place.repository, place.base, two, onto)
    assert list(made.commits) == [one, two]
    assert made.tip == made.commits[two]
    assert place.git("log", "--format=%an %s", f"{onto}..{made.tip}").splitlines() == [
        "A User Second",
        "Ada First",
    ]
    assert place.git("show", "-s", "--format=%b", made.commits[one]) == "with a body"
    assert place.git("diff", "--name-only", onto, made.tip).split() == ["one.txt", "two.txt"]
    assert place.git("rev-parse", "main", "task").split() == [onto, two]


def test_changes_of_both_sides_in_one_file_are_joined(place: Place) -> None:
    text = (place.project / "a.txt").read_text()
    place.on("task")
    tip = place.commit("a.txt", text.replace("0\n", "first\n", 1))
    place.on("main")
    onto = place.commit("a.txt", f"{text}last\n")
    made = replayed(place.repository, place.base, tip, onto)
    assert place.git("show", f"{made.tip}:a.txt") == f"{text.replace('0', 'first', 1)}last"


def test_what_is_there_already_is_left_out(place: Place) -> None:
    place.on("task")
    one, two = place.commit("one.txt", "one\n"), place.commit("two.txt", "two\n")
    place.on("main")
    onto = place.commit("one.txt", "one\n", "The same, by hand")
    made = replayed(place.repository, place.base, two, onto)
    assert made.commits[one] == ""
    assert place.git("rev-list", "--count", f"{onto}..{made.tip}") == "1"


def test_the_first_commit_at_odds_is_named_with_its_files(place: Place) -> None:
    place.on("task")
    place.commit("one.txt", "one\n")
    tip = place.commit("a.txt", "all of it\n", "Change it all")
    place.on("main")
    onto = place.commit("a.txt", "something else\n")
    made = replayed(place.repository, place.base, tip, onto)
    assert made.stopped == f"{tip[:10]} Change it all"
    assert made.conflicts == ("a.txt",)


def test_a_branch_that_builds_on_it_already_stays(place: Place) -> None:
    place.on("task")
    one, two = place.commit("one.txt", "one\n"), place.commit("two.txt", "two\n")
    assert replayed(place.repository, place.base, two, one).tip == two


def test_work_that_was_merged_follows_the_users_branch(place: Place) -> None:
    place.on("task")
    tip = place.commit("one.txt", "one\n")
    place.on("main")
    place.git("merge", "-q", "task")
    onto = place.commit("mine.txt", "mine\n")
    made = replayed(place.repository, place.base, tip, onto)
    assert (made.tip, dict(made.commits)) == (onto, {})


def test_what_a_merge_by_hand_brought_in_comes_once(place: Place) -> None:
    place.on("main")
    mine = place.commit("mine.txt", "mine\n")
    place.on("task")
    place.commit("one.txt", "one\n")
    place.git("merge", "-q", "--no-edit", "main")
    tip = place.commit("two.txt", "two\n")
    place.on("main")
    onto = place.commit("later.txt", "later\n")
    made = replayed(place.repository, place.base, tip, onto)
    assert place.git("diff", "--name-only", onto, made.tip).split() == ["one.txt", "two.txt"]
    assert place.git("merge-base", made.tip, mine) == mine
    assert "" in made.commits.values()


def test_who_has_no_name_for_git_still_keeps_the_author(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.on("task")
    tip = place.commit("one.txt", "one\n", author="Ada <ada@example.org>")
    place.on("main")
    onto = place.commit("mine.txt", "mine\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    made = replayed(place.repository, place.base, tip, onto)
    assert place.git("show", "-s", "--format=%an, %cn", made.tip) == "Ada, Agent Orchestrator"
