"""A composite skill that the daemon drives: real panes, real worktrees, memory files as gates (S3, S4)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.integration.daemon.world import Turns, World

AGENT = f"{Path(sys.executable).resolve()} -I -S {Path(__file__).with_name('phase_agent.py')}"
SKILL = """\
name: make
description: Makes something.
match: [make]
phases:
  - {id: look, agent: scout, instructions: Look around.}
  - {id: ask, agent: asker, instructions: Ask around., alongside: true}
  - {id: work, agent: maker, instructions: Make it., context: all}
"""
AGENTS = {"look": "scout", "ask": "asker", "work": "maker"}


class Skill:
    """A session of the skill `make`, begun by commands in a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        config = world.project / "protocols/skill/composite/make/config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(SKILL)
        said = world.task("skill", "run", "make", "make a greeting", cwd=world.project)
        assert said.code == 0, said
        (self.state,) = (world.project / "skill-orchestration/state").glob("*.json")
        self.task = f"make-{self.session['session_id']}"

    @property
    def session(self) -> Any:
        """What the state file says."""
        return json.loads(self.state.read_text())

    def command(self, *words: str) -> str:
        """Run a command of the session, and return what it printed."""
        said = self.world.task("skill", *words, "--state", str(self.state), cwd=self.world.project)
        assert said.code == 0, said
        return said.out

    def memory(self, agent: str) -> Path:
        """Return an agent's memory file."""
        task_id = self.session["step_outputs"]["1"]["task_id"]
        return self.world.project / f".claude/memory/{task_id}-{agent}-memory.md"

    def hand_over(self, turns: Turns, *config: str) -> None:
        """Have the daemon drive it, with agents that follow a script."""
        self.world.let(turns)
        folder = self.world.project / "tasks" / self.task
        folder.mkdir(parents=True)
        commands = "".join(f"{each}.command: {AGENT} {self.world.script}\n" for each in AGENTS.values())
        (folder / "task.md").write_text(
            f"# Task: make\n\n## Goal\nA greeting.\n\n## Success Criteria\n"
            f"- Every phase of the skill has ended with a complete memory file.\n\n## Agent Config\nfamily: skills\n"
            f"session: {self.state.relative_to(self.world.project)}\n{commands}"
            + "".join(f"{each}\n" for each in config)
        )
        self.world.daemon()
        self.command("run", "--daemon")

    def ends_complete(self) -> None:
        """Wait until the task is complete and the state file says so."""
        self.world.until(lambda: self.world.stands(self.task) == "complete")
        self.world.until(lambda: self.session["fsm"]["state"] == "COMPLETE")


def test_daemon_drives_each_phase_to_its_memory_file(world: World) -> None:
    """Two phases at once; one is asked again for its memory file; a third sees the work of both; killed in between."""
    skill = Skill(world)
    turns: Turns = {
        "phase:look": [{"hold": "look"}],
        "phase:ask": [{"memory": "**Status:** COMPLETE\n"}, {"work": {"asked.txt": "asked\n"}}],
        "phase:work": [{"work": {"made.txt": "made\n"}, "hold": "work"}],
    }
    skill.hand_over(turns)
    world.until(lambda: world.lives_of("phase:ask") == 2 and world.lives_of("phase:look") == 1)
    assert world.lives_of("phase:work") == 0
    assert skill.session["fsm"] == {"state": "TRIGGER_AGENTS", "phase": "look"}
    said = world.task("skill", "advance_phase", "--state", str(skill.state), cwd=world.project)
    assert (said.code, f"the task {skill.task} drives this session" in said.err) == (2, True)
    world.go("look")
    world.until(lambda: world.lives_of("phase:work") == 1)
    world.kill_daemon()
    skill.memory("scout").unlink()  # the journal has it all
    skill.state.write_text("{}")
    world.go("work")
    world.daemon()
    skill.ends_complete()
    outputs = skill.session["step_outputs"]
    assert [each["phase_id"] for each in outputs["5"]["phases_completed"]] == ["look", "ask", "work"]
    assert "## work (maker)\n\nDone." in outputs["6"]["summary"]
    assert skill.command("complete") == "SKILL_ORCHESTRATION_COMPLETE\n"
    branch = world.git("diff", "--name-only", "main", f"task/{skill.task}").split()
    assert branch == ["asked.txt", "made.txt"]
    assert "is missing: write it before the sections" in world.story(skill.task).orders("phase:ask")[1]
    world.check_once(skill.task)
    world.check_report(skill.task)


def test_daemon_goes_on_where_the_commands_stopped(world: World) -> None:
    """The first two phases were ended by commands: the daemon only has the third worked on, in the user's own tree."""
    skill = Skill(world)
    for command in (
        "step_1_generate_task_id",
        "step_2_classify_domain",
        "step_3_read_skill",
        "step_4_create_memory",
    ):
        skill.command(command)
    for phase in ("look", "ask"):
        text = f"**Task:** {skill.session['step_outputs']['1']['task_id']}\n**Agent:** {AGENTS[phase]}\n"
        text += f"**Phase:** {phase}\n\n## Summary\nBy hand.\n\n## Output\nIt.\n\n**Status:** COMPLETE\n"
        skill.memory(AGENTS[phase]).write_text(text)
    assert "Phase 3 of 3: work" in skill.command("advance_phase")
    skill.hand_over({"phase:work": [{"work": {"made.txt": "made\n"}}]}, "workspace: shared")
    skill.ends_complete()
    assert [step for _, step in world.lives] == ["phase:work"]
    assert "## look (scout)\n\nBy hand." in skill.session["step_outputs"]["6"]["summary"]
    assert (world.project / "made.txt").read_text() == "made\n"


def test_commands_take_back_what_the_daemon_drove(world: World) -> None:
    """Stopped in its last phase, the task gives the session back; commands end it, and the task is over."""
    skill = Skill(world)
    skill.hand_over({"phase:look": [{}], "phase:ask": [{}], "phase:work": [{"hold": "work"}]})
    world.until(lambda: world.lives_of("phase:work") == 1)
    take_back = ("skill", "run", "--state", str(skill.state))
    assert world.task(*take_back, cwd=world.project).code == 2
    assert world.task("stop", skill.task, cwd=world.project).code == 0
    world.until(lambda: world.task(*take_back, cwd=world.project).code == 0)
    assert "Phase 3 of 3: work" in skill.command("step_5_trigger_agents")
    text = f"**Task:** {skill.session['step_outputs']['1']['task_id']}\n**Agent:** maker\n**Phase:** work\n\n"
    skill.memory("maker").write_text(
        f"{text}## Summary\nBy hand.\n\n## Output\nIt.\n\n**Status:** COMPLETE\n"
    )
    skill.command("advance_phase")
    skill.command("step_6_complete_workflow")
    assert skill.command("complete") == "SKILL_ORCHESTRATION_COMPLETE\n"
    again = world.task("start", skill.task, cwd=world.project)
    assert (again.code, world.stands(skill.task)) == (1, "stopped")
    assert skill.session["fsm"]["state"] == "COMPLETE"
