"""Edits of the shared status from copies that may be old: which version they began with, and that nothing is lost."""

from __future__ import annotations

import copy
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.workflow.status_versions import StatusVersions

WRITERS = 100
EDITS = 1000
FEW = 8


def status(*agents: str) -> dict[str, Any]:
    """Return a shared status in which everybody works."""
    return {
        "task_id": "demo",
        "status": "in_progress",
        "agents": {name: {"status": "working", "dependencies": []} for name in agents},
        "verification": {"judge": {"status": "pending", "assigned_agents": list(agents)}},
    }


def edited(document: dict[str, Any], agent: str, **fields: Any) -> dict[str, Any]:
    """Return a copy in which the entry of an agent says something else."""
    changed = copy.deepcopy(document)
    changed["agents"][agent].update(fields)
    return changed


class File:
    """A file that is looked at after each write, as the daemon does. Writers write the whole of it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.versions, self.losses = StatusVersions(), list[Any]()
        self.versions.add(document)

    @property
    def document(self) -> dict[str, Any]:
        """What it says now, for whoever reads it."""
        return copy.deepcopy(dict(self.versions.newest or {}))

    def write(self, document: dict[str, Any]) -> None:
        """Write it, and have it looked at."""
        merged = self.versions.take(document)
        self.losses += merged.losses
        self.versions.add(merged.document)


def test_claim_survives_a_copy_that_is_older() -> None:
    """a and b read the same file; b writes after a, and has not seen what a claimed."""
    file = File(status("a", "b"))
    of_a, of_b = file.document, file.document
    file.write(edited(of_a, "a", status="ready_for_verification"))
    file.write(edited(of_b, "b", status="blocked"))
    assert [each["status"] for each in file.document["agents"].values()] == [
        "ready_for_verification",
        "blocked",
    ]
    assert file.losses == []


def test_edit_of_a_replaced_file_is_merged() -> None:
    """a had the file open while it was replaced, and edits the new one before the old one is looked at."""
    file = File(status("a", "b"))
    seen, old = file.versions.number, file.document
    file.versions.add(edited(old, "b", status="verified"))
    file.write(edited(file.document, "a", second=2))
    file.versions.take(edited(old, "a", first=1), seen)
    assert file.document["agents"]["a"] == {"status": "working", "dependencies": [], "first": 1, "second": 2}
    assert file.document["agents"]["b"]["status"] == "verified"


def test_edit_before_a_merged_one_is_shown() -> None:
    """What was merged lies in no file yet: whoever writes now has not read it, and takes nothing of it back."""
    file = File(status("a", "b"))
    seen, old = file.versions.number, file.document
    file.versions.add(edited(old, "b", status="verified"))
    there = file.document
    file.versions.take(edited(old, "a", first=1), seen)
    file.write(edited(there, "a", second=2))
    assert file.document["agents"]["a"] == {"status": "working", "dependencies": [], "first": 1, "second": 2}


def test_edit_of_a_version_that_was_replaced_unseen_is_merged() -> None:
    """a wrote just before the file was replaced; b had read that, and writes after a wrote once more."""
    file = File(status("a", "b"))
    seen, old = file.versions.number, file.document
    of_a = edited(old, "a", count=1)
    replacing = {**old, "status": "blocked"}
    file.versions.add(replacing)
    file.versions.take(of_a, seen)
    file.write(edited(replacing, "a", count=2))
    file.write(edited(of_a, "b", count=1))
    assert [entry["count"] for entry in file.document["agents"].values()] == [2, 1]


def test_own_edit_that_one_version_lacked_stays() -> None:
    """a wrote just before the file was replaced, read that, and writes on after both were put together."""
    file = File(status("a", "b"))
    seen, old = file.versions.number, file.document
    replacing = {**old, "status": "blocked"}
    file.versions.add(replacing)
    file.versions.add(file.versions.take(edited(old, "a", first=1, count=1), seen).document)
    file.write(edited(replacing, "a", second=2, count=2))
    assert file.document["agents"]["a"] == {
        **old["agents"]["a"],
        "first": 1,
        "second": 2,
        "count": 2,
    }


def test_edit_of_a_replaced_file_is_the_earlier_one() -> None:
    """What is read late of a file that was replaced does not undo what its writer wrote into the new one."""
    file = File(status("a", "b"))
    seen, old = file.versions.number, file.document
    file.versions.add(edited(old, "b", status="verified"))
    file.write(edited(file.document, "a", count=2))
    file.versions.take(edited(old, "a", count=1), seen, earlier=True)
    assert file.document["agents"]["a"]["count"] == 2


def test_own_claim_is_taken_back() -> None:
    """Nothing but a's status changes, and it is as it was before: that is an edit, not an old copy."""
    file = File(status("a", "b"))
    first = file.document
    file.write(edited(first, "a", status="ready_for_verification"))
    file.write(first)
    assert file.document["agents"]["a"]["status"] == "working"


