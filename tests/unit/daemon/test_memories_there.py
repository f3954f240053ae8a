"""A phase on a box: what its agent finds there, and what of it counts here (S3, S4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.core.memories_there import RUN_FILE, keep_memories, memory_folder, take_memory
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.composite import MEMORY_FOLDER, SkillPlan, agent_memory_file, context_file, name_of
from tests.unit.daemon.skill_drivers import THREE
from tests.unit.skill_sessions import TASK_ID, memory, session

LOOK, _, WORK = THREE.phases
OWN = agent_memory_file(TASK_ID, WORK.agent)


class OnABox:
    """A phase whose agent works on a box: the project here, and what was sent there and brought from there."""

    def __init__(self, root: Path) -> None:
        self.files, self.project, self.home, self.brought = (
            DiskFiles(),
            root / "p",
            root / "home",
            root / "mirror",
        )
        self.plan = SkillPlan(replace(session(THREE), task_id=TASK_ID, config=THREE), "/state.json")
        (self.project / MEMORY_FOLDER).mkdir(parents=True)
        self.brought.mkdir()
        (self.project / context_file(TASK_ID)).write_text("## Request\n")
        for phase in THREE.phases[:2]:
            (self.project / agent_memory_file(TASK_ID, phase.agent)).write_bytes(memory(phase))

    def sent(self, run: str = "r1") -> dict[str, bytes]:
        """Return what is sent ahead of a run, by name."""
        folder = keep_memories(self.files, self.project, self.home, run, self.plan, WORK)
        return {each.name: each.read_bytes() for each in sorted(memory_folder(folder).iterdir())}

    def leaves(self, data: bytes, run: str = "r1") -> None:
        """The agent leaves its memory file there, and it is brought."""
        there = WorkflowFolder(self.files, self.brought)
        there.write(f"memory/{name_of(OWN)}", data)
        there.write(RUN_FILE, run.encode())

    def take(self, run: str = "r1") -> bytes | None:
        """Take in what was brought; return the memory file here."""
        take_memory(self.files, self.project, self.brought, run, OWN)
        here = self.project / OWN
        return here.read_bytes() if here.exists() else None


@pytest.fixture
def box(tmp_path: Path) -> OnABox:
    return OnABox(tmp_path)


def test_what_a_phase_may_read_is_sent(box: OnABox) -> None:
    """Whose files they are is sent last; of the agent itself nothing that an earlier run left stays there."""
    sent = box.sent()
    assert list(sent)[-1] == "run"
    assert sent.pop("run") == b"r1\n"
    assert sent.pop(name_of(OWN)) == b""
    assert set(sent) == {
        name_of(context_file(TASK_ID)),
        *(f"{TASK_ID}-{each}-memory.md" for each in ("scout", "asker")),
    }


def test_what_the_context_leaves_out_is_not_sent(box: OnABox) -> None:
    box.plan = replace(
        box.plan, session=replace(box.plan.session, config=replace(THREE, phases=(LOOK, WORK)))
    )
    assert f"{TASK_ID}-asker-memory.md" not in box.sent()


def test_what_an_agent_left_incomplete_is_sent_again(box: OnABox) -> None:
    box.leaves(b"half")
    box.take()
    assert box.sent("r2")[name_of(OWN)] == b"half"


def test_memory_file_comes_from_the_box(box: OnABox) -> None:
    box.leaves(memory(WORK))
    assert box.take() == memory(WORK)
    assert box.take() == memory(WORK)


def test_memory_file_of_an_earlier_run_does_not_come(box: OnABox) -> None:
    """The box was lost before it was seen again: what was brought last is of the run before."""
    box.leaves(memory(WORK))
    assert box.take("r2") is None


def test_other_memory_files_do_not_come(box: OnABox) -> None:
    """What an agent there writes into another's file changes nothing here."""
    box.leaves(memory(WORK))
    WorkflowFolder(box.files, box.brought).write(f"memory/{TASK_ID}-scout-memory.md", b"forged")
    box.take()
    assert (box.project / agent_memory_file(TASK_ID, "scout")).read_bytes() == memory(LOOK)


def test_link_in_what_was_brought_is_not_followed(box: OnABox) -> None:
    box.leaves(memory(WORK))
    place = memory_folder(box.brought) / name_of(OWN)
    secret = box.home.with_name("secret")
    secret.write_text("secret")
    place.unlink()
    place.symlink_to(secret)
    assert box.take() is None
