"""Every file that is made from the code, and whether those that lie there are fresh."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.cli.parser import PROGRAM
from scripts.reference.cli import cli_pages
from scripts.reference.code_map import code_map_pages
from scripts.reference.completion import completion_scripts
from scripts.reference.handoffs import handoff_pages
from scripts.reference.manual import manual_pages
from scripts.reference.personas import persona_pages
from scripts.reference.schemas import json_pages, schema_files
from scripts.reference.settings import settings_pages
from scripts.reference.states import state_pages
from scripts.reference.task_file import task_file_pages
from scripts.reference.telemetry import telemetry_pages
from scripts.reference.verbs import called
from scripts.reference.workflows import workflow_pages

ROOT: Final = Path(__file__).resolve().parents[2]
REFERENCE: Final = Path("docs/reference")
MANUAL: Final = Path("docs/man")
COMPLETIONS: Final = Path("orchestrator/cli/completions")


def made() -> dict[Path, str]:
    """Return the text of each file, by its path in the checkout."""
    with called(PROGRAM):
        return dict(_made())


def stale(root: Path = ROOT) -> list[Path]:
    """Return the files that are missing, say something else, or are made no more."""
    return _stale(made(), root)


def _stale(wanted: dict[Path, str], root: Path) -> list[Path]:
    there = {path.relative_to(root) for path in _committed(root)}
    return sorted(
        path for path in wanted.keys() | there if path not in wanted or not _says(root / path, wanted[path])
    )


def write(root: Path = ROOT) -> list[Path]:
    """Make all files; return those that changed."""
    wanted = made()
    changed = _stale(wanted, root)
    for path in changed:
        if path not in wanted:
            (root / path).unlink()
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(wanted[path], encoding="utf-8")
    return changed


def _made() -> Iterator[tuple[Path, str]]:
    pages = (settings_pages, cli_pages, state_pages, task_file_pages, handoff_pages, json_pages, schema_files)
    for each in (*pages, workflow_pages, persona_pages, telemetry_pages, code_map_pages):
        for name, text in each():
            yield REFERENCE / name, text
    for name, text in manual_pages():
        yield MANUAL / name, text
    for name, text in completion_scripts():
        yield COMPLETIONS / name, text


def _committed(root: Path) -> Iterator[Path]:
    """Yield the files that this program has made at some time: of pages, those that say so in their first line."""
    yield from (root / MANUAL).glob("*.1")
    yield from (root / COMPLETIONS).glob("task.*")
    yield from (root / REFERENCE / "schemas").glob("*.json")
    for page in (root / REFERENCE).glob("*.md"):
        with page.open(encoding="utf-8") as file:
            if file.readline().startswith("<!-- Made by "):
                yield page


def _says(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text