def test_removed_entry_is_put_back_and_named() -> None:
    file = File(status("a", "b"))
    document = file.document
    del document["agents"]["b"]
    file.write(document)
    assert file.document["agents"]["b"]["status"] == "working"
    assert [loss.path for loss in file.losses] == [("agents", "b")]
    file.write({})
    assert set(file.document["agents"]) == {"a", "b"}


def test_damaged_document_takes_nothing_away() -> None:
    """Whatever somebody puts in the place of objects."""
    file = File(status("a", "b"))
    file.write({"agents": 3, "verification": [], "more": {"x": 1}})
    assert set(file.document["agents"]) == {"a", "b"}
    assert set(file.document["verification"]) == {"judge"}
    assert file.document["more"] == {"x": 1}


def test_hundred_writers_of_one_version_lose_nothing() -> None:
    """All read the same file, and write one after the other: ever more of them have an old copy."""
    names = [f"agent{number}" for number in range(WRITERS)]
    file = File(status(*names))
    first = file.document
    for place, name in enumerate(names):
        file.write(edited(first, name, status="ready_for_verification"))
        kept = [each["status"] for each in file.document["agents"].values()]
        assert kept == ["ready_for_verification"] * (place + 1) + ["working"] * (WRITERS - place - 1)


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(2, FEW))
def test_no_interleaving_of_writers_loses_an_edit(draw: random.Random, writers: int) -> None:
    """Each edits its own entry only, from a copy that it read at any moment; a new field each time, and its status."""
    names = [f"agent{number}" for number in range(writers)]
    file = File(status(*names))
    wanted = {name: dict(entry) for name, entry in file.document["agents"].items()}
    held = dict.fromkeys(names, file.document)
    for number in range(3 * writers):
        name = draw.choice(names)
        if file.document["agents"][name] != held[name]["agents"][name] or draw.random() < 0.3:
            held[name] = file.document  # it knows what it wrote itself
        fields = {f"edit_{number}": number, "status": draw.choice(("working", "blocked", "in_review"))}
        wanted[name].update(fields)
        held[name] = edited(held[name], name, **fields)
        file.write(held[name])
        stale = [each for each in names if draw.random() < 0.5]
        held |= dict.fromkeys(stale, file.document)
    assert file.document["agents"] == wanted
    assert file.losses == []


def test_two_agents_edit_a_thousand_times() -> None:
    """Each from a copy that lacks the other's last edits, half of the time. Both are there after each write."""
    draw, file, held, done = random.Random(7), File(status("a", "b")), dict[str, Any](), {"a": 0, "b": 0}
    for number in range(1, EDITS + 1):
        for name in draw.sample(("a", "b"), 2):
            if name not in held or draw.random() < 0.5:
                held[name] = file.document
            done[name] = number
            held[name] = edited(held[name], name, edits=number)
            file.write(held[name])
            assert {each: entry.get("edits", 0) for each, entry in file.document["agents"].items()} == done
