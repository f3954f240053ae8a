"""The page of `task observe --html` as a browser lays it out: on a desk and on a phone, by day and by night."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import BROWSER
from tests.page_looks import GOOD, by_night, looked_at
from tests.unit.records.observed import busy, page_about
from tests.unit.reporting.test_pages import INJECTIONS

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("night_colours", [False, True])
def test_it_is_readable(tmp_path: Path, width: int, *, night_colours: bool) -> None:
    """No word is broken, nothing scrolls sideways, and all text stands out (WCAG AA)."""
    text = page_about(*busy("implementer-of-the-shop"))
    assert looked_at(tmp_path, by_night(text) if night_colours else text, width) == GOOD


def test_hostile_text_is_text_to_a_browser(tmp_path: Path) -> None:
    """Every injection of the list at once: no element comes of it, no script runs, the page keeps its width."""
    seen = looked_at(tmp_path, page_about(*busy(*INJECTIONS)), 390)
    assert (seen["strange"], seen["title"], seen["sideways"]) == ([], "untouched", [])
