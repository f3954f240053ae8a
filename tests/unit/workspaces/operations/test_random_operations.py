"""Random answers, on disks that fail and trees that others change: what is claimed is on disk (F4, F6)."""

from __future__ import annotations

import difflib
import errno
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orchestrator.formats.handoff import read_any_report
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.hands import Deletes
from orchestrator.workspaces.operations import settle as settling
from orchestrator.workspaces.operations import transaction, tree
from orchestrator.workspaces.operations.plan import Policy
from orchestrator.workspaces.operations.settle import Job, Settled, settle

OPERATIONS = [
    pytest.param(10_000, marks=pytest.mark.thorough(reason="a minute: CI tries 600")),
    600,
]
BAD = ("gone", "prose", "outside", "traversal", "secret", "empty", "missing")


@dataclass
class Programs:
    """Programs that write answers for one tree, each with what is to become of it. `tree` has the text of each file."""

    root: Path
    dice: random.Random
    tree: dict[str, str] = field(default_factory=dict)
    number: int = 0

    def answer(self) -> tuple[list[dict[str, Any]], dict[str, str] | None]:
        """Return operations, and the tree as they leave it; None if one of them is bad."""
        after, operations = dict[str, str](self.tree), list[dict[str, Any]]()
        for _ in range(self.dice.randrange(1, 9)):
            operations.append(self._good(after))
        if self.dice.random() < 0.15:
            operations.insert(self.dice.randrange(len(operations) + 1), self._bad())
            return operations, None
        return operations, after

    def _good(self, after: dict[str, str]) -> dict[str, Any]:
        self.number += 1
        there = sorted(after)
        kind = self.dice.choice(
            ("edit", "block", "diff", "append", "delete") if len(there) > 4 else ("create",)
        )
        if kind == "create":
            path = f"{self.dice.choice(('', 'x/', 'x/y/'))}f{self.number}"
            after[path] = self._lines()
            return self._said("create", path, content=after[path])
        path = self.dice.choice(there)
        lines = after[path].splitlines()
        match kind:
            case "edit":
                after[path] = self._lines()
                return self._said("edit", path, content=after[path])
            case "append":
                after[path] += (more := f"more {self.number}\n")
                return self._said("append", path, content=more)
            case "delete":
                del after[path]
                return self._said("delete", path)
            case _:
                pass
        at = self.dice.randrange(len(lines))
        new = [*lines[:at], f"new {self.number}", *lines[at + 1 :]]
        after[path] = "\n".join(new) + "\n"
        said = "\n".join(difflib.unified_diff(lines, new, lineterm=""))
        if kind == "block":
            said = f"<<<<<<< SEARCH\n{lines[at]}\n=======\n{new[at]}\n>>>>>>> REPLACE"
        return self._said("edit", path, edit_instructions=said)

    def _bad(self) -> dict[str, Any]:
        some = min(self.tree) if self.tree else "f0"
        match self.dice.choice(BAD):
            case "gone":
                return self._said("append", "nowhere", content="x")
            case "prose":
                return self._said("edit", some, edit_instructions="Make it nicer.")
            case "outside":
                return self._said("create", "../../outside", content="x") | {"file_path": "/outside/x"}
            case "traversal":
                return self._said("create", "x/../../outside", content="x")
            case "secret":
                return self._said("create", ".env", content="KEY=1")
            case "empty":
                return self._said("create", "a//b", content="x")
            case _:
                return {"operation": "create", "file_path": f"{self.root}/a"}

    def _said(self, operation: str, path: str, **more: str) -> dict[str, Any]:
        return {
            "operation": operation,
            "file_path": f"{self.root}/{path}",
            "description": "as it is asked for",
            **more,
        }

    def _lines(self) -> str:
        return "".join(f"line {self.number}.{nth}\n" for nth in range(self.dice.randrange(1, 20)))


@pytest.fixture
def root(quick: Path) -> Path:
    folder = quick / "tree"
    folder.mkdir()
    return folder


@pytest.fixture
def trouble(root: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what goes wrong: `fails` counts down to a write that fails, `others` is done between plan and write."""
    wrong: dict[str, Any] = {"fails": 0, "others": None}
    put, apply = tree.put, transaction.apply

    def failing(*args: Any, **kwargs: Any) -> None:
        wrong["fails"] -= 1
        if wrong["fails"] == 0:
            raise OSError(errno.EACCES, "not permitted")
        put(*args, **kwargs)

    def after_others(*args: Any) -> None:
        if wrong["others"] is not None:
            path, text = wrong["others"]
            (root / path).write_text(text)
            wrong["touched"] = {path: text}
        apply(*args)

    monkeypatch.setattr(tree, "put", failing)
    monkeypatch.setattr(settling, "apply", after_others)
    return wrong


def carried_out(files: DiskFiles, job: Job) -> Settled:
    """Do as the daemon does: where even the way back fails, the next call finishes it, and begins anew."""
    try:
        return settle(files, job, ended_well=True)
    except OSError:
        return settle(files, job, ended_well=True)


def on_disk(root: Path) -> dict[str, str]:
    return {str(each.relative_to(root)): each.read_text() for each in root.rglob("*") if each.is_file()}


def check_claims(outcome: Settled, root: Path) -> int:
    """Check that each file that was claimed lies there as claimed; return how many operations were."""
    assert outcome.record
    last = {done.path: done.size for done in outcome.record.done}
    for path, size in last.items():
        assert (Path(path).stat().st_size if Path(path).exists() else None) == size
    report = read_any_report(outcome.handoff.encode(), "dev-20251127-143500.md")
    assert all(Path(each).is_file() for each in report.artifacts)
    assert {str(root / each) for each in on_disk(root)} >= set(report.artifacts)
    return outcome.record.count


@pytest.mark.parametrize("most", OPERATIONS)
def test_files_claimed_are_files_on_disk(quick: Path, root: Path, trouble: dict[str, Any], most: int) -> None:
    """All of an answer is on disk and claimed, or nothing of it is; what somebody else wrote meanwhile stays theirs."""
    dice, tried, claimed, nth = random.Random(most), 0, 0, 0
    programs, files = Programs(root, dice), DiskFiles()
    while tried < most:
        nth += 1
        operations, wanted = programs.answer()
        tried += len(operations)
        run = quick / f"run{nth}"
        run.mkdir()
        (run / "answer.txt").write_text(
            f"Here:\n```json\n{json.dumps({'file_operations': operations})}\n```\n"
        )
        trouble["fails"] = dice.randrange(1, 9) if dice.random() < 0.1 else 0
        touched = dice.choice(sorted(programs.tree)) if programs.tree and dice.random() < 0.1 else ""
        trouble["others"] = (touched, f"by hand {nth}\n") if touched else None
        order, policy = "pm-20251127-140000.md", Policy((root,), Deletes.ALLOW)
        job = Job(run, run / "answer.txt", quick, policy, 1.0, f"r-{nth}", order, "dev", "Do")
        outcome = carried_out(files, job)
        assert outcome.record is not None
        if outcome.record.done:
            assert wanted is not None
            claimed += check_claims(outcome, root)
            programs.tree = wanted
        else:
            assert outcome.record.faults
            assert not outcome.handoff
            assert wanted is None or outcome.record.rolled_back or touched
        changed = {each["file_path"].removeprefix(f"{root}/") for each in operations if outcome.record.done}
        theirs = trouble.pop("touched", {}).items()  # planned again behind them, it may have changed them
        programs.tree |= {path: text for path, text in theirs if path not in changed}
        assert on_disk(root) == programs.tree
    assert claimed > most / 2
