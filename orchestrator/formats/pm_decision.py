"""Decisions that the PM agent hands in (H6). Strict on the fields that steer; prose never steers (law 7)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from orchestrator.formats.handoff_parts import rendered, says_nothing, take_apart, written
from orchestrator.formats.lists import items
from orchestrator.formats.sections import plain
from orchestrator.formats.text import FILE_BYTES, local_time, one_line, refused
from orchestrator.model.consultation import PMAction, PMDecision
from orchestrator.model.errors import Fault

if TYPE_CHECKING:
    from orchestrator.formats.handoff_parts import Handoff

SKILLS: Final = 100
OPTIONS: Final = 8
OPTION_LENGTH: Final = 200

_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TARGET: Final = re.compile(r"[a-z0-9][a-z0-9_:-]{0,199}")
_NEEDS_TARGET: Final = frozenset({PMAction.ORDER, PMAction.REPLAN, PMAction.END})
_NEEDS_TEXT: Final = frozenset({PMAction.ORDER, PMAction.ASK, PMAction.REPLAN})


def read_decision(data: bytes, name: str, limit: int = FILE_BYTES) -> PMDecision:
    """Return the decision in a handoff of the PM agent. Only header lines above its first section count.

    Args:
        data: The file's bytes.
        name: Its name, for messages.
        limit: The most bytes it may have.

    Raises:
        BadFile: with every fault: no Action or not exactly one of the allowed ones, no run, a target that is
            missing or not a name, an ORDER, ASK or REPLAN without Instructions, not UTF-8, too large.

    """
    handoff = take_apart(data, name, limit)
    faults = list(handoff.faults)
    action = _action(handoff, faults)
    run = _single(handoff, "run", faults)
    if not _RUN.fullmatch(run):
        faults.append(Fault(_line(handoff, "run"), "names no run: add the line `**Run:**` of your order"))
    target = _single(handoff, "target", faults)
    target = "" if says_nothing(target) else target
    if target and not _TARGET.fullmatch(target):
        reason = f"`**Target:**` is {one_line(target)[:60]!r}: write the name of one agent, step, subtask or instance"
        faults.append(Fault(_line(handoff, "target"), reason))
    text = handoff.prose("instructions")
    if action in _NEEDS_TARGET and not target:
        faults.append(Fault(0, f"{action} has no target: add a line `**Target:**`"))
    if action in _NEEDS_TEXT and not text:
        faults.append(Fault(0, f"{action} has no instructions: add a section `## Instructions`"))
    skills = [item.text.strip("[]` ") for part in handoff.under("skills") for item in items(part.lines)]
    skills = [skill for skill in skills if not says_nothing(skill)]
    if len(skills) > SKILLS:
        faults.append(Fault(0, f"names more than {SKILLS} skills"))
    options = _options(handoff)
    if len(options) > OPTIONS:
        faults.append(Fault(0, f"gives more than {OPTIONS} options"))
    if faults or action is None:
        raise refused(name, faults)
    return PMDecision(
        action=action,
        run=run,
        target=target,
        instructions=text,
        context=handoff.prose("context"),
        skills=tuple(skills),
        criteria=handoff.prose("criteria"),
        options=options,
    )


def run_named(data: bytes, name: str, limit: int = FILE_BYTES) -> str:
    """Return the run in a handoff's header, even if the rest of the handoff is faulty; empty if there is none.

    Raises:
        BadFile: it is not text.

    """
    return _single(take_apart(data, name, limit), "run", [])


def render_decision(at: float, decision: PMDecision) -> str:
    """Return a decision as a handoff (H6); `read_decision` reads it back.

    Args:
        at: When it was made, in seconds since the epoch.
        decision: The content. Control characters in it become visible characters.

    """
    headers = [
        ("Timestamp", local_time(at)),
        ("Action", decision.action.value),
        ("Target", one_line(decision.target) or "None"),
        ("Run", one_line(decision.run)),
    ]
    bodies = [
        ("Instructions", written(decision.instructions)),
        ("Context", written(decision.context)),
        ("Skills to Load", "\n".join(f"- {one_line(skill)}" for skill in decision.skills) or "None"),
        ("Success Criteria", written(decision.criteria)),
    ]
    if decision.options:
        bodies.append(("Options", "\n".join(f"- {one_line(option)}" for option in decision.options)))
    return rendered("pm", headers, bodies)


def _action(handoff: Handoff, faults: list[Fault]) -> PMAction | None:
    value = _single(handoff, "action", faults)
    if value.upper() in PMAction.__members__:
        return PMAction[value.upper()]
    said = (
        f"`**Action:**` is {one_line(value)[:60]!r}" if value else "has no action: add a line `**Action:**`"
    )
    faults.append(Fault(_line(handoff, "action"), f"{said}: write exactly one of {', '.join(PMAction)}"))
    return None


def _single(handoff: Handoff, key: str, faults: list[Fault]) -> str:
    """Return the value of a header that may occur once, or repeatedly with the same value; empty if missing."""
    found = [header for header in handoff.headers if header.key == key and header.leading]
    faults.extend(
        Fault(other.line, f"`**{key.capitalize()}:**` is in line {found[0].line} already")
        for other in found[1:]
        if other.value != found[0].value
    )
    return found[0].value if found else ""


def _line(handoff: Handoff, key: str) -> int:
    return next((header.line for header in handoff.headers if header.key == key and header.leading), 0)


def _options(handoff: Handoff) -> tuple[str, ...]:
    found = [
        one_line(item.text)[:OPTION_LENGTH]
        for section in handoff.sections
        if plain(section.heading.title) == "options"
        for item in items(section.lines)
        if not says_nothing(item.text)
    ]
    return tuple(dict.fromkeys(found))
