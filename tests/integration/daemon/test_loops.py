"""What goes on and on: a report that is swapped, a daemon that is killed. The journal and the project stay small."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.world import World

SWAPS = 600


@pytest.mark.thorough(reason="unit/daemon/test_handoffs.py counts the facts; foreign files loop below")
def test_report_that_is_swapped_in_a_loop_is_a_few_lines(world: World) -> None:
    world.daemon()
    folder = world.begin({"explore": [{"hold": "on"}]})
    world.until_works("explore")
    run = world.agent("explore")["run"]
    before = len(world.story().lines)
    report, part = folder / "handoffs" / "explore-20260101-000000.md", folder / "handoffs" / ".part"
    for number in range(SWAPS):
        part.write_text(
            f"# Handoff: explore\n**Status:** IN_PROGRESS\n**Run:** {run}\n\n## Completed Work\nPart {number}.\n"
        )
        part.rename(report)
        time.sleep(0.003)
    world.until(lambda: len(world.story().lines) > before)
    assert len(world.story().lines) - before < SWAPS / 20
    world.go("on")
    world.until_is("complete")
    world.check_once()


@pytest.mark.thorough(reason="unit/daemon/test_brief_edits.py counts the facts; foreign files loop below")
def test_task_md_that_is_swapped_in_a_loop_is_a_few_lines(world: World) -> None:
    """Each swap was a journal line with the whole brief, and could open a judge again that had passed."""
    world.daemon()
    folder = world.begin({"explore": [{"hold": "on"}]})
    world.until_works("explore")
    before = len(world.story().lines)
    brief, part = folder / "task.md", folder / ".part"
    text = brief.read_text()
    for number in range(SWAPS):
        part.write_text(text.replace("A greeting.", f"A greeting, {number}."))
        part.rename(brief)
        time.sleep(0.003)
    last = f"A greeting, {SWAPS - 1}."
    world.until(lambda: [each["brief"]["goal"] for each in edits(world)][-1:] == [last], within=90)
    assert len(world.story().lines) - before < SWAPS / 20
    world.go("on")
    world.until_is("complete")
    world.check_once()


def test_foreign_files_in_a_loop_are_a_few_lines(world: World) -> None:
    """Each new file in handoffs/ whose name is no handoff's was a journal line."""
    world.daemon()
    folder = world.begin({"explore": [{"hold": "on"}]})
    world.until_works("explore")
    before = len(world.story().lines)
    for number in range(SWAPS):
        (folder / "handoffs" / f"note {number}.txt").write_text(f"{number}")
        time.sleep(0.003)
    left = {f"note {number}.txt" for number in range(SWAPS)}
    world.until(lambda: left <= {each["name"] for each in world.story().changes("handoff_seen")}, within=90)
    assert len(world.story().lines) - before < SWAPS / 20
    world.go("on")
    world.until_is("complete")
    world.check_once()


@pytest.mark.parametrize(
    "kills", [5, pytest.param(15, marks=pytest.mark.thorough(reason="the same loop, three times as long"))]
)
def test_kill_loop_leaves_no_tree_branch_and_no_half_file(world: World, kills: int) -> None:
    """Kills in a loop leave no branch of a tree and no half file."""
    world.daemon()
    folder = world.begin()
    for number in range(kills):
        if world.pid:
            world.kill_daemon()
        world.daemon()
        time.sleep(0.03 * (number % 5))
    world.until_is("complete")
    world.check_once()
    world.until(lambda: not world.git("for-each-ref", "--format=%(refname)", "refs/heads/task-work/"))
    # A half-written file may still be a writer's for a while: what is swept is old.
    for path in hidden(folder):
        os.utime(path, (0, 0))
    world.stop_daemon()
    world.daemon()
    world.until(lambda: not hidden(folder))
    assert len(world.git("worktree", "list").splitlines()) == 1


def edits(world: World) -> list[dict[str, Any]]:
    """Return the edits of task.md that were journaled."""
    return world.story().facts("brief_changed")


def hidden(folder: Path) -> list[Path]:
    """Return the files beneath a folder whose names begin with a dot."""
    return [path for path in folder.rglob(".*") if path.is_file()]
