"""The shared status of a workflow, which others write at any moment, also while the daemon does: no edit is lost."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from orchestrator.daemon.core import shared_status
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.hosts import disk
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.workflow_records import AgentStatus
from orchestrator.ports.files import TEMPORARY, Files
from orchestrator.testing.memory_files import MemoryFiles
from tests.polling import wait_until
from tests.unit.pm.workflows import WorkflowStory, doer, plan_of

AGENTS = ("a", "b", "c")


class Shared:
    """A workflow of three agents that work, and of one that waits for a, with its shared status."""

    def __init__(self, files: Files, task: Path) -> None:
        self.files, self.path = files, task / "orchestration" / "shared_status.json"
        self.file = SharedStatusFile(WorkflowFolder(files, task))
        files.make_folder(self.path.parent)
        self.story = WorkflowStory(plan_of(*(doer(each) for each in AGENTS), doer("d", "a")))
        self.story.starts()
        self.file.publish(self.story.state)

    def edited(self, agent: str, **fields: Any) -> bytes:
        """Return the file as it is, with another entry of an agent."""
        document = json.loads(self.files.read(self.path))
        document["agents"][agent].update(fields)
        return json.dumps(document).encode()

    def entry(self, agent: str) -> dict[str, Any]:
        """Return what the file says of an agent."""
        return dict(json.loads(self.files.read(self.path))["agents"][agent])

    def publish_change(self) -> None:
        """Let the state change, and have the file written as before the launch of the verifier of c."""
        self.story.leaves("do:c")
        self.file.publish(self.story.state, own=("c",))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    shared_status.forget()
    yield
    shared_status.forget()


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(DiskFiles(), tmp_path)


@pytest.mark.parametrize("step", ["write", "rename"])
@pytest.mark.parametrize("renames", [True, False], ids=["renames", "writes in place"])
def test_edit_in_the_midst_of_a_publish_stays(step: str, *, renames: bool) -> None:
    """An agent writes between any two steps of the daemon's write. Both are in the file."""
    files = MemoryFiles()
    shared = Shared(files, Path("/task"))
    left = [shared.edited("a", status="ready_for_verification", mine=1)]

    def before(at: str, path: Path) -> None:
        if at == step and path == shared.path and left:
            data = left.pop()
            if renames:
                files.delete(path)
            files.put(path, data)

    files.before = before
    shared.publish_change()
    files.before = None
    assert not left
    assert shared.entry("a")["mine"] == 1
    assert shared.file.claim("a") is AgentStatus.READY
    assert shared.entry("c")["status"] == "ready_for_verification"


def test_edits_just_before_each_exchange_stay() -> None:
    """Whenever the daemon is about to replace the file, another one writes it, who read it at the beginning."""
    files = MemoryFiles()
    names = [f"agent{number:02}" for number in range(30)]
    task = Path("/task")
    shared = Shared(files, task)
    story = WorkflowStory(plan_of(*(doer(each) for each in names)))
    story.starts()
    shared_status.forget()
    shared.file.publish(story.state)
    first = json.loads(files.read(shared.path))
    left = list(names)

    def before(at: str, path: Path) -> None:
        if at == "rename" and path == shared.path and left:
            name = left.pop()
            entry = {**first["agents"][name], "mine": name}
            files.put(path, json.dumps({**first, "agents": {**first["agents"], name: entry}}).encode())

    files.before = before
    for _ in names:
        files.put(
            shared.path, json.dumps({**json.loads(files.read(shared.path)), "session_start": 1}).encode()
        )
        shared.file.publish(story.state)
    assert not left
    files.before = None
    shared.file.publish(story.state)
    agents = json.loads(files.read(shared.path))["agents"]
    assert [name for name in names if agents[name].get("mine") != name] == []


def test_edit_of_a_file_that_was_replaced_stays(shared: Shared) -> None:
    """An editor has the file open while the daemon replaces it, and writes then."""
    data = shared.edited("a", status="blocked")
    with shared.path.open("r+b") as editor:
        shared.publish_change()
        waits = shared.file.waits
        editor.write(data)
        editor.truncate()
    assert shared.file.claim("a") is AgentStatus.BLOCKED
    shared.file.publish(shared.story.state)
    assert shared.entry("a")["status"] == "blocked"
    assert shared.entry("c")["status"] == "ready_for_verification"
    assert (waits, shared.file.waits) == (True, False)
    assert not list(shared.path.parent.glob(f"{TEMPORARY}*"))


