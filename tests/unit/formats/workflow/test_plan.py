"""The plan: its one block of YAML, what is refused of it, and how it is written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.workflow.nodes import plain
from orchestrator.formats.workflow.plan import read_plan, read_plan_document
from orchestrator.formats.workflow.plan_text import render_block, replace_plan, set_approval
from orchestrator.formats.workflow.yaml_block import PLAN_BYTES, parse_yaml, read_yaml_block
from orchestrator.model.errors import BadFile
from orchestrator.model.task import WorkspaceKind
from orchestrator.model.workflow import PlanApproval

DESIGN = Path(__file__).parents[3] / "fixtures" / "wf" / "design"
PAGE = (DESIGN / "workflow_coordination_plan.md").read_text()
SMALL = """schema: 1
workflow: small
summary: conversation_summary_small.md
agents:
  - id: one
    task_id: one_1727539200
    kind: doer
    title: One
    persona: dev
"""


def page(block: str) -> bytes:
    return f"# Plan\n\n```yaml\n{block}```\n\nMore prose.\n".encode()


def faults(block: str) -> list[tuple[int, int, str]]:
    with pytest.raises(BadFile) as error:
        read_plan(page(block))
    return [(each.line - 3, each.column, each.reason) for each in error.value.faults]


# What a block means ------------------------------------------------------------------------------------


def test_a_plan_that_says_little_has_the_usual_values():
    (agent,) = read_plan(page(SMALL)).agents
    assert agent.instructions == "agents/one/agent_instructions.md"
    assert (agent.needs, agent.verifier, agent.runtime) == ((), "", "auto")
    assert (agent.workspace, agent.scratch) == (WorkspaceKind.WORKTREE, False)
    plan = read_plan(page(SMALL))
    assert (plan.max_parallel, plan.bounds.verifications, plan.approval) == (4, 5, None)


@pytest.mark.parametrize(
    ("kind", "workspace", "scratch"),
    [
        ("doer", WorkspaceKind.WORKTREE, False),
        ("poc", WorkspaceKind.WORKTREE, True),
        ("architect", WorkspaceKind.READ_ONLY, False),
        ("verifier", WorkspaceKind.READ_ONLY, False),
    ],
)
def test_each_kind_has_its_usual_workspace(kind, workspace, scratch):
    (agent,) = read_plan(page(SMALL.replace("kind: doer", f"kind: {kind}"))).agents
    assert (agent.workspace, agent.scratch) == (workspace, scratch)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("True", True),
        ("012", 12),
        ("0o14", 12),
        ("0x0C", 12),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("1.5", 1.5),
        ("~", None),
        ("", None),
        ("'12'", "12"),
        ('"no"', "no"),
        ("=", "="),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    assert plain(parse_yaml(f"a: {text}\n", "x")) == {"a": value}


def test_marks_point_at_fields():
    document = read_plan_document(PAGE.encode())
    lines = PAGE.split("\n")
    assert "needs: [probe]" in lines[document.mark("agents", 1, "needs", 0).line - 1]
    assert lines[document.mark("escalation", "architect").line - 1].strip().startswith("architect:")
    assert document.mark("agents", 1, "group") == document.mark("agents", 1)
    assert document.mark("agents", 99) == document.mark("agents")


# What is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "line", "column", "word"),
    [
        (SMALL.replace("title: One", "title: &a One"), 8, 12, "anchor"),
        (SMALL.replace("title: One", "title: *a"), 8, 12, "alias"),
        (SMALL.replace("title: One", "title: !!str One"), 8, 12, "tag"),
        (SMALL.replace("title: One", "title: !python/name:os.system One"), 8, 12, "tag"),
        (SMALL.replace("title: One", "title: One\n    title: Two"), 9, 5, "keep one"),
        (SMALL.replace("title: One", "titel: One"), 8, 5, "did you mean title"),
        (SMALL.replace("    kind: doer\n", "    kind: dooer\n"), 7, 11, "did you mean doer"),
        (SMALL.replace("schema: 1", "schema: 2"), 1, 9, "schema"),
        (SMALL.replace("schema: 1", 'schema: "1"'), 1, 9, "an integer"),
        (SMALL.replace("schema: 1", "schema: true"), 1, 9, "an integer"),
        (SMALL.replace("title: One", "title: 12"), 8, 12, "quotes"),
        (SMALL.replace("title: One", "title: [One]"), 8, 12, "a text"),
        (SMALL.replace("title: One", "title: ''"), 8, 12, "empty"),
        (SMALL.replace("id: one", "id: One"), 5, 9, "agent name"),
        (SMALL.replace("id: one", "id: ../one"), 5, 9, "agent name"),
        (SMALL.replace("    title: One\n", ""), 5, 5, "title` is missing"),
        (SMALL + "    needs: one\n", 10, 12, "a list"),
        (SMALL + "    needs: [{a: b}]\n", 10, 13, "a text"),
        (SMALL + "    bounds: {verifications: 0}\n", 10, 29, "from 1 to"),
        (SMALL + "    bounds: {verification: 3}\n", 10, 14, "did you mean verifications"),
        (SMALL + "max_parallel: 0\n", 10, 15, "from 1 to"),
        (SMALL + "max_parallel: 99999999999999999999\n", 10, 15, ""),
        (SMALL + "groups: {a: {at_onec: 1}}\n", 10, 14, "did you mean at_once"),
        (SMALL + "<<: {a: 1}\n", 10, 1, "merge key"),
        (SMALL + "? [a]\n: 1\n", 10, 3, "used as a key"),
        (SMALL + "\tgroup: x\n", 10, 1, "tabs"),
        (SMALL.replace("title: One", "title: One: two"), 8, 15, "in quotes"),
        (SMALL + "---\nschema: 1\n", 10, 1, "second document"),
        ("%YAML 1.1\n---\n" + SMALL, 1, 1, "directive"),
        ("[" * 60 + "]" * 60 + "\n", 1, 33, "deeper"),
        ("- a\n", 1, 1, "an object"),
    ],
)
def test_fault_has_line_column_and_correction(block, line, column, word):
    found = faults(block)
    assert any((at, where) == (line, column) and word in reason for at, where, reason in found), found


def test_all_faults_of_a_plan_are_named_at_once():
    with pytest.raises(BadFile) as error:
        read_plan(page(SMALL.replace("kind: doer", "kind: x").replace("title: One", "titel: One")))
    assert len(error.value.faults) == 3  # the kind, the unknown key, the missing title


@pytest.mark.parametrize(
    "text",
    [
        "# no block\n",
        "```python\nx = 1\n```\n",
        "```yaml\na: 1\n",
        "```yaml\n```\n",
        "```yaml\na: 1\n```\n\n```yaml\nb: 1\n```\n",
        "```yaml\na: 1\n```\n\n~~~ yml\nb: 1\n~~~\n",
    ],
)
def test_page_without_exactly_one_block_is_refused(text):
    with pytest.raises(BadFile):
        read_yaml_block(text.encode(), "plan.md")


def test_other_blocks_may_stand_beside_the_plan():
    text = "```sh\nls\n```\n\n" + page(SMALL).decode() + "\n````text\n```yaml\na: 1\n```\n````\n"
    assert read_plan(text.encode()).workflow == "small"


def test_large_page_is_refused():
    with pytest.raises(BadFile):
        read_plan(page(SMALL) + b"x" * PLAN_BYTES)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text):
    with suppress(BadFile):
        read_plan(f"```yaml\n{text}\n```\n".encode("utf-8", "replace"))


@settings(deadline=None, max_examples=100)
@given(st.integers(0, len(PAGE)), st.sampled_from("{}[]:,#&*!|>'\"%@`-\n\t \x85\u2028"))
def test_any_sign_put_into_a_plan_is_read_or_refused(at, sign):
    with suppress(BadFile):
        read_plan((PAGE[:at] + sign + PAGE[at:]).encode())


# How it is written --------------------------------------------------------------------------------------


def test_plan_is_read_back_as_it_was_written():
    plan = read_plan(PAGE.encode())
    assert read_plan(page(render_block(plan))) == plan


@pytest.mark.parametrize(
    "title",
    [
        "a: b",
        "# x",
        "no",
        "12",
        "- x",
        "it's",
        'say "x"',
        "a\nb",
        "é😀\u2028\x85\ufeff",
        " x ",
        "{a}",
        "null",
    ],
)
def test_odd_texts_are_read_back(title):
    plan = read_plan(PAGE.encode())
    agents = (type(plan.agents[0])(**{**_fields(plan.agents[0]), "title": title}), *plan.agents[1:])
    changed = type(plan)(**{**_fields(plan), "agents": agents})
    assert read_plan(page(render_block(changed))) == changed


def _fields(value):
    return {name: getattr(value, name) for name in type(value).__slots__}


def test_equal_plan_leaves_the_page_as_it_is():
    plan = read_plan(PAGE.encode())
    assert replace_plan(PAGE.encode(), plan) == PAGE.encode()


def test_other_plan_leaves_the_prose_as_it_is():
    plan = read_plan(page(SMALL))
    written = replace_plan(PAGE.encode(), plan).decode()
    assert read_plan(written.encode()) == plan
    assert written.startswith(PAGE[: PAGE.index("```yaml")])
    assert written.endswith(PAGE[PAGE.rindex("```") :])


@pytest.mark.parametrize(
    "end", ["", "approval: null\n", "approval: {hash: a, by: b, at: 1}\n", "approval: # none yet\n"]
)
def test_approval_changes_nothing_else(end):
    """Approval is set and taken back with nothing else changed."""
    data = page("# a comment\n" + SMALL + end)
    approval = PlanApproval("ab12", "ann", 5)
    signed = set_approval(data, approval)
    assert read_plan(signed).approval == approval
    assert set_approval(signed, approval) == signed
    assert b"# a comment\n" in signed
    back = set_approval(signed, None)
    assert read_plan(back) == read_plan(page(SMALL))


def test_approval_before_other_keys_is_replaced():
    data = page("approval:\n  hash: a\n  by: b\n  at: 1\n" + SMALL)
    signed = set_approval(data, PlanApproval("c", "d", 2))
    assert read_plan(signed).agents == read_plan(data).agents
    assert signed.count(b"approval") == 1
