"""The PM's own folder under a real daemon: closed whatever the umask, and nothing of others in it is believed."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.another_user import by_root, give_away
from tests.integration.daemon.world import World

HOLD = {"hold": "on"}


@contextmanager
def umask(mask: int) -> Iterator[None]:
    """Let everything that is started meanwhile inherit this umask."""
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def open_to_others(state: Path) -> dict[str, str]:
    """Return what in the PM's own folder is not its user's alone. Trees hold the project's files, behind 0700."""
    found = {}
    # By os.walk, which passes over a folder that goes while it looks: the daemon goes on writing, and tidies up.
    there = [Path(top, name) for top, folders, files in os.walk(state) for name in (*folders, *files)]
    for path in [state, *there]:
        name = path.relative_to(state)
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
            if name.parts[:1] != ("worktrees",) and mode & 0o777 != wanted:
                found[str(name)] = oct(mode)
    return found


@pytest.mark.parametrize(
    "mask",
    [
        0o000,
        *(
            pytest.param(mask, marks=pytest.mark.thorough(reason="masks that hide more"))
            for mask in (0o002, 0o022, 0o077)
        ),
    ],
)
def test_own_files_are_private_under_any_umask(world: World, mask: int) -> None:
    """Also where the tmux server was there before, with a umask of its own."""
    with umask(mask):
        world.tmux.tmux("new-session", "-d", "-s", "users-own")
        world.let({"dev:greet": [{"flood": 200_000}]})
        world.brief()
        assert world.task("start", "t1", "--project", str(world.project)).code == 0  # starts the daemon, too
    world.until_is("complete")
    world.check_nobody_is_left()
    assert open_to_others(world.state) == {}
    assert (world.home() / "runs").is_dir()


def test_a_daemon_in_the_foreground_closes_its_folder_too(world: World) -> None:
    with umask(0o000):
        world.launched()
        world.until(lambda: world.beat)
        world.begin()
    world.until_is("complete")
    world.check_nobody_is_left()
    left_open = open_to_others(world.state)
    left_open.pop("daemon.log", None)  # made by this test, before the daemon
    assert left_open == {}


@by_root
@pytest.mark.parametrize("world", [{"daemon__rescan": "1 s"}], indirect=True)
@pytest.mark.parametrize(
    "what",
    [
        "journal/0000000001.jsonl",
        *(
            pytest.param(each, marks=pytest.mark.thorough(reason="the file in it stands beside it"))
            for each in ("journal", ".")
        ),
    ],
)
def test_task_with_foreign_files_is_left_alone_then_resumed(world: World, what: str) -> None:
    """A task with files of another user is left alone said and taken up again."""
    world.begin({"plan": [HOLD]}, name="t1")
    world.until_works("plan")
    world.stop_daemon()
    foreign = world.home() / what
    owner = foreign.stat().st_uid
    give_away(foreign)
    world.daemon()
    said = world.task("start", "t2", "--project", str(world.project), environ={"EDITOR": ""})
    assert said.code == 2  # a task of its own goes its way as ever: its task.md is blank
    request = world.ask("checkin", "t1") if what != "." else None
    if request:
        world.until(lambda: request.with_name(f"{request.stem}.reply.json").exists())
        reply = json.loads(request.with_name(f"{request.stem}.reply.json").read_bytes())
        assert not reply["ok"]
        assert "belongs to user 12345, not to you" in reply["message"]
    world.until(lambda: "is not opened" in world.log)
    assert world.log.count("belongs to user 12345") == 1
    os.chown(foreign, owner, -1)
    world.ask("checkin", "t1")
    world.go("on")
    world.until_is("complete")
    world.check_once()


@by_root
def test_a_request_of_another_user_is_refused_and_taken_away(world: World) -> None:
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    planted = world.root / "planted"
    name = "20260101000000-00000001"
    planted.write_text(json.dumps({"id": name, "verb": "stop", "at": 1.0, "arguments": {}}))
    give_away(planted).rename(world.home() / "requests" / f"{name}.json")
    reply = world.home() / "requests" / f"{name}.reply.json"
    world.until(reply.exists)
    assert "belongs to user 12345" in json.loads(reply.read_bytes())["message"]
    assert world.stands() == "running"
    world.until(lambda: not (world.home() / "requests" / f"{name}.json").exists())  # it is answered first


