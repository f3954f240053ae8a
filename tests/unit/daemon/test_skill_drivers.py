"""Two drivers of one machine: by the commands of a session, and by the daemon (S3, S4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.daemon.core.task_paths import granted
from orchestrator.daemon.ingest.skill_plan import with_skill
from orchestrator.model.composite import (
    MEMORY_FOLDER,
    CompositeSkill,
    Context,
    SkillPhase,
    SkillSession,
    SkillState,
    agent_memory_file,
)
from orchestrator.model.errors import Refused
from orchestrator.model.facts import BriefChanged
from orchestrator.model.run import Exit
from orchestrator.model.task import TaskState, WorkspaceKind
from orchestrator.pm.plan.families.skills import MEMORIES_COMPLETE, phase_step
from orchestrator.pm.state.results import unmet_criteria
from tests.unit.daemon.skill_drivers import (
    NAME,
    PROJECT,
    STATE,
    THREE,
    Driven,
    Killed,
    Outputs,
    Session,
    complete,
    driven,
)
from tests.unit.skill_sessions import TASK_ID, memory

ENDED = {SkillState.COMPLETE_WORKFLOW, SkillState.VALIDATE, SkillState.COMPLETE}
"""The states in which no phase is left."""


@st.composite
def skills(draw: st.DrawFn) -> CompositeSkill:
    """Return a skill of one to five phases, some of them at the same time."""
    count = draw(st.integers(1, 5))
    beside = [False, *(draw(st.booleans()) for _ in range(count - 1))]
    contexts = [draw(st.sampled_from(Context)) for _ in range(count)]
    return CompositeSkill(
        "make",
        tuple(
            SkillPhase(f"p{number}", f"a{number}", context=context, alongside=alongside)
            for number, (context, alongside) in enumerate(zip(contexts, beside, strict=True))
        ),
    )


@st.composite
def sessions(draw: st.DrawFn) -> tuple[CompositeSkill, Outputs]:
    """Return a skill, and what its agents leave: something incomplete once, or not, and then a complete memory file."""
    skill = draw(skills())
    wrong = st.sampled_from([None, b"", b"**Status:** COMPLETE\n", b"\xff", b"# Memory\n\nStill at it\n"])
    text = st.from_regex(r"[abc .]{0,9}[abc][abc .]{0,9}", fullmatch=True)
    outputs = {
        phase.agent: [*draw(st.lists(wrong, max_size=1)), memory(phase, summary=draw(text))]
        for phase in skill.phases
    }
    return skill, outputs


DRAWN = (
    sessions(),
    st.lists(st.integers(0, 4), min_size=1, max_size=6),
    st.sampled_from([WorkspaceKind.WORKTREE, WorkspaceKind.SHARED]),
)
"""A session; after how many steps of one driver the other goes on; where the agents of a task work."""


@settings(max_examples=8, deadline=None)
@given(*DRAWN)
def test_both_drivers_go_through_the_same_states(
    drawn: tuple[CompositeSkill, Outputs], switches: list[int], workspace: WorkspaceKind
) -> None:
    """The same request and the same agents: the same states in the same order, the same outputs, the same memory files.

    The daemon takes over after any number of steps, in the middle of the phases, too, and commands take back; and so
    on, each time with a new task.
    """
    check_both_drivers(*drawn, switches, workspace)


@pytest.mark.thorough(reason="more of the same sessions")
@settings(max_examples=300, deadline=None)
@given(*DRAWN)
def test_both_drivers_are_alike_in_many_sessions(
    drawn: tuple[CompositeSkill, Outputs], switches: list[int], workspace: WorkspaceKind
) -> None:
    check_both_drivers(*drawn, switches, workspace)


def check_both_drivers(
    skill: CompositeSkill, outputs: Outputs, switches: list[int], workspace: WorkspaceKind
) -> None:
    """Check that a session goes the same way by commands alone, and by two drivers in turn."""
    by_commands = Session(skill, outputs)
    by_commands.begin()
    by_commands.finish()

    taken = Session(skill, outputs)
    taken.begin()
    for number, steps in enumerate(switches):
        if number % 2:
            _daemon_drives(taken, steps, workspace, f"{NAME}{number}")
        else:
            _commands_drive(taken, steps)
    taken.finish()

    states, shown = by_commands.files.states, list[SkillSession]()
    for each in (replace(each, task="") for each in taken.files.states):
        shown += [each] if each not in shown else []
    # The daemon may do several steps at once, and shows what comes of them.
    assert [each for each in states if each in shown] == shown
    assert shown[-1] == states[-1]
    assert taken.memories() == by_commands.memories()


def _commands_drive(taken: Session, steps: int) -> None:
    while steps and taken.store.load().state not in ENDED:
        steps -= 1
        taken.act()


def _daemon_drives(taken: Session, turns: int, workspace: WorkspaceKind, name: str) -> None:
    """Have the daemon take over, and give the session back after some turns of agents, if it is not at its end."""
    if taken.store.load().state in ENDED:
        with pytest.raises(Refused, match=r"no phase is left|it is complete"):
            taken.driver.take_over(name)
        return
    daemon = Driven(taken, workspace, name)
    daemon.take_over()
    while turns and daemon.at_work():
        turns -= 1
        daemon.turn(daemon.at_work()[-1])
    if not daemon.at_work():
        assert daemon.state.state is TaskState.COMPLETE
        return
    daemon.give_back()
    assert taken.store.load().task == ""
    assert not daemon.state.live_runs


def test_phases_run_at_once_where_the_skill_says_so() -> None:
    """The second phase is alongside the first: both run. The third waits for both, and may read both."""
    daemon = driven()
    first, second = daemon.at_work()
    assert (first.step, second.step) == ("phase:look", "phase:ask")
    daemon.turn(second)
    assert [run.step for run in daemon.at_work()] == ["phase:look"]
    assert daemon.session.store.load().phase == THREE.phases[0]
    daemon.turn(first)
    assert [run.step for run in daemon.at_work()] == ["phase:work"]
    assert len(daemon.session.store.load().phases_completed) == 2


def test_handoff_names_summary_and_memory_file() -> None:
    """The PM writes the handoff of a phase from its memory file (H15)."""
    daemon = driven(outputs=complete(THREE, "Seen: it."))
    daemon.turn(daemon.at_work()[0])
    step = daemon.step("phase:look")
    handoff = daemon.files.read(PROJECT / "tasks/demo/handoffs" / step.report).decode()
    assert "Seen: it." in handoff
    assert step.artifacts == (str(PROJECT / agent_memory_file(TASK_ID, "scout")),)


@pytest.mark.parametrize("left", [None, b"**Status:** COMPLETE\n"])
def test_incomplete_memory_file_never_ends_a_phase(left: bytes | None) -> None:
    """The agent is asked again, then in a new conversation, then the user is asked; the phase stays where it is."""
    daemon = driven(outputs={**complete(THREE), "scout": [left] * 20})
    for _ in range(20):
        if not daemon.at_work():
            break
        daemon.turns()
    (question,) = daemon.state.open_questions
    assert question.step == "phase:look"
    assert daemon.session.store.load().phases_completed == ()


def test_crash_counts_unless_the_memory_file_is_complete() -> None:
    """An agent that crashed before its file was complete hands nothing in; one that crashed after it has."""
    daemon = driven()
    look, ask = daemon.at_work()
    daemon.comes_alive(look.step)
    daemon.hands_in(look, Exit(code=9))
    assert daemon.step("phase:look").tally.crashes == 1
    daemon.comes_alive(ask.step)
    daemon.session.write(THREE.phases[1])
    daemon.hands_in(ask, Exit(code=9))
    assert daemon.step("phase:ask").state == "passed"


def test_memory_file_from_before_the_run_does_not_count() -> None:
    """An agent wrote the file of a later phase: it is set aside when that begins, and its own agent writes one."""
    daemon = driven()
    forged = PROJECT / agent_memory_file(TASK_ID, "maker")
    daemon.files.put(forged, memory(THREE.phases[2], summary="Forged."))
    daemon.turns()
    (work,) = daemon.at_work()
    daemon.turn(work)
    assert b"Found it." in daemon.files.read(forged)
    aside = forged.with_name(f"{TASK_ID}-maker-memory-before-{work.id}.md")
    assert b"Forged." in daemon.files.read(aside)


def test_changed_memory_files_and_context_are_put_back() -> None:
    """What a phase reads is what was handed in, whatever became of the files meanwhile."""
    daemon = driven()
    daemon.turns()
    folder = PROJECT / ".claude/memory"
    before = daemon.session.memories()
    for name in before:
        daemon.files.put(folder / name, b"changed")
    daemon.turns()
    assert daemon.state.state is TaskState.COMPLETE
    after = daemon.session.memories()
    assert {name: after[name] for name in before} == before


def test_edited_state_file_moves_nothing() -> None:
    """A state file that claims everything is written anew from the journal; the phases go on."""
    daemon = driven()
    finished = driven()
    finished.finish()
    daemon.files.put(STATE, finished.files.read(STATE))
    daemon.turns()
    assert daemon.session.store.load().state is SkillState.TRIGGER_AGENTS
    assert [run.step for run in daemon.at_work()] == ["phase:work"]


def test_commands_refuse_a_session_that_the_daemon_drives() -> None:
    daemon = driven()
    driver = daemon.session.driver
    for command in (driver.entry, driver.advance_phase, driver.complete, lambda: driver.step(5)):
        with pytest.raises(Refused, match=f"the task {NAME} drives this session"):
            command()
    with pytest.raises(Refused, match=f"the task {NAME} drives this session"):
        driver.take_over("other")
    daemon.finish()
    with pytest.raises(Refused, match="carried this session out: it is complete"):
        driver.entry()
    assert driver.complete() == "SKILL_ORCHESTRATION_COMPLETE"


def test_take_over_killed_at_any_write_goes_on_the_same() -> None:
    """Killed between any two writes, the same command ends in the same session, with the same task id."""
    whole = Session(THREE, complete(THREE))
    whole.begin()
    whole.driver.take_over(NAME)
    for survived in range(100):
        killed = Session(THREE, complete(THREE))
        killed.begin()
        left = iter(range(survived))

        def dies(*_: object, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        killed.files.before = dies
        try:
            killed.driver.take_over(NAME)
        except Killed:
            killed.files.before = None
            killed.driver.take_over(NAME)
            assert killed.store.load() == whole.store.load()
        else:
            assert survived > 5
            return
    raise AssertionError("it was killed each time")


@pytest.mark.parametrize(
    "apart", [7, pytest.param(1, marks=pytest.mark.thorough(reason="a sample of these moments goes in CI"))]
)
def test_daemon_killed_at_any_write_ends_the_same(apart: int) -> None:
    """Killed ahead of any change of the disk, it ends with the same outputs, task id and memory files."""
    skill = CompositeSkill("make", (SkillPhase("look", "scout"), SkillPhase("work", "maker")))
    whole = driven(skill)
    whole.finish()
    survived, alive = 0, False
    while not alive:
        by_commands = Session(skill, complete(skill))
        by_commands.begin()
        daemon = Driven(by_commands)
        left = iter(range(survived))

        def dies(*_: object, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        daemon.files.before = dies
        daemon.take_over()
        daemon.finish()
        alive, daemon.files.before = daemon.files.before is not None, None
        assert daemon.state.state is TaskState.COMPLETE
        assert daemon.session.store.load() == whole.session.store.load()
        assert daemon.session.memories() == whole.session.memories()
        survived += apart
    assert survived > 20


def test_task_that_was_not_begun_gives_the_session_back() -> None:
    by_commands = Session(THREE, complete(THREE))
    by_commands.begin()
    by_commands.driver.take_over(NAME)
    by_commands.driver.give_back("other")
    assert by_commands.store.load().task == NAME
    by_commands.driver.give_back(NAME)
    by_commands.finish()
    assert by_commands.store.load().state is SkillState.COMPLETE


def test_criteria_added_later_are_said_not_to_be_met() -> None:
    """Nobody is there to judge them; that of the protocol is met all the same."""
    daemon = driven()
    daemon.brief = replace(daemon.brief, criteria=(MEMORIES_COMPLETE, "There is a greeting"))
    daemon.feed(BriefChanged(daemon.at, daemon.brief))
    daemon.finish()
    assert daemon.state.state is TaskState.PARTIAL
    assert unmet_criteria(daemon.state) == ["There is a greeting"]


def test_started_again_a_completed_task_has_nothing_to_do() -> None:
    daemon = driven()
    daemon.finish()
    before = daemon.files.states[-1]
    daemon.starts()
    daemon.show()
    assert daemon.at_work() == []
    assert daemon.state.state is TaskState.COMPLETE
    assert daemon.files.states[-1] == before


def test_set_aside_phase_takes_those_after_it_along() -> None:
    """No answer of the user passes an incomplete phase: the session stays where it is."""
    daemon = driven(outputs={**complete(THREE), "scout": [None] * 20, "maker": []})
    daemon.finish()
    (question,) = daemon.state.open_questions
    assert set(question.options) & {"accept", "approve", "continue"} == set()
    daemon.answers(question.id, "set-aside")
    daemon.finish()
    assert daemon.state.state in {TaskState.PARTIAL, TaskState.FAILED}
    assert daemon.session.store.load().phases_completed == ()


def test_steps_are_named_by_phases() -> None:
    daemon = driven()
    assert [step for step in daemon.state.steps if step.startswith("phase:")] == [
        phase_step(each.id) for each in THREE.phases
    ]


def test_phases_are_given_their_memory_folder() -> None:
    """In a container it is that of the project. A task with a PM agent does not start: the skill decides."""
    by_commands = Session(THREE, complete(THREE))
    by_commands.begin()
    daemon = Driven(by_commands)
    config = daemon.brief.config
    daemon.brief = replace(daemon.brief, config=replace(config, host="podman://image"))
    daemon.take_over()
    run = daemon.at_work()[0]
    assert run.host == "podman://image"
    assert PROJECT / MEMORY_FOLDER in granted(daemon.state, run, daemon.folder)
    daemon.finish()
    assert daemon.state.state is TaskState.COMPLETE

    by_commands = Session(THREE, complete(THREE))
    by_commands.begin()
    by_commands.driver.take_over(NAME)
    led = replace(daemon.brief, config=replace(config, pm="pm"), skill=None)
    with pytest.raises(Refused, match="pm:"):
        with_skill(by_commands.files, PROJECT, daemon.home, NAME, led)
