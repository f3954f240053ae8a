"""A plan is applied whole or not at all: at a failure, after a kill at any step of it, and undone later."""

import os
import shutil
import signal

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import FileOperation, FileOperations, FullContent, OperationKind
from orchestrator.model.hands import Deletes
from orchestrator.workspaces.operations import transaction, tree
from orchestrator.workspaces.operations.plan import Policy, planned
from orchestrator.workspaces.operations.transaction import Failed, apply, recover, undo, undo_once, undoable

CALLS = ("open", "link", "rename", "unlink", "mkdir", "rmdir", "fsync", "fchmod", "write")


class Killed(BaseException):
    """The process ends here: nothing may catch it and go on."""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    (folder / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "deep" / "script").write_text("echo old\n")
    (folder / "deep" / "script").chmod(0o751)
    (folder / "gone").write_bytes(b"\xff\x00 bytes")
    (folder / "gone").chmod(0o600)
    (folder / "link").symlink_to("deep/script")
    return folder


def do(kind, path, text=None):
    return FileOperation(
        OperationKind(kind), str(path), "why it is needed", None if text is None else FullContent(text)
    )


def some_plan(root):
    operations = (
        do("create", root / "new" / "er" / "a", "a\n"),
        do("edit", root / "deep" / "script", "echo new\n"),
        do("append", root / "deep" / "script", "echo more\n"),
        do("delete", root / "gone"),
        do("create", root / "empty" / "b", "b\n"),
    )
    return planned(FileOperations(operations), Policy((root,), Deletes.ALLOW))


def picture(root):
    """Return all that lies below a folder: kinds, modes, targets of links, bytes."""
    found = {}
    for path in sorted(root.rglob("*")):
        what = path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(root))] = (path.lstat().st_mode, what)
    return found


def test_applied_as_planned(root, tmp_path):
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    assert (root / "deep" / "script").read_text() == "echo new\necho more\n"
    assert (root / "deep" / "script").stat().st_mode & 0o777 == 0o751
    assert (root / "new" / "er" / "a").read_text() == "a\n"
    assert not (root / "gone").exists()
    assert len(picture(root)) == 8  # and no temporary file
    log = (tmp_path / "t1" / "log").read_text().split("\n")
    assert log[:2] == ["begin 0", "done 0"]
    assert log[-2] == "whole"


def syncs(root, transaction_folder, count, monkeypatch):
    """Return how often something is synced while so many files are made."""
    seen, sync = list[int](), os.fsync

    def counted(descriptor):
        seen.append(descriptor)
        sync(descriptor)

    operations = tuple(do("create", root / "many" / f"f{nth}", "x") for nth in range(count))
    plan = planned(FileOperations(operations), Policy((root,)))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", counted)
        apply(DiskFiles(), transaction_folder, plan)
    shutil.rmtree(root / "many")
    return len(seen)


def test_each_file_is_synced_once(root, tmp_path, monkeypatch):
    """Names of files and lines of the log are synced together: else it takes four times as long as to write plainly."""
    few, many = (syncs(root, tmp_path / f"t{count}", count, monkeypatch) for count in (10, 30))
    assert many - few == 20


def test_names_are_durable_before_it_is_whole(root, tmp_path, monkeypatch):
    """Where they cannot be made so, all is rolled back, as after any other failure."""
    before, synced = picture(root), []

    def fails(root, parts):
        synced.append("/".join(parts))
        if parts == ("empty",):
            raise OSError("no room")

    monkeypatch.setattr(tree, "sync_folder", fails)
    with pytest.raises(Failed, match="no room"):
        apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    assert synced == ["", "new", "new/er", "deep", "empty"]
    assert picture(root) == before
    assert "whole" not in (tmp_path / "t1" / "log").read_text()


def test_unconfirmed_delete_writes_nothing(root, tmp_path):
    before = picture(root)
    plan = planned(FileOperations((do("delete", root / "gone"),)), Policy((root,)))
    with pytest.raises(Refused, match="not confirmed"):
        apply(DiskFiles(), tmp_path / "t1", plan)
    assert picture(root) == before


def test_failure_rolls_everything_back(root, tmp_path):
    """The last file came into being after the check: what was done before it is taken back."""
    plan = some_plan(root)
    (root / "empty" / "b").write_text("another's")
    before = picture(root)
    with pytest.raises(Failed, match="Operation 4: was changed by somebody else") as caught:
        apply(DiskFiles(), tmp_path / "t1", plan)
    assert picture(root) == before
    assert caught.value.left == (str(root / "empty" / "b"),)


def kill_at(count):
    """Have this process end by SIGKILL before the given one of all calls that could change a disk."""
    calls = [0]

    def counted(real):
        def call(*args, **kwargs):
            calls[0] += 1
            if calls[0] == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **kwargs)

        return call

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))


