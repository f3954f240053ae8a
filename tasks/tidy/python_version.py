"""The oldest Python that a project says it runs on: no fix may need a newer one."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

OLDEST, NEWEST = (3, 7), (3, 15)
LOWER_BOUND = re.compile(r"(?:>=|~=|==|>)\s*(\d+)(?:\.(\d+))?")
CLASSIFIER = re.compile(r"Programming Language :: Python :: (\d)(?:\.(\d+))?(?!\d)")
TEXT_LIMIT = 1_000_000


@dataclass(frozen=True)
class Oldest:
    """The oldest Python 3 that ruff may write for, and whether Python 2 has to read it too."""

    version: tuple[int, int] = OLDEST
    python2: bool = False

    @property
    def ruff(self) -> str:
        """As ruff's `--target-version` takes it."""
        return f"py{self.version[0]}{self.version[1]}"


def of_project(root: Path) -> Oldest:
    """Read it from pyproject.toml, setup.cfg or setup.py; conservative where they are silent."""
    pyproject, setup_cfg, setup_py = (
        _text(root / name) for name in ("pyproject.toml", "setup.cfg", "setup.py")
    )
    required = _from_pyproject(pyproject) or _from_setup_cfg(setup_cfg) or _from_setup_py(setup_py)
    return decide(required, CLASSIFIER.findall(pyproject + setup_cfg + setup_py))


def decide(required: str, classifiers: list[tuple[str, str]]) -> Oldest:
    """The oldest version from a specifier (`>=3.9,<4`), else from classifiers' (major, minor) pairs."""
    bounds = [(int(major), int(minor or 0)) for major, minor in LOWER_BOUND.findall(required)]
    if not bounds:
        bounds = [min(versions)] if (versions := _classified(classifiers)) else [OLDEST]
    lowest = max(bounds)
    return Oldest(min(max(lowest, OLDEST), NEWEST), python2=lowest < (3, 0))


def _classified(classifiers: list[tuple[str, str]]) -> list[tuple[int, int]]:
    versions = [(int(major), int(minor)) for major, minor in classifiers if minor]
    # "Python :: 2" with no minor version anywhere still means that Python 2 has to read it.
    return [*versions, (2, 7)] if any(major == "2" for major, _ in classifiers) else versions


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(TEXT_LIMIT)


def _from_pyproject(text: str) -> str:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return ""
    project = data.get("project")
    said = project.get("requires-python") if isinstance(project, dict) else None
    return said if isinstance(said, str) else ""


def _from_setup_cfg(text: str) -> str:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return ""
    return parser.get("options", "python_requires", fallback="")


def _from_setup_py(text: str) -> str:
    """The literal `python_requires=` of a setup.py, which is read and never run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.keyword)
            and node.arg == "python_requires"
            and isinstance(node.value, ast.Constant)
        ):
            return str(node.value.value)
    return ""
