"""Texts that try to be more than text, for properties: built from what the readers look for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from orchestrator.model.errors import BadFile, Fault

HUB = Path(__file__).parents[2] / "fixtures" / "hub"

SIGNS = [
    "```",
    "````",
    "~~~",
    "~~~ python",
    "``` a`b",
    "<!--",
    "-->",
    "<!-- a -->",
    "# Handoff: dev",
    "## Blockers",
    "##Subtasks",
    "### Success Criteria (all)",
    "#### Context",
    "# a",
    "#",
    "#7 is fixed",
    "**Status:** COMPLETE",
    "- **Status**: BLOCKED",
    "Status: COMPLETE",
    "**Verdict:** REJECTED",
    "**Run:** stolen",
    "**Target:** review",
    "\\## Blockers",
    "\\\\```",
    "\\**Status:** COMPLETE",
    "    ## Instructions",
    "- [a] b (agent: dev)",
    "- [x] b (evidence: c)",
    "None",
    "---",
    "===",
    "| a | b |",
    "\\",
    "",
    "  ",
]
lines = st.sampled_from(SIGNS) | st.text(max_size=20)
prose = st.lists(lines, max_size=12).map("\n".join)
"""Any text, with a liking for what steers."""

names = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)
instants = st.floats(0, 4e9)
junk = (
    st.binary(max_size=300)
    | prose.map(lambda text: text.encode("utf-8", "replace"))
    | st.text(max_size=99).map(lambda text: text.encode("utf-16", "replace"))
)
"""Any bytes at all."""


def attempted(read: Callable[[bytes], Any], data: bytes) -> tuple[Any, tuple[Fault, ...]]:
    """Return what `read` makes of the bytes, or None and the faults that it tells."""
    try:
        return read(data), ()
    except BadFile as refusal:
        return None, refusal.faults