def killed(act, world, count):
    """Do something in a process of its own that is killed at a call; return whether it was killed before its end."""
    child = os.fork()
    if not child:
        try:
            kill_at(count)
            act(world)
        except BaseException:  # noqa: BLE001 (a forked child ends here, whatever it was)
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in {0, signal.SIGKILL}
    return bool(status)


STRIDES = [
    pytest.param(1, marks=pytest.mark.thorough(reason="a process for each call: CI takes each seventh")),
    7,
]


def swept(act, settle, make, stride):
    """Do something with a kill at each call in turn, or each seventh, and settle it; return how many calls it has."""
    count = 0
    while True:
        count += stride
        world = make(count)
        if not killed(act, world, count):
            return count
        settle(world)


@pytest.fixture
def make(root, tmp_path):
    """Make worlds of their own, each the same as `root`."""

    def new(count):
        world = tmp_path / f"w{count}"
        shutil.copytree(root, world / "root", symlinks=True)
        return world

    return new


@pytest.mark.parametrize("stride", STRIDES)
def test_killed_at_any_call_it_is_whole_or_undone(root, make, stride):
    before = picture(root)
    plans, after = {}, dict[str, object]()

    def new(count):
        world = make(count)
        plans[world] = some_plan(world / "root")
        return world

    def settle(world):
        assert recover(DiskFiles(), world / "t") == ()
        found = picture(world / "root")
        log = world / "t" / "log"
        whole = log.exists() and "whole\n" in log.read_text()
        assert found == (after if whole else before)
        assert recover(DiskFiles(), world / "t") == ()
        assert picture(world / "root") == found

    first = new(0)
    apply(DiskFiles(), first / "t", plans[first])
    after |= picture(first / "root")
    assert swept(lambda world: apply(DiskFiles(), world / "t", plans[world]), settle, new, stride) > 100


@pytest.mark.parametrize("stride", STRIDES)
def test_recovery_itself_may_be_killed(root, make, stride):
    """Undoing is the same way back: killed at any call, the next start finishes it."""
    before = picture(root)

    def new(count):
        world = make(count)
        apply(DiskFiles(), world / "t", some_plan(world / "root"))
        return world

    def settle(world):
        words = (world / "t" / "log").read_text()
        recover(DiskFiles(), world / "t")
        if "undoing\n" in words:
            assert picture(world / "root") == before
        else:
            undo(DiskFiles(), world / "t")
            assert picture(world / "root") == before

    assert swept(lambda world: undo(DiskFiles(), world / "t"), settle, new, stride) > 50


def test_undo_restores_everything(root, tmp_path):
    before = picture(root)
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    undo(DiskFiles(), tmp_path / "t1")
    assert picture(root) == before
    with pytest.raises(Refused, match="nothing to undo"):
        undo(DiskFiles(), tmp_path / "t1")


def test_undo_is_refused_if_something_changed(root, tmp_path):
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    (root / "new" / "er" / "a").write_text("by hand")
    now = picture(root)
    with pytest.raises(Refused, match=r"changed since: .*/new/er/a"):
        undo(DiskFiles(), tmp_path / "t1")
    assert picture(root) == now


@pytest.mark.parametrize("instead", ["link", "folder"])
def test_what_took_the_place_of_a_file_is_a_change(root, tmp_path, instead):
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    (root / "new" / "er" / "a").unlink()
    if instead == "link":
        (root / "new" / "er" / "a").symlink_to(root / "link")
    else:
        (root / "new" / "er" / "a").mkdir()
    now = picture(root)
    with pytest.raises(Refused, match=r"changed since: .*/new/er/a"):
        undo_once(DiskFiles(), tmp_path / "t1")
    assert picture(root) == now


def test_looking_at_what_could_be_undone_changes_nothing(root, tmp_path):
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    now = picture(root)
    files = undoable(DiskFiles(), tmp_path / "t1")
    assert [path.removeprefix(f"{root}/") for path in files] == ["deep/script", "empty/b", "gone", "new/er/a"]
    assert picture(root) == now


def test_undoing_once_more_changes_nothing(root, tmp_path):
    """The daemon may have been killed before it knew that it was done; meanwhile somebody worked on."""
    before = picture(root)
    apply(DiskFiles(), tmp_path / "t1", some_plan(root))
    undo_once(DiskFiles(), tmp_path / "t1")
    assert picture(root) == before
    (root / "gone").write_text("by hand")
    now = picture(root)
    undo_once(DiskFiles(), tmp_path / "t1")
    assert picture(root) == now


def test_recovery_leaves_what_others_wrote(root, tmp_path, monkeypatch):
    plan = some_plan(root)

    def ended(place):
        raise Killed

    monkeypatch.setattr(transaction, "_verify", ended)
    with pytest.raises(Killed):
        apply(DiskFiles(), tmp_path / "t1", plan)
    (root / "new" / "er" / "a").write_text("by hand")
    assert recover(DiskFiles(), tmp_path / "t1") == (str(root / "new" / "er" / "a"),)
    assert (root / "new" / "er" / "a").read_text() == "by hand"
