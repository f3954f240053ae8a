"""Workspaces in memory, by the port `Workspaces`, for simulations."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from orchestrator.model.errors import Refused
from orchestrator.ports.workspaces import LeftOut, Upon
from orchestrator.ports.worktree import AtOdds, Tree, TreeLost, Unresolved, checked_tree
from orchestrator.testing.fake_branches import FakeBranches
from orchestrator.testing.fake_git import MARKER, Commit, FakePlace, FakeProject


class FakeWorkspaces(FakeBranches):
    """The port `Workspaces`, in memory: what it has of the tree of a step, upon what `FakeBranches` has."""

    def prepare(self, tree: Tree, attempt: int, work: str = "") -> Path:
        """Bring the tree to the tip of the task's branch. Steps: branch, keep, move, make or clean."""
        project = self._project(checked_tree(tree).project)
        tip = self._tip_to_begin_at(project, tree)
        own = tree.own_branch
        if not tree.detached:
            self._refuse_if_used(project, own)
        moving = not tree.detached
        for path in self._lives(tree):
            if path != tree.path:
                self._keep(project, tree, attempt, [tip, project.refs.get(own, "")], path, moving=False)
                self._step("remove", tree)
                del self._places[path]
        stays = [tip] if moving else [tip, project.refs.get(own, "")]
        self._keep(project, tree, attempt, stays, tree.path, moving=moving)
        if moving and project.refs.get(own) != tip:
            self._step("move", tree)
            project.refs[own] = tip
        self._step("clean" if tree.path in self._places else "make", tree)
        place = self._bring(tree, tip, tip)
        if work in self.commits:
            base = next(each for each in self._history(work) if self._led_to(each, tip))
            place.contents, _ = self._merged(base, self.commits[work].contents, tip)
        return tree.path

    def where(self, tree: Tree) -> Path:
        """Return the tree's path; one that is gone is made anew from its commit. Steps: make."""
        project = self._project(checked_tree(tree).project)
        if tree.path not in self._places:
            tip = self._tip(project, tree)
            made = tip if tree.detached else project.refs.get(tree.own_branch, "")
            if not tree.detached and made in {"", self._bases.get(tree.root / tree.name, tree.base)}:
                raise TreeLost(f"{tree.path} is gone: the work that lay there is not to be had")
            self._step("make", tree)
            self._places[tree.path] = FakePlace(made, tip, dict(self.commits[made].contents))
        self._places[tree.path].known |= self._places[tree.path].linked
        return tree.path

    def tend(self, tree: Tree) -> str:
        """Return why a tree is no longer the one that was made."""
        place = self._places.get(checked_tree(tree).path)
        if place is None:
            return f"{tree.path} is gone"
        place.known |= place.linked
        return self._replaced(tree, place)

    def look(self, tree: Tree) -> str:
        """Return a word for what lies in a tree."""
        place = self._places.get(checked_tree(tree).path)
        return json.dumps(sorted(place.contents.items())) if place is not None and place.linked else ""

    def unfinished(self, tree: Tree) -> tuple[str, ...]:
        """Return the files in which a tree differs from the commit that it was brought to."""
        place = self._places.get(checked_tree(tree).path)
        if place is None or not place.linked:
            return ()
        base = self._bases.get(tree.root / tree.name, tree.base)
        before, now = self.commits[base].contents, place.contents
        return tuple(sorted(name for name in before | now if before.get(name) != now.get(name)))

    def tidy(self, tree: Tree, attempt: int, before: str) -> tuple[tuple[str, ...], str]:
        """Let a tree lie as it did before. Steps: keep, clean."""
        now = self.look(tree)
        if not now or not before or now == before:
            return (), ""
        project, place, wanted = (
            self._project(tree.project),
            self._places[tree.path],
            dict(json.loads(before)),
        )
        names = sorted(
            name for name in wanted | place.contents if wanted.get(name) != place.contents.get(name)
        )
        stays = [self._tip(project, tree), project.refs.get(tree.own_branch, "")]
        kept = self._keep(project, tree, attempt, stays, tree.path, moving=False)
        self._step("clean", tree)
        place.contents = wanted
        return tuple(names), kept

    def commit(self, tree: Tree, message: str, *, attempt: int = 0) -> tuple[str, int]:
        """Put what changed on the tree's branch. Steps: keep, or record, move, clean. Raises Refused, TreeLost."""
        project = self._project(checked_tree(tree).project)
        if tree.detached:
            raise Refused(f"{tree.name} has no branch of its own to commit to")
        place = self._places.get(tree.path)
        if place is None:
            return self._committed_before(project, tree, f"{tree.path} is gone")
        if lost := self._replaced(tree, place):
            kept = self._keep(project, tree, attempt, [self._tip(project, tree)], tree.path, moving=False)
            return self._committed_before(project, tree, lost, kept)
        tip, own = self._tip(project, tree), tree.own_branch
        self._refuse_if_used(project, own)
        last = project.refs.get(own, "")
        made = self.commits.get(last)
        before = self.commits[place.base or tip].contents
        if left := [
            name for name, text in place.contents.items() if text != before.get(name) and MARKER in text
        ]:
            raise Unresolved(left)
        if made is not None and made.parent == tip and made.contents == place.contents:
            wanted = place.contents
        else:
            wanted, odds = self._merged(place.base or tip, place.contents, tip)
            if odds:
                self._step("record", tree)
                last = self._record(dict(place.contents), place.base, message)
                self._step("move", tree)
                project.refs[own] = place.head = last
                raise AtOdds(odds, self._gained(place.base, tip), last)
        if wanted == self.commits[tip].contents:
            return "", 0
        if made is None or made.parent != tip or made.contents != wanted:
            self._step("record", tree)
            last = self._record(wanted, tip, message)
            self._step("move", tree)
            project.refs[own] = last
        self._step("clean", tree)
        self._bring(tree, last, tip)
        return last, self._differing(tip, last)

    def left_out(self, tree: Tree) -> LeftOut:
        """Return what was put into `apart` for the tree."""
        return self.apart.get(checked_tree(tree).path, LeftOut())

    def ignored(self, tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
        """Return those of these paths that a line of the tree's .gitignore names, and no file of the tree is."""
        place = self._places[checked_tree(tree).path]
        lines = place.contents.get(".gitignore", "").splitlines()
        return tuple(path for path in paths if path in lines and path not in place.contents)

    def adopt(self, tree: Tree, attempt: int, commit: str) -> tuple[str, int]:
        """Let the tree stand on a commit made elsewhere. Steps: branch, keep, move, make or clean. Raises Refused."""
        project = self._project(checked_tree(tree).project)
        if tree.detached or commit not in self.commits:
            raise Refused(
                f"{tree.name} cannot stand on {commit}: there is no such commit, or no branch for it"
            )
        tip, own = self._tip(project, tree), tree.own_branch
        if self._led_to(commit, tip):
            self.prepare(tree, attempt)
            return "", 0
        fork = next((each for each in self._history(commit) if self._led_to(each, tip)), "")
        if not fork:
            raise Refused(f"{commit[:12]} has nothing in common with {tip[:12]}, at which {tree.branch} is")
        self._refuse_if_used(project, own)
        self._keep(project, tree, attempt, [tip, commit], tree.path, moving=True)
        if project.refs.get(own) != commit:
            self._step("move", tree)
            project.refs[own] = commit
        self._step("clean" if tree.path in self._places else "make", tree)
        self._bring(tree, commit, fork)
        return commit, self._differing(fork, commit)

    def put_upon(self, tree: Tree, attempt: int, commit: str, *, alone: bool = False) -> Upon:
        """Put a commit upon what the branch has gained. Steps: record, keep, move, make or clean. Raises AtOdds."""
        project = self._project(checked_tree(tree).project)
        if tree.detached or commit not in self.commits:
            raise Refused(f"there is no commit {commit}, or {tree.name} has no branch of its own for it")
        tip, own = self._tip(project, tree), tree.own_branch
        if not self.gained(tree, commit, alone=alone):
            return Upon(commit)
        fork = next(each for each in self._history(commit) if self._led_to(each, tip))
        base = self.commits[commit].parent if alone else fork
        ours, others = self.commits[commit], self._gained(fork, tip)
        wanted, odds = self._merged(base, ours.contents, tip)
        if odds:
            raise AtOdds(odds, others, commit)
        self._refuse_if_used(project, own)
        if wanted == self.commits[tip].contents:
            made = tip
        else:
            self._step("record", tree)
            made = self._record(wanted, tip, ours.message)
        self._keep(project, tree, attempt, [tip, made], tree.path, moving=True)
        self._step("move", tree)
        project.refs[own] = made
        self._step("clean" if tree.path in self._places else "make", tree)
        self._bring(tree, made, tip)
        both = sorted(self._changed(fork, tip) & self._changed(base, commit))
        return Upon(made, tip, tuple(both), same=not both, others=others)

    def release(self, tree: Tree, attempt: int) -> None:
        """Keep what is not on the task's branch, then remove the tree. Steps: keep, remove, drop."""
        project = self._project(checked_tree(tree).project)
        stays = [project.refs.get(tree.branch, tree.base)]
        for path in {*self._lives(tree), tree.path}:
            self._keep(project, tree, attempt, stays, path, moving=not tree.detached)
        for path in self._lives(tree):
            self._step("remove", tree)
            del self._places[path]
        if (
            tree.own_branch in project.refs
            and not tree.detached
            and not project.looked_at.get(tree.own_branch)
        ):
            self._step("drop", tree)
            del project.refs[tree.own_branch]
        self._bases.pop(tree.root / tree.name, None)

    def remains(self, project: Path, root: Path, branch: str) -> set[str]:
        """Return the names of the trees of a task of which anything is there."""
        own = f"{branch.replace('task/', 'task-work/', 1)}/"
        found = {ref.removeprefix(own) for ref in self._project(project).refs if ref.startswith(own)}
        notes = [path.name for path in self._bases if path.parent == root]
        return found.union(
            notes, (path.name.partition(".")[0] for path in self._places if path.parent == root)
        )

    def _committed_before(
        self, project: FakeProject, tree: Tree, lost: str, kept: str = ""
    ) -> tuple[str, int]:
        """Return the commit that an earlier call, cut off, had made of the tree; raise TreeLost if there is none."""
        made, tip = project.refs.get(tree.own_branch, ""), self._tip(project, tree)
        if made and self.commits[made].parent == tip:
            return made, self._differing(tip, made)
        raise TreeLost(lost, kept)

    def _bring(self, tree: Tree, commit: str, tip: str) -> FakePlace:
        """Let a tree stand on a commit, and note which commit of the task's branch it was brought to."""
        place = self._places[tree.path] = FakePlace(commit, tip, dict(self.commits[commit].contents))
        self._bases[tree.root / tree.name] = tip
        return place

    def _lives(self, tree: Tree) -> list[Path]:
        """Return where the lives of a tree lie that are there."""
        return [path for path in self._places if path.parent == tree.root and tree.is_life(path.name)]

    def _replaced(self, tree: Tree, place: FakePlace) -> str:
        """Return why a folder is not the tree that was made, if it lacks files that nobody may have deleted."""
        base = self._bases.get(tree.root / tree.name, tree.base)
        missing = self.commits[base].contents.keys() - place.contents.keys()
        if place.linked or not missing:
            return ""
        return f"another folder is in the place of {tree.path}, and lacks {len(missing)} files"

    def _keep(
        self, project: FakeProject, tree: Tree, attempt: int, stays: list[str], path: Path, *, moving: bool
    ) -> str:
        """Put on refs what would be lost of a life of a tree; return the ref of what lies in it, if it was kept."""
        left = []
        prefix = tree.keep_prefix
        kept = {ref: commit for ref, commit in project.refs.items() if ref.startswith(prefix)}
        if place := self._places.get(path):
            head = place.head or self._bases.get(tree.root / tree.name, tree.base)
            place = replace(place, head=head)
            left.append(place.head)
            if place.contents != self.commits[place.head].contents:
                same = Commit(
                    place.contents, place.head, f"Work found in {tree.name} after attempt {attempt}"
                )
                known = [commit for commit in kept.values() if self.commits[commit].contents == same.contents]
                left = known or [self._record(dict(same.contents), same.parent, same.message)]
        work = left[-1] if left else ""
        if moving:
            left.append(project.refs.get(tree.own_branch, ""))
        for commit in dict.fromkeys(left):
            if not commit or commit in kept.values() or any(self._led_to(commit, other) for other in stays):
                continue
            number = 1
            while f"{prefix}{attempt}-{number}" in project.refs:
                number += 1
            self._step("keep", tree)
            project.refs[f"{prefix}{attempt}-{number}"] = commit
            stays.append(commit)
        return next(
            (ref for ref, commit in project.refs.items() if commit == work and ref.startswith(prefix)), ""
        )
