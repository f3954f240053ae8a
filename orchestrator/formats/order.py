"""Orders: what the PM tells one run to do (H6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from orchestrator.formats.handoff_parts import rendered, says_nothing, take_apart, written
from orchestrator.formats.lists import items
from orchestrator.formats.text import FILE_BYTES, local_time, one_line, refused
from orchestrator.model.errors import BadName, Fault
from orchestrator.model.handoff import Order, ReportStatus
from orchestrator.model.names import checked_name

SKILLS: Final = 1000


@dataclass(frozen=True, slots=True)
class WrittenOrder:
    """What the file of an order says. `timestamp` is for people: its zone has no clear meaning elsewhere."""

    target: str
    timestamp: str = ""
    run: str | None = None
    instructions: str = ""
    context: str = ""
    skills: tuple[str, ...] = ()
    criteria: str = ""


def render_order(order: Order) -> str:
    """Return an order as a handoff (H6), with the run that it is for.

    Text in it can neither end its section nor be read as a header line; `read_order` gives it back as it was.
    Control characters become visible signs.
    """
    headers = [
        ("Timestamp", local_time(order.at)),
        ("Target", one_line(order.target)),
        ("Status", ReportStatus.IN_PROGRESS.value),
        ("Run", one_line(order.run)),
    ]
    bodies = [
        ("Instructions", written(order.instructions)),
        ("Context", written(order.context)),
        ("Skills to Load", "\n".join(f"- {one_line(skill)}" for skill in order.skills) or "None"),
        ("Success Criteria", written(order.criteria)),
    ]
    return rendered("pm", headers, bodies)


def read_order(data: bytes, name: str, limit: int = FILE_BYTES) -> WrittenOrder:
    """Return what the file of an order says.

    Args:
        data: The file's bytes.
        name: Its name, for messages.
        limit: How many bytes it may have.

    Raises:
        BadFile: with every fault: no target or no instructions, not UTF-8, too large.

    """
    handoff = take_apart(data, name, limit)
    faults = list(handoff.faults)
    headers = {header.key: header for header in reversed(handoff.headers) if header.leading}
    target = headers.get("target")
    if not target:
        faults.append(Fault(0, "names nobody: add a line `**Target:** agent`"))
    else:
        try:
            checked_name(target.value, "agent name")
        except BadName as refusal:
            faults.append(Fault(target.line, str(refusal)))
    if not handoff.under("instructions"):
        faults.append(Fault(0, "orders nothing: add a section `## Instructions`"))
    skills = [
        item.text.strip("[]` ")
        for section in handoff.under("skills")
        for item in items(section.lines)
        if not says_nothing(item.text)
    ]
    if len(skills) > SKILLS:
        faults.append(Fault(0, f"names more than {SKILLS} skills"))
    if faults or not target:
        raise refused(name, faults)
    return WrittenOrder(
        target=target.value,
        timestamp=headers["timestamp"].value if "timestamp" in headers else "",
        run=(headers["run"].value or None) if "run" in headers else None,
        instructions=handoff.prose("instructions"),
        context=handoff.prose("context"),
        skills=tuple(skills),
        criteria=handoff.prose("criteria"),
    )
