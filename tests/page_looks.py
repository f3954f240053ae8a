"""A page as a headless Chromium lays it out: what is cut, covered, faint or strange in it, at some width."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from tests.browser import BROWSER

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

GOOD = {"sideways": [], "broken": [], "overlapping": [], "faint": [], "strange": [], "title": "untouched"}
"""What is seen of a readable page: no word is broken, nothing scrolls sideways, all text stands out (WCAG AA)."""


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


def by_night(text: str) -> str:
    """Return the page in the colours of the night, whatever the browser prefers."""
    night = text.replace("@media (prefers-color-scheme: dark)", "@media all")
    assert night.count("@media all") == 1
    return night
