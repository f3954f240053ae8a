"""Ways to break the family `skills`, its files and its gate. `test_it_finds_skills` says which law finds each."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from orchestrator.daemon.actions import launch_spec, phase_launch
from orchestrator.daemon.core.memory_files import MemoryFolder
from orchestrator.daemon.ingest import phase_ends, turn_ends
from orchestrator.daemon.projections import skill_files
from orchestrator.formats.skill.memory import read_memory
from orchestrator.model.composite import AgentMemory, CompositeSkill, agent_memory_file
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.turn_end import TurnEnd
from orchestrator.pm.plan.families import skills
from orchestrator.records.skill_store import SkillStore


def takes_the_claim_for_the_work(patch):
    """A memory file counts by its last line alone."""
    read = read_memory

    def trusting(data, task_id, phase):
        claims = data.rstrip().endswith(b"**Status:** COMPLETE")
        return AgentMemory("It is done.", "It is done.") if claims else read(data, task_id, phase)

    patch.setattr(phase_ends, "read_memory", trusting)


def ignores_whose_memory_it_is(patch):
    """A complete memory file counts, whatever task or phase it speaks for."""
    read = read_memory

    def careless(data, task_id, phase):
        lines = data.decode("utf-8", "replace").splitlines()
        said = {line.partition(":** ")[0].lstrip("*"): line.partition(":** ")[2] for line in lines[:4]}
        said_phase = replace(phase, id=said.get("Phase", phase.id))
        return read(data, said.get("Task", task_id), said_phase)

    patch.setattr(phase_ends, "read_memory", careless)


def takes_silence_for_an_end(patch):
    """A turn that leaves no memory file ends the phase."""
    end = phase_ends.phase_end

    def trusting(files, state, run, kept):
        report = end(files, state, run, kept)
        if report.status is ReportStatus.COMPLETE:
            return report
        plan, agent = state.brief.skill, state.steps[run.step].agent
        digest = sha256(b"").hexdigest()
        kept.append(b"")
        outputs = ((agent_memory_file(plan.task_id, agent), digest),)
        turn = TurnEnd(outputs=outputs, version=digest)
        return Report(
            ReportStatus.COMPLETE, run=run.id, in_reply_to=run.order, unchanged="it is silent", turn=turn
        )

    patch.setattr(turn_ends, "phase_end", trusting)


def takes_memories_of_before(patch):
    """A complete memory file from before the phase began is not set aside."""
    patch.setattr(phase_launch, "set_aside", lambda *_: None)


def leaves_what_is_read_as_it_is(patch):
    """What a phase reads is not put back."""
    patch.setattr(MemoryFolder, "restore", lambda *_: False)


def prepares_no_phase(patch):
    """A phase begins with whatever lies there."""
    patch.setattr(launch_spec, "prepare_phase", lambda *_: ())


def begins_phases_too_early(patch):
    """A phase does not wait for those before it."""
    phase = skills._phase
    patch.setattr(skills, "_phase", lambda *given: replace(phase(*given), needs=()))


def forgets_who_works_alongside(patch):
    """Of several phases before it, a phase waits for the last one only."""
    phase = skills._phase

    def hasty(*given):
        step = phase(*given)
        return replace(step, needs=step.needs[-1:]) if len(step.needs) > 1 else step

    patch.setattr(skills, "_phase", hasty)


def lets_a_phase_read_too_little(patch):
    """Which memory files a phase reads is computed from the phase before it alone."""
    readable = CompositeSkill.readable
    patch.setattr(CompositeSkill, "readable", lambda skill, phase: readable(skill, phase)[-1:])


def writes_no_state_file(patch):
    """The state file stays as it was handed over."""
    patch.setattr(skill_files.SkillFiles, "show", lambda *_: None)


def believes_the_state_file(patch):
    """A state file that others have edited counts as shown."""
    patch.setattr(skill_files.SkillFiles, "_is_like", lambda *_: True)


def loses_memory_files_in_a_power_cut(patch):
    """What was handed in is not made to stay."""
    patch.setattr(SkillStore, "keep", lambda *_: None)


def leaves_changed_files_at_the_end(patch):
    """Once the last phase has ended, memory files stay as somebody changed them."""
    patch.setattr(skill_files.SkillFiles, "_restore", lambda *_: None)


def keeps_no_copies(patch):
    """What was handed in is read where agents write, and not where it was kept."""

    def careless(files, home: Path, folder, path, digest):
        del home, digest
        place = folder.place(path)
        return None if place is None or files.entry(place) is None else files.read(place)

    patch.setattr(phase_launch, "kept_copy", careless)
    patch.setattr(skill_files, "kept_copy", careless)


def writes_what_it_has_given_back(patch):
    """A session that commands have taken back is still written from the journal."""
    patch.setattr(skill_files, "_has_another_driver", lambda *_: False)
