"""Edits of archived handoffs: a receiver's is heard, any other is put back byte for byte and told (C3)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core import archived_handoffs, role_statuses
from orchestrator.daemon.core.archived_handoffs import PAUSE, SETTLE, ArchivedHandoffs
from orchestrator.daemon.projections.role_files import RoleFiles
from orchestrator.formats.coordination.handoff import read_handoff
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import HandoffStatus
from orchestrator.model.facts import EditsRefused, RoleHandoffEdited
from orchestrator.pm.plan.orders import instructions_for
from orchestrator.ports.files import Files
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.role_story import RoleStory, issue

needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


class Archived:
    """A task of roles whose implementer works on what the planner handed on, with its archive."""

    def __init__(self, files: Files, task: Path, checks: tuple[str, ...] = ()) -> None:
        self.disk, self.task = files, task
        self.story = RoleStory(checks=checks)
        self.begin()
        self.story.hands_on("plan")
        self.story.comes_alive("implement")
        self.show()
        self.key = next(iter(self.story.state.handoffs))

    def begin(self) -> None:
        """A daemon begins: it remembers nothing."""
        self.disk.make_folder(self.task)
        archived_handoffs.forget()
        role_statuses.forget()
        self.writer = RoleFiles(self.disk, self.task)
        self.files = ArchivedHandoffs(self.disk, self.task / "data" / "handoffs")

    def show(self) -> None:
        self.writer.show(self.story.state, self.story.at)

    def look(self, *, last: bool = False, whole: bool = True) -> list[tuple[str, ...]]:
        """Have what was written heard and shown, as a daemon does; return what was refused."""
        self.story.at += PAUSE
        refused = []
        for each in self.files.look(self.story.state, self.story.at, None if whole else (), last=last):
            at, said = self.story.at, each.edit
            if said.refused:
                refused.append(said.refused)
                self.story.feed(EditsRefused(at, "n", said.refused, each.file, each.handoff))
            else:
                self.story.feed(RoleHandoffEdited(at, "n", each.run, each.handoff, said.status, said.issues))
        self.show()
        return refused

    def path(self, key: str = "") -> Path:
        (day,) = [each for each in self.disk.entries(self.files.root) if each.is_folder]
        return self.files.root / day.name / f"{key or self.key}.json"

    def says(self, key: str = "") -> dict[str, Any]:
        return dict(json.loads(self.disk.read(self.path(key))))

    def edit(self, change: Callable[[dict[str, Any]], object], key: str = "") -> None:
        """Change the file, as `jq … > tmp; mv` does."""
        whole = self.says(key)
        change(whole)
        self.disk.write(self.path(key), json.dumps(whole).encode())

    def status(self, key: str = "") -> HandoffStatus | None:
        return self.story.state.handoffs[key or self.key].handoff.head.status

    def agrees(self) -> bool:
        """Return whether each file says what the journal says."""
        return all(
            read_handoff(self.disk.read(self.path(key)), f"{key}.json") == each.handoff
            for key, each in self.story.state.handoffs.items()
        )


def sets(status: str) -> Callable[[dict[str, Any]], object]:
    return lambda whole: whole["handoff"].update(status=status)


def adds(*why: str) -> Callable[[dict[str, Any]], object]:
    return lambda whole: whole["issues"].extend(issue(each) for each in why)


def rejects(*why: str) -> Callable[[dict[str, Any]], object]:
    return lambda whole: (sets("rejected")(whole), adds(*why)(whole))


def adds_a_field(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda whole: whole["context"].update({name: 1})


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    yield
    archived_handoffs.forget()
    role_statuses.forget()


@pytest.fixture
def archived() -> Archived:
    return Archived(MemoryFiles(), Path("/project/tasks/demo"))


def test_nothing_edited_is_no_fact(archived: Archived, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor read again: only the entries of open handoffs are looked at."""
    before = archived.story.state
    assert archived.look() == []
    read = list[Path]()
    monkeypatch.setattr(archived.disk, "read", read.append)
    assert archived.files.look(archived.story.state, archived.story.at) == []
    assert (archived.story.state, read) == (before, [])


def test_rejection_goes_to_the_source(archived: Archived) -> None:
    """Its next order says why; the receiver's order is closed, and what it says later is not of it."""
    run = archived.story.run_of("implement")
    archived.edit(rejects("No criteria"))
    assert archived.look() == []
    assert archived.status() is HandoffStatus.ACCEPTED, "more of it may come"
    assert archived.look() == []
    assert archived.status() is HandoffStatus.REJECTED
    assert run.order not in archived.story.state.orders
    assert "plan" in archived.story.works_on()
    assert "No criteria" in archived.story.state.steps["plan"].feedback[-1]
    assert archived.says()["issues"][-1] == issue("No criteria")
    assert archived.agrees()


