"""Evidence is looked up where it is said to lie, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.actions import named_files
from orchestrator.daemon.actions.own_artifacts import list_before
from orchestrator.daemon.actions.resolve import resolve
from orchestrator.daemon.core.task_paths import TaskPaths, tree_of
from orchestrator.formats.evidence import references
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh.withheld import Withheld, path_of
from orchestrator.model.actions import ResolveEvidence
from orchestrator.model.errors import Unavailable
from orchestrator.model.evidence import Reference, Resolution
from orchestrator.model.facts import EvidenceResolved
from orchestrator.model.handoff import CriterionMark
from orchestrator.model.plan import StepState
from orchestrator.model.run import Purpose, Run
from orchestrator.model.task import AgentOverrides, Bring, Location, WorkspaceKind
from orchestrator.ports.boxes import RemoteFile
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from tests.unit.pm.story import Story

COMMIT = "0a1b2c3d4e" * 4


class Boxes:
    """Boxes with one folder: `greet.py` has three lines there, and one commit is known."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.lost = False

    def file_at(self, box: str, place: str, path: str, task: str) -> RemoteFile | None:
        assert task == "tasks/demo"
        self._ask(box, place, path)
        name = path.removeprefix("/repo/")
        return {
            "greet.py": RemoteFile(is_folder=False, lines=3),
            "void.py": RemoteFile(is_folder=False, is_empty=True),
            "huge.log": RemoteFile(is_folder=False, lines=None),
            "shop/": RemoteFile(is_folder=True),
            "hollow/": RemoteFile(is_folder=True, is_empty=True),
        }.get(name)

    def commit_at(self, box: str, place: str, name: str, base: str, since: float) -> str:
        assert base
        assert since
        self._ask(box, place, name)
        return COMMIT if COMMIT.startswith(name) else ""

    def _ask(self, box: str, place: str, what: str) -> None:
        assert (box, place) == ("me@box", "/repo")
        if self.lost:
            raise Unavailable("me@box does not answer")
        self.asked.append(what)


class Desk:
    """A task whose branch has `shop/greet.py` with three lines, and whose folder has some artifacts."""

    def __init__(self, root: Path, **config: object) -> None:
        self.boxes = Boxes()
        self.where = TaskPaths(root / "p", root / "pm", root / "p" / "tasks" / "demo", root / "trees")
        self.workspaces = FakeWorkspaces()
        story = Story(**config)  # type: ignore[arg-type]
        story.planned("a")
        self.state = replace(story.state, base=self.workspaces.head(self.where.code))
        tree = tree_of(self.state, self.state.steps["dev:a"], self.where)
        if tree is None and self.state.brief.config.workspace is WorkspaceKind.WORKTREE:
            self.workspaces.prepare(
                Tree(self.where.code, self.where.trees, "a", self.state.branch, self.state.base), 1
            )
        self.commit = ""
        if tree is not None:
            self.workspaces.prepare(tree, 1)
            self.workspaces.work(tree, "a\nb\nc\n", "shop/greet.py")
            self.workspaces.work(tree, "", "hollow/void.py")
            self.commit, _ = self.workspaces.commit(tree, "greet")
            self.workspaces.merge(tree, self.commit)
            self.workspaces.work(tree, "never committed", "shop/late.py")
            (tree.path / "shop").mkdir(parents=True)
            (tree.path / "shop" / "late.py").write_text("never committed")
        for name, text in {"seen.md": "one\ntwo\n", "empty.md": "", "run/log.txt": "x\n"}.items():
            path = self.where.task / "artifacts" / "tests" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.where.task / "artifacts" / "void").mkdir()
        (self.where.task / "artifacts" / "out").symlink_to("/etc")
        (self.where.task / "task.md").write_text("# Task: x\n")
        (self.where.task / "handoffs").mkdir()
        (self.where.task / "handoffs" / "review-1.md").write_text("All is well.\n")
        (self.where.code / "mine.py").write_text("1\n2\n")

    def look(self, text: str) -> Resolution:
        """Return what became of looking one thing up."""
        named, _ = references(text, frozenset())
        return self.found(*named)[0]

    def found(self, *named: Reference) -> tuple[Resolution, ...]:
        return self._resolved((), named).found

    def absent(self, *criteria: str, met: bool = True) -> tuple[str, ...]:
        """Return which files that these criteria name are not there."""
        marks = tuple(CriterionMark(text, met=met, evidence=("shop/greet.py",)) for text in criteria)
        return self._resolved(marks, ()).absent

    def _resolved(self, marks: tuple[CriterionMark, ...], named: tuple[Reference, ...]) -> EvidenceResolved:
        world: Any = SimpleNamespace(files=DiskFiles(), workspaces=self.workspaces, boxes=self.boxes)
        action = ResolveEvidence("a1", "accept", 1, marks, named)
        return resolve(world, self.state, action, self.where, 1.0)


