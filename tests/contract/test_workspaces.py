"""What every `Workspaces` must do, in a git repository and in memory."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.workspaces import BranchFound, FileChange, LeftOut, Upon, Workspaces
from orchestrator.ports.worktree import AtOdds, Tree, TreeLost, Unresolved
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.workspaces.git import GitWorkspaces


class World(Protocol):
    """Workspaces, a project with one commit that holds `readme.txt`, and what others do there."""

    @property
    def workspaces(self) -> Workspaces: ...
    @property
    def project(self) -> Path: ...
    @property
    def root(self) -> Path: ...
    def put(self, tree: Tree, text: str, name: str) -> None: ...
    def commit_by_hand(self, tree: Tree) -> None: ...
    def commit_elsewhere(self, parent: str, text: str, name: str) -> str: ...
    def files(self, tree: Tree) -> dict[str, str]: ...
    def at(self, commit: str) -> dict[str, str]: ...
    def message(self, commit: str) -> str: ...
    def parent(self, commit: str) -> str: ...
    def refs(self, start: str) -> dict[str, str]: ...
    def look_at(self, branch: str) -> None: ...
    def branch_off(self, branch: str, commit: str) -> None: ...
    def lose(self, tree: Tree) -> None: ...
    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None: ...
    def prune(self, tree: Tree) -> None: ...
    def is_known(self, tree: Tree) -> bool: ...


@dataclass
class InGit:
    project: Path
    root: Path
    workspaces: GitWorkspaces

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd or self.project, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def put(self, tree: Tree, text: str, name: str) -> None:
        (tree.path / name).parent.mkdir(parents=True, exist_ok=True)
        (tree.path / name).write_text(text)

    def commit_by_hand(self, tree: Tree) -> None:
        self.git("add", "-A", cwd=tree.path)
        self.git("commit", "-qm", "by hand", cwd=tree.path)

    def commit_elsewhere(self, parent: str, text: str, name: str) -> str:
        there = self.project.with_name("elsewhere")
        if not there.exists():
            self.git("clone", "-q", str(self.project), str(there))
        self.git("fetch", "-q", "origin", parent, cwd=there)
        self.git("checkout", "-q", "--detach", parent, cwd=there)
        (there / name).write_text(text)
        self.git("add", "-A", cwd=there)
        self.git("commit", "-qm", "made elsewhere", cwd=there)
        self.git("fetch", "-q", str(there), "+HEAD:refs/tasks/brought")
        return self.git("rev-parse", "refs/tasks/brought")

    def files(self, tree: Tree) -> dict[str, str]:
        return {path.name: path.read_text() for path in tree.path.iterdir() if path.name != ".git"}

    def at(self, commit: str) -> dict[str, str]:
        names = self.git("ls-tree", "--name-only", commit).splitlines()
        return {name: self.git("show", f"{commit}:{name}") for name in names}

    def message(self, commit: str) -> str:
        return self.git("show", "-s", "--format=%B", commit)

    def parent(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^")

    def refs(self, start: str) -> dict[str, str]:
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        found = dict(line.replace("refs/heads/", "").split(" ") for line in lines)
        return {name: commit for name, commit in found.items() if name.startswith(start)}

    def look_at(self, branch: str) -> None:
        self.git("checkout", "-q", branch or "main")

    def branch_off(self, branch: str, commit: str) -> None:
        self.git("branch", branch, commit)

    def lose(self, tree: Tree) -> None:
        subprocess.run(["rm", "-rf", tree.path], check=True)

    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None:
        tree.path.mkdir(parents=True)
        self.put(tree, text, name)

    def prune(self, tree: Tree) -> None:
        """Let git look for the tree while it is away."""
        away = tree.root.with_name("away")
        tree.path.rename(away)
        self.git("worktree", "prune", "--expire", "now")
        away.rename(tree.path)
        assert not self.is_known(tree)

    def is_known(self, tree: Tree) -> bool:
        """Tell whether git finds the tree from inside, and its branch."""
        said = subprocess.run(
            ["git", "status", "--porcelain", "--branch"], cwd=tree.path, capture_output=True, check=False
        )
        return said.returncode == 0 and b"## task-work/demo/parser" in said.stdout


@dataclass
class InMemory:
    project: Path
    root: Path
    workspaces: FakeWorkspaces

    def put(self, tree: Tree, text: str, name: str) -> None:
        self.workspaces.work(tree, text, name)

    def commit_by_hand(self, tree: Tree) -> None:
        self.workspaces.commit_like_an_agent(tree)

    def commit_elsewhere(self, parent: str, text: str, name: str) -> str:
        return self.workspaces.commit_elsewhere(parent, text, name)

    def files(self, tree: Tree) -> dict[str, str]:
        return self.workspaces.contents(tree)

    def at(self, commit: str) -> dict[str, str]:
        return {name: text.strip() for name, text in self.workspaces.commits[commit].contents.items()}

    def message(self, commit: str) -> str:
        return self.workspaces.commits[commit].message

    def parent(self, commit: str) -> str:
        return self.workspaces.commits[commit].parent

    def refs(self, start: str) -> dict[str, str]:
        return {
            name: commit
            for name, commit in self.workspaces.refs(self.project).items()
            if name.startswith(start)
        }

    def look_at(self, branch: str) -> None:
        self.workspaces.look_at(self.project, branch)

    def branch_off(self, branch: str, commit: str) -> None:
        """The branch is made when it is needed."""

    def lose(self, tree: Tree) -> None:
        self.workspaces.lose(tree.path)

    def make_in_its_place(self, tree: Tree, text: str, name: str) -> None:
        self.workspaces.work(tree, text, name, makes=True)

    def prune(self, tree: Tree) -> None:
        self.workspaces.prune(tree.path)

    def is_known(self, tree: Tree) -> bool:
        return self.workspaces.is_known(tree)


@pytest.fixture(params=["git", "memory"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    project, root = tmp_path / "project", tmp_path / "trees"
    if request.param == "memory":
        return InMemory(project, root, FakeWorkspaces())
    (tmp_path / "gitconfig").write_text("[user]\nname = A User\nemail = user@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    project.mkdir()
    made = InGit(project, root, GitWorkspaces())
    made.git("init", "-qb", "main")
    (project / "readme.txt").write_text("hello\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "first")
    return made


@pytest.fixture
def tree(world: World) -> Tree:
    return Tree(
        project=world.project,
        root=world.root,
        name="parser",
        branch="task/demo",
        base=world.workspaces.head(world.project),
    )


KEPT = "refs/tasks/task/demo/parser/"


def test_a_tree_is_made_at_the_base(world, tree):
    assert world.workspaces.prepare(tree, 1) == tree.path
    assert world.files(tree) == {"readme.txt": "hello\n"}
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}
    assert world.workspaces.where(tree) == tree.path


def test_the_work_becomes_one_commit_on_the_trees_branch(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.put(tree, "changed", "readme.txt")
    commit, files = world.workspaces.commit(tree, "Write a parser")
    assert files == 2
    assert world.at(commit) == {"new.txt": "new", "readme.txt": "changed"}
    assert world.message(commit) == "Write a parser"
    assert world.parent(commit) == tree.base
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": commit}


def test_a_commit_asked_for_again_is_the_same_one(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    first = world.workspaces.commit(tree, "Work")
    assert world.workspaces.commit(tree, "Work") == first


def test_more_work_makes_another_commit_in_its_place(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.workspaces.commit(tree, "Work")
    world.put(tree, "newer", "newer.txt")
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.parent(commit), files) == (tree.base, 2)


def test_without_a_change_there_is_no_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)
    world.put(tree, "hello\n", "readme.txt")
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}


def test_plain_tree_leaves_nothing_out(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "work", "work.txt")
    assert world.workspaces.left_out(tree) == LeftOut()


def test_commits_of_an_agent_become_one_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "one", "one.txt")
    world.commit_by_hand(tree)
    world.put(tree, "two", "two.txt")
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.parent(commit), files) == (tree.base, 2)
    assert set(world.at(commit)) == {"one.txt", "readme.txt", "two.txt"}


def test_a_commit_needs_its_tree_and_a_branch(world, tree):
    with pytest.raises(TreeLost, match="is gone"):
        world.workspaces.commit(tree, "Work")
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    with pytest.raises(Refused, match="no branch of its own"):
        world.workspaces.commit(look, "Work")


def test_the_tasks_branch_moves_forward_to_a_commit(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    assert world.workspaces.merge(tree, commit) == ""
    assert world.refs("task/demo")["task/demo"] == commit
    assert world.workspaces.merge(tree, commit) == ""


def test_a_commit_already_merged_stays_merged(world, tree):
    world.workspaces.prepare(tree, 1)
    assert world.workspaces.merge(tree, tree.base) == ""
    assert world.workspaces.commit(tree, "Nothing") == ("", 0)


def test_the_tasks_branch_moves_in_no_other_way(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, f"{each.name}.txt")
    one, _ = world.workspaces.commit(tree, "One")
    two, _ = world.workspaces.commit(other, "Two")
    assert world.workspaces.merge(tree, one) == ""
    assert "does not build on" in world.workspaces.merge(other, two)
    assert world.refs("task/demo")["task/demo"] == one
    assert "there is no commit" in world.workspaces.merge(tree, "f" * 40)
    with pytest.raises(Refused, match="not a commit's full hash"):
        world.workspaces.merge(tree, "--all")


def test_work_done_beside_other_work_is_joined_with_it(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, f"{each.name}.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    commit, files = world.workspaces.commit(other, "Two")
    assert files == 1
    assert set(world.at(commit)) == {"other.txt", "parser.txt", "readme.txt"}
    assert set(world.files(other)) == {"other.txt", "parser.txt", "readme.txt"}
    assert world.workspaces.commit(other, "Two") == (commit, files)
    assert world.workspaces.merge(other, commit) == ""


def test_conflicting_work_is_refused_and_unchanged(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, "readme.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    for _ in range(2):
        with pytest.raises(AtOdds) as odds:
            world.workspaces.commit(other, "Two")
        assert odds.value.files == ("readme.txt",)
        assert [each.partition(" ")[2] for each in odds.value.others] == ["One"]
        assert world.parent(odds.value.commit) == tree.base
        assert world.at(odds.value.commit) == {"readme.txt": "other"}
        assert world.files(other) == {"readme.txt": "other"}
    assert world.refs(other.own_branch) == {other.own_branch: odds.value.commit}


def test_the_same_work_twice_is_no_work(world, tree):
    other = replace(tree, name="other")
    for each in (tree, other):
        world.workspaces.prepare(each, 1)
        world.put(each, "same", "same.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "One")[0])
    assert world.workspaces.commit(other, "Two") == ("", 0)


def test_next_attempt_begins_clean_with_the_last_one_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    world.workspaces.prepare(tree, 2)
    assert world.files(tree) == {"readme.txt": "hello\n"}
    kept = world.refs(KEPT)
    assert list(kept) == [f"{KEPT}2-1"]
    assert world.at(kept[f"{KEPT}2-1"])["half.txt"] == "half"


def test_a_rejected_commit_is_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "bad", "bad.txt")
    commit, _ = world.workspaces.commit(tree, "Bad")
    world.workspaces.prepare(tree, 2)
    assert world.refs(KEPT) == {f"{KEPT}2-1": commit}
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}


def test_a_merged_commit_needs_no_keeping(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "good", "good.txt")
    commit, _ = world.workspaces.commit(tree, "Good")
    world.workspaces.merge(tree, commit)
    world.workspaces.prepare(tree, 2)
    assert world.refs(KEPT) == {}
    assert set(world.files(tree)) == {"good.txt", "readme.txt"}


def test_a_clean_tree_needs_no_keeping_however_often(world, tree):
    for attempt in range(1, 5):
        world.workspaces.prepare(tree, attempt)
    assert world.refs(KEPT) == {}


def test_each_attempt_keeps_its_own(world, tree):
    for attempt in range(1, 4):
        world.workspaces.prepare(tree, attempt)
        world.put(tree, f"try {attempt}", "try.txt")
    world.workspaces.prepare(tree, 3)
    assert [world.at(commit)["try.txt"] for _, commit in sorted(world.refs(KEPT).items())] == [
        "try 1",
        "try 2",
        "try 3",
    ]
    assert sorted(world.refs(KEPT)) == [f"{KEPT}2-1", f"{KEPT}3-1", f"{KEPT}3-2"]


def test_a_look_shows_the_tip_of_the_tasks_branch(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.workspaces.merge(tree, world.workspaces.commit(tree, "Work")[0])
    world.workspaces.prepare(look, 1)
    assert set(world.files(look)) == {"new.txt", "readme.txt"}
    assert set(world.refs("task")) == {"task/demo", "task-work/demo/parser"}


def test_what_is_found_in_a_look_is_kept_too(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.put(look, "notes", "notes.txt")
    world.workspaces.prepare(look, 1)
    assert list(world.refs("refs/tasks/")) == ["refs/tasks/task/demo/look/1-1"]


def test_a_branch_of_an_earlier_start_is_gone_on_with(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.merge(tree, commit)
    again = replace(tree, name="second")
    world.workspaces.prepare(again, 1)
    assert set(world.files(again)) == {"new.txt", "readme.txt"}


def test_a_base_that_is_not_there_is_refused(world, tree):
    with pytest.raises(Refused, match="has no commit ffff"):
        world.workspaces.prepare(replace(tree, base="f" * 40), 1)


def test_a_tree_lost_by_hand_is_made_again(world, tree):
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)
    world.workspaces.prepare(tree, 1)
    assert world.files(tree) == {"readme.txt": "hello\n"}


def test_a_released_tree_is_gone_and_its_work_is_kept(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    world.workspaces.release(tree, 1)
    world.workspaces.release(tree, 1)
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)
    assert list(world.refs(KEPT)) == [f"{KEPT}1-1"]
    assert set(world.refs("task")) == {"task/demo"}


def test_a_release_keeps_nothing_that_was_merged(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.merge(tree, commit)
    world.workspaces.release(tree, 1)
    assert world.refs(KEPT) == {}
    assert world.refs("task") == {"task/demo": commit}


def test_a_release_keeps_a_commit_that_was_not(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.workspaces.release(tree, 1)
    assert world.refs(KEPT) == {f"{KEPT}1-1": commit}
    assert world.refs("task") == {"task/demo": tree.base}


def test_release_of_a_tree_never_made_leaves_nothing(world, tree):
    before = world.refs("")
    world.workspaces.release(tree, 1)
    assert world.refs("") == before
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)


def test_a_branch_that_the_user_looks_at_is_not_moved(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.look_at("task/demo")
    assert world.workspaces.merge(tree, commit).startswith("task/demo is checked out in ")
    assert world.refs("task/demo")["task/demo"] == tree.base
    world.look_at("")
    assert world.workspaces.merge(tree, commit) == ""


def test_nor_is_a_trees_own(world, tree):
    world.workspaces.prepare(tree, 1)
    world.workspaces.release(tree, 1)
    world.branch_off(tree.own_branch, tree.base)
    world.look_at("task-work/demo/parser")
    with pytest.raises(Unavailable, match="task-work/demo/parser is checked out in "):
        world.workspaces.prepare(tree, 2)
    world.look_at("")
    world.workspaces.prepare(tree, 2)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "/x", "a/b", "-x", "x\n", "x\0", ".git", "X", "x" * 129]
)
def test_a_tree_lies_beneath_its_root(world, tree, name):
    wrong = replace(tree, name=name)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.prepare(wrong, 1)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.where(wrong)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.commit(wrong, "x")
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.merge(wrong, tree.base)
    with pytest.raises(Refused, match="is not a place for a worktree"):
        world.workspaces.release(wrong, 1)


@pytest.mark.parametrize(
    "branch", ["main", "task/", "task/x/y", "task/..", "task/-x", "-x", "refs/heads/main", "task/X"]
)
def test_only_branches_of_tasks_are_touched(world, tree, branch):
    with pytest.raises(Refused, match="is not the branch of a task"):
        world.workspaces.prepare(replace(tree, branch=branch), 1)


def test_a_root_is_absolute(world, tree):
    with pytest.raises(Refused, match="is not a place"):
        world.workspaces.prepare(replace(tree, root=Path("trees")), 1)


def test_trees_whose_names_begin_alike_are_kept_apart(world, tree):
    trees = [replace(tree, name=name) for name in ("a", "a-1", "a-10", "a1", "a--b", "a_")]
    for each in trees:
        world.workspaces.prepare(each, 1)
        world.put(each, each.name, "who.txt")
    for each in trees:
        assert world.files(each)["who.txt"] == each.name
        commit, files = world.workspaces.commit(each, each.name)
        assert (world.at(commit)["who.txt"], files) == (each.name, 1)


# Lives of a tree -------------------------------------------------------------------------------------


def test_each_life_lies_in_a_folder_of_its_own(world, tree):
    later = replace(tree, life=2)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "half", "half.txt")
    assert world.workspaces.prepare(later, 2) == later.path != tree.path
    assert world.files(later) == {"readme.txt": "hello\n"}
    kept = world.refs(KEPT)
    assert [world.at(commit)["half.txt"] for commit in kept.values()] == ["half"]
    with pytest.raises(Refused, match="is gone"):
        world.workspaces.where(tree)


def test_what_writes_late_into_an_earlier_life_is_in_no_commit(world, tree):
    """It finds its folder gone, or makes it again: it cannot reach the one in which another works by now."""
    later = replace(tree, life=2)
    world.workspaces.prepare(tree, 1)
    world.workspaces.prepare(later, 1)
    world.put(later, "new", "new.txt")
    world.make_in_its_place(tree, "late", "late.txt")
    commit, _ = world.workspaces.commit(later, "Work")
    assert set(world.at(commit)) == {"new.txt", "readme.txt"}
    world.workspaces.release(later, 1)
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == set()


def test_the_branch_of_a_tree_goes_with_its_life(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "bad", "bad.txt")
    rejected, _ = world.workspaces.commit(tree, "Bad")
    later = replace(tree, life=2)
    world.workspaces.prepare(later, 2)
    assert rejected in world.refs(KEPT).values()
    assert world.refs("task-work/demo/parser") == {"task-work/demo/parser": tree.base}
    world.put(later, "good", "good.txt")
    commit, files = world.workspaces.commit(later, "Good")
    assert files == 1
    assert world.workspaces.merge(later, commit) == ""


def test_a_life_that_was_prepared_again_is_the_same(world, tree):
    later = replace(tree, life=3)
    for _ in range(2):
        assert world.workspaces.prepare(later, 1) == later.path
    assert world.refs(KEPT) == {}
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser"}


def test_a_release_takes_every_life_and_every_note(world, tree):
    other = replace(tree, name="parser-2")
    world.workspaces.prepare(tree, 1)
    world.workspaces.prepare(other, 1)
    world.workspaces.prepare(replace(tree, life=12), 1)
    world.make_in_its_place(tree, "late", "late.txt")
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser", "parser-2"}
    world.workspaces.release(tree, 1)
    assert world.workspaces.remains(tree.project, tree.root, tree.branch) == {"parser-2"}
    assert world.files(other) == {"readme.txt": "hello\n"}


# Trees that vanish -----------------------------------------------------------------------------------


def test_a_tree_in_which_all_is_well_is_left_alone(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.commit_by_hand(tree)
    assert world.workspaces.tend(tree) == ""


def test_a_vanished_tree_is_no_work(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.lose(tree)
    assert "is gone" in world.workspaces.tend(tree)
    with pytest.raises(TreeLost, match="is gone") as lost:
        world.workspaces.commit(tree, "Work")
    assert lost.value.kept == ""
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}


def test_a_folder_in_the_place_of_a_tree_deletes_nothing(world, tree):
    """Whoever worked there made a folder, and a file in it: that is kept, and no commit lacks the rest."""
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    world.make_in_its_place(tree, "new", "new.txt")
    assert "another folder is in the place of" in world.workspaces.tend(tree)
    with pytest.raises(TreeLost, match="lacks") as lost:
        world.workspaces.commit(tree, "Work", attempt=3)
    assert lost.value.kept == f"{KEPT}3-1"
    assert world.at(world.refs(KEPT)[lost.value.kept])["new.txt"] == "new"
    assert world.refs("task") == {"task/demo": tree.base, "task-work/demo/parser": tree.base}
    world.workspaces.prepare(replace(tree, life=2), 1)
    assert list(world.refs(KEPT)) == [lost.value.kept], "it is kept once"


def test_whole_folder_counts_as_work(world, tree):
    world.workspaces.prepare(tree, 1)
    world.lose(tree)
    world.make_in_its_place(tree, "hello again\n", "readme.txt")
    world.put(tree, "new", "new.txt")
    assert world.workspaces.tend(tree) == ""
    commit, files = world.workspaces.commit(tree, "Work")
    assert (world.at(commit)["new.txt"], files) == ("new", 2)


def test_a_commit_that_was_made_outlives_its_tree(world, tree):
    """The call was cut off before anybody heard of the commit, and the tree vanished before it was made again."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    made = world.workspaces.commit(tree, "Work")
    world.lose(tree)
    assert world.workspaces.commit(tree, "Work") == made
    world.make_in_its_place(tree, "x", "x.txt")
    assert world.workspaces.commit(tree, "Work") == made