def test_reasons_may_come_as_a_further_edit(archived: Archived) -> None:
    """As the document has it: the status first, then the issues."""
    archived.edit(sets("rejected"))
    assert archived.look() == []
    assert archived.look() == []
    assert archived.status() is HandoffStatus.ACCEPTED
    archived.edit(adds("No criteria"))
    for _ in range(2):
        assert archived.look() == []
    assert archived.status() is HandoffStatus.REJECTED


def test_rejection_without_a_reason_is_put_back(archived: Archived) -> None:
    """When its writer's run ends. While that lives, they may come."""
    before = archived.disk.read(archived.path())
    archived.edit(sets("rejected"))
    assert archived.look() == []
    (refused,) = archived.look(last=True)
    assert refused
    assert archived.disk.read(archived.path()) == before
    assert archived.status() is HandoffStatus.ACCEPTED


def test_completed_and_issues_are_recorded(archived: Archived) -> None:
    """The source reads of the issues in its next order, the user in a notice."""
    archived.edit(adds("No credentials"))
    assert archived.look() == []
    assert "No credentials" in archived.story.state.steps["plan"].feedback[-1]
    assert "No credentials" in archived.story.state.notices[-1]
    archived.edit(sets("completed"))
    assert archived.look() == []
    assert archived.status() is HandoffStatus.COMPLETED
    assert archived.agrees()
    archived.story.hands_on("implement")
    assert archived.story.works_on() == {"audit"}


@pytest.mark.parametrize(
    "change",
    [
        sets("pending"),
        lambda whole: whole["context"].update(scope="Another"),
        lambda whole: whole.update(issues=[]) or whole.update(nextSteps={}),
        lambda whole: whole["handoff"].update(status="done"),
    ],
    ids=["back", "field", "issues", "value"],
)
def test_illegal_edit_is_put_back_byte_for_byte(
    archived: Archived, change: Callable[[dict[str, Any]], object]
) -> None:
    """It is told once, and again only if it is made again. The file is as it was, also after a legal edit."""
    archived.edit(adds("first"))  # a file that is spelled otherwise than ours
    assert archived.look() == []
    before = archived.disk.read(archived.path())
    for _ in range(2):
        notices = len(archived.story.state.notices)
        archived.edit(change)
        assert len(archived.look()) == 1
        assert len(archived.story.state.notices) == notices + 1
        assert archived.path().name in archived.story.state.notices[-1]
        assert archived.disk.read(archived.path()) == before
        assert archived.look() == []


def test_what_was_put_back_is_in_the_receivers_next_order(archived: Archived) -> None:
    """It is the one that edits the file. It is no reason why another handoff takes the place of its own one."""
    archived.edit(sets("pending"))
    assert len(archived.look()) == 1
    archived.story.hands_on("implement")
    archived.story.hands_back("audit", "no tests")
    order = instructions_for(archived.story.state, archived.story.state.steps["implement"])
    assert archived.path().name in order
    assert "it is accepted" in order or "pending" in order
    archived.edit(sets("pending"))
    assert len(archived.look()) == 1
    archived.story.hands_on("implement")
    rejected = next(each for each in archived.story.state.handoffs.values() if each.step == "implement")
    assert "no tests" in str(rejected.handoff.issues)
    assert "data/handoffs" not in str(rejected.handoff.issues)


def test_edits_that_are_put_back_do_not_drive_out_reasons(archived: Archived) -> None:
    """However often they are made."""
    archived.story.hands_on("implement")
    archived.story.hands_back("audit", "no tests")
    archived.story.comes_alive("implement")
    for number in range(12):
        archived.edit(adds_a_field(f"x{number % 5}"))
        assert len(archived.look()) == 1
    feedback = archived.story.state.steps["implement"].feedback
    assert "no tests" in feedback[0]
    assert len(feedback) == len(set(feedback)) <= 4


def test_what_is_over_is_told_to_who_received_it(archived: Archived) -> None:
    """Its receiver set it to completed, and edits it again."""
    archived.edit(sets("completed"))
    assert archived.look() == []
    archived.edit(adds("one more"))
    (refused,) = archived.look()
    assert "completed" in refused[0]
    assert archived.path().name in archived.story.state.steps["implement"].feedback[-1]


