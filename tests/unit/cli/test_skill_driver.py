"""The driver by directives: killed between any two writes, it goes on at the same step with the same task id (S1)."""

from dataclasses import replace
from itertools import count

import pytest

from orchestrator.cli.skill_driver import DONE, STEP_NAMES, SkillDriver, Surroundings
from orchestrator.formats.skill.memory import memory_form
from orchestrator.formats.skill.prompt import phase_prompt
from orchestrator.model.composite import CompositeSkill, Domain, SkillState, context_file
from orchestrator.model.errors import BadFile, Refused
from orchestrator.ports.files import Unreadable
from orchestrator.records.skill_store import SkillStore
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind
from tests.unit.skill_sessions import PROJECT, RULES, SKILL, STATE, memory, memory_path, session


class Killed(BaseException):
    """The process ended here."""


class Desk:
    """A session on a disk in memory, and whoever follows its directives."""

    def __init__(self):
        self.files = MemoryFiles(now=lambda: 0.0)
        self.skill = SKILL
        self.files.make_folder(PROJECT)
        self.store = SkillStore(self.files, STATE, b"key")
        self.ids = count(1)
        self.driver = SkillDriver(
            self.store,
            Surroundings(
                new_id=lambda: f"{next(self.ids):012x}",
                skill=lambda _: self.skill,
                rules=lambda _: RULES,
                learnings=lambda _: ["Ask early"],
                content=lambda _, number: f"Text of step {number}\n",
            ),
        )

    def act(self):
        """Do what the last directive says; return what is printed."""
        if not self.store.is_there():
            return self.driver.dispatch(session())
        current = self.store.load()
        if (phase := current.phase) and current.task_id:
            self.files.put(memory_path(phase, current.task_id), memory(phase, current.task_id))
            return self.driver.advance_phase()
        if current.state in {SkillState.VALIDATE, SkillState.COMPLETE}:
            return self.driver.complete()
        return self.driver.step(list(SkillState).index(current.state) + 1)

    def finish(self):
        """Follow all directives; return what was printed."""
        said = list[str]()
        while not said or said[-1] != DONE:
            said.append(self.act())
        return said

    def snapshot(self):
        """Return the state file's bytes and the session in it, None if there is none."""
        return self.store.load() if self.store.is_there() else None


@pytest.fixture
def desk():
    return Desk()


def test_each_command_prints_its_text_and_the_next_directive(desk):
    said = desk.finish()
    commands = ["entry", *STEP_NAMES[1:5], "advance_phase", STEP_NAMES[5], "complete"]
    for text, command in zip(said[:-1], commands, strict=True):
        assert f"    task skill {command} --state {STATE}\n" in text
    assert [f"Text of step {number}\n" in said[number] for number in range(1, 5)] == [True] * 4
    assert "task skill complete" in desk.driver.entry()


def test_phases_alongside_are_started_together(desk):
    """One directive names both agents; who has ended is not started again; each has to be complete."""
    beside = replace(SKILL.phases[1], alongside=True)
    desk.skill = CompositeSkill(SKILL.name, (SKILL.phases[0], beside))
    for _ in range(5):
        said = desk.act()
    said = desk.driver.step(5)
    assert [f"subagent_type: '{phase.agent}'" in said for phase in desk.skill.phases] == [True, True]
    task_id = desk.store.load().task_id
    desk.files.put(memory_path(beside, task_id), memory(beside, task_id))
    with pytest.raises(BadFile, match="clarification has to write it"):
        desk.driver.advance_phase()
    said = desk.driver.step(5)
    assert [f"subagent_type: '{phase.agent}'" in said for phase in desk.skill.phases] == [True, False]
    desk.files.put(memory_path(SKILL.phases[0], task_id), memory(SKILL.phases[0], task_id))
    assert STEP_NAMES[5] in desk.driver.advance_phase()


def test_the_directive_names_agent_prompt_and_form(desk):
    for _ in range(5):
        desk.act()
    said, current = desk.driver.step(5), desk.store.load()
    phase = SKILL.phases[0]
    assert (
        "Execute Task tool with subagent_type: 'clarification'\nPrompt:\n\n    Ask what is not clear." in said
    )
    prompt = phase_prompt(current, phase)
    assert memory_form(current.task_id, phase) in prompt
    assert f"Read first: {context_file(current.task_id)}. Read no other" in prompt
    assert "clarification-memory.md. Read no other" in phase_prompt(current, SKILL.phases[1])


def moments():
    """Return how many changing steps a whole session takes on the disk."""
    desk, seen = Desk(), []
    desk.files.before = lambda step, path: seen.append(step)
    desk.finish()
    return len(seen)


