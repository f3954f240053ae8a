"""The handoff formats that ship, by the suite that is published for those of other packages."""

from __future__ import annotations

from orchestrator.formats.handoff_format import HANDOFF_FORMATS
from orchestrator.model.task import COORDINATION, MARKDOWN
from orchestrator.testing.contracts.formats import FormatContract


class TestMarkdown(FormatContract):
    name = MARKDOWN


class TestCoordination(FormatContract):
    name = COORDINATION


def test_each_format_that_ships_is_held_to_the_suite() -> None:
    assert {TestMarkdown.name, TestCoordination.name} == set(HANDOFF_FORMATS) - set(HANDOFF_FORMATS.added)
