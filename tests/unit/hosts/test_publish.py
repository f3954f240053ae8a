import errno
import os
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.publish import Publisher, together
from orchestrator.hosts.ssh.pulled_files import Known
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind

MIRROR, FOLDER, HOME = Path("/state/boxes/b/t/tree"), Path("/project/tasks/t"), Path("/state/tasks/t")
RUNS = frozenset({"r-1"})


class Killed(BaseException):
    pass


class World:
    """A mirror, what lies here, and a publisher that is made anew when it was killed."""

    def __init__(self):
        self.files = MemoryFiles()
        for folder in (MIRROR, FOLDER / "handoffs", HOME / "requests/events"):
            self.files.make_folder(folder)
        self.restart()

    def restart(self):
        self.files.before = None
        self.publisher = Publisher(
            self.files, Known(self.files, Path("/state/boxes/b/t/known")), MIRROR, FOLDER, HOME
        )

    def there(self, **contents):
        for name, content in contents.items():
            self.put(MIRROR / NAMES[name], content)

    def put(self, path, content):
        self.files.make_folder(path.parent)
        self.files.write(path, content)

    def here(self, name):
        root = FOLDER if NAMES[name].startswith(("handoffs", "artifacts")) else HOME
        return root / NAMES[name]

    def read(self, name):
        return self.files.read(self.here(name)) if self.files.entry(self.here(name)) else None

    def publish(self):
        return self.publisher.publish(self.publisher.news(RUNS), RUNS)


NAMES = {
    "report": "handoffs/dev-20251127-154500.md",
    "order": "handoffs/pm-20251127-154500.md",
    "artifact": "artifacts/code/a\nb",
    "event": "requests/events/r-1.1.1.json",
    "pid": "runs/r-1/pid",
    "exit": "runs/r-1/exit",
    "log": "runs/r-1/pane.log",
    "foreign": "runs/r-2/exit",
    "ours": "runs/r-1/order.md",
}
ALL = dict.fromkeys(NAMES, b"there")
MAY_COME = ("pid", "log", "artifact", "report", "event", "exit")


@pytest.fixture
def world():
    return World()


def test_files_are_published_in_the_order_of_their_making(world):
    world.there(**ALL)
    result = world.publish()
    assert result.brought == tuple(NAMES[name] for name in MAY_COME)
    assert result.refused == ((NAMES["order"], "only the PM writes pm-….md, and this is not what it wrote"),)
    assert {name: world.read(name) for name in NAMES} == {
        name: b"there" if name in MAY_COME else None for name in NAMES
    }


def test_what_is_known_is_not_looked_at_again(world):
    world.there(**ALL)
    world.publish()
    world.restart()
    assert world.publisher.news(RUNS) == {NAMES["order"]}
    assert together([world.publish()]) == together([])  # told once


def test_handled_events_and_removed_files_stay_away(world):
    world.there(event=b"a", artifact=b"a")
    world.publish()
    for name in ("event", "artifact"):
        world.files.remove(world.here(name))
        world.there(**{name: b"a"})  # rsync brought it again: the same bytes under a new stamp
    assert world.publish().brought == ()
    assert world.read("event") is world.read("artifact") is None


def test_conflict_keeps_the_local_file_and_is_reported(world):
    for name, number in [("report", 1), ("artifact", 1), ("report", 2)]:
        world.there(**{name: b"theirs %d" % number})
        world.publish()
        world.put(world.here(name), b"mine %d" % number)
        world.there(**{name: b"theirs again %d" % number})
        result = world.publish()
        kept = {
            "report": f"scratchpad/kept/dev-20251127-154500.kept-{number}.md",
            "artifact": "artifacts/code/a\nb.kept-1",
        }[name]
        assert result.kept == ((NAMES[name], kept),)
        assert world.files.read(FOLDER / kept) == b"mine %d" % number
        assert world.read(name) == b"theirs again %d" % number


def test_a_change_here_alone_stays(world):
    world.there(artifact=b"a")
    world.publish()
    world.put(world.here("artifact"), b"mine")
    world.there(artifact=b"a")
    assert world.publish() == together([])
    assert world.read("artifact") == b"mine"


