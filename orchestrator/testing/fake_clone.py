"""A clone of the project on a fake box."""

from __future__ import annotations

from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

from orchestrator.model.errors import Unavailable
from orchestrator.ports.boxes import CloneState, Relation, RemoteFile

if TYPE_CHECKING:
    from orchestrator.testing.fake_workspaces import FakeWorkspaces


@dataclass(slots=True)
class Clone:
    """The repositories of a box, one in each place: clones of the one here, with what was committed or sent there.

    `refs` are those of ours there, by place and name.
    """

    workspaces: FakeWorkspaces
    project: Path
    heads: dict[str, str] = field(default_factory=dict)
    refs: dict[tuple[str, str], str] = field(default_factory=dict)

    def head(self, place: str) -> str:
        """Return the commit on which a place stands."""
        return self.heads.get(place) or self.workspaces.head(self.project)

    def state(self, place: str, commit: str, ref: str) -> CloneState:
        """Return how a place stands to a commit; one on which it stands is noted at `ref`."""
        head = self.head(place)
        mixed = any(
            self._leads(at, head) and not self._leads(at, commit)
            for (where, name), at in self.refs.items()
            if where == place and name.endswith("/tip") and name != ref
        )
        if self._leads(commit, head):
            self.refs[place, ref] = commit
            return CloneState(Relation.HAS, head, mixed=mixed)
        if not self._leads(commit, self.refs.get((place, ref), "")):
            return CloneState(Relation.LACKS, head, mixed=mixed)
        behind = self._leads(head, commit)
        return CloneState(Relation.BEHIND if behind else Relation.APART, head, mixed=mixed)

    def receive(self, place: str, commit: str, ref: str) -> None:
        """Take in a commit."""
        self.refs[place, ref] = commit

    def advance(self, place: str, seen: CloneState, commit: str, ref: str, kept: str) -> None:
        """Stand on a commit, and keep where it stood."""
        now = self.state(place, commit, ref)
        if now.head == commit:
            return
        if now != seen or now.relation is Relation.LACKS:
            raise Unavailable(f"somebody is at work in {place}")
        if now.relation is not Relation.BEHIND:
            self.refs[place, f"{kept}/{now.head}"] = now.head
        self.heads[place] = commit

    def commit(self, place: str, branch: str, base: str, text: str, name: str) -> str:
        """Do as an agent there does: bring in the task's branch, as far as it was sent, and commit a file on it."""
        tip = self.refs.get((place, f"refs/orchestrator/{branch}/tip")) or base
        head = self.head(place)
        parent = head if self._leads(tip, head) else tip
        self.heads[place] = self.workspaces.commit_elsewhere(parent, text, name)
        self.workspaces.away.add(self.heads[place])
        return self.heads[place]

    def merge(self, place: str, ref: str) -> None:
        """Do as a person there does who was asked to: merge what was sent into what is there."""
        tip, head = self.refs.get((place, ref), ""), self.head(place)
        if tip and not self._leads(tip, head):
            self.heads[place] = self.workspaces.merge_elsewhere(tip, head)
            self.workspaces.away.add(self.heads[place])

    def contents(self, place: str) -> dict[str, str]:
        """Return the files of the commit on which a place stands."""
        return dict(self.workspaces.commits[self.head(place)].contents)

    def file_at(self, place: str, path: str) -> RemoteFile | None:
        """Return what that commit has at a path, absolute or in the place; None if nothing, or if it leads out."""
        name = normpath(Path(place) / path)
        if name != place and not name.startswith(f"{place}/"):
            return None
        inside = name[len(place) + 1 :]
        if not inside:
            return None
        contents = self.contents(place)
        if (text := contents.get(inside)) is not None:
            return RemoteFile(is_folder=False, is_empty=not text, lines=len(text.splitlines()))
        held = [text for each, text in contents.items() if each.startswith(f"{inside}/")]
        return RemoteFile(is_folder=True, is_empty=not any(held)) if held else None

    def commit_at(self, place: str, name: str, base: str = "") -> str:
        """Return the commit that a hash names, from the one on which a place stands back to `base`; empty if none."""
        commit = self.head(place)
        while commit not in {"", base} and not commit.startswith(name):
            commit = self.workspaces.commits[commit].parent
        return "" if commit == base else commit

    def _leads(self, old: str, new: str) -> bool:
        while new and new != old:
            new = self.workspaces.commits[new].parent
        return new == old
