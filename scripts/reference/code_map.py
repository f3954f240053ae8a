"""The map of the code: what each package is made of, and which of its parts imports which, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from scripts.reference.markdown import code, page, table

PACKAGE: Final = "orchestrator"
COUNTED: Final = ("", "pm", "daemon", "hosts", "workspaces", "notifications", "scribe")
"""The packages of which there are figures; the first is the whole."""

SHOWN: Final = ("", "pm", "daemon")
"""Those whose parts are shown one by one."""

_CODE: Final = Path(__file__).resolve().parents[2] / PACKAGE


@dataclass(frozen=True)
class CodeMap:
    """The parts of one package (its folders, and its modules beside them), and for each part those that it imports.

    Imports for type checkers count: a part that names another's types depends on it.
    """

    imports: Mapping[str, frozenset[str]]

    @property
    def storeys(self) -> list[list[str]]:
        """The parts by height, the highest first: each imports only what is lower, but for back arrows."""
        height: dict[str, int] = {}

        def measure(part: str) -> int:
            if part not in height:
                below = [each for each in self.imports[part] if not self._is_back(part, each)]
                height[part] = 1 + max(map(measure, below), default=0)
            return height[part]

        top = max(map(measure, self.imports), default=0)
        return [sorted(part for part in height if height[part] == level) for level in range(top, 0, -1)]

    @property
    def back_arrows(self) -> list[tuple[str, str]]:
        """The imports that are part of a circle."""
        return sorted(
            (part, each) for part in self.imports for each in self.imports[part] if self._is_back(part, each)
        )

    def _is_back(self, part: str, other: str) -> bool:
        """Tell whether `other` imports `part` as well, directly or by way of others."""
        seen, open_parts = {other}, [other]
        while open_parts:
            for each in self.imports[open_parts.pop()] - seen:
                seen.add(each)
                open_parts.append(each)
        return part in seen


def code_map(package: str) -> CodeMap:
    """Return the map of a package, by its path beneath the whole one; of the whole one for an empty path."""
    folder = _CODE / package
    parts = {
        path.stem: [path] if path.is_file() else sorted(path.rglob("*.py"))
        for path in folder.iterdir()
        if _is_part(path)
    }
    prefix = [PACKAGE, *package.split("/")] if package else [PACKAGE]
    return CodeMap(
        {
            part: frozenset(
                name for file in files for name in _imported(file, prefix) if name in parts and name != part
            )
            for part, files in parts.items()
        }
    )


def code_map_pages() -> Iterator[tuple[str, str]]:
    """Yield the page of the map."""
    maps = {package: code_map(package) for package in COUNTED}
    yield (
        "code-map.md",
        page(
            "Code map",
            "The parts of each package, highest first. A part is a folder or a module; it imports only parts that "
            "stand lower. `scripts/test imports` holds that for the whole package, for `pm` and for `daemon`.",
            table(
                ["package", "parts", "storeys", "imports in circles"],
                [
                    [
                        code(_name(package)),
                        str(len(each.imports)),
                        str(len(each.storeys)),
                        str(len(each.back_arrows)),
                    ]
                    for package, each in maps.items()
                ],
            ),
            *(_section(package, maps[package]) for package in SHOWN),
        ),
    )


def _section(package: str, shown: CodeMap) -> str:
    rows = [
        [
            str(len(shown.storeys) - number),
            code(part),
            _purpose(package, part),
            ", ".join(map(code, sorted(shown.imports[part]))),
        ]
        for number, parts in enumerate(shown.storeys)
        for part in parts
    ]
    return f"## {_name(package)}\n\n{table(['storey', 'part', 'what it is', 'imports'], rows)}"


def _name(package: str) -> str:
    return f"{PACKAGE}/{package}".rstrip("/")


def _purpose(package: str, part: str) -> str:
    """Return the first line of what a part says of itself."""
    path = _CODE / package / part
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def _is_part(path: Path) -> bool:
    if path.is_dir():
        return (path / "__init__.py").exists()
    return path.suffix == ".py" and path.stem != "__init__"


def _imported(file: Path, prefix: list[str]) -> Iterator[str]:
    """Yield the parts that a file names in its imports."""
    depth = len(prefix)
    for name in _imports(file.read_text(encoding="utf-8")):
        words = name.split(".")
        if words[:depth] == prefix and len(words) > depth:
            yield words[depth]


@cache
def _imports(source: str) -> tuple[str, ...]:
    """Return the full names that a module imports. Cached: each package's map asks for the same modules again."""
    names: list[str] = []
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            names += [each.name for each in node.names]
    return tuple(names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a module or a statement holds, at any depth, without expressions: none of them imports."""
    for kind in ("body", "orelse", "finalbody", "handlers", "cases"):
        for held in getattr(node, kind, ()):
            yield held
            yield from _statements(held)
