"""Decisions of the PM agent, read strictly: one enum line steers, prose never does (H6, law 7)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.handoff import read_decision, render_decision, run_named
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.model.errors import BadFile

NAME = "pm-20251127-153000.md"
HEAD = "# Handoff: pm\n**Action:** {action}\n**Target:** {target}\n**Run:** r-1\n"
BODY = "\n## Instructions\nDo it.\n"

printable = st.characters(codec="ascii", exclude_categories=["C"]) | st.sampled_from("éß語")
words = st.text(printable, max_size=40).map(str.strip)
lines = st.text(printable, min_size=1, max_size=40).map(lambda text: " ".join(text.split()) or "so")


def read(text: str) -> PMDecision:
    return read_decision(text.encode(), NAME)


def faults(text: str) -> list[str]:
    with pytest.raises(BadFile) as refused:
        read(text)
    return [str(fault) for fault in refused.value.faults]


def test_order_in_the_form_of_the_preamble_is_read():
    decision = read(
        HEAD.format(action="ORDER", target="dev:a")
        + "\n## Instructions\nUse the parser.\n\n## Context\nSee `x.py`.\n\n## Skills to Load\n- [parsing]\n- None\n"
        "\n## Success Criteria\nIt parses.\n"
    )
    assert decision == PMDecision(
        PMAction.ORDER, "r-1", "dev:a", "Use the parser.", "See `x.py`.", ("parsing",), "It parses."
    )


def test_options_of_a_question():
    text = HEAD.format(action="ASK", target="None") + BODY + "\n## Options\n- left\n- right\n- left\n"
    assert read(text).options == ("left", "right")
    assert read(text).target == ""


@pytest.mark.parametrize("action", ["WAIT", "COMPLETE"])
def test_what_needs_no_words(action):
    assert read(HEAD.format(action=action, target="None")).action is PMAction[action]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("# Handoff: pm\n**Run:** r-1\n" + BODY, "has no action: add a line `**Action:**`"),
        (
            HEAD.format(action="GO", target="dev") + BODY,
            "line 2: `**Action:**` is 'GO': write exactly one of",
        ),
        (HEAD.format(action="ORDER, WAIT", target="dev") + BODY, "line 2: `**Action:**` is 'ORDER, WAIT'"),
        (HEAD.format(action="ORDER", target="None") + BODY, "ORDER has no target"),
        (
            HEAD.format(action="ORDER", target="dev"),
            "ORDER has no instructions: add a section `## Instructions`",
        ),
        (HEAD.format(action="ASK", target="None"), "ASK has no instructions"),
        (HEAD.format(action="END", target="../dev") + BODY, "line 3: `**Target:**` is '../dev'"),
        (HEAD.format(action="END", target="dev and test") + BODY, "line 3: `**Target:**`"),
        (HEAD.format(action="WAIT", target="None").replace("r-1", "a b"), "line 4: names no run"),
        (HEAD.format(action="WAIT", target="None") + "**Action:** END\n", "line 5: `**Action:**` is in"),
        (
            HEAD.format(action="ASK", target="None")
            + BODY
            + "\n## Options\n"
            + "".join(f"- {n}\n" for n in range(9)),
            "gives more than 8 options",
        ),
    ],
)
def test_invalid_decision_is_reported_with_its_line(text, fault):
    assert any(each.startswith(fault) for each in faults(text)), faults(text)


def test_prose_never_steers():
    text = HEAD.format(action="WAIT", target="None") + "\n## Context\n**Action:** ORDER\n**Target:** dev\n"
    assert read(text).action is PMAction.WAIT
    assert read(text).target == ""
    text = "# Handoff: pm\n**Run:** r-1\n\n## Context\n**Action:** COMPLETE\n"
    assert faults(text)[0].startswith("has no action")


def test_its_run_is_known_whatever_else_is_wrong():
    assert run_named(b"# Handoff: pm\n**Run:** r-1\nand nothing else\n", NAME) == "r-1"
    assert run_named(b"nothing\n", NAME) == ""
    with pytest.raises(BadFile):
        run_named(b"\xff\xfe\x00", NAME)


@given(
    st.builds(
        PMDecision,
        action=st.sampled_from(PMAction),
        run=st.just("r-1"),
        target=st.sampled_from(["dev", "dev:a", "dev-2"]),
        instructions=st.lists(lines, min_size=1, max_size=3).map("\n".join).filter(lambda text: text.strip()),
        context=words,
        skills=st.sampled_from([(), ("parsing", "writing")]),
        options=st.sampled_from([(), ("left", "right")]),
    )
)
def test_what_was_written_reads_back(decision):
    read_again = read_decision(render_decision(1.7e9, decision).encode(), NAME)
    assert (read_again.action, read_again.target, read_again.run) == (decision.action, decision.target, "r-1")
    assert (read_again.skills, read_again.options) == (decision.skills, decision.options)
    assert read_again.instructions.split() == decision.instructions.split()


@given(st.binary(max_size=300))
def test_whatever_lies_there_is_a_decision_or_refused(data):
    with suppress(BadFile):
        assert read_decision(data, NAME).action in PMAction
