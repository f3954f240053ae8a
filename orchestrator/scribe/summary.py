"""One line for a handoff: who, how it stands, and the first sentence of what was done or asked."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.handoff import read_any_report, read_decision, read_order, split_handoff_name
from orchestrator.model.consultation import PMDecision
from orchestrator.model.errors import BadFile
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.scribe.shown import shown

SENTENCE_LENGTH: Final = 160
PM: Final = "pm"

_READ: Final = 4000
_END: Final = re.compile(r"[.!?](?=\s+[^a-z\s]|\s*$)")
_MARKS: Final = re.compile(r"(?:[-*+>]|#{1,6}|[0-9]{1,3}[.)])[ \t]+")


def summary(name: str, data: bytes) -> str:
    """Return the line for a handoff; for one that does not read, the reason.

    Args:
        name: Its file name.
        data: Its bytes.

    """
    split = split_handoff_name(name)
    if not split:
        return unreadable("the name is not of the form AGENT-YYYYMMDD-HHMMSS.md")
    who = split[0]
    try:
        if who == PM:
            if (decided := _decided(data, name)) is not None:
                return _line(f"{PM} decides {decided.action} {decided.target}".rstrip(), decided.instructions)
            order = read_order(data, name, limit=len(data))
            return _line(f"{PM} to {order.target}", order.instructions)
        return _told(who, read_any_report(data, name, limit=len(data)))
    except BadFile as problem:
        return unreadable("; ".join(str(fault) for fault in problem.faults[:3]))


def _decided(data: bytes, name: str) -> PMDecision | None:
    """Return what the PM agent decided, or None if this is an order of the daemon."""
    try:
        return read_decision(data, name, limit=len(data))
    except BadFile:
        return None


def unreadable(reason: str) -> str:
    """Return the line for a handoff that cannot be read."""
    return f"unreadable: {shown(reason)}"


def _told(who: str, report: Report) -> str:
    stands = report.status.value + (f", {report.verdict.value}" if report.verdict else "")
    blocked = report.status is ReportStatus.BLOCKED
    return _line(f"{who} {stands}", report.blockers if blocked else report.completed)


def _line(who: str, prose: str) -> str:
    sentence = first_sentence(prose)
    return f"{shown(who)}: {shown(sentence, SENTENCE_LENGTH)}" if sentence else shown(who)


def first_sentence(prose: str) -> str:
    """Return the first sentence of a text, without the sign of a list or a heading before it."""
    words = list[str]()
    for line in prose[:_READ].split("\n"):
        text = _MARKS.sub("", line.strip(), count=1).strip()
        says = any(sign.isalnum() for sign in text) and not text.startswith(("```", "~~~"))
        if words and (not says or _MARKS.match(line.strip())):
            break
        words += [text] if says else []
    paragraph = " ".join(words)
    end = _END.search(paragraph)
    return paragraph[: end.end()] if end else paragraph
