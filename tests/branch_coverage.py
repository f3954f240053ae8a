"""Measures which lines and branches the tests of this process reach: `scripts/coverage --help`."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs/explanation/coverage.md"
FOLDERS: Final = ("tests/unit", "tests/contract", "tests/simulation")

SLACK: Final = 0.5
"""By how many points a package may fall below its published figure: worlds of the simulation are drawn by chance."""

_ROW: Final = re.compile(
    r"^\| `(?P<package>[\w/]+)` \| [\d,]+ \| [\d,]+ \| (?P<share>[\d.]+) % \|$", re.MULTILINE
)


@dataclass(frozen=True)
class Reached:
    """How many lines and branches a package has, and how many of both were reached."""

    lines: int
    branches: int
    reached: int

    @property
    def share(self) -> float:
        """The share that was reached, in per cent."""
        return 100.0 * self.reached / max(self.lines + self.branches, 1)


def by_package(report: Mapping[str, Any]) -> dict[str, Reached]:
    """Return the figures of each package, and of the whole as `orchestrator`, from coverage's JSON report."""
    sums: dict[str, Counter[str]] = {}
    for name, file in report["files"].items():
        parts = Path(name).parts
        found = file["summary"]
        for package in {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0]}:
            sums.setdefault(package, Counter()).update(
                lines=found["num_statements"],
                branches=found["num_branches"],
                reached=found["covered_lines"] + found["covered_branches"],
            )
    return {
        name: Reached(each["lines"], each["branches"], each["reached"]) for name, each in sorted(sums.items())
    }


def page(found: Mapping[str, Reached]) -> str:
    """Return the page of the figures."""
    return "\n".join(
        [
            "# Coverage",
            "",
            "How many lines and branches the tests of `tests/unit`, `tests/contract` and `tests/simulation` reach in",
            "their own process. What runs in processes of its own is not counted: daemons, hooks and launchers that",
            "integration and chaos tests start. `scripts/coverage --write` makes this page; `scripts/test nightly`",
            f"fails where a package has fallen more than {SLACK} points below it. What tests are worth beyond that,",
            "mutants tell (`tests/README.md`).",
            "",
            "| package | lines | branches | reached |",
            "|---|---|---|---|",
            *(
                f"| `{name}` | {each.lines:,} | {each.branches:,} | {each.share:.1f} % |"
                for name, each in found.items()
            ),
            "",
        ]
    )


def published(text: str) -> dict[str, float]:
    """Return the share of each package that a page publishes."""
    return {row["package"]: float(row["share"]) for row in _ROW.finditer(text)}


def regressions(found: Mapping[str, Reached], before: Mapping[str, float]) -> list[str]:
    """Return a line for each package that has fallen below its published figure."""
    return [
        f"{name}: {found[name].share:.1f} %, and {share:.1f} % is published"
        for name, share in before.items()
        if name in found and found[name].share < share - SLACK
    ]


def measure(folders: list[str]) -> tuple[dict[str, Any], bool]:
    """Run the tests; return coverage's report, and whether all of them passed. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        data, report = f"--data-file={folder}/data", f"{folder}/report.json"
        tests = [
            sys.executable,
            "-m",
            "coverage",
            "run",
            "--branch",
            "--source=orchestrator",
            data,
            "-m",
            "pytest",
        ]
        ran = subprocess.run([*tests, "-q", "-n", "0", "-m", "not thorough", *folders], cwd=ROOT, check=False)
        subprocess.run(
            [sys.executable, "-m", "coverage", "json", "-q", data, "-o", report], cwd=ROOT, check=True
        )
        loaded: dict[str, Any] = json.loads(Path(report).read_bytes())
        return loaded, ran.returncode == 0


def main() -> int:
    """Measure, then write the page or compare with it."""
    parser = argparse.ArgumentParser(
        prog="scripts/coverage",
        description="Measures which lines and branches the unit, contract and simulation tests reach, and fails where "
        "a package has fallen below what docs/explanation/coverage.md publishes.",
    )
    parser.add_argument("--write", action="store_true", help="write that page instead")
    parser.add_argument(
        "folders", nargs="*", metavar="FOLDER", default=list(FOLDERS), help="other folders of tests"
    )
    options = parser.parse_args()
    report, passed = measure(options.folders)
    found = by_package(report)
    text = page(found)
    sys.stdout.write(text)
    fallen: list[str] = []
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.exists():
        fallen = regressions(found, published(PAGE.read_text(encoding="utf-8")))
    sys.stdout.write("".join(f"FALLEN: {line}\n" for line in fallen))
    return 0 if passed and not fallen else 1


if __name__ == "__main__":
    sys.exit(main())