def test_who_judges_a_commit_finds_its_tree_again(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    world.lose(tree)
    assert world.workspaces.where(tree) == tree.path
    assert world.files(tree) == {"new.txt": "new", "readme.txt": "hello\n"}
    assert world.workspaces.merge(tree, commit) == ""


def test_uncommitted_work_that_vanished_is_not_made_up(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.lose(tree)
    with pytest.raises(TreeLost, match="is gone"):
        world.workspaces.where(tree)


def test_a_look_that_vanished_is_made_again(world, tree):
    look = replace(tree, name="look", detached=True)
    world.workspaces.prepare(look, 1)
    world.lose(look)
    assert world.workspaces.where(look) == look.path
    assert world.files(look) == {"readme.txt": "hello\n"}


@pytest.mark.parametrize("call", ["tend", "commit", "where", "prepare"])
def test_what_only_git_has_forgotten_is_put_back(world, tree, call):
    """The work lies there: nothing of it is lost, and nobody waits for what never comes."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    world.prune(tree)
    if call == "tend":
        assert world.workspaces.tend(tree) == ""
    elif call == "commit":
        commit, files = world.workspaces.commit(tree, "Work")
        assert (world.at(commit)["new.txt"], files) == ("new", 1)
    elif call == "where":
        assert world.workspaces.where(tree) == tree.path
        assert "new.txt" in world.files(tree)
    else:
        world.workspaces.prepare(tree, 2)
        assert len(world.refs(KEPT)) == 1
    assert world.is_known(tree)


# Work that was done elsewhere ------------------------------------------------------------------------


def test_adopted_work_lies_in_the_tree_as_if_done_here(world, tree):
    made = world.commit_elsewhere(tree.base, "far", "far.txt")
    assert world.workspaces.adopt(tree, 1, made) == (made, 1)
    assert world.files(tree) == {"readme.txt": "hello\n", "far.txt": "far"}
    assert world.workspaces.where(tree) == tree.path
    assert world.workspaces.merge(tree, made) == ""
    assert world.refs("task/demo") == {"task/demo": made}


def test_a_second_try_of_elsewhere_stands_on_the_first(world, tree):
    first = world.commit_elsewhere(tree.base, "far", "far.txt")
    world.workspaces.adopt(tree, 1, first)
    world.put(tree, "notes", "judged.txt")
    second = world.commit_elsewhere(first, "farther", "far.txt")
    assert world.workspaces.adopt(tree, 2, second) == (second, 1)
    assert world.files(tree) == {"readme.txt": "hello\n", "far.txt": "farther"}
    (kept,) = world.refs("refs/tasks/task/demo/parser/").values()
    assert world.at(kept)["judged.txt"] == "notes"


def test_adopted_again_is_the_same(world, tree):
    made = world.commit_elsewhere(tree.base, "far", "far.txt")
    once = world.workspaces.adopt(tree, 1, made)
    assert world.workspaces.adopt(tree, 1, made) == once
    assert world.refs("refs/tasks/task/") == {}


def test_tree_without_new_work_can_still_be_judged(world, tree):
    assert world.workspaces.adopt(tree, 1, tree.base) == ("", 0)
    assert world.workspaces.where(tree) == tree.path
    assert world.files(tree) == {"readme.txt": "hello\n"}


def test_work_not_based_on_the_branch_is_refused(world, tree):
    mine = world.commit_elsewhere(tree.base, "mine", "mine.txt")
    world.workspaces.adopt(tree, 1, mine)
    world.workspaces.merge(tree, mine)
    theirs = world.commit_elsewhere(tree.base, "theirs", "theirs.txt")
    with pytest.raises(Refused, match="does not build on"):
        world.workspaces.adopt(tree, 2, theirs)
    assert world.refs("task/demo") == {"task/demo": mine}
    assert "theirs.txt" not in world.files(tree)


def test_a_commit_that_was_never_brought_is_refused(world, tree):
    with pytest.raises(Refused, match="no such commit"):
        world.workspaces.adopt(tree, 1, "f" * 40)


# Looking things up ------------------------------------------------------------------------------------


def merged(world: World, tree: Tree, text: str, name: str) -> str:
    """Do a subtask: its work is a commit on the task's branch."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, text, name)
    commit, _ = world.workspaces.commit(tree, f"Add {name}")
    assert world.workspaces.merge(tree, commit) == ""
    return commit


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("shop.py", 3),
        ("readme.txt", 1),
        ("never.py", None),
        ("./shop.py", 3),
        ("../shop.py", None),
        ("/etc/passwd", None),
        ("", None),
    ],
)
def test_a_file_is_looked_up_on_the_branch(world, tree, path, lines):
    """Not in the tree, where anybody may have put it: what lies there uncommitted is not on the branch."""
    merged(world, tree, "a\nb\nc\n", "shop.py")
    world.put(tree, "never committed\n", "never.py")
    seen = world.workspaces.file_on(world.project, tree.branch, path)
    assert (seen and seen.lines) == lines