def judged_by(desk: Desk, *, attempt: int = 1) -> Run:
    """Let the last review begin, after what lies in the task's artifacts by now."""
    step = replace(desk.state.steps["accept"], attempt=attempt)
    run = Run(f"r-{attempt}", "accept", attempt, "review", "review", Purpose.WORK, 1.0)
    runs = desk.state.runs.with_run(run)
    desk.state = replace(desk.state, runs=runs, steps=desk.state.steps.with_step(step))
    layout.run_home(desk.where.home, run.id).mkdir(parents=True)
    list_before(DiskFiles(), step, run, desk.where)
    return run


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize(
    ("text", "exists"),
    [
        ("shop/greet.py", True),
        ("shop/greet.py:3", True),
        ("shop/greet.py:4", False),
        ("shop/", True),
        ("hollow/void.py", False),  # nothing is in it
        ("hollow/", False),
        ("shop/late.py", False),  # it lies in the tree, and nobody committed it
        ("mine.py", False),  # it lies in the user's own tree
        ("artifacts/tests/seen.md", True),
        ("artifacts/tests/seen.md:2", True),
        ("artifacts/tests/seen.md:9", False),
        ("artifacts/tests/never.md", False),
        ("artifacts/tests/empty.md", False),
        ("artifacts/tests/", True),
        ("artifacts/", False),  # which of them?
        ("artifacts/tests/..", False),
        ("handoffs/", False),
        ("handoffs/review-1.md", False),  # a claim
        ("artifacts/../handoffs/review-1.md", False),
        ("tasks/demo/handoffs/review-1.md", False),
        ("artifacts/void/", False),
        ("artifacts/out/passwd", False),  # a link that leads elsewhere
        ("artifacts/../task.md", False),
        ("task.md", False),
        ("/etc/passwd", False),
        ("../secret.py", False),
        ("deadbeef", False),
    ],
)
def test_what_is_evidence(desk: Desk, text: str, exists: bool) -> None:  # noqa: FBT001 (a column of the table)
    found = desk.look(text)
    assert found.exists is exists, found
    assert found.detail


def test_files_that_criteria_name_are_looked_for(desk: Desk) -> None:
    """A criterion "bye.py exists" was met by evidence for greet.py."""
    assert desk.absent("bye.py exists", "greet.py and `shop/greet.py` exist") == ("bye.py",)
    assert desk.absent("`hollow/void.py` exists, seen.md and late.py too") == ("late.py",)  # empty is there
    assert desk.absent("bye.py exists", met=False) == desk.absent("bye.py is removed") == ()


def test_in_the_users_own_tree_they_are_looked_for_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path, workspace=WorkspaceKind.SHARED)
    (desk.where.code / ".git").mkdir()
    (desk.where.code / ".git" / "never.py").touch()
    assert desk.absent("mine.py, never.py and Seen.md exist") == ("never.py",)


def test_where_nobody_can_tell_no_file_is_absent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_files, "MOST", 2)
    assert desk.absent("bye.py exists") == ()


def test_line_zero_is_no_reference() -> None:
    assert references("shop/greet.py:0", frozenset()) == ((), False)


def test_a_commit_of_the_branch_is_evidence(desk: Desk) -> None:
    assert desk.look(desk.commit[-39:] if not desk.commit.isdigit() else "f" * 40).exists is False
    (found,) = desk.found(replace(references("deadbeef", frozenset())[0][0], target=desk.commit))
    assert found.exists


def test_the_commit_before_the_task_is_no_evidence(desk: Desk) -> None:
    """The base is on the branch, as every commit before it is: no step has made it."""
    reference = references("deadbeef", frozenset())[0][0]
    assert not desk.found(replace(reference, target=desk.state.base))[0].exists
    accepted(desk)
    desk.state = replace(desk.state, base=desk.commit)  # rebased onto a branch that has the work already
    assert desk.found(replace(reference, target=desk.commit))[0].exists


