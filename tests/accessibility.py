"""What keeps people from using a page, as far as Chromium knows: by the tree that it gives to screen readers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.browser import Tab

_OPERATED: Final = frozenset(
    {"button", "link", "textbox", "combobox", "checkbox", "radio", "searchbox", "DisclosureTriangle"}
)
_PICTURES: Final = frozenset({"image", "img", "SvgRoot"})

_LOOK: Final = """(() => {
  const found = [];
  const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3) return colour;
    }
    return matchMedia("(prefers-color-scheme: dark)").matches
      && getComputedStyle(document.documentElement).colorScheme.includes("dark") ? [18, 18, 18] : [255, 255, 255];
  };
  for (const each of document.querySelectorAll("details")) each.open = true;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility() || element.closest("script, style, title, noscript")) continue;
    const said = text.data.trim().slice(0, 40);
    const colours = [numbers(getComputedStyle(element).color).slice(0, 3), behind(element)];
    const both = colours.map(light).sort((a, b) => b - a);
    if ((both[0] + 0.05) / (both[1] + 0.05) < 4.5) found.push(`too faint: ${said}`);
    if (!element.closest("main, header, nav, footer, aside")) found.push(`outside of every landmark: ${said}`);
  }
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  const ids = [...document.querySelectorAll("[id]")].map(each => each.id);
  for (const id of new Set(ids)) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`two elements are ${id}`);
  for (const each of document.querySelectorAll("[aria-labelledby], [aria-describedby], [for]"))
    for (const name of ["aria-labelledby", "aria-describedby", "for"])
      for (const id of (each.getAttribute(name) || "").split(" ").filter(Boolean))
        if (!document.getElementById(id)) found.push(`there is no ${id}`);
  for (const each of document.querySelectorAll("[tabindex]"))
    if (each.tabIndex > 0) found.push(`an order of its own: ${each.tagName}`);
  for (const each of document.querySelectorAll("table"))
    if (!each.querySelector("th")) found.push(`a table without headings: ${each.rows[0]?.innerText}`);
  const shape = document.querySelector("meta[name=viewport]")?.content || "";
  if (/user-scalable=(no|0)|maximum-scale/.test(shape)) found.push("cannot be enlarged");
  return found;
})()"""


def barriers(tab: Tab) -> list[str]:
    """Return what is wrong with the page that a browser shows, folded parts opened: by rules of WCAG 2, level AA.

    Contrast, landmarks, language, title, ids and tables are looked up in the page; names, roles and headings in
    Chromium's own accessibility tree.
    """
    found = tab.value(_LOOK)
    assert isinstance(found, list), "the page could not be looked at"
    tree = [node for node in tab.call("Accessibility.getFullAXTree")["nodes"] if not node.get("ignored")]
    assert tree, "the browser has no accessibility tree"
    return [*map(str, found), *_in_tree(tree)]


def _in_tree(tree: list[dict[str, Any]]) -> Iterator[str]:
    roles = [str(node.get("role", {}).get("value")) for node in tree]
    if roles.count("main") != 1:
        yield f"{roles.count('main')} main landmarks"
    yield from _headings([_level(node) for node, role in zip(tree, roles, strict=True) if role == "heading"])
    for node, role in zip(tree, roles, strict=True):
        name = str(node.get("name", {}).get("value") or "").strip()
        if role in _OPERATED | _PICTURES | {"heading"} and not name:
            yield f"a {role} without a name"


def _headings(levels: list[int]) -> Iterator[str]:
    """Yield what is wrong with the order of headings: the first level is there, and none is skipped on the way down."""
    if 1 not in levels:
        yield "no heading of level 1"
    for above, below in zip([0, *levels], levels, strict=False):
        if below > above + 1:
            yield f"a heading of level {below} below one of level {above}"


def _level(node: dict[str, Any]) -> int:
    return next(int(each["value"]["value"]) for each in node["properties"] if each["name"] == "level")
