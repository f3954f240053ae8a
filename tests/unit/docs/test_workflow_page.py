"""The how-to about workflows shows a plan and files that are sound."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from orchestrator.formats.workflow.plan import AGENT_KEYS, PLAN_KEYS, read_plan
from orchestrator.formats.workflow.results import read_results
from orchestrator.formats.workflow.session import read_session
from orchestrator.pm.plan.workflow_check import Surroundings, check_design

PAGE = (Path(__file__).parents[3] / "docs/how-to/workflows.md").read_text(encoding="utf-8")


def test_plan_of_the_page_is_sound_and_shows_every_key():
    plan = read_plan(PAGE.encode())
    around = Surroundings(task="add_users", criteria=("A user can be added",), personas=("dev", "review"))
    assert check_design(plan, around) == ()
    block = PAGE[PAGE.index("```yaml") :]
    assert all(re.search(rf"\b{key}:", block) for key in PLAN_KEYS)
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE, re.MULTILINE)
    assert set(AGENT_KEYS) <= {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_finding_of_the_page_is_one_that_the_check_gives():
    text = re.sub(r"needs: \[probe\]", "needs: [prob]", PAGE)
    plan = read_plan(text.encode())
    agents = tuple(replace(agent, inputs=(), poc=None) for agent in plan.agents)
    texts = {each.text: each.correction for each in check_design(replace(plan, agents=agents))}
    (shown,) = re.findall(
        r"^missing workflow_coordination_plan.md:\d+:\d+: (.*)\n +> (.*)$", PAGE, re.MULTILINE
    )
    assert texts[shown[0]] == shown[1]


def test_json_files_of_the_page_are_read():
    session, results = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert read_session(session.encode()).notes
    assert read_results(results.encode()).missing_evidence
