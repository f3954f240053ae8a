"""Whether a project has rules of its own for ruff that can be used.

Ruff looks for configuration upwards from each file, past the work tree and into the user's own; so what is not
configured at the top of the tree counts as not configured, and what reaches out of the tree is not used.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

CONFIGURATIONS = (".ruff.toml", "ruff.toml", "pyproject.toml")


def own_configuration(root: Path, files: Iterable[str]) -> tuple[bool, str]:
    """Whether the project's own configuration can be used, and if not, why (empty: there is none)."""
    if not any(_ruff_table(root / name) is not None for name in CONFIGURATIONS):
        return False, ""
    folders = {PurePosixPath()}.union(*(PurePosixPath(path).parents for path in files))
    for folder in sorted(folders):
        for name in CONFIGURATIONS:
            if _ruff_table(root / folder / name) is not None and not _stays(root, root / folder / name):
                return False, f"{folder / name} reaches out of the project, so it is not followed"
    return True, ""


def _stays(root: Path, configuration: Path) -> bool:
    """Whether a configuration and all that it extends lie in the tree."""
    inside, seen = root.resolve(), set()
    while configuration not in seen:
        seen.add(configuration)
        if not configuration.resolve().is_relative_to(inside):
            return False
        extended = (_ruff_table(configuration) or {}).get("extend")
        if not isinstance(extended, str):
            return True
        if extended.startswith("~") or "$" in extended:
            return False
        configuration = Path(os.path.normpath(configuration.parent / extended))
    return True


def _ruff_table(path: Path) -> dict[str, object] | None:
    """Ruff's settings in a file; None if it has none or is no file."""
    if not path.is_file():
        return None
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (tomllib.TOMLDecodeError, OSError):
        # Ruff will say what is wrong with it.
        return {} if path.name != "pyproject.toml" else None
    if path.name != "pyproject.toml":
        return data
    tool = data.get("tool")
    table = tool.get("ruff") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def sorts_imports_itself(root: Path) -> bool:
    """Whether the project sorts its imports with isort, whose order is not ruff's."""
    if (root / ".isort.cfg").exists():
        return True
    marks = {"pyproject.toml": b"[tool.isort", "setup.cfg": b"[isort]", "tox.ini": b"[isort]"}
    return any((root / name).is_file() and mark in (root / name).read_bytes() for name, mark in marks.items())
