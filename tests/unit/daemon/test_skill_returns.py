"""Commands take a session back from a task at rest, as the daemon takes one over from them (S4)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orchestrator.daemon.actions.phase_launch import prepare_phase
from orchestrator.daemon.ingest.skill_plan import with_skill
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.skill_files import SkillFiles
from orchestrator.model.composite import SkillState, agent_memory_file
from orchestrator.model.errors import Refused
from orchestrator.model.task import TaskState
from tests.unit.daemon.skill_drivers import NAME, PROJECT, STATE, THREE, Killed, complete, driven
from tests.unit.skill_sessions import TASK_ID


def test_task_at_work_keeps_its_session() -> None:
    """It is refused, with what helps; and once an agent is still ending."""
    daemon = driven()
    assert daemon.gives_back().refused
    daemon.stops()
    assert daemon.state.live_runs
    assert daemon.gives_back().refused
    assert daemon.session.store.load().task == NAME


def test_given_back_a_task_never_goes_on() -> None:
    """Its questions are withdrawn, and a start is refused, whatever the state file says."""
    daemon = driven(outputs={**complete(THREE), "scout": [None] * 20, "maker": []})
    daemon.finish()
    assert daemon.state.open_questions
    daemon.give_back()
    assert (daemon.state.state, daemon.state.open_questions) == (TaskState.STOPPED, [])
    assert str(STATE) in outcome_of(daemon.state, None).next
    running = daemon.state.brief.skill
    with pytest.raises(Refused):
        with_skill(daemon.files, PROJECT, daemon.home, NAME, daemon.brief, running)
    again = daemon.gives_back()
    assert (again.refused, again.actions) == (False, ())


def test_completed_task_has_nothing_to_give_back() -> None:
    daemon = driven()
    daemon.finish()
    assert daemon.gives_back().refused
    assert daemon.session.store.load().state is SkillState.COMPLETE


def test_daemon_leaves_alone_what_others_drive() -> None:
    """Begun anew, it writes no state file of a session that it has let go of."""
    daemon = driven()
    daemon.give_back()
    daemon.session.act()
    moved_on = daemon.session.store.load()
    daemon.shown = SkillFiles(daemon.files, daemon.home)
    daemon.show()
    assert daemon.session.store.load() == moved_on


def test_edit_ahead_of_the_end_moves_nothing() -> None:
    """An agent takes the task's name out of the state file before the last phase ends: it is written anew."""
    daemon = driven()
    daemon.turns()
    daemon.session.driver.give_back(NAME)
    daemon.turns()
    assert daemon.state.state is TaskState.COMPLETE
    ended = daemon.session.store.load()
    assert (ended.task, ended.state) == (NAME, SkillState.COMPLETE)


def test_a_changed_memory_file_is_put_back_and_named() -> None:
    """It was put back without a word, ahead of each agent that reads it and in the end."""
    daemon = driven()
    daemon.turns()
    path = PROJECT / agent_memory_file(TASK_ID, "scout")
    handed = daemon.files.read(path)
    daemon.files.put(path, b"edited\n")
    (maker,) = daemon.at_work()
    daemon.comes_alive(maker.step)
    named = prepare_phase(daemon.files, daemon.where, daemon.state, maker)
    assert (named, daemon.files.read(path)) == ((agent_memory_file(TASK_ID, "scout"),), handed)
    told = list[str]()
    daemon.shown = SkillFiles(daemon.files, daemon.home, told.append)
    daemon.files.put(path, b"edited again\n")
    daemon.session.write(THREE.phases[2])
    daemon.hands_in(maker)
    assert daemon.state.state is TaskState.COMPLETE
    assert (told, daemon.files.read(path)) == ([agent_memory_file(TASK_ID, "scout")], handed)


def test_files_are_as_they_were_handed_in() -> None:
    """What passed is put back to what was handed in; a complete file of a phase that did not pass is set aside."""
    daemon = driven()
    look, ask = daemon.at_work()
    daemon.turn(look)
    handed = daemon.session.memories()
    daemon.session.write(THREE.phases[1])
    daemon.files.put(PROJECT / agent_memory_file(TASK_ID, "scout"), b"changed")
    del ask
    daemon.give_back()
    memories = daemon.session.memories()
    assert {name: memories[name] for name in handed} == handed
    assert f"{TASK_ID}-asker-memory.md" not in memories
    assert f"{TASK_ID}-asker-memory-before-{daemon.state.id}.md" in memories


def test_lost_hand_ins_do_not_keep_the_session() -> None:
    """What was handed in is lost everywhere: commands begin where the daemon took over."""
    daemon = driven()
    daemon.turn(daemon.at_work()[0])
    for digest in daemon.kept:
        daemon.files.remove(daemon.home / "reports" / digest)
    daemon.files.remove(PROJECT / agent_memory_file(TASK_ID, "scout"))
    daemon.give_back()
    given = daemon.session.store.load()
    assert (given.task, given.phases_completed) == ("", ())


def test_killed_as_it_lets_go_the_daemon_lets_go_again() -> None:
    """Killed ahead of any change of the disk, it gives the same session back."""
    whole = driven()
    whole.turn(whole.at_work()[0])
    whole.give_back()
    for survived in range(100):
        daemon = driven()
        daemon.turn(daemon.at_work()[0])
        daemon.rests()
        left = iter(range(survived))

        def dies(*_: object, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                raise Killed

        daemon.files.before = dies
        daemon.give_back()
        assert daemon.session.store.load() == whole.session.store.load()
        assert daemon.session.memories() == whole.session.memories()
        if daemon.files.before is not None:
            assert survived
            return
    raise AssertionError("it was killed each time")
