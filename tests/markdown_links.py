"""The links of Markdown files: where each leads, and whether that is there. Nothing is asked of a network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from scripts.site import parted

_LINK: Final = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\)")
_DEFINED: Final = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?$", re.MULTILINE)
_HEADING: Final = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
_ANCHOR: Final = re.compile(r"<a\s+(?:name|id)=\"([^\"]+)\"")
_WORDS: Final = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()]*\)")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written, and the file in which it stands."""

    file: Path
    target: str

    def __str__(self) -> str:
        return f"{self.file}: {self.target}"


def links(file: Path) -> Iterator[Link]:
    """Yield the links of a file to other places of the repository; none that stands in code."""
    prose = "".join("" if code else part for part, code in parted(file.read_text(encoding="utf-8")))
    for target in (*_LINK.findall(prose), *_DEFINED.findall(prose)):
        if not _ELSEWHERE.match(target):
            yield Link(file, target)


def leads_nowhere(link: Link) -> bool:
    """Tell whether there is no such file, or no such heading in it."""
    path, _, anchor = link.target.partition("#")
    if path.startswith("/"):
        return True
    file = (link.file.parent / unquote(path)).resolve() if path else link.file
    if not file.exists():
        return True
    return bool(anchor) and file.suffix == ".md" and unquote(anchor) not in anchors(file)


@cache
def anchors(file: Path) -> frozenset[str]:
    """Return the anchors of a file: those of its headings are made as forges make them."""
    text = file.read_text(encoding="utf-8")
    outside = "".join(
        "" if code and part.lstrip()[:3] in {"```", "~~~"} else part for part, code in parted(text)
    )
    made, seen = set(_ANCHOR.findall(outside)), Counter[str]()
    for heading in _HEADING.findall(outside):
        words = _WORDS.sub(r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        made.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(made)
