"""A whole task whose agents live on boxes: a real daemon, real boxes, real cuts (H3, H4, H13, H8)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from orchestrator.formats.ssh_words import fingerprint
from tests.integration.daemon.world import AGENT, Turns, World, a_world
from tests.remote.boxes import Box, Boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished
from tests.tmux_server import looked_at

TIMES = re.compile(r"\d+:\d\d(:\d\d)?|\d{8}-\d{6}|\d{4}-\d\d-\d\d|[0-9a-f]{8,40}|\b\d+(\.\d+)? (s|min|h)\b")


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def progress(world: World) -> list[str]:
    """Return the scribe's page without what no two runs have in common: times, seconds, ids."""
    text = (world.project / "tasks/t1/progress.md").read_text()
    return [TIMES.sub("*", line) for line in text.splitlines()]


def by_architect_and_dev(boxes: Boxes, world: World) -> tuple[Box, Box, list[str]]:
    """Make two boxes; return the config of a task whose dev is on one and whose architect on the other."""
    alpha, beta = furnished(boxes, world, "alpha"), furnished(boxes, world, "beta")
    config = [cwd(alpha), "bring: branch", "architect: yes", f"architect.cwd: beta:{beta.home}/repo"]
    return alpha, beta, [*config, f"architect.command: {AGENT.format(script=world.script)}"]


def test_a_developer_on_a_box_does_its_work_there_and_its_commits_are_judged_and_merged_here(
    boxes: Boxes, world: World
) -> None:
    box = furnished(boxes, world, "alpha")
    folder = world.begin({"dev:greet": [COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    assert [step for _, step in world.lives] == ONE_EACH
    world.check_once()
    there = subprocess.run(
        ["git", "-C", box.home / "repo", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert world.git("rev-parse", "task/t1") == there.stdout.strip()
    assert world.git("show", "task/t1:pkg/greet.py") == "NAME = 'greet'"
    assert (folder / "artifacts/code/dev-greet.md").read_text().startswith("exit 0")
    far = {run["step"] for run in world.story().runs.values() if run.get("host") == "alpha"}
    assert far == {"dev:greet"}


def test_two_boxes_whose_links_are_cut_twice_and_a_daemon_that_is_killed_change_nothing(
    boxes: Boxes, world: World
) -> None:
    alpha, beta, config = by_architect_and_dev(boxes, world)
    turns: Turns = {"architect": [{"hold": "a"}], "dev:greet": [{"hold": "d", **COMMIT}]}
    world.begin(turns, config=config)
    world.until_works("architect")
    with beta.cut():
        world.until(lambda: world.lives_of("architect") == 1 and world.believed("architect") == "unreachable")
        world.go("a")
        world.kill_daemon()
        world.daemon()
    world.until_works("dev:greet")
    for _ in range(2):
        with alpha.cut():
            world.until(lambda: world.believed("dev:greet") == "unreachable")
        world.until(lambda: world.believed("dev:greet") == "alive")
    with alpha.cut():
        world.go("d")
        world.until(lambda: world.believed("dev:greet") == "unreachable")
    world.until_is("complete")
    assert [step for _, step in world.lives] == ["explore", "architect", *ONE_EACH[1:]]
    world.check_once()
    world.until(lambda: "- To take it over" in progress(world)[-1])
    shaken = progress(world)

    with a_world() as other:
        other.environ["PATH"] = world.environ["PATH"]
        for box in (alpha, beta):
            shutil.rmtree(box.home / "repo")
            other.git("clone", "-q", str(other.project), str(box.home / "repo"))
        config[-1] = f"architect.command: {AGENT.format(script=other.script)}"
        other.begin({"dev:greet": [COMMIT]}, config=config)
        other.until_is("complete")
        world.until(lambda: progress(other) == shaken)


def test_its_window_here_shows_the_agent_there_and_says_since_when_it_cannot(
    boxes: Boxes, world: World
) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "d", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until_works("dev:greet")

    def shown() -> str:
        """Return what the one window of the box shows."""
        panes = world.tmux.tmux("list-panes", "-a", "-F", "#{pane_id} #{@box}").splitlines()
        (pane,) = [line.split()[0] for line in panes if line.endswith(" alpha")]
        return world.tmux.tmux("capture-pane", "-p", "-t", pane)

    with looked_at(world.tmux, f"={world.home().name}:box-alpha"):
        world.until(lambda: "dev works on dev:greet" in shown())
        with box.cut():
            world.until(lambda: "alpha: unreachable since" in shown())
            assert re.search(r"dev:greet +unreachable .* alpha ", world.task("status", "t1").out)
            assert "alpha is unreachable since" in world.task("why", "t1").out
        world.until(lambda: "alpha: unreachable since" not in shown() and "dev works on dev:greet" in shown())
    world.go("d")
    world.until_is("complete")


def test_a_box_that_shows_another_key_is_one_question_with_both_and_goes_on_when_it_is_answered(
    boxes: Boxes, world: World
) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "d", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until_works("dev:greet")
    box.stop()
    box.start("other")
    (question,) = world.until(lambda: world.told()["questions"])
    for key in ("host", "other"):
        assert fingerprint(box.known_line(key)) in question["text"]
    world.go("d")
    boxes.know(box, "other")
    assert world.task("answer", "t1", question["id"], "continue").code == 0
    world.until_is("complete")
    world.check_once()


def test_a_task_is_stopped_there_too(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hang": True, "leave": True}]}, config=[cwd(box)])
    world.until_works("dev:greet")
    assert world.task("stop", "t1").code == 0
    world.until_is("stopped")
    world.until(lambda: not world.told()["agents"] or world.believed("dev:greet") == "gone")
    world.check_nobody_is_left()
