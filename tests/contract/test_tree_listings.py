"""Whether anything was changed in a tree that is not the task's own is told by content, here and on a box."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import pytest

from orchestrator.formats import tree_listing
from orchestrator.formats.tree_listing import TreeListing
from orchestrator.hosts.ssh import fingerprint as on_box
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from orchestrator.workspaces import fingerprint as here
from orchestrator.workspaces.git import GitWorkspaces
from tests.remote import boxes
from tests.remote.boxes import Boxes

TASK: Final = "tasks/t1"


class Bench(Protocol):
    """A tree, and how its listings are made."""

    top: Path

    def look(self) -> str: ...
    def differing(self, before: str, now: str) -> tuple[str, ...] | None: ...


@dataclass
class Here:
    top: Path

    def look(self) -> str:
        return GitWorkspaces().fingerprint(self.top, self.top / TASK)

    def differing(self, before: str, now: str) -> tuple[str, ...] | None:
        return GitWorkspaces().differing(self.top, before, now)


@dataclass
class OnBox:
    top: Path
    link: Link

    def look(self) -> str:
        found = on_box.listed(self.link, str(self.top), TASK)
        return "" if found is None else str(found)

    def differing(self, before: str, now: str) -> tuple[str, ...] | None:
        old, new = tree_listing.read_listing(before), tree_listing.read_listing(now)
        if old is None or new is None:
            return None
        moved = on_box.moved_between(self.link, str(self.top), old.head, new.head)
        return tree_listing.differing(old, new, moved)


@pytest.fixture(scope="module")
def made() -> Iterator[Boxes | None]:
    if boxes.MISSING:
        yield None
        return
    with boxes.boxes() as some:
        some.add("alpha")
        yield some


@pytest.fixture(autouse=True)
def git_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gitconfig"
    path.write_text("[user]\nname = A User\nemail = user@example.org\n[init]\ndefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))


@pytest.fixture(params=["here", "box"])
def place(request: pytest.FixtureRequest, tmp_path: Path, made: Boxes | None) -> Iterator[Bench]:
    """Give an empty folder, here or on a box."""
    top = tmp_path / "a 'tree'"
    top.mkdir()
    if request.param == "here":
        yield Here(top)
        return
    if made is None:
        pytest.skip(f"{' and '.join(boxes.MISSING)} missing: scripts/setup --boxes installs them")
    link = Link(Address("alpha"), made.folder / "s", os.environ, config=made.config, connect=60)
    yield OnBox(top, link)
    link.close()


def git(top: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", top, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def fill(top: Path) -> None:
    """Lay down a repository with a commit, and a user's own work in it: a change, a new file, a staged one."""
    git(top, "init", "-q")
    put(top, ".gitignore", "*.log\n")
    put(top, "kept.py", "kept\n")
    put(top, "sub/mine.py", "one\n")
    put(top, "staged.py", "one\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    put(top, "sub/mine.py", "mine\n")
    put(top, "staged.py", "staged\n")
    git(top, "add", "staged.py")
    put(top, "new 'one'.py", "new\n")


def put(top: Path, name: str, text: str) -> None:
    (top / name).parent.mkdir(parents=True, exist_ok=True)
    (top / name).write_text(text)


def touched(top: Path) -> None:
    for name in ("kept.py", "sub/mine.py", "new 'one'.py"):
        os.utime(top / name, (1, 1))


def replaced(top: Path) -> None:
    """As editors do that write a file of another inode."""
    put(top, "other", "mine\n")
    (top / "other").rename(top / "sub/mine.py")


def empty_commit(top: Path) -> None:
    git(top, "commit", "-q", "--allow-empty", "-m", "nothing")


def users_commit(top: Path) -> None:
    """Commit what the user had changed: no file is another one."""
    git(top, "add", "-A")
    git(top, "commit", "-qm", "theirs")


def all_staged(top: Path) -> None:
    git(top, "add", "-A")


def litter(top: Path) -> None:
    for name in (
        ".aider.chat.history.md",
        "sub/__pycache__/a.pyc",
        ".aider.tags.cache.v4/x",
        ".pytest_cache/y",
    ):
        put(top, name, "x")


def litter_committed(top: Path) -> None:
    litter(top)
    users_commit(top)


def ignored(top: Path) -> None:
    put(top, "run.log", "x")


def of_the_task(top: Path) -> None:
    put(top, f"{TASK}/handoffs/dev.md", "x")


NOTHING: Final = (
    touched,
    replaced,
    empty_commit,
    users_commit,
    all_staged,
    litter,
    litter_committed,
    ignored,
    of_the_task,
)


@pytest.mark.parametrize("act", NOTHING)
def test_what_leaves_each_file_as_it_was_is_no_change(place: Bench, act: Callable[[Path], None]) -> None:
    """Each of these was the work of a developer, and its task was COMPLETE."""
    fill(place.top)
    before = place.look()
    act(place.top)
    assert place.differing(before, place.look()) == ()


def edited(top: Path) -> str:
    put(top, "kept.py", "edit\n")
    return "kept.py"


def edited_again(top: Path) -> str:
    put(top, "sub/mine.py", "more\n")
    return "sub/mine.py"


def added(top: Path) -> str:
    put(top, "deep/-ü.py", "x\n")
    return "deep/-ü.py"


def emptied(top: Path) -> str:
    put(top, "new 'one'.py", "")
    return "new 'one'.py"


def removed(top: Path) -> str:
    (top / "kept.py").unlink()
    return "kept.py"


def taken_back(top: Path) -> str:
    git(top, "checkout", "-q", "--", "sub/mine.py")
    return "sub/mine.py"


def made_a_program(top: Path) -> str:
    (top / "kept.py").chmod(0o755)
    return "kept.py"


def linked(top: Path) -> str:
    (top / "link").symlink_to("kept.py")
    return "link"


def committed(top: Path) -> str:
    put(top, "kept.py", "edit\n")
    git(top, "commit", "-qm", "work", "kept.py")
    return "kept.py"


def line_in_name(top: Path) -> str:
    put(top, "a\nb", "x\n")
    return "a\nb"


CHANGES: Final = (
    edited,
    edited_again,
    added,
    emptied,
    removed,
    taken_back,
    made_a_program,
    linked,
    committed,
    line_in_name,
)


@pytest.mark.parametrize("act", CHANGES)
def test_what_is_changed_is_named(place: Bench, act: Callable[[Path], str]) -> None:
    fill(place.top)
    before = place.look()
    name = act(place.top)
    assert place.differing(before, place.look()) == (name,)


def test_work_in_a_repository_within_the_tree_is_a_change(place: Bench) -> None:
    fill(place.top)
    inner = place.top / "inner"
    inner.mkdir()
    fill(inner)
    before = place.look()
    assert place.differing(before, place.look()) == ()
    put(inner, "kept.py", "edit\n")
    now = place.look()
    assert place.differing(before, now) == ("inner/",)
    git(inner, "commit", "-qam", "work")
    put(inner, "kept.py", "more\n")
    assert place.differing(now, place.look()) == ("inner/",)


def test_a_repository_without_a_commit_is_compared(place: Bench) -> None:
    git(place.top, "init", "-q")
    put(place.top, "kept.py", "kept\n")
    before = place.look()
    users_commit(place.top)
    now = place.look()
    assert place.differing(before, now) == ()
    assert place.differing(now, place.look()) == ()
    edited(place.top)
    assert place.differing(before, place.look()) == ("kept.py",)


def test_a_folder_without_git_is_compared(place: Bench) -> None:
    """Nobody could tell whether anything was changed there, and each handoff passed."""
    put(place.top, "kept.py", "kept\n")
    put(place.top, "sub/mine.py", "mine\n")
    before = place.look()
    os.utime(place.top / "kept.py", (1, 1))
    litter(place.top)
    of_the_task(place.top)
    assert place.differing(before, place.look()) == ()
    put(place.top, "sub/mine.py", "more\n")
    (place.top / "kept.py").unlink()
    added(place.top)
    assert place.differing(before, place.look()) == ("deep/-ü.py", "kept.py", "sub/mine.py")


def test_large_files_are_not_read(place: Bench) -> None:
    fill(place.top)
    with (place.top / "large").open("wb") as file:
        file.truncate(tree_listing.LARGEST + 1)
    before = place.look()
    assert place.differing(before, place.look()) == ()
    with (place.top / "large").open("r+b") as file:
        file.truncate(tree_listing.LARGEST + 2)
    assert place.differing(before, place.look()) == ("large",)


@pytest.mark.parametrize("in_git", [True, False])
def test_changes_among_too_many_files_are_unknown(
    place: Bench, monkeypatch: pytest.MonkeyPatch, *, in_git: bool
) -> None:
    if in_git:
        fill(place.top)
    for name in ("one", "two", "three"):
        put(place.top, name, "x")
    for module in (here, on_box):
        monkeypatch.setattr(module, "MOST", 2)
    now = place.look()
    assert now == ""
    assert place.differing(str(TreeListing()), now) is None


def test_listing_of_an_earlier_version_is_ignored(place: Bench) -> None:
    """A run that a newer daemon takes over was looked at by another rule: it would always seem to have changed."""
    fill(place.top)
    assert place.differing("4711 1234", place.look()) is None
    assert place.differing("", place.look()) is None


def test_nothing_is_changed_by_a_look(place: Bench) -> None:
    """Neither the user's index nor their objects."""
    fill(place.top)
    before = {path: path.stat().st_mtime_ns for path in (place.top / ".git").rglob("*") if path.is_file()}
    place.look()
    after = {path: path.stat().st_mtime_ns for path in (place.top / ".git").rglob("*") if path.is_file()}
    assert before == after
