"""What `mkdocs.yml` has called while the site is built: the documents beside docs/ become pages of it.

Markdown in docs/ links to `../ARCHITECTURE.md` and to source files, as it is read in a checkout. On the site those
documents are pages under `project/`, and links to other files of the repository become plain text, as these are no part
of the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parents[1]
DOCS: Final = "docs"
PROJECT: Final = {
    name: f"project/{name.lower()}"
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
}
"""The documents beside docs/, with the pages that they become."""

ORDER: Final = (
    "index.md",
    "tutorials/first-task.md",
    "tutorials/first-night.md",
    "tutorials/first-box.md",
    "tutorials/",
    "how-to/",
    "reference/",
    "explanation/",
    "glossary.md",
    "project/",
)
"""Pages and folders in the order of the navigation; within a folder the others follow by their names."""

_LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\)")
_FENCE: Final = re.compile(r"^( {0,3})(`{3,}|~{3,}).*?^\1\2`*~*[ \t]*$", re.DOTALL | re.MULTILINE)
_SPAN: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents beside docs/."""
    from mkdocs.structure.files import File

    for name, page in PROJECT.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with its links as they are on the site."""
    path = page.file.src_uri
    source = next((name for name, made in PROJECT.items() if made == path), f"{DOCS}/{path}")
    return for_site(markdown, source)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Put parts and pages into the order in which a newcomer reads them."""
    for item in nav.items:
        if item.is_section:
            item.children.sort(key=_rank)
    nav.items.sort(key=_rank)
    return nav


def _rank(item: Any) -> int:  # noqa: ANN401 (a page, a link or a section)
    """Return the place of a page, or of the first page of a section."""
    while item.is_section and item.children:
        item = item.children[0]
    path = item.file.src_uri if item.is_page else ""
    return next((place for place, each in enumerate(ORDER) if path.startswith(each)), len(ORDER))


def for_site(markdown: str, source: str) -> str:
    """Return the Markdown of a file of the repository, `source`, with its links as they are on the site."""
    here = posixpath.dirname(PROJECT.get(source, source.removeprefix(f"{DOCS}/")))

    def moved(found: re.Match[str]) -> str:
        image, words, target = found.groups()
        if _ELSEWHERE.match(target):
            return found[0]
        file, hash_, anchor = target.partition("#")
        meant = posixpath.normpath(posixpath.join(posixpath.dirname(source), file))
        if meant in PROJECT:
            page = PROJECT[meant]
        elif meant.startswith(f"{DOCS}/") and not (ROOT / meant).is_dir():
            page = meant.removeprefix(f"{DOCS}/")
        elif (ROOT / meant).exists():
            return words
        else:
            return found[0]  # leads nowhere: mkdocs says so
        return f"{image}[{words}]({posixpath.relpath(page, here or '.')}{hash_}{anchor})"

    return "".join(part if is_code else _LINK.sub(moved, part) for part, is_code in parted(markdown))


def parted(markdown: str) -> list[tuple[str, bool]]:
    """Return Markdown in parts, each with whether it is code, in which nothing is a link."""
    parts, end = list[tuple[str, bool]](), 0
    fences = list(_FENCE.finditer(markdown))
    for fence in [*fences, None]:
        prose = markdown[end : fence.start() if fence else len(markdown)]
        at = 0
        for span in _SPAN.finditer(prose):
            before = prose.rfind("[", 0, span.start())
            if before > prose.rfind("]", 0, span.start()):
                continue  # the words of a link may be code
            parts += [(prose[at : span.start()], False), (span[0], True)]
            at = span.end()
        parts.append((prose[at:], False))
        if fence:
            parts.append((fence[0], True))
            end = fence.end()
    return parts
