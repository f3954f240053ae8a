"""A commit from here is sent into a repository on a real box, and its HEAD stands on that, or is left as it is."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.clone_there import advance_head, clone_state
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.boxes import CloneState, Relation
from orchestrator.workspaces.sending import send_commit
from tests.remote.boxes import Box
from tests.remote.test_fetch import REFS_WITHOUT_END, git

REF = "refs/orchestrator/task/demo/tip"
KEPT = "refs/orchestrator/task/demo/kept"
HOSTILE = """#!/bin/sh
touch "$HOME/ran"
"""


class Clones:
    """A project here, and a clone of it on a box, whose hooks would leave a mark."""

    def __init__(self, link: Link, box: Box, folder: Path, name: str = "repo") -> None:
        self.link, self.box, self.project = link, box, folder / "project"
        self.there = box.home / name
        self.quarantine = folder / "quarantine"
        self.project.mkdir()
        git(self.project, "init", "-q")
        self.commit(self.project, "readme", "hello\n")
        git(self.project, "clone", "-q", str(self.project), str(self.there))
        for hook in ("pre-receive", "update", "post-receive", "post-checkout", "reference-transaction"):
            (self.there / ".git/hooks" / hook).write_text(HOSTILE)
            (self.there / ".git/hooks" / hook).chmod(0o755)
        (self.project / ".git/hooks/pre-push").write_text(HOSTILE.replace("$HOME", str(box.home)))
        (self.project / ".git/hooks/pre-push").chmod(0o755)

    def commit(self, where: Path, name: str, text: str) -> str:
        (where / name).write_text(text)
        git(where, "add", "-A")
        git(where, "-c", "core.hooksPath=/dev/null", "commit", "-qm", name)
        return git(where, "rev-parse", "HEAD")

    def head(self) -> str:
        return git(self.there, "rev-parse", "HEAD")

    def state(self, commit: str) -> CloneState:
        return clone_state(self.link, str(self.there), commit, REF)

    def send(self, commit: str, **bounds: int) -> None:
        try:
            send_commit(
                self.link, str(self.there), self.project, commit, REF, os.environ, self.quarantine, **bounds
            )
        finally:
            assert not any(self.quarantine.iterdir())

    def advance(self, commit: str, seen: CloneState | None = None) -> None:
        advance_head(self.link, str(self.there), seen or self.state(commit), commit, REF, KEPT)

    def sent(self, name: str = "new", text: str = "new\n") -> str:
        made = self.commit(self.project, name, text)
        self.send(made)
        return made


@pytest.fixture
def clones(link: Link, box: Box, tmp_path: Path) -> Clones:
    return Clones(link, box, tmp_path)


def test_a_commit_is_sent_and_head_there_moves_to_it(clones: Clones) -> None:
    """No hook runs on either side, new files of others stay, and the branch there is the one that it was."""
    before = clones.head()
    made = clones.commit(clones.project, "new", "new\n")
    assert clones.state(made) == CloneState(Relation.LACKS, before)
    clones.send(made)
    (clones.there / "mine").write_text("mine\n")
    assert clones.state(made) == CloneState(Relation.BEHIND, before)
    assert clones.head() == before
    clones.advance(made)
    assert clones.head() == made
    assert (clones.there / "new").read_text() == "new\n"
    assert git(clones.there, "status", "--porcelain") == "?? mine"
    assert git(clones.there, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert clones.state(made) == CloneState(Relation.HAS, made)
    assert not (clones.box.home / "ran").exists()


def test_sent_again_nothing_comes_and_nothing_changes(clones: Clones) -> None:
    made = clones.sent()
    objects = sorted((clones.there / ".git/objects").rglob("*"))
    clones.send(made)
    assert sorted((clones.there / ".git/objects").rglob("*")) == objects
    clones.advance(made)
    clones.advance(made, CloneState(Relation.BEHIND, "a" * 40))
    assert clones.head() == made


def test_commits_of_its_own_are_kept_on_a_ref_there(clones: Clones) -> None:
    own = clones.commit(clones.there, "own", "own\n")
    made = clones.sent()
    assert clones.state(made) == CloneState(Relation.APART, own)
    clones.advance(made)
    assert clones.head() == git(clones.there, "rev-parse", "main") == made
    assert git(clones.there, "rev-parse", f"{KEPT}/{own}") == own
    assert not (clones.there / "own").exists()


def test_what_was_sent_for_another_task_is_seen_in_head(clones: Clones) -> None:
    before = git(clones.project, "rev-parse", "HEAD")
    made = clones.sent()
    clones.advance(made)
    other = REF.replace("demo", "other")
    assert clone_state(clones.link, str(clones.there), before, other) == CloneState(
        Relation.HAS, made, mixed=True
    )
    assert clone_state(clones.link, str(clones.there), made, other) == CloneState(Relation.HAS, made)


def test_head_ahead_of_the_commit_is_kept_too(clones: Clones) -> None:
    """It has the work of another task."""
    own, made = clones.commit(clones.there, "own", "own\n"), git(clones.project, "rev-parse", "HEAD")
    seen = clones.state(made)
    assert seen == CloneState(Relation.HAS, own)
    clones.advance(made, seen)
    assert clones.head() == made
    assert git(clones.there, "rev-parse", f"{KEPT}/{own}") == own


def test_changed_files_there_are_seen_and_never_overwritten(clones: Clones) -> None:
    before, made = clones.head(), clones.sent()
    (clones.there / "readme").write_text("a person's\n")
    seen = clones.state(made)
    assert seen == CloneState(Relation.BEHIND, before, changed=True)
    with pytest.raises(Unavailable, match="changed while it was looked at"):
        clones.advance(made, CloneState(Relation.BEHIND, before))
    assert clones.head() == before
    assert (clones.there / "readme").read_text() == "a person's\n"


@pytest.mark.parametrize("ignored", ["", "secret\n"])
def test_a_file_in_the_way_is_never_overwritten(clones: Clones, ignored: str) -> None:
    """Neither is one that git ignores there: git itself would take its place without a word."""
    before = clones.head()
    (clones.there / ".git/info/exclude").write_text(ignored)
    (clones.there / "secret").write_text("a person's\n")
    made = clones.sent("secret", "of the task\n")
    with pytest.raises(Refused, match="files are in the way"):
        clones.advance(made)
    assert clones.head() == before
    assert (clones.there / "secret").read_text() == "a person's\n"


def test_cut_off_between_files_and_head_it_is_finished(clones: Clones) -> None:
    before, made = clones.head(), clones.sent()
    git(clones.there, "read-tree", "-m", "-u", before, made)
    assert clones.head() == before
    assert clones.state(made) == CloneState(Relation.BEHIND, before)
    clones.advance(made)
    assert clones.head() == made
    assert git(clones.there, "status", "--porcelain") == ""


def test_a_repository_without_a_commit_gets_all(clones: Clones) -> None:
    clones.there = clones.box.home / "fresh"
    clones.there.mkdir()
    git(clones.there, "init", "-q")
    made = clones.commit(clones.project, "new", "new\n")
    assert clones.state(made) == CloneState(Relation.LACKS)
    clones.send(made)
    clones.advance(made)
    assert clones.head() == made
    assert (clones.there / "readme").read_text() == "hello\n"


def test_a_git_at_work_there_is_waited_for(clones: Clones) -> None:
    made = clones.sent()
    (clones.there / ".git/index.lock").touch()
    with pytest.raises(Unavailable, match="git is at work"):
        clones.state(made)


def test_too_much_is_refused_and_leaves_nothing_there(clones: Clones) -> None:
    (clones.project / "large").write_bytes(os.urandom(2_000_000))
    made = clones.commit(clones.project, "new", "new\n")
    before = {path for path in (clones.there / ".git").rglob("*") if path.is_file()}
    with pytest.raises(Refused, match="more than 1,000,000 bytes"):
        clones.send(made, largest=1_000_000)
    assert {path for path in (clones.there / ".git").rglob("*") if path.is_file()} == before


def test_refs_without_end_are_refused(clones: Clones) -> None:
    """A program in the place of git there names refs as long as somebody listens: git here remembers them all."""
    made = clones.commit(clones.project, "new", "new\n")
    program = clones.box.home / "bin/git"
    program.parent.mkdir()
    program.write_text(REFS_WITHOUT_END.format(python=sys.executable, version=0))
    program.chmod(0o700)
    (clones.box.home / ".bashrc").write_text(f"PATH={program.parent}:$PATH\n")
    with pytest.raises(Refused, match="67,108,864 bytes of memory"):
        clones.send(made, memory=67_108_864)
    program.unlink()
    clones.send(made, memory=67_108_864)


def test_no_repository_is_refused_and_what_it_says_is_data(clones: Clones) -> None:
    made = clones.sent()
    clones.there = clones.box.home / "nowhere"
    with pytest.raises(Unavailable, match="git failed"):
        clones.state(made)
    clones.there.mkdir()
    with pytest.raises(Refused, match="not a git repository"):
        clones.state(made)
    with pytest.raises(Refused, match="no repository that takes it"):
        clones.send(made)


@pytest.mark.parametrize("name", ["a repo", "50%20 'so' $(id)", "-repo", "\\'; touch x; echo \\'!"])
def test_place_is_no_command(link: Link, box: Box, tmp_path: Path, name: str) -> None:
    clones = Clones(link, box, tmp_path, name)
    made = clones.sent()
    clones.advance(made)
    assert clones.head() == made
    assert not list(box.home.rglob("x"))
