"""The page of `task report` as a browser lays it out: on a desk and on a phone, by day and by night."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from orchestrator.reporting.build import report_of
from orchestrator.reporting.html import page
from tests.accessibility import barriers
from tests.browser import BROWSER, a_browser
from tests.unit.reporting.journal import Lines
from tests.unit.reporting.test_pages import INJECTIONS, hostile

PATIENCE = 300.0
"""Seconds for a browser's start and one page. One second where the machine has nothing else to do."""

LOOK = """<!doctype html><title>untouched</title>
<iframe id="page" src="page.html" style="border: 0; width: WIDTHpx; height: 2000px"></iframe><pre id="seen"></pre>
<script>
const seen = { sideways: [], broken: [], overlapping: [], faint: [], strange: [] };
const usual = new Set(("SUMMARY DETAILS H1 H2 H3 P SPAN STRONG BR TIME DL DT DD UL OL LI PRE CODE " +
  "DIV TABLE THEAD TBODY TR TH TD A svg rect title ARTICLE").split(" "));
const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
const numbers = text => text.match(/[\\d.]+/g).map(Number);
function behind(element) {
  for (let at = element; at; at = at.parentElement) {
    const found = numbers(getComputedStyle(at).backgroundColor);
    if (found.length === 3) return found;
  }
  return [255, 255, 255];
}
function contrast(element) {
  const both = [numbers(getComputedStyle(element).color).slice(0, 3), behind(element)].map(light).sort((a, b) => b - a);
  return (both[0] + 0.05) / (both[1] + 0.05);
}
function look(page) {
  for (const each of page.querySelectorAll("details")) each.open = true;
  const width = page.documentElement.clientWidth;
  if (page.documentElement.scrollWidth > width)
    for (const each of page.querySelectorAll("main *"))
      if (!each.closest(".wide, pre, svg") && each.getBoundingClientRect().right > width + 1)
        seen.sideways.push(`${each.tagName}.${each.className}: ${each.textContent.trim().slice(0, 40)}`);
  const texts = page.createTreeWalker(page.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    if (text.parentElement.tagName === "title" || !text.data.trim()) continue;
    if (contrast(text.parentElement) < 4.5) seen.faint.push(text.data.slice(0, 40));
    for (const word of text.data.matchAll(/(?<!\\S)[A-Za-z]{2,14}(?!\\S)/g)) {
      const range = page.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (range.getClientRects().length > 1) seen.broken.push(word[0]);
    }
  }
  const ticks = [...page.querySelectorAll(".ticks div span")];
  const moments = ticks.map(each => each.getBoundingClientRect()).filter(each => each.width);
  moments.slice(1).forEach((each, n) => {
    if (each.top === moments[n].top && each.left < moments[n].right + 4) seen.overlapping.push(n);
  });
  for (const each of page.querySelector("main").querySelectorAll("*"))
    if (!usual.has(each.tagName)) seen.strange.push(each.tagName);
}
onload = () => {
  look(document.getElementById("page").contentDocument);
  document.getElementById("seen").textContent = JSON.stringify({ ...seen, title: document.title });
};
</script>
"""

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")


def looked_at(folder: Path, text: str, width: int) -> dict[str, Any]:
    """Return what a browser made of a page of this width, in pixels."""
    (folder / "page.html").write_text(text)
    (folder / "look.html").write_text(LOOK.replace("WIDTH", str(width)))
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
    done = subprocess.run(
        [
            BROWSER,
            *options,
            "--allow-file-access-from-files",
            f"--user-data-dir={folder / 'profile'}",
            "--window-size=1400,2200",
            "--dump-dom",
            (folder / "look.html").as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    found = re.search(r'<pre id="seen">(\{.*?\})</pre>', done.stdout, re.DOTALL)
    assert found, (done.returncode, done.stderr[-2000:])
    seen = json.loads(html.unescape(found[1]))
    assert isinstance(seen, dict)
    return seen


@pytest.fixture(scope="module")
def night() -> str:
    """Return the page of a night with agents of long names, a limit, a question, a rejection and a failed check."""
    lines = Lines()
    lines.begin()
    lines.open("r-1", instance="implementer-of-the-shop")
    lines.end("r-1", after=600)
    limit = {"words": "You have hit your usage limit, it resets at three in the morning"}
    lines.say("time_passed", {"kind": "step_limited", "step": "dev:one", "limit": limit}, after=3000)
    lines.open("r-2", purpose="check")
    lines.end(
        "r-2", 1, ("FAILED tests/unit/test_greet.py::test_name - AssertionError: expected a name",), 900
    )
    lines.say(
        "time_passed",
        {"kind": "step_reopened", "step": "dev:one", "attempt": 2, "why": "rejected by test:one"},
    )
    question = {"id": "q1", "text": "Which database is meant?", "step": "dev:one"}
    lines.say("time_passed", {"kind": "question_asked", "question": question})
    step = {
        "id": "dev:one",
        "agent": "dev",
        "title": "Move the schema",
        "status": "blocked",
        "why": "it waits",
    }
    tokens = {"input": 1234567, "cached": 1000000, "output": 45678, "cost": None, "estimate": 3.25}
    used = {"agent": "implementer", "runs": 2, "time": 1400.0, **tokens}
    view = {
        "task": "night",
        "id": "night-0a1b2c3d",
        "state": "waiting",
        "project": "/home/me/shop",
        "outcome": {"asked": "Move the shop.", "next": "`task answer night-0a1b2c3d q1 old` answers it"},
        "questions": [{"id": "q1", "text": "Which database is meant?", "options": ["old", "new"]}],
        "steps": [step],
        "used_by": [used],
    }
    made = report_of(view, lines.history(), made_at=lines[-1]["at"] + 600)
    return page([made, made], "All tasks")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("night_colours", [False, True])
def test_it_is_readable(tmp_path: Path, night: str, width: int, *, night_colours: bool) -> None:
    """No word is broken, no moment covers another, nothing scrolls sideways, and all text stands out (WCAG AA)."""
    text = night.replace("@media (prefers-color-scheme: dark)", "@media all") if night_colours else night
    assert text.count("@media all") == night_colours
    seen = looked_at(tmp_path, text, width)
    assert seen == {
        "sideways": [],
        "broken": [],
        "overlapping": [],
        "faint": [],
        "strange": [],
        "title": "untouched",
    }


@pytest.mark.parametrize("dark", [False, True])
def test_it_has_no_barrier(tmp_path: Path, night: str, *, dark: bool) -> None:
    """Each control has a name, headings lead down step by step, all text stands out."""
    (tmp_path / "page.html").write_text(night)
    with a_browser(tmp_path, 390, dark=dark) as tab:
        tab.go((tmp_path / "page.html").as_uri())
        tab.until("document.readyState === 'complete' && !!document.querySelector('main')")
        assert barriers(tab) == []


def test_hostile_text_is_text_to_a_browser(tmp_path: Path) -> None:
    """Every injection of the list at once: no element comes of it, no script runs, the page keeps its width."""
    seen = looked_at(tmp_path, page([hostile(each) for each in INJECTIONS], "x"), 390)
    assert (seen["strange"], seen["title"], seen["sideways"]) == ([], "untouched", [])
