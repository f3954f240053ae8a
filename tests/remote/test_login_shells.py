"""Whole tasks in accounts with other login shells: every command of ours, of rsync, git and tmux goes through them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from tests.integration.daemon.world import World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished

HOSTILE = ["\\'; touch pwned; echo \\'", "'; touch pwned; echo '", "x!y !!", "$(touch pwned)", "=ls ~ {a,b}"]


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


@pytest.mark.parametrize(
    "name",
    [
        "fish",
        *(
            pytest.param(name, marks=pytest.mark.thorough(reason="other shells: fish is the least like sh"))
            for name in ("tcsh", "zsh", "dash")
        ),
    ],
)
def test_task_is_done_in_an_account_with_any_login_shell(boxes: Boxes, world: World, name: str) -> None:
    """Its sshd starts the shell for each command, so that SFTP is not to be had either; tmux starts it, too."""
    shell = shutil.which(name)
    if shell is None:
        pytest.skip(f"{name} is not installed")
    box = furnished(boxes, world, "alpha", server=boxes.login_shell(shell))
    files = {f"artifacts/code/{each}": each for each in HOSTILE}
    turn = {"artifacts": files, **COMMIT}
    folder = world.begin({"dev:greet": [turn]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    assert [step for _, step in world.lives] == ONE_EACH
    world.until(lambda: all((folder / each).is_file() for each in files))
    assert not list(box.home.rglob("pwned*"))
    world.check_once()


@pytest.mark.thorough(reason="another environment of the same whole task")
def test_task_is_done_where_options_come_first(boxes: Boxes, world: World) -> None:
    """Programs of BSD and macOS take no option behind the first operand, as those of GNU do when they are told to."""
    box = furnished(boxes, world, "alpha", server="SetEnv POSIXLY_CORRECT=1")
    turn = {"artifacts": {"artifacts/code/a": "a"}, **COMMIT}
    folder = world.begin({"dev:greet": [turn]}, config=[f"{cwd(box)}/", "bring: branch"])
    world.until(lambda: world.stands() == "complete", within=90)
    assert [step for _, step in world.lives] == ONE_EACH
    world.until((folder / "artifacts/code/a").is_file)
    world.check_once()
