"""Handoffs, whole: their names, reports and orders (H6). The door to the modules that read them."""

from __future__ import annotations

from orchestrator.formats.handoff_format import format_of, read_any_report
from orchestrator.formats.handoff_name import handoff_name, is_being_saved, split_handoff_name
from orchestrator.formats.order import WrittenOrder, read_order, render_order
from orchestrator.formats.pm_decision import read_decision, render_decision, run_named
from orchestrator.formats.report import read_report, render_report
from orchestrator.formats.text import neutral

__all__ = [
    "WrittenOrder",
    "format_of",
    "handoff_name",
    "is_being_saved",
    "neutral",
    "read_any_report",
    "read_decision",
    "read_order",
    "read_report",
    "render_decision",
    "render_order",
    "render_report",
    "run_named",
    "split_handoff_name",
]