def test_half_written_file_is_left_alone(shared: Shared) -> None:
    """It is neither replaced nor kept as damaged, and what was known before counts meanwhile."""
    data = shared.edited("a", status="blocked")
    with shared.path.open("wb", buffering=0) as editor:
        editor.write(data[:50])
        inode = shared.path.stat().st_ino
        shared.file.publish(shared.story.state)
        assert shared.file.claim("a") is AgentStatus.WORKING
        assert shared.path.stat().st_ino == inode
        editor.write(data[50:])
    shared.file.publish(shared.story.state)
    assert shared.entry("a")["status"] == "blocked"
    assert not (shared.path.parent / "records").exists()


def test_launch_waits_for_no_writer(shared: Shared) -> None:
    """The entry of a run that is about to begin is put back all the same, and the edit comes in later."""
    data = shared.edited("b", status="blocked")
    with shared.path.open("wb", buffering=0) as editor:
        editor.write(data[:50])
        shared.file.publish(shared.story.state, own=("a",))
        assert shared.entry("a")["status"] == "working"
        editor.write(data[50:])
    shared.file.publish(shared.story.state)
    assert shared.entry("b")["status"] == "blocked"


def test_late_launch_puts_back_what_its_last_run_claimed(shared: Shared) -> None:
    """Its state is older than that of another launch, which left the entry to the run that is about to begin."""
    before = shared.story.state
    shared.path.write_bytes(shared.edited("a", status="ready_for_verification"))
    shared.publish_change()
    assert shared.entry("a")["status"] == "ready_for_verification"
    shared.file.publish(before, own=("a",))
    assert shared.file.claim("a") is AgentStatus.WORKING
    assert shared.entry("c")["status"] == "ready_for_verification"


def test_a_claim_of_an_earlier_run_is_gone_once_a_run_is_opened(shared: Shared) -> None:
    """Another launch left it until the run's own. Agents wrote it back, and a later claim seemed a copy of theirs."""
    shared.path.write_bytes(shared.edited("c", status="blocked"))
    shared.story.leaves("do:c")
    for _ in range(2):
        shared.file.publish(shared.story.state)
        assert shared.entry("c")["status"] == "ready_for_verification"
    shared.file.publish(shared.story.state, own=("c",))
    shared.path.write_bytes(shared.edited("c", status="verified"))
    shared.file.publish(shared.story.state)
    assert shared.entry("c")["status"] == "verified"


