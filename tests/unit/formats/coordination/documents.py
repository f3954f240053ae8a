"""The blocks of the coordination document, by title, and strategies for handoffs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from orchestrator.formats.coordination.fields import unnamed, with_others
from orchestrator.formats.coordination.handoff import SHAPE, document
from orchestrator.model.coordination import (
    ROUTES,
    Deliverable,
    DeliverableKind,
    HandoffContext,
    HandoffHead,
    HandoffStatus,
    HandoffSteps,
    Issue,
    IssueSeverity,
    MemoryReferences,
    RoleHandoff,
    Transition,
)

_PAGE: Final = Path(__file__).parents[3] / "fixtures" / "coord" / "examples.md"
_DATE: Final = '$(date -u +"%Y-%m-%dT%H:%M:%SZ")'
BLOCKS: Final = {
    title: text.replace(_DATE, "2025-12-11T15:45:00Z")  # as the shell writes it
    for title, text in re.findall(
        r"^## (.*?)\n\n```\w*\n(.*?)^```", _PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
}
HANDOFFS: Final = tuple(title for title, text in BLOCKS.items() if text.startswith('{\n  "handoff"'))
WHOLE: Final = tuple(title for title in HANDOFFS if "fragment" not in title)

_ODD = st.sampled_from(
    [
        "None",
        "- a",
        "```",
        "~~~",
        "# a",
        "## Issues",
        "**Status:** BLOCKED",
        "<!--",
        "\\# a",
        " a ",
        "a\n\n- b",
        "1. x",
    ]
)
texts = _ODD | st.text(
    st.characters(
        exclude_categories=["Cs"], exclude_characters=[chr(n) for n in [*range(0x20), 0x7F] if n != 10]
    ),
    max_size=20,
)
entries = st.none() | st.lists(texts.filter(str.strip), max_size=3).map(tuple)
memories = st.none() | st.lists(
    st.from_regex(r"mem_[0-9]{10}_[a-z0-9_]{1,9}", fullmatch=True), max_size=2
).map(tuple)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | texts, lambda inner: st.lists(inner, max_size=2)
)


@st.composite
def heads(draw):
    transition = draw(st.none() | st.sampled_from(Transition))
    sources = sorted(ROUTES[transition][0]) if transition else []
    return HandoffHead(
        source=draw(st.none() | st.sampled_from(sources)) if sources else None,
        target=draw(st.sampled_from([None, ROUTES[transition][1]])) if transition else None,
        timestamp=draw(st.sampled_from([None, "2025-12-11T14:30:00Z", "2025-12-11T14:30:00.5+01:00"])),
        transition=transition,
        status=draw(st.none() | st.sampled_from(HandoffStatus)),
        id=draw(st.none() | st.from_regex(r"handoff_[0-9]{13}_[a-z0-9]{8}", fullmatch=True)),
    )


optional = st.none() | texts
_parts = st.builds(
    RoleHandoff,
    heads(),
    st.none()
    | st.builds(
        HandoffContext,
        st.none() | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,9}", fullmatch=True),
        optional,
        optional,
        entries,
    ),
    st.none()
    | st.builds(Deliverable, st.none() | st.sampled_from(DeliverableKind), optional, optional, entries),
    st.none() | st.builds(HandoffSteps, entries, entries, entries),
    st.none()
    | st.lists(
        st.builds(Issue, st.sampled_from(IssueSeverity), texts.filter(str.strip), optional), max_size=3
    ).map(tuple),
    st.none() | st.builds(MemoryReferences, memories, memories),
)


@st.composite
def handoffs(draw):
    """Handoffs with any of their fields missing, and with fields that the format does not name."""
    made = draw(_parts)
    places = [
        (),
        ("handoff",),
        *((name,) for name in ("context", "memory") if getattr(made, name) is not None),
    ]
    extra = tuple(
        (("issues", str(number)), draw(values))
        for number in range(len(made.issues or ()))
        if draw(st.booleans())
    )
    found = {(*place, "zz"): draw(values) for place in places if draw(st.booleans())}
    found |= {(*place, "zz"): value for place, value in extra}
    loaded = with_others(document(made), tuple((path, json.dumps(value)) for path, value in found.items()))
    return RoleHandoff(
        made.head,
        made.context,
        made.deliverable,
        made.steps,
        made.issues,
        made.memory,
        unnamed(loaded, SHAPE),
    )