def test_what_was_put_back_of_a_replanning_is_told_to_the_planner(archived: Archived) -> None:
    archived.story.wants_replanning("implement", "no such file")
    archived.show()
    key = list(archived.story.state.handoffs)[-1]
    archived.story.comes_alive("plan")
    archived.show()
    archived.edit(sets("pending"), key)
    assert len(archived.look()) == 1
    assert key in archived.story.state.steps["plan"].feedback[-1]


def test_nobody_else_edits() -> None:
    """Neither a handoff that is still checked, so that nobody has it, nor one that is over."""
    archived = Archived(MemoryFiles(), Path("/project/tasks/demo"), checks=("auditor",))
    story = archived.story
    story.hands_on("implement")
    archived.show()
    key = list(story.state.handoffs)[-1]
    before = archived.disk.read(archived.path(key)), archived.disk.read(archived.path())
    archived.edit(adds("a stranger's"), key)
    archived.edit(adds("too late"))
    assert len(archived.look()) == 2
    assert (archived.disk.read(archived.path(key)), archived.disk.read(archived.path())) == before


@pytest.mark.parametrize(
    "damage",
    [b"{", b"\xff", b"[]", b"{}", b" " * (2 << 20)],
    ids=["half", "binary", "list", "empty", "large"],
)
def test_what_does_not_read_is_put_back(archived: Archived, damage: bytes) -> None:
    """No JSON, no handoff, too large: it is told, and a removed file is there again."""
    before = archived.disk.read(archived.path())
    archived.disk.write(archived.path(), damage)
    assert len(archived.look()) == 1
    assert archived.disk.read(archived.path()) == before
    archived.disk.remove(archived.path())
    assert len(archived.look()) == 1
    assert archived.disk.read(archived.path()) == before


def test_link_in_its_place_is_put_back(tmp_path: Path) -> None:
    """What it leads to is neither read nor written."""
    archived = Archived(DiskFiles(), tmp_path)
    other = tmp_path / "other.json"
    other.write_bytes(archived.path().read_bytes())
    archived.path().unlink()
    archived.path().symlink_to(other)
    other.write_text(other.read_text().replace("accepted", "completed"))
    assert len(archived.look()) == 1
    assert archived.path().is_file()
    assert not archived.path().is_symlink()
    assert archived.agrees()


def test_edit_that_was_not_told_is_not_overwritten(archived: Archived) -> None:
    """Whichever comes first, the look or the write of a newer state: the edit is heard, and nothing is lost."""
    archived.edit(adds("in between"))
    archived.story.comes_alive("implement")
    archived.show()
    assert archived.look() == []
    assert archived.story.state.handoffs[archived.key].handoff.issues
    assert archived.agrees()


def test_killed_at_any_write_the_archive_is_whole(archived: Archived) -> None:
    """After an illegal and a legal edit, whichever write was a daemon's last: the next one completes it."""
    number = 0
    while True:
        world = Archived(MemoryFiles(), archived.task)
        world.edit(sets("pending") if number % 2 else rejects("no"))
        left = [number // 2]

        def before(*_: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KilledError

        world.disk.before = before  # type: ignore[attr-defined]
        try:
            world.look()
            world.look()
        except KilledError:
            number += 1
        else:
            assert number > 4
            return
        world.disk.before = None  # type: ignore[attr-defined]
        world.begin()
        for _ in range(3):
            world.look()
        assert world.agrees()
        assert len(world.story.state.handoffs) == len(world.disk.entries(world.path().parent)) - 1


class KilledError(BaseException):
    pass


@needs_jq
def test_the_documents_own_commands_are_heard(tmp_path: Path) -> None:
    """`jq … > tmp; mv`, as they stand, for a rejection."""
    archived = Archived(DiskFiles(), tmp_path)
    script = """set -eu
    jq '.handoff.status = "rejected"' "$HANDOFF_FILE" > "${HANDOFF_FILE}.tmp"
    mv "${HANDOFF_FILE}.tmp" "$HANDOFF_FILE"
    jq '.issues += [{
      "severity": "critical",
      "description": "Handoff missing acceptanceCriteria field",
      "recommendation": "PLANNER must provide specific success criteria"
    }]' "$HANDOFF_FILE" > "${HANDOFF_FILE}.tmp"
    mv "${HANDOFF_FILE}.tmp" "$HANDOFF_FILE"
    """
    env = {"PATH": "/usr/bin:/bin:/usr/local/bin", "HANDOFF_FILE": str(archived.path())}
    subprocess.run(["sh", "-c", script], check=True, env=env, timeout=60)
    archived.story.at += SETTLE
    for _ in range(2):
        assert archived.look() == []
    assert archived.status() is HandoffStatus.REJECTED
    assert "specific success criteria" in archived.story.state.steps["plan"].feedback[-1]