def test_many_launches_at_once_are_one_write(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes while the file is written is written for by the next one, with all others."""
    for each in AGENTS:
        shared.path.write_bytes(shared.edited(each, status="blocked"))
    exchanges, exchange = [], DiskFiles.exchange

    def counted(self: DiskFiles, path: Path, data: bytes, mode: int = 0o600) -> Path | None:
        exchanges.append(path.name)
        return exchange(self, path, data, mode)

    monkeypatch.setattr(DiskFiles, "exchange", counted)
    known = shared_status._known[shared.file.folder.task]
    launches = [Thread(target=shared.file.publish, args=(shared.story.state, (each,))) for each in AGENTS]
    with known.lock:
        for launch in launches:
            launch.start()
        wait_until(lambda: len(known.asked) == len(AGENTS))
    for launch in launches:
        launch.join()
    assert exchanges == [shared.path.name]
    assert {shared.entry(each)["status"] for each in AGENTS} == {"working"}
    assert not known.asked


def test_failed_write_fails_for_each_launch(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody takes the failure of another one's write for a success."""
    for each in ("a", "b"):
        shared.path.write_bytes(shared.edited(each, status="blocked"))
    known = shared_status._known[shared.file.folder.task]
    full = OSError(errno.ENOSPC, "full")
    failed = list[OSError]()

    def fails(*_: object) -> Path | None:
        raise full

    def launch(agent: str) -> None:
        try:
            shared.file.publish(shared.story.state, own=(agent,))
        except OSError as error:
            failed.append(error)

    monkeypatch.setattr(DiskFiles, "exchange", fails)
    launches = [Thread(target=launch, args=(each,)) for each in ("a", "b")]
    with known.lock:
        for running in launches:
            running.start()
        wait_until(lambda: len(known.asked) == len(launches))
    for running in launches:
        running.join()
    assert failed == [full, full]
    assert not known.asked


def test_claims_of_two_old_copies_stay(shared: Shared) -> None:
    """a and b read the same file, and write one after the other."""
    of_a, of_b = shared.edited("a", status="blocked"), shared.edited("b", status="blocked")
    shared.path.write_bytes(of_a)
    assert shared.file.claim("a") is AgentStatus.BLOCKED
    shared.path.write_bytes(of_b)
    shared.file.publish(shared.story.state)
    assert [shared.entry(each)["status"] for each in ("a", "b")] == ["blocked", "blocked"]
    assert shared.file.refused(shared.story.state) == ()


def test_forbidden_edit_that_was_put_back_is_reported(shared: Shared) -> None:
    """The thread that shows the state may be faster than the one that looks for edits. It is told once."""
    shared.path.write_bytes(shared.edited("d", status="verified"))
    shared.file.publish(shared.story.state)
    assert shared.entry("d")["status"] == "pending"
    assert shared.file.refused(shared.story.state) == ("d.status was set to verified; it is pending",)
    assert shared.file.refused(shared.story.state) == ()


def test_forbidden_edit_is_reported_once(shared: Shared) -> None:
    shared.path.write_bytes(shared.edited("a", dependencies=[{"b": 1}]))
    shown = shared.file.refused(shared.story.state)
    assert shown == ("a.dependencies were changed; they are those of the plan",)
    shared.file.publish(shared.story.state)
    assert shared.entry("a")["dependencies"] == []
    assert shared.file.refused(shared.story.state) == ()


def test_removed_entry_keeps_its_claim(shared: Shared) -> None:
    shared.path.write_bytes(shared.edited("a", status="blocked"))
    assert shared.file.claim("a") is AgentStatus.BLOCKED
    document = json.loads(shared.path.read_bytes())
    del document["agents"]["a"]
    shared.path.write_bytes(json.dumps(document).encode())
    assert shared.file.refused(shared.story.state) == ("the entry of a was removed",)
    shared.file.publish(shared.story.state)
    assert shared.entry("a")["status"] == "blocked"


def test_damaged_entry_takes_nothing_from_others(shared: Shared) -> None:
    """Fields that nobody knows stay, whatever one agent puts in the place of its status."""
    shared.path.write_bytes(shared.edited("b", mine=1))
    shared.file.publish(shared.story.state)
    shared.path.write_bytes(shared.edited("a", status={"no": "word"}))
    shared.file.publish(shared.story.state)
    assert shared.entry("b")["mine"] == 1
    assert shared.entry("a")["status"] == "working"


def _cannot(number: int) -> Callable[..., bool]:
    def swapped(one: Path, other: Path) -> bool:
        raise OSError(number, os.strerror(number), str(other))

    return swapped


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL])
def test_edit_stays_where_names_cannot_be_swapped(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A file system without that call: what the replaced file got is read all the same."""
    monkeypatch.setattr(disk, "swapped", _cannot(number))
    data = shared.edited("a", status="blocked")
    with shared.path.open("r+b") as editor:
        shared.publish_change()
        editor.write(data)
        editor.truncate()
    shared.file.publish(shared.story.state)
    assert [shared.entry(each)["status"] for each in ("a", "c")] == ["blocked", "ready_for_verification"]


def test_removed_file_is_written_again(shared: Shared) -> None:
    shared.path.write_bytes(shared.edited("a", status="blocked"))
    assert shared.file.claim("a") is AgentStatus.BLOCKED
    shared.path.unlink()
    shared.file.publish(shared.story.state)
    assert shared.entry("a")["status"] == "blocked"