def test_nothing_is_written_through_a_link(world):
    world.files.make_folder(Path("/elsewhere"))
    world.files.put(FOLDER / "artifacts/code", kind=Kind.LINK)
    world.there(artifact=b"a", report=b"b")
    result = world.publish()
    assert result.brought == (NAMES["report"],)
    assert result.refused == ((NAMES["artifact"], f"{FOLDER}/artifacts/code is not a folder"),)
    assert world.files.names(Path("/elsewhere")) == []


def test_blocked_file_is_reported_and_holds_up_nothing(world):
    world.put(FOLDER / "artifacts/code", b"mine")
    world.files.make_folder(world.here("report"))
    world.there(artifact=b"a", report=b"b", exit=b"c")
    result = world.publish()
    assert result.brought == (NAMES["exit"],)
    assert {name for name, _ in result.refused} == {NAMES["artifact"], NAMES["report"]}


def test_a_vanished_task_folder_is_not_made_anew(world):
    """It was made anew, and nobody was asked about it. What comes for it waits, and the end of its run behind it."""
    world.there(**ALL)
    world.files.delete(FOLDER)
    result = world.publish()
    assert world.files.entry(FOLDER) is None
    assert result.brought == tuple(NAMES[name] for name in ("pid", "log"))
    assert "gone" in result.ended
    world.files.make_folder(FOLDER)
    rest = ("artifact", "report", "event", "exit")
    assert world.publish().brought == tuple(NAMES[name] for name in rest)


def test_a_full_disk_is_said_and_the_rest_comes_later(world):
    world.there(**ALL)
    world.files.fail_next("write", OSError(errno.ENOSPC, "full"), world.here("report"))
    result = world.publish()
    assert result.brought == tuple(NAMES[name] for name in ("pid", "log", "artifact"))
    assert "full" in result.ended
    assert result.more
    assert world.publish().brought == tuple(NAMES[name] for name in ("report", "event", "exit"))


def test_a_name_that_cannot_be_here_holds_up_nothing(world):
    world.there(**ALL)
    world.files.fail_next("write", OSError(errno.ENAMETOOLONG, "too long"), world.here("artifact"))
    result = world.publish()
    assert NAMES["exit"] in result.brought
    assert (NAMES["artifact"], "it cannot have this name here: too long") in result.refused


def test_files_are_synced_in_batches_before_remembered(tmp_path, monkeypatch):
    for number in range(1000):
        path = tmp_path / f"tree/artifacts/{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("there")
    (tmp_path / "folder").mkdir()
    calls = list[str]()

    def noted(name, act):
        def call(*args):
            calls.append(name)
            return act(*args)

        return call

    monkeypatch.setattr(os, "sync", noted("sync", os.sync))
    monkeypatch.setattr(os, "fsync", noted("fsync", os.fsync))
    monkeypatch.setattr(Known, "keep", noted("keep", Known.keep))
    known = Known(DiskFiles(), tmp_path / "known")
    publisher = Publisher(DiskFiles(), known, tmp_path / "tree", tmp_path / "folder", tmp_path / "home")
    assert len(publisher.publish(publisher.news(()), ()).brought) == 1000
    assert calls.index("sync") < calls.index("keep")
    assert len(calls) < 20
    assert not Publisher(
        DiskFiles(), Known(DiskFiles(), tmp_path / "known"), tmp_path / "tree", tmp_path, tmp_path
    ).news(())


@pytest.mark.parametrize("power", [False, True])
def test_kill_before_any_write_loses_nothing(power):
    """No file is half there, and the next pull catches up."""
    number = 0
    while True:
        world = World()
        world.there(report=b"old", artifact=b"old")
        world.publish()
        world.put(world.here("report"), b"mine")
        world.there(**ALL)
        left = [number]

        def kill(step, path, left=left):
            if left[0] == 0:
                raise Killed
            left[0] -= 1

        world.files.before = kill
        try:
            world.publish()
            break
        except Killed:
            pass
        world.files.before = None
        world.files.crash(power=power)
        world.restart()
        for name in MAY_COME:
            assert world.read(name) in {None, b"there"} | (
                {b"mine"} if name == "report" else {b"old"} if name == "artifact" else set()
            )
        if world.read("exit"):
            assert all(world.read(name) == b"there" for name in MAY_COME)
        world.publish()
        assert [world.read(name) for name in MAY_COME] == [b"there"] * len(MAY_COME)
        assert world.files.read(FOLDER / "scratchpad/kept/dev-20251127-154500.kept-1.md") == b"mine"
        number += 1
    assert number > 20