def test_handoffs_are_no_evidence_by_any_name(tmp_path: Path) -> None:
    """In the user's own tree each file of the task's folder, and git's own, was one of the project."""
    folder = tmp_path / "p"
    desk = Desk(tmp_path, workspace=WorkspaceKind.SHARED)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "way").symlink_to(desk.where.task / "handoffs")
    claims = (
        "tasks/demo/handoffs/review-1.md",
        "tasks/demo/task.md",
        "tasks/",
        "way/review-1.md",
        ".git/HEAD",
    )
    for claim in (*claims, str(folder), str(desk.where.task), str(desk.where.task / "handoffs/review-1.md")):
        assert not desk.look(claim).exists, claim
    for text in ("tasks/demo/artifacts/tests/seen.md", str(desk.where.task / "artifacts/tests/seen.md")):
        assert desk.look(text).exists, text


def test_whole_paths_are_looked_for_where_they_lead(desk: Desk) -> None:
    tree = desk.where.trees / "a"
    assert desk.look(f"{tree}/shop/greet.py").exists
    assert not desk.look(f"{tree}/shop/late.py").exists
    assert desk.look(f"{desk.where.task}/artifacts/tests/seen.md").exists
    assert not desk.look(f"{desk.where.task}/task.md").exists


def test_in_the_users_own_tree_files_are_looked_for_there(tmp_path: Path) -> None:
    desk = Desk(tmp_path, workspace=WorkspaceKind.SHARED)
    assert desk.look("mine.py:2").exists
    assert not desk.look("mine.py:3").exists
    assert not desk.look("shop/greet.py").exists
    assert not desk.look("deadbeef").exists


def test_evidence_lookup_is_retried_when_git_fails(desk: Desk) -> None:
    desk.workspaces.fail_next(Unavailable("git hangs"))
    with pytest.raises(Unavailable):
        desk.look("shop/greet.py")


# Work that stays where it was done -------------------------------------------------------------------


def test_folder_that_came_in_part_is_no_evidence(desk: Desk) -> None:
    """It holds a file, which is not all that its agent made on the box."""
    noted = Withheld(DiskFiles(), path_of(layout.task_withheld(desk.where.home), "b"))
    noted.note("artifacts/tests", "not all of it came in time")
    noted.keep()
    found = desk.look("artifacts/tests/")
    assert not found.exists
    assert "not all of it came in time" in found.detail
    assert desk.look("artifacts/tests/seen.md").exists
    noted.note("artifacts/tests", "")
    noted.keep()
    assert desk.look("artifacts/tests/").exists


@pytest.fixture
def far(tmp_path: Path) -> Desk:
    """A task whose developer works on a box, where its code stays."""
    return Desk(tmp_path, cwd=Location("/repo", "me@box"))


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("greet.py", "3 lines on me@box:/repo"),
        ("greet.py:3", "3 lines on me@box:/repo"),
        ("/repo/greet.py", "3 lines on me@box:/repo"),
        ("me@box:/repo/greet.py:2", "3 lines on me@box:/repo"),
        ("huge.log", "a large file on me@box:/repo"),
        ("shop/", "a folder on me@box:/repo"),
        (COMMIT[:12], "0a1b2c3d4e on me@box:/repo"),
    ],
)
def test_what_stays_on_a_box_is_evidence(far: Desk, text: str, detail: str) -> None:
    assert far.look(text) == Resolution(text, exists=True, detail=detail)


@pytest.mark.parametrize(
    "text",
    ["greet.py:4", "void.py", "hollow/", "huge.log:7", "shop/:7", "never.py", "/etc/passwd", "deadbeef"],
)
def test_what_a_box_has_not_is_no_evidence(far: Desk, text: str) -> None:
    found = far.look(text)
    assert not found.exists
    assert "me@box:/repo" in found.detail


def test_while_a_box_is_lost_nothing_is_missing(far: Desk) -> None:
    far.boxes.lost = True
    for text in ("greet.py", COMMIT):
        with pytest.raises(Unavailable):
            far.look(text)
    assert far.look("artifacts/tests/seen.md").exists


def test_what_is_brought_home_is_not_looked_for_on_its_box(tmp_path: Path) -> None:
    desk = Desk(tmp_path, cwd=Location("/repo", "me@box"), bring=Bring.BRANCH)
    assert desk.look("shop/greet.py").exists
    assert not desk.look("greet.py").exists
    assert desk.boxes.asked == []


