"""What an agent that touches no file is shown of the files: their names, and the text of those that its order names."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.pm.permissions.paths import secret
from orchestrator.ports.files import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.ports.files import Files

LISTED: Final = 500
FOUND: Final = 5000
DEEPEST: Final = 12
"""How many files are listed, how many looked at for names in the order, and how many folders deep."""

SHOWN: Final = 120_000
SMALL: Final = 40_000
"""How many bytes of files are shown at most; and up to how many all of them together are, named or not."""

_TOKEN: Final = re.compile(r"[\w.@+/-]+")
_FENCES: Final = re.compile(r"`{3,}")


def files_shown(files: Files, roots: Sequence[Path], beside: Sequence[Path], text: str) -> str:
    """Return the files below `roots` as a list, and the text of those that `text` names, there or below `beside`.

    Where there is little, all of it is shown. Files that may hold secrets are never read.
    """
    found = [(root, path, size) for root in roots for path, size in _walked(files, root)]
    near = [(root, path, size) for root in beside for path, size in _walked(files, root)]
    tokens = {token.rstrip(".") for token in _TOKEN.findall(text)}
    once = {name for name, times in Counter(path.name for _, path, _ in found).items() if times == 1}
    named = [
        path
        for root, path, _ in (*found, *near)
        if {str(path), str(path.relative_to(root)), f"{root.name}/{path.relative_to(root)}"} & tokens
        or (path.name in tokens and "." in path.name and path.name in once)
    ]
    if sum(size for _, _, size in found) <= SMALL:
        named += [path for _, path, _ in found]
    listed = [f"- {path}" for _, path, _ in found[:LISTED]]
    more = [f"- and {len(found) - LISTED} more"] if len(found) > LISTED else []
    return "\n".join([*listed, *more, "", *_texts(files, list(dict.fromkeys(named)))])


def _texts(files: Files, paths: Sequence[Path]) -> Iterator[str]:
    left = SHOWN
    for path in paths:
        if secret(str(path)):
            continue
        try:
            text = files.read(path, left).decode()
        except (Unreadable, UnicodeDecodeError):
            yield f"{path} is not shown: it is too long, or no text.\n"
            continue
        left -= len(text.encode())
        fence = "`" * max([3, *(len(each) + 1 for each in _FENCES.findall(text))])
        end = "" if text.endswith("\n") or not text else "\n"
        yield f"{path}:\n{fence}\n{text}{end}{fence}\n"


def _walked(files: Files, root: Path) -> list[tuple[Path, int]]:
    """Return the plain files below a folder with their sizes, by name; what begins with a dot is passed over."""
    found, folders = list[tuple[Path, int]](), [(root, 0)]
    while folders and len(found) < FOUND:
        folder, depth = folders.pop()
        try:
            entries = sorted(files.entries(folder), key=lambda each: each.name)
        except (Unreadable, PermissionError):
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_file:
                found.append((folder / entry.name, entry.size))
            elif entry.is_folder and depth < DEEPEST:
                folders.append((folder / entry.name, depth + 1))
    return sorted(found)
