"""Code and tests point at requirements by ids that docs/reference has, and at no document that is not here."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "docs" / "reference").glob("requirements*.md"))
SOURCES = [
    path
    for folder in ("orchestrator", "scripts", "tests", "tasks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "fixtures" not in path.parts and path != Path(__file__)
]
IDS = re.compile(r"\((?:law \d+, )?((?:[HWUSFC]\d{1,2})(?:, [HWUSFC]\d{1,2})*)[):;]")
ELSEWHERE = re.compile(r"\bHUB \d|HUB appendix|\(design,? \d|design, section|\bfacts, section")


def test_no_source_refers_to_documents_outside() -> None:
    found = [str(path.relative_to(ROOT)) for path in SOURCES if ELSEWHERE.search(path.read_text())]
    assert found == []


def test_each_requirement_id_in_a_source_exists() -> None:
    known = {
        found for page in PAGES for found in re.findall(r"^\| ([A-Z]\d+) \|", page.read_text(), re.MULTILINE)
    }
    used = {
        (each, path.name)
        for path in SOURCES
        for ids in IDS.findall(path.read_text())
        for each in ids.split(", ")
    }
    assert len(used) > 50, "the pattern finds them"
    assert {(each, name) for each, name in used if each not in known} == set()
