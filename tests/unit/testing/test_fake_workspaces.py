"""What the fake adds to the contract: it can be killed before any change, and is the same each time."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_workspaces import FakeWorkspaces

PROJECT = Path("/project")
T = TypeVar("T")


class Killed(BaseException):
    """The daemon dies here."""


def tree_of(fake: FakeWorkspaces) -> Tree:
    return Tree(PROJECT, Path("/pm/trees"), "parser", "task/demo", fake.head(PROJECT))


def life(fake: FakeWorkspaces, tree: Tree) -> str:
    """Lead a tree through a whole life, each call made again until it is not killed."""

    def again(call: Callable[[], T]) -> T:
        while True:
            try:
                return call()
            except Killed:
                continue

    again(lambda: fake.prepare(tree, 1))
    fake.work(tree, "half")
    again(lambda: fake.prepare(tree, 2))
    fake.work(tree, "whole")
    commit, files = again(lambda: fake.commit(tree, "Work"))
    assert files == 1
    assert again(lambda: fake.merge(tree, commit)) == ""
    fake.work(tree, "late", "late.txt")
    again(lambda: fake.release(tree, 2))
    return commit


def test_it_can_be_killed_before_any_change():
    steps = []
    calm = FakeWorkspaces(before=lambda step, _: steps.append(step))
    life(calm, tree_of(calm))
    assert set(steps) == {"branch", "keep", "make", "record", "move", "clean", "merge", "remove", "drop"}
    for kill in range(len(steps)):
        count = iter(range(1000))

        def die(_step, path, count=count, kill=kill):
            assert path == Path("/pm/trees/parser")
            if next(count) == kill:
                raise Killed

        fake = FakeWorkspaces(before=die)
        tree = tree_of(fake)
        commit = life(fake, tree)
        refs = fake.refs(PROJECT)
        assert refs["task/demo"] == commit
        assert tree.own_branch not in refs
        kept = [fake.commits[at].contents for name, at in refs.items() if name.startswith(tree.keep_prefix)]
        assert {each["work.txt"] for each in kept} == {"half", "whole"}
        assert kept[-1]["late.txt"] == "late"


def test_the_same_calls_give_the_same_hashes():
    one, two = FakeWorkspaces(), FakeWorkspaces()
    assert life(one, tree_of(one)) == life(two, tree_of(two))
    assert one.refs(PROJECT) == two.refs(PROJECT)


def test_a_folder_can_be_no_repository_and_a_call_can_fail():
    fake = FakeWorkspaces()
    tree = tree_of(fake)
    fake.fail_next(Unavailable("git is not there"))
    with pytest.raises(Unavailable):
        fake.prepare(tree, 1)
    fake.prepare(tree, 1)
    fake.forget(PROJECT)
    with pytest.raises(Refused, match="is not in a git repository"):
        fake.head(PROJECT)


def test_a_commit_of_an_agent_counts():
    fake = FakeWorkspaces()
    look = replace(tree_of(fake), name="look", detached=True)
    fake.prepare(look, 1)
    fake.work(look, "notes")
    made = fake.commit_like_an_agent(look)
    fake.prepare(look, 2)
    assert fake.refs(PROJECT)[f"{look.keep_prefix}2-1"] == made
