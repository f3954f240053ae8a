"""The archive of what roles hand on, as a view of the state: whole after any kill; a failed write is reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core import archived_handoffs
from orchestrator.daemon.core.archived_handoffs import ArchivedHandoffs
from orchestrator.daemon.projections.role_files import RoleFiles
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Files
from orchestrator.records import shared_archive
from orchestrator.records.archive import HandoffArchive, open_archive
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.role_story import RoleStory
from tests.unit.pm.story import Story

FOLDER = Path("/project/tasks/demo")
ROOT = FOLDER / "data" / "handoffs"
AT = 1_764_254_700.0


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Remember nothing of another test."""
    archived_handoffs.forget()
    yield
    archived_handoffs.forget()


class KilledError(BaseException):
    pass


def with_folder() -> MemoryFiles:
    """Return files with the task's folder."""
    files = MemoryFiles()
    files.make_folder(FOLDER)
    return files


def tree(files: MemoryFiles, root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Return the records of the archive, by name."""
    days = [each.name for each in files.entries(root) if each.is_folder]
    found = {entry.name: root / day / entry.name for day in days for entry in files.entries(root / day)}
    return {name: json.loads(files.read(path)) for name, path in found.items()}


def states_of_a_story() -> list[Any]:
    """Return the same story at several moments: a rejected handoff, a failed audit, the end."""
    story = RoleStory()
    moments = [lambda: story.hands_on("plan", nextSteps=None), lambda: story.hands_on("plan")]
    moments += [lambda: story.hands_on("implement"), lambda: story.hands_back("audit", "it leaks")]
    moments += [lambda: story.hands_on("implement"), lambda: story.hands_on("audit")]
    moments += [lambda: story.hands_on("clean"), story.closes]
    states = []
    for happens in moments:
        happens()
        states.append(story.state)
    return states


STATES: list[Any] = states_of_a_story()


def shown(*states: Any) -> MemoryFiles:
    archived_handoffs.forget()
    files = with_folder()
    writer = RoleFiles(files, FOLDER)
    for state in states:
        writer.show(state, AT)
    archived_handoffs.forget()
    return files


def test_archive_does_not_depend_on_what_was_seen() -> None:
    """Written at each change, at the end alone, or by a daemon that began between: it is the same."""
    whole = tree(shown(STATES[-1]))
    assert tree(shown(*STATES)) == whole
    files = shown(*STATES[:3])
    RoleFiles(files, FOLDER).show(STATES[-1], AT)
    assert tree(files) == whole
    statuses = sorted(each["handoff"]["status"] for each in whole.values() if "handoff" in each)
    assert statuses == [*["completed"] * 4, *["rejected"] * 2]
    (chain,) = [each for each in whole.values() if "chainId" in each]
    assert (chain["outcome"], len(chain["handoffs"])) == ("success", 6)


def test_kill_at_any_write_costs_nothing() -> None:
    """Whichever write was the last of a daemon, the next one completes the archive."""
    whole, number = tree(shown(STATES[-1])), 0
    while True:
        files, left = with_folder(), [number]

        def before(*_: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KilledError

        files.before = before
        try:
            RoleFiles(files, FOLDER).show(STATES[-1], AT)
        except KilledError:
            files.before = None
            archived_handoffs.forget()
            RoleFiles(files, FOLDER).show(STATES[-1], AT)
            assert tree(files) == whole
            number += 1
            continue
        assert number > 7
        return


def test_what_stands_in_the_way_is_reported_and_tried_again() -> None:
    """It stays behind until the archive is written."""
    files = MemoryFiles()
    day = ROOT / "2025-11-27"
    files.make_folder(ROOT)
    files.write(day, b"a file\n")
    writer = RoleFiles(files, FOLDER)
    with pytest.raises(Refused, match="move it away"):
        writer.show(STATES[-1], AT)
    behind = [writer.behind]
    files.remove(day)
    writer.show(STATES[-1], AT)
    assert [*behind, writer.behind] == [True, False]
    assert tree(files) == tree(shown(STATES[-1]))


def test_a_vanished_task_folder_is_not_made_anew() -> None:
    """The archive made it anew, empty: nobody was asked about the real one."""
    files = MemoryFiles()
    writer = RoleFiles(files, FOLDER)
    for _ in range(2):
        with pytest.raises(Refused, match="gone"):
            writer.show(STATES[-1], AT)
    assert (files.entry(FOLDER), writer.behind) == (None, True)
    files.make_folder(FOLDER)
    writer.show(STATES[-1], AT)
    assert tree(files) == tree(shown(STATES[-1]))


def test_task_that_failed_is_no_success() -> None:
    """Given up, its chain says so."""
    story = RoleStory()
    story.hands_on("plan")
    for _ in range(2):
        story.wants_replanning("implement", "no")
        story.hands_on("plan")
    story.wants_replanning("implement", "no")
    story.answers(story.question().id, "abandon")
    (chain,) = [each for each in tree(shown(story.state)).values() if "chainId" in each]
    assert chain["outcome"] == "failure"


def test_tasks_share_the_archive_that_a_setting_names() -> None:
    """Two tasks take turns, and the index counts both. Removed or damaged, it is made again, and equal."""
    shared_archive.forget()
    files, root = with_folder(), Path("/archive")
    files.make_folder(FOLDER.with_name("other"))
    other = [replace(each, id="other-1", handoffs=_renamed(each.handoffs)) for each in STATES]
    writers = [RoleFiles(files, Path("/project/tasks") / name, root) for name in ("demo", "other")]
    for both in zip(STATES, other, strict=True):
        for writer, state in zip(writers, both, strict=True):
            writer.show(state, AT)
    index = files.read(root / "index.json")
    assert (json.loads(index)["total_handoffs"], json.loads(index)["total_chains"]) == (12, 2)
    own = tree(shown(STATES[-1]))
    assert {name: each for name, each in tree(files, root).items() if name in own} == own
    for damage in (lambda: files.remove(root / "index.json"), lambda: files.write(root / "index.json", b"{")):
        damage()
        shared_archive.forget()  # a daemon begins
        RoleFiles(files, FOLDER, root).show(STATES[-1], AT)
        assert files.read(root / "index.json") == index
    assert not files.entries(FOLDER / "data" / "handoffs")


def test_shared_archive_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each change of each task; again only if its index is missing. What was removed is told, and restored."""
    shared_archive.forget()
    opened, files, root = list[Path](), with_folder(), Path("/archive")

    def opens(files: Files, root: Path) -> HandoffArchive:
        opened.append(root)
        return open_archive(files, root)

    monkeypatch.setattr(shared_archive, "open_archive", opens)
    writer = RoleFiles(files, FOLDER, root)
    for state in STATES[:3]:
        writer.show(state, AT)
    assert len(opened) == 1
    for entry in files.entries(root):
        for each in files.entries(root / entry.name) if entry.is_folder else ():
            files.remove(root / entry.name / each.name)
    writer.show(STATES[3], AT)
    assert writer.behind
    removed = ArchivedHandoffs(files, root).look(STATES[3], AT, None)
    assert {each.handoff for each in removed if each.edit.refused} == set(STATES[2].handoffs)
    files.remove(root / "index.json")
    writer.show(STATES[-1], AT)
    assert (len(opened), writer.behind) == (2, False)
    assert tree(files, root) == tree(shown(STATES[-1]))


def _renamed(handoffs: dict[str, Any]) -> dict[str, Any]:
    """Return the same handoffs in another task, under other ids."""
    found = {}
    for key, record in handoffs.items():
        name = f"{key[:-1]}{'b' if key[-1] == 'a' else 'a'}"
        head = replace(record.handoff.head, id=name)
        context = replace(record.handoff.context, task="other-1")
        found[name] = replace(record, handoff=replace(record.handoff, head=head, context=context))
    return found


def test_other_families_have_no_records() -> None:
    """Where no role handed on there is no archive; a task of another family has no statuses either."""
    begun = shown(RoleStory().state)
    assert [each.name for each in begun.entries(FOLDER / "data")] == ["agent-status"]
    assert not shown(Story().state).entries(FOLDER)