def test_a_commit_is_looked_up_on_the_branch(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stranger = world.commit_elsewhere(tree.base, "b\n", "other.py")
    look = world.workspaces.commit_on
    assert look(world.project, tree.branch, commit) == commit
    assert look(world.project, tree.branch, tree.base[:12] if set(tree.base[:12]) != {"0"} else tree.base)
    assert look(world.project, tree.branch, stranger) == ""
    assert look(world.project, tree.branch, "f" * 40) == ""
    assert look(world.project, tree.branch, "-rf") == ""


def test_a_commit_that_another_has_is_not_beyond_it(world, tree):
    """The commit from which a task began is on its branch, and was evidence of what the task did."""
    first = merged(world, tree, "a\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "b\n", "cart.py")
    look = world.workspaces.commit_on
    assert look(world.project, tree.branch, tree.base, beyond=tree.base) == ""
    assert look(world.project, tree.branch, first, beyond=tree.base) == first
    assert look(world.project, tree.branch, first, beyond=first) == ""
    assert look(world.project, tree.branch, second, beyond=first) == second


def test_what_is_empty_on_a_branch_is_said_to_be(world, tree):
    world.workspaces.prepare(tree, 1)
    for name, text in {"void.py": "", "hollow/void.py": "", "full/void.py": "", "full/it.py": "x\n"}.items():
        world.put(tree, text, name)
    commit, _ = world.workspaces.commit(tree, "Files")
    world.workspaces.merge(tree, commit)
    found = {
        name: world.workspaces.file_on(world.project, tree.branch, name).is_empty
        for name in ("void.py", "hollow", "full", "full/it.py")
    }
    assert found == {"void.py": True, "hollow": True, "full": False, "full/it.py": False}


# A branch that others moved --------------------------------------------------------------------------


def strayed(world, tree, upon):
    """Move the task's branch to a commit that no step made; return that."""
    stray = world.commit_elsewhere(upon, "never reviewed\n", "stray.py")
    world.workspaces.rebase(world.project, tree.branch, upon, stray)
    return stray


def test_a_branch_with_more_than_was_accepted_is_put_back(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stray = strayed(world, tree, commit)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,))
    assert (found.tip, found.wanted, found.reason) == (stray, commit, "")
    assert world.refs("task/")[tree.branch] == commit
    assert world.refs("refs/tasks/")[found.kept] == stray
    again = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,))
    assert again == BranchFound(commit, commit)


