"""The check of pages for people who see or point badly finds what it is there to find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.accessibility import barriers
from tests.browser import BROWSER, Tab, a_browser

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")

GOOD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>a page</title>
<main><h1>A page</h1><p>Text</p><a href="#x">there</a><h2 id="x">More</h2>
<label>Name <input></label><button>Send</button><details><summary>All of it</summary><p>This</p></details>
<svg role="img" aria-label="a line" width="9" height="9"></svg>
<table><thead><tr><th scope="col">A</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table></main></html>
"""
WORSE = {
    "no language": (' lang="en"', ""),
    "no title": ("a page</title>", "</title>"),
    "0 main landmarks": ("main>", "div>"),
    "outside of every landmark: Text": (
        "<main><h1>A page</h1><p>Text</p>",
        "<p>Text</p><main><h1>A page</h1>",
    ),
    "no heading of level 1": ("h1>", "h2>"),
    "a heading of level 3 below one of level 1": ('<h2 id="x">More</h2>', '<h3 id="x">More</h3>'),
    "a link without a name": (">there<", "><"),
    "a textbox without a name": ("<label>Name <input></label>", "Name <input>"),
    "a button without a name": ("Send", ""),
    "a image without a name": (' aria-label="a line"', ""),
    "a table without headings: A": ('<th scope="col">A</th>', "<td>A</td>"),
    "too faint: Text": ("<p>Text", '<p style="color: #999">Text'),
    "two elements are x": ("<h1>", '<h1 id="x">'),
    "there is no y": ("<button>", '<button aria-describedby="y">'),
    "an order of its own: BUTTON": ("<button>", '<button tabindex="2">'),
    "cannot be enlarged": ("<title>", '<meta name="viewport" content="user-scalable=no"><title>'),
}


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with a_browser(tmp_path_factory.mktemp("browser")) as made:
        yield made


def looked_at(tab: Tab, folder: Path, text: str) -> list[str]:
    (folder / "page.html").write_text(text)
    tab.go((folder / "page.html").as_uri())
    tab.until(f"document.readyState === 'complete' && location.pathname.startsWith('{folder}')")
    return barriers(tab)


def test_a_good_page_has_no_barrier(tab: Tab, tmp_path: Path) -> None:
    assert looked_at(tab, tmp_path, GOOD) == []


@pytest.mark.parametrize("barrier", WORSE)
def test_a_barrier_is_found(tab: Tab, tmp_path: Path, barrier: str) -> None:
    good, bad = WORSE[barrier]
    assert good in GOOD
    assert barrier in looked_at(tab, tmp_path, GOOD.replace(good, bad))
