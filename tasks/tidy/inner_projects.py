"""The projects of a repository that holds several."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_FILES = {"pyproject.toml", "setup.py", "setup.cfg"}
DEPTH = 3
"""How far down a repository's inner projects are looked for."""
NO_PROJECTS = {
    *("test", "tests", "testing", "testdata", "fixtures", "doc", "docs", "example", "examples", "benchmarks"),
    *("_vendor", "_vendored", "vendor", "vendored", "third_party", "extern", "external", "build", "dist"),
    "node_modules",
}


def of(root: Path) -> list[Path]:
    """The folders beneath a repository's top that have a build file of their own, in order of their names."""
    found = []
    for parent, names, files in os.walk(root):
        folder = Path(parent)
        # A package's folders may have build files too, and modules in them that hide those of Python.
        package = "__init__.py" in files
        if folder != root and not package and not PROJECT_FILES.isdisjoint(files):
            found.append(folder)
        if package or len(folder.relative_to(root).parts) >= DEPTH:
            names.clear()
        names[:] = sorted(name for name in names if name not in NO_PROJECTS and not name.startswith("."))
    return found
