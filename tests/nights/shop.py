"""The project of every night: a small shop in git, what is to be added to it, and how the judge looks at that.

The probes are the judge's own: no agent sees them, and they do not lie in the repository.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

TESTS: Final = "python3 -m unittest -q"
ALL_PASS: Final = "All tests pass"
PROBE_TIME: Final = 60.0


@dataclass(frozen=True, slots=True)
class Part:
    """One function that the shop is to get. An agent writes `code` and `test`; `probe` fails where it is not there."""

    name: str
    title: str
    criterion: str
    code: str
    test: str
    wrong: str
    probe: str

    @property
    def path(self) -> str:
        return f"shop/{self.name}.py"

    @property
    def test_path(self) -> str:
        return f"tests/test_{self.name}.py"


def _part(name: str, says: str, code: str, wrong: str, probe: str) -> Part:
    test = (
        f"import unittest\n\nfrom shop.{name} import {name}\n\n\nclass It(unittest.TestCase):\n"
        f"    def test_it(self):\n        assert {probe}, 'it does not'\n"
    )
    head = f'"""Part of the shop: {name}."""\n\n\n'
    return Part(
        name,
        f"Add {name} to shop/{name}.py",
        f"shop/{name}.py has {says}",
        head + code,
        test,
        head + wrong,
        f"from shop.{name} import {name}; assert {probe}",
    )


PARTS: Final = {
    each.name: each
    for each in (
        _part(
            "greet",
            "greet(name), which returns 'Hello, NAME!'",
            'def greet(name):\n    return f"Hello, {name}!"\n',
            'def greet(name):\n    return f"Hello {name}"\n',
            "greet('Ada') == 'Hello, Ada!'",
        ),
        _part(
            "total",
            "total(prices), which is their sum",
            "def total(prices):\n    return sum(prices)\n",
            "def total(prices):\n    return max(prices)\n",
            "total([3, 4]) == 7",
        ),
        _part(
            "discount",
            "discount(price), which takes a tenth off",
            "def discount(price):\n    return price - price // 10\n",
            "def discount(price):\n    return price // 10\n",
            "discount(100) == 90",
        ),
    )
}


def make_shop(project: Path, besides: Mapping[str, str] = MappingProxyType({})) -> None:
    """Lay the project's files down in a folder, and others beside them."""
    for path, text in {**_FILES, **besides}.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text)


_FILES: Final = {
    "README.md": "# Shop\n\nTests: `python3 -m unittest -q`\n",
    "shop/__init__.py": '"""A shop."""\n',
    "shop/prices.py": '"""What things cost."""\n\nPRICES = {"apple": 3, "pear": 4}\n',
    "tests/__init__.py": "",
    "tests/test_prices.py": (
        "import unittest\n\nfrom shop.prices import PRICES\n\n\nclass Prices(unittest.TestCase):\n"
        "    def test_an_apple_has_its_price(self):\n        assert PRICES['apple'] == 3\n"
    ),
    ".gitignore": "__pycache__/\n",
}


def holds(tree: Path, part: str) -> bool:
    """Say whether a part is there and does what it should, by the judge's own probe in a checked-out tree."""
    return _runs(tree, [sys.executable, "-c", PARTS[part].probe])[0]


def tests_pass(tree: Path) -> tuple[bool, str]:
    """Run the project's own tests in a checked-out tree; return whether they pass, and what they said."""
    return _runs(tree, [sys.executable, "-m", "unittest", "-q"])


def _runs(tree: Path, command: list[str]) -> tuple[bool, str]:
    environ = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environ, capture_output=True, text=True, timeout=PROBE_TIME, check=False
        )
    except subprocess.TimeoutExpired:
        return False, f"not done within {PROBE_TIME:.0f} s"
    return done.returncode == 0, (done.stdout + done.stderr)[-2000:]
