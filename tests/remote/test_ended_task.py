"""What a task that has ended leaves on its boxes and here: no window, no mirror; and its log can be read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, a_world
from tests.remote.boxes import Box, Boxes
from tests.remote.furnished import COMMIT, cwd, furnished, no_bulk_while


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world() as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def windows(box: Box) -> list[str]:
    """Return the windows of our server on a box."""
    socket = box.folder / "tmux" / f"tmux-{os.getuid()}" / "agent-orchestrator-box"
    argv = ["tmux", "-S", str(socket), "list-windows", "-a", "-F", "#{window_name}"]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()


def mirrored(world: World) -> list[str]:
    """Return the files here in mirrors of boxes."""
    return [str(path) for path in (world.state / "boxes").glob("*/*/tree/**/*") if path.is_file()]


def test_windows_and_mirror_go_with_their_task(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "a", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("dev:greet") == 1)
    world.until(lambda: any(name.startswith("dev") for name in windows(box)))
    world.go("a")
    world.until_is("complete")
    world.until(lambda: not windows(box) and not mirrored(world))
    assert world.task("logs", "t1", "dev:greet").code == 0
    world.check_once()


@pytest.mark.thorough(
    reason="tests/unit/daemon/test_box_cleanup.py holds it, and a removed task's windows below"
)
def test_box_that_was_away_loses_its_windows_under_next_daemon(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [COMMIT], "accept": [{"hold": "z"}]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("accept") == 1)
    assert windows(box)
    with box.cut():
        world.go("z")
        world.until_is("complete")
        world.until(lambda: "will be closed later" in world.log)
        assert windows(box)
        world.kill_daemon()
    world.daemon()
    world.until(lambda: not windows(box))


@pytest.mark.thorough(
    reason="windows and mirror go with their task above, and a stopped task goes on in test_task.py"
)
def test_task_that_goes_on_after_its_end_has_windows_again(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "a"}, COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("dev:greet") == 1)
    assert world.task("stop", "t1").code == 0
    world.until(lambda: not windows(box))
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    world.until(lambda: not windows(box))
    assert (world.project / "tasks/t1/artifacts/code/dev-greet.md").read_text().startswith("exit 0")


@pytest.mark.parametrize(
    ("by", "verb"),
    [
        ("daemon", "delete"),
        *(
            pytest.param(by, verb, marks=pytest.mark.thorough(reason="unit/cli/test_delete.py has each verb"))
            for by, verb in (("command alone", "archive"), ("daemon", "archive"), ("command alone", "delete"))
        ),
    ],
)
def test_windows_go_with_a_task_removed_while_box_was_away(
    boxes: Boxes, world: World, verb: str, by: str
) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [COMMIT], "accept": [{"hold": "z"}]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("accept") == 1)
    with box.cut():
        world.go("z")
        world.until_is("complete")
        world.until(lambda: "will be closed later" in world.log)
        if by == "command alone":
            world.kill_daemon()
        removal = world.task(verb, "t1", "--yes", *(["--unmerged"] if verb == "delete" else []))
        assert removal.code == 0, removal.err
        assert windows(box)
        if by == "daemon":
            world.kill_daemon()
    world.daemon()
    world.until(lambda: not windows(box))
    world.until(lambda: not list((world.state / "boxes/departed").iterdir()))
    assert not (world.project / "tasks/t1").exists()


def test_nothing_comes_of_a_task_that_was_deleted(boxes: Boxes, world: World) -> None:
    """Its last files were still awaited, as none can be listed while `stuck` is there: they would make its folder."""
    box = furnished(boxes, world, "alpha")
    stuck = no_bulk_while(world)
    world.begin({"dev:greet": [{"hold": "a", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("dev:greet") == 1)
    world.go("a")
    world.until_is("complete")
    mark = world.home() / "runs" / world.lives_at("dev:greet")[0] / "outstanding"
    assert mark.exists()
    removal = world.task("delete", "t1", "--yes", "--unmerged")
    assert removal.code == 0, removal.err
    (box.home / "repo/tasks/t1/artifacts/code/late").write_text("late")
    stuck.unlink()
    world.until(lambda: not windows(box))
    world.begin({"dev:greet": [COMMIT]}, config=[cwd(box), "bring: branch"], name="t2")
    world.until_is("complete", name="t2")
    world.until(lambda: not mirrored(world))
    assert not (world.project / "tasks/t1").exists()


@pytest.mark.parametrize(
    "moment",
    [
        "ahead",
        pytest.param("behind", marks=pytest.mark.thorough(reason="the same transfer, at its other end")),
    ],
)
def test_transfer_under_way_makes_no_deleted_task_again(boxes: Boxes, world: World, moment: str) -> None:
    """rsync stands still ahead of its work, or behind it with all files in the mirror, while the task is deleted."""
    box = furnished(boxes, world, "alpha")
    stuck, held = no_bulk_while(world), bulk_held(world, moment)
    world.begin({"dev:greet": [{"hold": "a", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.lives_of("dev:greet") == 1)
    world.go("a")
    world.until_is("complete")
    (box.home / "repo/tasks/t1/artifacts/code/late").write_text("late")
    bulk = held.with_suffix("")
    bulk.touch()
    stuck.unlink()
    world.until(held.exists)
    removal = world.task("delete", "t1", "--yes", "--unmerged")
    assert removal.code == 0, removal.err
    assert not (world.project / "tasks/t1").exists()
    bulk.unlink()
    world.until(lambda: not windows(box))
    world.until(lambda: not list((world.state / "boxes/departed").iterdir()))
    assert not (world.project / "tasks/t1").exists()
    world.until(lambda: not list((world.state / "boxes").glob("*/t1-*")))


def bulk_held(world: World, moment: str) -> Path:
    """Have rsync here stand still ahead of its work on bulk files, or behind it, while the file `bulk` exists.

    Return the file that says that it does.
    """
    bulk, stand_in, rsync = world.root / "bulk", world.root / "bin/rsync", world.root / "bin/rsync.listing"
    stand_in.rename(rsync)
    wait = f"touch '{bulk}.held'; while [ -e '{bulk}' ]; do sleep 0.05; done"
    stand_in.write_text(
        f"""#!/bin/sh
trap '' TERM
case " $* " in
    *" --dry-run "*) exec {rsync} "$@" ;;
    *" --from0 "*) [ -e '{bulk}' ] || exec {rsync} "$@" ;;
    *) exec {rsync} "$@" ;;
esac
[ {moment} != ahead ] || {{ {wait}; }}
{rsync} "$@"; status=$?
[ {moment} != behind ] || {{ {wait}; }}
exit $status
"""
    )
    stand_in.chmod(0o755)
    return bulk.with_suffix(".held")
