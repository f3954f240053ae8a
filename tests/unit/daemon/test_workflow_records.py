"""What is kept of a workflow for good: each plan, each version that was handed in, each verdict."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.daemon.projections.workflow_files import WorkflowFiles
from orchestrator.formats.workflow.approval import plan_hash
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.formats.workflow.plan_text import render_block
from orchestrator.formats.workflow.results import read_results
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.workflow import EditKind, PlanEdit, WorkflowPlan
from orchestrator.model.workflow_records import PocDecision, PocEvidence
from tests.unit.pm.workflows import WorkflowStory, doer, plan_of, poc

DEPENDS = PlanEdit(EditKind.SET_NEEDS, "b", needs=("a",))


@pytest.fixture
def folder(tmp_path: Path) -> WorkflowFolder:
    return WorkflowFolder(DiskFiles(), tmp_path)


def begun(folder: WorkflowFolder) -> WorkflowStory:
    """Return a workflow of two agents that began, whose user wrote a page around its plan."""
    story = WorkflowStory(plan_of(doer("a"), doer("b")))
    story.starts()
    folder.write("workflow_coordination_plan.md", f"# Mine\n\n```yaml\n{block(story)}```\n".encode())
    return story


def block(story: WorkflowStory) -> str:
    return render_block(plan_now(story))


def plan_now(story: WorkflowStory) -> WorkflowPlan:
    plan = story.state.brief.workflow
    assert plan is not None
    return plan


def kept(folder: WorkflowFolder, kind: str) -> dict[str, bytes]:
    """Return the records of one kind by their names."""
    place = folder.task / "orchestration/records" / kind
    return {each.name: each.read_bytes() for each in sorted(place.iterdir())} if place.exists() else {}


def documents(folder: WorkflowFolder, kind: str) -> dict[str, Any]:
    return {name: json.loads(data) for name, data in kept(folder, kind).items()}


def test_each_version_that_is_handed_in_is_kept(folder: WorkflowFolder) -> None:
    story = begun(folder)
    story.leaves("do:a")
    story.judges("verify:a", "the log is empty")
    story.leaves("do:a")
    WorkflowFiles(folder).show(story.state, 0)
    records = documents(folder, "outputs")
    assert list(records) == ["a-1.json", "a-2.json"]
    assert [each["path"] for each in records["a-1.json"]["files"]] == ["a.sql", "run.log"]
    assert [each["version"] for each in records.values()] == ["v1", "v1"]
    assert records["a-1.json"]["task_id"] == "a_1764254000"


def test_each_verdict_is_kept_with_its_verifier(folder: WorkflowFolder) -> None:
    """One that misses something reads as the document's own verification_results.json."""
    story = begun(folder)
    story.leaves("do:a")
    story.judges("verify:a", "the log is empty")
    story.leaves("do:a")
    story.judges("verify:a")
    WorkflowFiles(folder).show(story.state, 0)
    records = documents(folder, "verifications")
    assert [(name, each["result"], each["verifier"]) for name, each in records.items()] == [
        ("a-1.json", "fail", "judge"),
        ("a-2.json", "pass", "judge"),
    ]
    assert read_results(kept(folder, "verifications")["a-1.json"]).missing_evidence == ("the log is empty",)
    made = documents(folder, "outputs")
    assert [each["version"] for each in records.values()] == [each["version"] for each in made.values()]


def test_verdict_that_is_asked_again_is_not_kept(folder: WorkflowFolder) -> None:
    story = begun(folder)
    story.leaves("do:a")
    story.judges("verify:a", claim=None)
    WorkflowFiles(folder).show(story.state, 0)
    assert kept(folder, "verifications") == {}


def test_verdict_on_a_proof_of_concept_has_its_decision(folder: WorkflowFolder) -> None:
    story = WorkflowStory(plan_of(poc("p")))
    story.starts()
    story.leaves("do:p")
    story.decides_on("verify:p", PocDecision.PROCEED, PocEvidence.PASS)
    WorkflowFiles(folder).show(story.state, 0)
    record = documents(folder, "verifications")["p-1.json"]
    assert (record["result"], record["evidence"], record["decision"]) == ("pass", "pass", "proceed")


def test_plan_is_kept_as_it_began(folder: WorkflowFolder) -> None:
    story = begun(folder)
    page = folder.read("workflow_coordination_plan.md")
    WorkflowFiles(folder).show(story.state, 0)
    assert kept(folder, "plans") == {f"{plan_hash(plan_now(story))}.md": page}


def test_plans_between_two_shows_are_kept_too(folder: WorkflowFolder) -> None:
    """The daemon was killed in between, or the disk was full: nothing had been written."""
    story = begun(folder)
    plans = [plan_now(story)]
    for edit in (DEPENDS, PlanEdit(EditKind.SET_NEEDS, "b", needs=())):
        story.adapts(edit)
        plans.append(plan_now(story))
    WorkflowFiles(folder).show(story.state, 0)
    names = {f"{plan_hash(each)}.md": each for each in plans}
    assert len(names) == 2  # the second edit took the first one back
    assert {name: read_plan(data) for name, data in kept(folder, "plans").items()} == names
    assert sorted(kept(folder, "adaptations")) == ["1.json", "2.json"]


def test_records_stay_whatever_becomes_of_the_page(folder: WorkflowFolder) -> None:
    """Somebody edits the page, and the daemon is started again."""
    story = begun(folder)
    story.leaves("do:a")
    WorkflowFiles(folder).show(story.state, 0)
    was = {kind: kept(folder, kind) for kind in ("plans", "outputs")}
    folder.write("workflow_coordination_plan.md", b"# Other words\n")
    WorkflowFiles(folder).show(story.state, 0)
    assert {kind: kept(folder, kind) for kind in was} == was


class FullOnce(DiskFiles):
    """A disk that is full at the Nth file."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    def write(self, path: Path, data: bytes, *args: Any, **more: Any) -> None:
        """Fail once."""
        self.left -= 1
        if self.left == 0:
            raise OSError(errno.ENOSPC, "full")
        super().write(path, data, *args, **more)


@pytest.mark.parametrize("at", range(1, 12))
def test_whichever_write_fails_all_records_are_there_later(tmp_path: Path, at: int) -> None:
    folder = WorkflowFolder(FullOnce(at), tmp_path)
    story = WorkflowStory(plan_of(doer("a"), doer("b")))
    story.starts()
    story.leaves("do:a")
    story.judges("verify:a", "the log is empty")
    story.adapts(DEPENDS)
    files = WorkflowFiles(folder)
    try:
        files.show(story.state, 0)
    except OSError:
        files.show(story.state, 0)
    sizes = {kind: len(kept(folder, kind)) for kind in ("plans", "outputs", "verifications", "adaptations")}
    assert sizes == {"plans": 2, "outputs": 1, "verifications": 1, "adaptations": 1}