def test_a_request_that_is_a_link_is_refused_and_taken_away(world: World) -> None:
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    name = "20260101000000-00000001"
    elsewhere = world.root / "elsewhere.json"
    elsewhere.write_text(json.dumps({"id": name, "verb": "stop", "at": 1.0, "arguments": {}}))
    link = world.home() / "requests" / f"{name}.json"
    part = world.root / "link"
    part.symlink_to(elsewhere)
    part.rename(link)
    world.until(link.with_name(f"{name}.reply.json").exists)
    world.until(lambda: not link.is_symlink())  # removed behind the reply
    assert world.stands() == "running"
    assert elsewhere.exists()


@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_no_daemon_starts_on_a_lock_that_others_can_write(world: World, mode: int) -> None:
    world.state.mkdir(mode=0o700)
    (world.state / "daemon.lock").touch()
    (world.state / "daemon.lock").chmod(mode)
    ended = world.launched()
    assert ended.wait(timeout=20) == 1
    assert "daemon.lock can be written by others: look at it, then `chmod go-w" in world.log


def test_no_daemon_starts_in_a_folder_that_others_could_fill(world: World) -> None:
    world.state.mkdir()
    world.state.chmod(0o777)
    (world.state / "planted").touch()
    ended = world.launched(log=world.root / "log")
    assert ended.wait(timeout=20) == 1
    assert "can be written by others" in (world.root / "log").read_text()
    said = world.task("list")
    assert said.code == 2
    assert "can be written by others" in said.err


def test_what_killed_writes_left_is_swept_at_the_start(world: World) -> None:
    folder = world.begin()
    world.until_is("complete")
    world.stop_daemon()
    (run, *_) = (world.home() / "runs").iterdir()
    there = [world.state, world.home(), world.home() / "requests", world.home() / "journal", run]
    there += [folder, folder / "handoffs"]
    old = [each / f".tmp-{number:016x}" for number, each in enumerate(there)]
    for left in old:
        left.touch()
        os.utime(left, (time.time() - 3600,) * 2)
    young = world.home() / ".tmp-00000000000000ff"
    young.touch()
    world.daemon()
    world.until(lambda: "7 temporary files" in world.log)
    # Beside the young one there may be what the daemon is writing at this moment.
    assert not [left for left in old if left.exists()]
    assert young.exists()


@pytest.mark.thorough(reason="unit/scribe/test_scribe.py and unit/daemon/test_state_files.py rename it")
@pytest.mark.parametrize("page", ["progress.md", "pm_state.json"])
def test_folder_in_place_of_a_page_is_kept(world: World, page: str) -> None:
    """A folder in the place of a page is kept and the page goes on."""
    folder = world.begin({"plan": [HOLD]})
    world.until_works("plan")
    world.until((folder / page).exists)
    (folder / page).unlink()
    (folder / page).mkdir()
    (folder / page / "notes.txt").write_text("somebody's work")
    world.go("on")
    world.until_is("complete")
    world.until(lambda: (folder / page).is_file() and "COMPLETE" in (folder / page).read_text())
    assert (folder / f"{page}.set-aside-1" / "notes.txt").read_text() == "somebody's work"
    assert f"{page} was a folder: it is kept as {page}.set-aside-1" in world.log


def test_no_agent_commands_agents_however_it_hides(world: World) -> None:
    """From within a real run, with all that it knows of the run taken out of the environment."""
    hidden = [
        "env", "-i", f"PATH={os.environ['PATH']}", f"HOME={world.environ['HOME']}",
        f"PYTHONPATH={world.environ['PYTHONPATH']}", f"ORCHESTRATOR_HOME={world.state}",
        "ORCHESTRATOR_TMUX__SOCKET=test",
        sys.executable, "-P", "-m", "orchestrator.cli",
    ]  # fmt: skip
    world.begin({"explore": [{"run": [*hidden, "stop", "t1"]}], "plan": [{"run": [*hidden, "status", "t1"]}]})
    world.until_is("complete")
    artifacts = world.project / "tasks" / "t1" / "artifacts"
    said = (artifacts / "analysis" / "explore.md").read_text()
    assert said.startswith("exit 2\n")
    assert "is not for agents (this is run " in said
    looked = (artifacts / "design" / "plan.md").read_text()
    assert looked.startswith("exit 0\nt1  running"), looked
