"""A box that answers, and from which nothing comes: that is known and shown, and its silence means nothing (law 5)."""

from __future__ import annotations

import json
import os
import pwd
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, a_world, altered
from tests.remote.boxes import Box, Boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished
from tests.remote.hanging import hanging

LONG = 90.0
"""Seconds: what fails is tried again after pauses that grow."""

SOON_PRESSING = altered(
    "from orchestrator.daemon.boxes import transfer_failures as t; t.PRESSING_AFTER = 5.0"
)
"""A daemon that asks a person after seconds of failures."""

NO_RSYNC = "echo 'rsync: command not found' >&2; return 127"
NO_TMUX = "PATH=$HOME/few\n"
"""In that folder is all of /usr/bin but tmux."""
FLOODS = 'yes complaint >&2 & command rsync "$@"; wait'

QUICK = {
    f"limits__{name}": bound
    for name, bound in {"inactivity_timeout": "3 s", "look_interval": "1 s", "max_looks": "1"}.items()
}
"""An agent that gives no sign of work is ended after seconds."""


@pytest.fixture
def settings() -> dict[str, str]:
    """Settings of the daemon beyond those of all tests."""
    return {}


@pytest.fixture
def world(boxes: Boxes, settings: dict[str, str]) -> Iterator[World]:
    with a_world(**settings) as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


@pytest.fixture
def alpha(boxes: Boxes, world: World, rsync: str) -> Box:
    """A box whose rsync is another one while `hindered` lies in its home."""
    if not pwd.getpwuid(os.getuid()).pw_shell.endswith("/bash"):
        pytest.skip("the login shell is not bash")
    box = furnished(boxes, world, "alpha")
    (box.home / ".bashrc").write_text(f"if [ -e ~/hindered ]; then rsync() {{ {rsync}; }}; fi\n")
    return box


def failing(world: World) -> list[dict[str, str]]:
    """Return what `task status` says that does not come from boxes."""
    return [each for box in world.state_shown().get("boxes", []) for each in box["failing"]]


@pytest.mark.parametrize("settings", [QUICK], ids=["quick"])
@pytest.mark.parametrize(
    ("rsync", "why", "remedy"),
    [
        (NO_RSYNC, "rsync did not start", "install it there"),
        pytest.param(
            FLOODS,
            "bytes of error messages",
            "rsync wrote more than",
            marks=pytest.mark.thorough(reason="another failure of rsync"),
        ),
    ],
    ids=["no rsync", "floods"],
)
def test_agent_is_not_silent_while_no_pull_succeeds(world: World, alpha: Box, why: str, remedy: str) -> None:
    """It hands in and exits, and for long nobody here can know that."""
    world.daemon(*SOON_PRESSING)
    world.begin({"dev:greet": [{"hold": "d", **COMMIT}]}, config=[cwd(alpha), "bring: branch"])
    world.until_works("dev:greet")
    gone = alpha.home / "hindered"
    gone.touch()
    world.go("d")
    world.until(lambda: failing(world))
    world.until(lambda: world.believed("dev:greet") == "unreachable")
    for said in (world.task("status", "t1").out, world.task("hosts").out, world.task("why", "t1").out):
        flat = " ".join(said.split())
        assert why in flat
        assert re.search(r"since .*\b\d\d:\d\d\b", flat), flat
    (question,) = world.until(lambda: world.state_shown()["questions"], within=LONG)
    assert question["kind"] == "box"
    assert remedy in question["text"]
    assert not world.story().facts("looked"), "nobody looks for signs of work that cannot come"
    gone.unlink()
    logins = alpha.logins()
    assert world.task("checkin", "t1").code == 0
    world.until(lambda: not failing(world), within=10)
    world.until_is("complete")
    assert [step for _, step in world.lives] == ONE_EACH
    assert not world.state_shown()["questions"]
    assert alpha.logins() == logins
    world.check_once()