def test_a_branch_that_lacks_what_was_accepted_is_put_back(world, tree):
    first = merged(world, tree, "a\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "b\n", "cart.py")
    world.workspaces.rebase(world.project, tree.branch, second, tree.base)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (second, first))
    assert found == BranchFound(tree.base, second)
    assert world.refs("task/")[tree.branch] == second


def test_a_branch_of_which_nothing_was_accepted_is_at_its_base(world, tree):
    missing = world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert missing == BranchFound("", "")
    world.workspaces.prepare(tree, 1)
    strayed(world, tree, tree.base)
    world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert world.refs("task/")[tree.branch] == tree.base


def test_a_branch_that_is_just_being_merged_is_left_alone(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    stray = strayed(world, tree, commit)
    found = world.workspaces.restore(world.project, tree.branch, tree.base, (commit,), {stray})
    assert found == BranchFound(stray, stray)
    assert world.refs("task/")[tree.branch] == stray


def test_a_branch_that_cannot_be_put_back_says_why(world, tree):
    commit = merged(world, tree, "a\n", "shop.py")
    gone = world.workspaces.restore(world.project, tree.branch, tree.base, ("f" * 40,))
    assert gone.reason
    stray = strayed(world, tree, commit)
    world.look_at(tree.branch)
    assert world.workspaces.restore(world.project, tree.branch, tree.base, (commit,)).reason
    assert world.refs("task/")[tree.branch] == stray


def test_a_commit_upon_a_stray_is_not_merged_alone(world, tree):
    world.workspaces.prepare(tree, 1)
    strayed(world, tree, tree.base)
    two = replace(tree, name="two")
    world.workspaces.prepare(two, 1)
    world.put(two, "b\n", "cart.py")
    upon, _ = world.workspaces.commit(two, "Add cart.py")
    world.workspaces.restore(world.project, tree.branch, tree.base, ())
    assert world.workspaces.merge(two, upon, alone=True)
    assert world.refs("task/")[tree.branch] == tree.base
    assert world.workspaces.merge(two, upon) == ""


def test_a_branch_that_is_not_there_has_nothing(world, tree):
    for look in (world.workspaces.file_on, world.workspaces.commit_on):
        with pytest.raises(Refused, match="no branch"):
            look(world.project, tree.branch, "readme.txt")
    assert world.workspaces.survey(world.project, tree.branch, tree.base) is None


def test_a_survey_says_what_the_branch_has_gained(world, tree):
    first = merged(world, tree, "a\nb\n", "shop.py")
    second = merged(world, replace(tree, name="two"), "c\n", "cart.py")
    seen = world.workspaces.survey(world.project, tree.branch, tree.base)
    assert (seen.tip, seen.count, seen.files, seen.merged) == (second, 2, 2, False)
    assert [(each.commit, each.subject) for each in seen.commits] == [
        (first, "Add shop.py"),
        (second, "Add cart.py"),
    ]


def test_what_was_altered_at_a_path_is_counted(world, tree):
    merged(world, tree, "a\nb\n", "check.sh")
    last = merged(world, replace(tree, name="two"), "a\nc\nd\n", "check.sh")

    def altered(*paths):
        return world.workspaces.altered(world.project, tree.base, last, paths)

    assert altered("check.sh", "absent.sh") == (FileChange("check.sh", 3, 0, is_new=True),)
    assert altered("*.sh") == altered() == ()
    with pytest.raises(Refused):
        world.workspaces.altered(world.project, tree.base, "0" * 40, ("check.sh",))


def test_lines_altered_in_a_file_of_before_are_counted(world, tree):
    first = merged(world, tree, "a\nb\n", "check.sh")
    last = merged(world, replace(tree, name="two"), "a\nc\nd\n", "check.sh")
    seen = world.workspaces.altered(world.project, first, last, ("check.sh",))
    assert seen == (FileChange("check.sh", 2, 1),)


def test_a_branch_that_gained_nothing_is_said_to(world, tree):
    world.workspaces.prepare(tree, 1)
    seen = world.workspaces.survey(world.project, tree.branch, tree.base)
    assert (seen.tip, seen.count, seen.commits, seen.files) == (tree.base, 0, (), 0)
    assert seen.merged


# Going on with work -----------------------------------------------------------------------------------


def test_an_attempt_can_begin_with_the_work_of_the_last_one(world, tree):
    """It lies in a clean tree, uncommitted: what judges left there is gone, and the work is not."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "rejected\n", "shop.py")
    commit, _ = world.workspaces.commit(tree, "Add shop.py")
    world.put(tree, "left by a judge\n", "junk.txt")
    world.workspaces.prepare(tree, 2, commit)
    assert world.files(tree) == {"readme.txt": "hello\n", "shop.py": "rejected\n"}
    world.put(tree, "mended\n", "shop.py")
    again, files = world.workspaces.commit(tree, "Add shop.py")
    assert world.at(again)["shop.py"] == "mended"
    assert (world.parent(again), files) == (tree.base, 1)


def test_work_that_was_deleted_stays_deleted(world, tree):
    first = merged(world, tree, "a\n", "shop.py")
    world.workspaces.prepare(tree, 2)
    world.put(tree, "b\n", "cart.py")
    commit, _ = world.workspaces.commit(tree, "Add cart.py")
    world.workspaces.prepare(tree, 3, commit)
    assert world.files(tree) == {"readme.txt": "hello\n", "shop.py": "a\n", "cart.py": "b\n"}
    assert world.parent(commit) == first


def test_next_attempt_is_shown_both_sides_of_a_conflict(world, tree):
    """Another subtask changed the same meanwhile. Markers that are left are found, and are in no commit."""
    world.workspaces.prepare(tree, 1)
    world.put(tree, "mine\n", "shop.py")
    commit, _ = world.workspaces.commit(tree, "Mine")
    tip = merged(world, replace(tree, name="two"), "theirs\n", "shop.py")
    world.workspaces.prepare(tree, 2, commit)
    shown = world.files(tree)["shop.py"]
    assert {"mine", "theirs"} <= set(shown.split())
    assert shown.startswith("<<<<<<< ")
    assert [kept.ref for kept in world.workspaces.kept(tree)]
    with pytest.raises(Unresolved) as left:
        world.workspaces.commit(tree, "Both")
    assert left.value.files == ("shop.py",)
    world.put(tree, "theirs\nmine\n", "shop.py")
    both, files = world.workspaces.commit(tree, "Both")
    assert (world.parent(both), files) == (tip, 1)


# Beside other work ------------------------------------------------------------------------------------


def both_at_work(world, tree, one: str, two: str) -> tuple[Tree, str]:
    """Return a second tree and its commit. Both began at the same commit; the first one's is merged already."""
    other = replace(tree, name="other")
    for each, name in ((tree, one), (other, two)):
        world.workspaces.prepare(each, 1)
        world.put(each, f"{each.name}\n", name)
    commit, _ = world.workspaces.commit(other, "Two")
    first, _ = world.workspaces.commit(tree, "One")
    assert world.workspaces.merge(tree, first) == ""
    return other, commit


def test_a_commit_is_put_upon_what_the_branch_gained(world, tree):
    other, commit = both_at_work(world, tree, "one.txt", "two.txt")
    tip = world.refs("task/demo")["task/demo"]
    assert (world.workspaces.gained(other, commit), world.workspaces.gained(tree, tip)) == (tip, "")
    made = world.workspaces.put_upon(other, 1, commit)
    assert (made.onto, made.both, made.same) == (tip, (), True)
    assert [each.partition(" ")[2] for each in made.others] == ["One"]
    assert set(world.at(made.commit)) == set(world.files(other)) == {"one.txt", "readme.txt", "two.txt"}
    assert world.parent(made.commit) == tip
    assert world.refs("task/demo")["task/demo"] == tip
    assert world.workspaces.put_upon(other, 1, made.commit) == Upon(made.commit)
    assert world.workspaces.merge(other, made.commit) == ""


def test_a_commit_that_builds_on_the_branch_stays(world, tree):
    world.workspaces.prepare(tree, 1)
    world.put(tree, "new", "new.txt")
    commit, _ = world.workspaces.commit(tree, "Work")
    assert world.workspaces.put_upon(tree, 1, commit) == Upon(commit)
    assert world.files(tree)["new.txt"] == "new"


def test_a_commit_at_odds_with_the_branch_stays(world, tree):
    other, commit = both_at_work(world, tree, "same.txt", "same.txt")
    with pytest.raises(AtOdds) as odds:
        world.workspaces.put_upon(other, 1, commit)
    assert (odds.value.files, odds.value.commit) == (("same.txt",), commit)
    assert world.files(other)["same.txt"].strip() == "other"


def test_what_a_judge_left_is_not_put_upon_the_branch(world, tree):
    other, commit = both_at_work(world, tree, "one.txt", "two.txt")
    world.put(other, "left by a judge\n", "junk.txt")
    made = world.workspaces.put_upon(other, 1, commit)
    assert "junk.txt" not in world.files(other)
    kept = world.refs("refs/tasks/task/demo/other/").values()
    assert any("junk.txt" in world.at(each) for each in kept)
    assert world.workspaces.merge(other, made.commit) == ""


def test_what_was_kept_is_named_the_newest_first(world, tree):
    assert world.workspaces.kept(tree) == []
    for attempt in (1, 2):
        world.workspaces.prepare(tree, attempt)
        world.put(tree, f"try {attempt}\n", "shop.py")
    world.workspaces.prepare(tree, 3)
    refs = [kept.ref for kept in world.workspaces.kept(tree)]
    assert refs == [f"{tree.keep_prefix}3-1", f"{tree.keep_prefix}2-1"]


# Rebased ------------------------------------------------------------------------------------------


@pytest.fixture
def work(world, tree):
    """Return the one commit of a task's branch."""
    return merged(world, tree, "new", "new.txt")


def test_the_branch_is_known_to_hold_what_led_to_it(world, tree, work):
    assert world.workspaces.holds(tree, work)
    assert world.workspaces.holds(tree, tree.base)
    assert not world.workspaces.holds(tree, world.commit_elsewhere(tree.base, "other", "other.txt"))
    assert not world.workspaces.holds(tree, "f" * 40)
    with pytest.raises(Refused, match="not a commit's full hash"):
        world.workspaces.holds(tree, "--all")


def test_a_rebased_branch_keeps_what_was_there_on_a_ref(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""
    assert world.refs("task/demo") == {"task/demo": anew}
    assert world.refs("refs/tasks/task/demo/rebased/") == {f"refs/tasks/task/demo/rebased/at-{work}": work}
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""
    assert not world.workspaces.holds(tree, work)


def test_a_branch_that_is_elsewhere_by_now_is_not_rebased(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    assert "is at" in world.workspaces.rebase(tree.project, tree.branch, tree.base, anew)
    assert "there is no commit" in world.workspaces.rebase(tree.project, tree.branch, work, "f" * 40)
    with pytest.raises(Refused, match="is not the branch of a task"):
        world.workspaces.rebase(tree.project, "main", work, anew)
    assert world.refs("task/demo") == {"task/demo": work}


def test_a_branch_that_somebody_looks_at_is_not_rebased(world, tree, work):
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    world.look_at(tree.branch)
    assert "checked out in" in world.workspaces.rebase(tree.project, tree.branch, work, anew)
    world.look_at("")
    assert world.workspaces.rebase(tree.project, tree.branch, work, anew) == ""


def test_a_tree_made_ready_after_a_rebase_stands_on_the_new_work(world, tree, work):
    world.workspaces.release(tree, 1)
    anew = world.commit_elsewhere(tree.base, "anew", "new.txt")
    world.workspaces.rebase(tree.project, tree.branch, work, anew)
    world.workspaces.prepare(replace(tree, base=tree.base), 2)
    assert world.files(tree)["new.txt"] == "anew"


# Who is only to look ---------------------------------------------------------------------------------


@pytest.mark.parametrize("detached", [False, True])
def test_what_a_look_left_is_taken_out_and_kept(world, tree, detached):
    tree = replace(tree, detached=detached)
    world.workspaces.prepare(tree, 1)
    world.put(tree, "work in hand", "ours.txt")
    before = world.workspaces.look(tree)
    assert world.workspaces.look(tree) == before
    assert world.workspaces.tidy(tree, 1, before) == ((), "")
    world.put(tree, "by a judge", "strewn.txt")
    world.put(tree, "spoilt", "readme.txt")
    files, kept = world.workspaces.tidy(tree, 1, before)
    assert files == ("readme.txt", "strewn.txt")
    assert kept.startswith(tree.keep_prefix)
    assert world.at(world.refs(tree.keep_prefix)[kept])["strewn.txt"] == "by a judge"
    lies = world.files(tree)
    assert lies["ours.txt"] == "work in hand"
    assert lies["readme.txt"] != "spoilt"
    assert "strewn.txt" not in lies
    assert world.workspaces.look(tree) == before
    assert world.workspaces.tidy(tree, 1, before) == ((), "")


def test_a_tree_that_is_gone_is_not_looked_at(world, tree):
    world.workspaces.prepare(tree, 1)
    before = world.workspaces.look(tree)
    world.lose(tree)
    assert not world.workspaces.look(tree)
    assert world.workspaces.tidy(tree, 1, before) == ((), "")
