"""What the personas of workflows are to write, from an empty project to the approval."""

from __future__ import annotations

import shutil

from orchestrator import layout
from orchestrator.formats.workflow.plan import read_plan
from orchestrator.model.workflow import PLAN_FILE
from tests.unit.personas.texts import PERSONAS, SKILL, blocks, instructions

NAME = "add_users"


def test_a_design_as_the_personas_write_it_is_approved(house, task):
    """Example plan of the skill, instructions from the templates, definitions as setup-agents installs them."""
    project = ("--project", str(house.project))
    assert task("setup-agents", *project, "--workflow", "--form", "claude").code == 0
    assert task("workflow", "new", NAME, *project).code == 0
    folder = layout.task_folder(house.project, NAME)
    root = layout.orchestration(folder)
    shutil.rmtree(root / "agents")
    page = (SKILL / "references" / "plan.md").read_bytes()
    plan = read_plan(page)
    (root / PLAN_FILE).write_bytes(page)
    summary, brief = blocks(PERSONAS["plan-developer"].agent.prompt, "markdown")
    (root / plan.summary).write_text(summary)
    criteria = "\n".join(f"- {each.text}" for each in plan.criteria)
    (folder / "task.md").write_text(brief.replace("- [One thing that a command or a look decides]", criteria))
    for agent in plan.agents:
        file = root / agent.instructions
        file.parent.mkdir(parents=True)
        file.write_text(instructions(agent, plan))
    approved = task("workflow", "approve", NAME, *project)
    assert (approved.code, approved.err) == (0, "")
    assert task("workflow", "check", NAME, *project).code == 0
    assert {path.name for path in (root / "agents").iterdir()} >= {agent.id for agent in plan.agents}