@pytest.mark.parametrize("power", [False, True], ids=["killed", "power cut"])
def test_killed_at_any_write_it_goes_on_at_the_same_step(power):
    """Every write of a session is the last one once; then another process goes on from what the disk has.

    Agents do not sync their memory files: with the power gone, a phase must not count whose file is gone, too.
    """
    total = moments()
    assert total > 25
    for moment in range(total):
        desk, left = Desk(), count()
        before = None

        def kill(step, path, left=left, moment=moment):
            if next(left) == moment:
                raise Killed

        desk.files.before = kill
        try:
            while True:
                before = desk.snapshot()
                desk.act()
        except Killed:
            pass
        desk.files.before = None
        desk.files.crash(power=power)
        after = desk.snapshot()
        if before is not None:
            states = list(SkillState)
            assert states.index(after.state) - states.index(before.state) in {0, 1}
            assert before.task_id in {None, after.task_id}
        desk.finish()
        ended = desk.snapshot()
        assert ended.state is SkillState.COMPLETE
        assert after is None or after.task_id in {None, ended.task_id}


def test_no_directive_is_shown_before_the_state_is_saved(desk):
    """A disk that fails: the command raises, and the session stands where it stood."""
    for number in range(9):
        before = desk.snapshot()
        desk.files.fail_next("rename", OSError(28, "No space left on device"), STATE)
        if before is None:
            desk.files.fail_next("link", OSError(28, "No space left on device"), STATE)
        with pytest.raises(OSError, match="No space left"):
            desk.act()
        assert desk.snapshot() == before, number
        desk.files._faults.clear()
        desk.act()


def test_a_step_done_twice_changes_nothing(desk):
    desk.act()
    for number in range(1, 5):
        desk.driver.step(number)
        once = desk.snapshot()
        assert f"Step {number} is done." in desk.driver.step(number)
        assert desk.snapshot() == once


def test_a_step_out_of_order_is_refused(desk):
    desk.act()
    for number in range(2, 7):
        with pytest.raises(
            Refused, match=f"step {number} does not come now: the next is step_1_generate_task_id"
        ):
            desk.driver.step(number)
    with pytest.raises(Refused):
        desk.driver.advance_phase()
    with pytest.raises(Refused):
        desk.driver.complete()


@pytest.mark.parametrize(
    "place",
    [
        lambda files, path, whole: None,
        lambda files, path, whole: files.put(path, whole[:-2]),
        lambda files, path, whole: files.put(path, whole.replace(b"clarification", b"research")),
        lambda files, path, whole: files.put(path, whole + b"more\n"),
        lambda files, path, whole: files.put(path, b"\xff" + whole),
        lambda files, path, whole: files.put(path, whole + b" " * 1_048_576),
        lambda files, path, whole: files.put(path, kind=Kind.FOLDER),
        lambda files, path, whole: files.put(path, kind=Kind.LINK),
    ],
    ids=["none", "torn", "of another", "goes on", "not UTF-8", "too large", "a folder", "a link"],
)
def test_a_phase_stays_at_work_without_a_complete_memory(desk, place):
    for _ in range(5):
        desk.act()
    before = desk.snapshot()
    path = memory_path(SKILL.phases[0], before.task_id)
    place(desk.files, path, memory(SKILL.phases[0], before.task_id))
    for command in (desk.driver.advance_phase, lambda: desk.driver.step(6), desk.driver.complete):
        with pytest.raises((BadFile, Unreadable, Refused)):
            command()
    assert desk.snapshot() == before


def test_a_given_domain_counts_more_than_rules(desk):
    for _ in range(2):
        desk.act()
    desk.driver.step(2, Domain.PERSONAL)
    assert desk.snapshot().classified.domain is Domain.PERSONAL


def test_a_second_session_does_not_replace_the_first(desk):
    desk.act()
    desk.act()
    before = desk.snapshot()
    with pytest.raises(Refused, match="there is a session"):
        desk.driver.dispatch(session(request="Else"))
    assert desk.snapshot() == before


def test_an_end_that_is_only_claimed_is_looked_up(desk):
    """A hand may write COMPLETE into the state file, or take a memory file away afterwards."""
    desk.finish()
    path = memory_path(SKILL.phases[1], desk.snapshot().task_id)
    desk.files.delete(path)
    with pytest.raises(BadFile, match=r"research-memory\.md: is missing"):
        desk.driver.complete()


def test_agents_learn_what_was_learned_before(desk):
    for _ in range(5):
        desk.act()
    text = desk.files.read(PROJECT / context_file(desk.snapshot().task_id)).decode()
    assert "## Learned about technical work\n\n- Ask early\n" in text