def test_a_folder_of_an_agents_own_is_looked_into(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "own.py").write_text("1\n2\n")
    (folder / "out.py").symlink_to("/etc/passwd")
    desk = Desk(tmp_path, agents={"dev": AgentOverrides(cwd=Location(str(folder)))})
    assert desk.look("own.py:2").detail == f"2 lines in {folder}"
    assert desk.look(str(folder / "own.py")).exists
    for text in ("own.py:3", "out.py", "never.py", "deadbeef", "../p/mine.py"):
        assert not desk.look(text).exists, text


def test_nobody_is_looked_for_where_none_has_worked_yet(tmp_path: Path) -> None:
    overrides = {"review": AgentOverrides(cwd=Location("/repo", "me@box"))}
    desk = Desk(tmp_path, agents=overrides)
    assert not desk.look("greet.py").exists
    assert desk.boxes.asked == []


# The branch ----------------------------------------------------------------------------------------


def accepted(desk: Desk) -> None:
    """Let the work be accepted."""
    steps = desk.state.steps
    for step in (
        replace(steps["dev:a"], state=StepState.PASSED, commit=desk.commit),
        replace(steps["review:a"], state=StepState.PASSED),
    ):
        steps = steps.with_step(step)
    desk.state = replace(desk.state, steps=steps)


def is_empty(desk: Desk) -> bool:
    """Return what is seen of the branch once its work was accepted."""
    accepted(desk)
    world: Any = SimpleNamespace(files=DiskFiles(), workspaces=desk.workspaces, boxes=desk.boxes)
    action = ResolveEvidence("a1", "accept", 1, (), ())
    return resolve(world, desk.state, action, desk.where, 1.0).empty


def test_a_branch_with_work_is_not_empty(desk: Desk) -> None:
    assert not is_empty(desk)


def test_a_branch_whose_work_was_taken_back_is_empty(desk: Desk) -> None:
    tree = Tree(desk.where.code, desk.where.trees, "b", desk.state.branch, desk.state.base)
    desk.workspaces.prepare(tree, 1)
    for name in ("shop/greet.py", "hollow/void.py"):
        desk.workspaces.delete_file(tree, name)
    taken_back, _ = desk.workspaces.commit(tree, "no greeting")
    desk.workspaces.merge(tree, taken_back)
    assert is_empty(desk)


def test_what_a_judge_wrote_itself_is_its_own_word(desk: Desk) -> None:
    """A criterion was met by four bytes that its judge had written for that purpose, and nothing said so."""
    judged_by(desk)
    reviews = desk.where.task / "artifacts" / "reviews"
    reviews.mkdir()
    (reviews / "ok.md").write_text("fine")
    (desk.where.task / "artifacts" / "tests" / "seen.md").write_text("one\ntwo\nrewritten\n")
    for own in (
        "artifacts/reviews/ok.md",
        f"{reviews}/ok.md",
        "artifacts/reviews",
        "artifacts/tests/seen.md",
    ):
        found = desk.look(own)
        assert (found.exists, found.own) == (True, True)
        assert found.detail.endswith("written while accept judged: its own word")
    for other in ("artifacts/tests/run/log.txt", "artifacts/tests", "shop/greet.py"):
        assert (desk.look(other).exists, desk.look(other).own) == (True, False)


def test_an_own_word_stays_one_in_the_next_attempt(desk: Desk) -> None:
    judged_by(desk)
    (desk.where.task / "artifacts" / "ok.md").write_text("fine")
    assert desk.look("artifacts/ok.md").own
    (desk.where.task / "artifacts" / "tests" / "new.md").write_text("from the next subtask")
    judged_by(desk, attempt=2)
    assert desk.look("artifacts/ok.md").own
    assert not desk.look("artifacts/tests/new.md").own


def test_a_late_artifact_of_another_step_is_no_own_word(desk: Desk) -> None:
    """Files of a box may arrive while the whole is judged."""
    judged_by(desk)
    dev = replace(desk.state.steps["dev:a"], artifacts=("artifacts/code/late.md",))
    desk.state = replace(desk.state, steps=desk.state.steps.with_step(dev))
    (desk.where.task / "artifacts" / "code").mkdir()
    (desk.where.task / "artifacts" / "code" / "late.md").write_text("from a box")
    assert not desk.look("artifacts/code/late.md").own


def test_without_a_list_of_before_nothing_is_called_own(desk: Desk) -> None:
    assert not desk.look("artifacts/tests/seen.md").own
