"""Imports that a file does not use itself, and that other files take from it: to a linter they are unused."""

from __future__ import annotations

import ast
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from findings import Finding

UNUSED_IMPORT = "F401"
IMPORTS = (UNUSED_IMPORT, "F811")
"""The rules whose fixes take imports away."""
IMPORTED = re.compile(r"`([^`]+)`")
STAR = "*"


def files(root: Path, paths: Iterable[str], findings: Iterable[Finding]) -> set[str]:
    """The files with an import said to be unused whose name another of the project's files takes from there.

    Args:
        root: The tree.
        paths: All Python files of the project.
        findings: What ruff found.
    """
    unused: dict[str, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.code == UNUSED_IMPORT and (said := IMPORTED.search(finding.message)):
            unused[finding.path] |= _bound(said[1])
    if not unused:
        return set()
    taken = _Project(root, list(paths)).taken()
    return {path for path, names in unused.items() if names & taken[path]}


def _bound(imported: str) -> set[str]:
    """The names that an import may bind, by ruff's words: `os.path` is told for both ways to write it."""
    module, _, alias = imported.partition(" as ")
    return {alias} if alias else {module.split(".")[0], module.split(".")[-1]}


@dataclass
class _File:
    """What one file takes from others: by module and name, from modules whole, by attribute; and what it says."""

    by_name: list[tuple[str, str]] = field(default_factory=list)
    modules: dict[str, str] = field(default_factory=dict)
    attributes: set[tuple[str, str]] = field(default_factory=set)
    used: set[str] = field(default_factory=set)


class _Project:
    """Which names of a module the other files of a project use; of names alike, rather one too many."""

    def __init__(self, root: Path, paths: Sequence[str]) -> None:
        self._files = {path: _read(root / path) for path in paths}
        self._by_last: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        for path in paths:
            parts = _parts(path)
            if parts:
                self._by_last[parts[-1]].append((path, parts))

    def taken(self) -> dict[str, set[str]]:
        """For each file the names that others take from it, also through files that take all of it."""
        taken: dict[str, set[str]] = defaultdict(set)
        whole: list[tuple[str, str]] = []
        for path, file in self._files.items():
            for module, name in file.by_name:
                for source in self._meant(module, path):
                    if name == STAR:
                        whole.append((path, source))
                    taken[source].add(name)
            for called, name in file.attributes:
                for source in self._meant(file.modules.get(called, ""), path):
                    taken[source].add(name)
        for _ in range(len(whole)):
            before = sum(map(len, taken.values()))
            for path, source in whole:
                taken[source] |= self._files[path].used | taken[path]
            if sum(map(len, taken.values())) == before:
                break
        return taken

    def _meant(self, module: str, path: str) -> Iterator[str]:
        """The files that a module's name, or the end of one, may mean."""
        names = tuple(module.split("."))
        for source, parts in self._by_last.get(names[-1], ()):
            if source != path and parts[-len(names) :] == names:
                yield source


def _parts(path: str) -> tuple[str, ...]:
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _read(path: Path) -> _File:
    file = _File()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return file
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=module, names=names):
                for each in names:
                    if module:
                        file.by_name.append((module, each.name))
                    file.modules[each.asname or each.name] = each.name
            case ast.Import(names=names):
                file.modules |= {each.asname or each.name: each.name for each in names}
            case ast.Attribute(value=value, attr=name):
                if called := _dotted(value):
                    file.attributes.add((called, name))
            case ast.Name(id=name):
                file.used.add(name)
            case _:
                pass
    return file


def _dotted(node: ast.expr) -> str:
    """`a.b` as it was written; empty if it is more than names."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""