@pytest.mark.parametrize("settings", [{"limits__max_failed_launches": "2"}], ids=["two tries"])
@pytest.mark.parametrize(
    ("file", "text", "cause"),
    [
        pytest.param(
            ".bash_profile",
            "exit 3\n",
            "did not send the environment of a login",
            marks=pytest.mark.thorough(reason="another fault of the same launch"),
        ),
        (".bashrc", NO_TMUX, "tmux is not on the PATH"),
        pytest.param(
            ".bashrc",
            "rsync() { return 127; }\n",
            "rsync did not start",
            marks=pytest.mark.thorough(reason="another cause of the same question"),
        ),
        pytest.param(
            ".bashrc",
            "echo Welcome\n",
            "must print nothing",
            marks=pytest.mark.thorough(reason="another cause of the same question"),
        ),
    ],
    ids=["login", "no_tmux", "rsync", "banner"],
)
def test_launch_that_fails_again_and_again_is_a_question(
    boxes: Boxes, world: World, file: str, text: str, cause: str
) -> None:
    """What keeps it from a box comes up after the task was started; mended and answered, the task goes on."""
    box = furnished(boxes, world, "alpha")
    world.begin({"explore": [{"hold": "e"}], "dev:greet": [COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_works("explore")
    if text is NO_TMUX:
        few = box.home / "few"
        few.mkdir()
        for program in Path("/usr/bin").iterdir():
            if program.name != "tmux":
                (few / program.name).symlink_to(program)
    (box.home / file).write_text(text)
    world.go("e")
    (question,) = world.until(lambda: world.state_shown()["questions"], within=LONG)
    assert cause in question["text"]
    assert not world.lives_of("dev:greet")
    (box.home / file).unlink()
    assert world.task("answer", "t1", question["id"], question["options"][0]).code == 0
    world.until_is("complete")
    assert [step for _, step in world.lives] == ONE_EACH
    world.check_once()


@pytest.mark.parametrize(
    "settings", [{"limits__retry_pause": "60 s", "limits__max_retry_pause": "60 s"}], ids=["long pauses"]
)
def test_asked_check_in_tries_a_failed_launch_at_once(boxes: Boxes, world: World) -> None:
    """By itself that is tried again after a pause that grows; whoever mended something need not wait for it."""
    box = furnished(boxes, world, "alpha")
    world.begin({"explore": [{"hold": "e"}], "dev:greet": [COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_works("explore")
    (box.home / ".bash_profile").write_text("exit 3\n")
    world.go("e")
    world.until(lambda: world.story().facts("launch_failed"))
    (box.home / ".bash_profile").unlink()
    assert world.task("checkin", "t1").code == 0
    world.until(lambda: world.lives_of("dev:greet"), within=20)
    world.until_is("complete")


@pytest.mark.thorough(reason="it waits out several bounds of a disk that hangs")
def test_folder_that_hangs_is_the_trouble_of_its_task_alone(boxes: Boxes, world: World) -> None:
    """It is on a disk of the box that does not answer: another task there goes on, and is never told of a lost box."""
    box = furnished(boxes, world, "alpha")
    for name in ("t1", "t2"):
        world.git("clone", "-q", str(world.project), str(box.home / name))
        there = [f"cwd: alpha:{box.home}/{name}", "bring: branch"]
        world.begin({"dev:greet": [{"hold": hold, **COMMIT} for hold in ("t1", "t2")]}, name, there)
        world.until(lambda name=name: world.agent("dev:greet", name))  # type: ignore[misc]
    with hanging(box, box.home / "t2/tasks/t2"):
        world.go("t1")
        world.until(lambda: world.stands("t1") == "complete", within=LONG)
        world.until(lambda: world.believed("dev:greet", "t2") == "unreachable", within=LONG)
        (row,) = json.loads(world.task("hosts", "--json").out)["boxes"]
        assert (row["state"], {each["task"] for each in row["failing"]}) == ("reachable", {"t2"})
    assert not world.story("t1").facts("box_lost")
    assert world.task("checkin", "t2").code == 0
    world.go("t2")
    world.until(lambda: world.stands("t2") == "complete", within=LONG)
    for name in ("t1", "t2"):
        world.check_once(name)
