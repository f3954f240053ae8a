"""Links between documents lead somewhere, and pages keep to their size."""

import re
from pathlib import Path

import pytest

from scripts.site import PROJECT
from tests.markdown_links import Link, anchors, leads_nowhere, links

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
DOCUMENTS = sorted([*(ROOT / name for name in PROJECT), *DOCS.rglob("*.md"), ROOT / "tests" / "README.md"])
LARGEST = 12_000


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_somewhere(file):
    assert [str(link) for link in links(file) if leads_nowhere(link)] == []


@pytest.mark.parametrize("file", sorted(DOCS.rglob("*.md")), ids=lambda file: str(file.relative_to(ROOT)))
def test_pages_stay_under_12_kb(file):
    assert file.stat().st_size <= LARGEST


@pytest.mark.parametrize(
    ("target", "broken"),
    [
        ("other.md", False),
        ("other.md#a-heading-with-code", False),
        ("other.md#a-heading-with-code-1", False),
        ("#here--there", False),
        ("other.md#in-code", True),
        ("other.md#nowhere", True),
        ("nowhere.md", True),
        ("/other.md", True),
    ],
)
def test_files_and_headings_are_looked_up(tmp_path, target, broken):
    (tmp_path / "other.md").write_text(
        "# A heading: with `code`\n\n```\n# In code\n```\n## A heading, with code\n"
    )
    file = tmp_path / "page.md"
    file.write_text("# Here & there\n")
    assert leads_nowhere(Link(file, target)) is broken


def test_links_in_code_are_none(tmp_path):
    file = tmp_path / "page.md"
    file.write_text(
        "[a](a.md) `[b](b.md)`\n\n```sh\n[c](c.md)\n```\n[`d`](d.md) [e](https://e.example)\n\n[f]: f.md\n"
    )
    assert [link.target for link in links(file)] == ["a.md", "d.md", "f.md"]


def test_anchors_of_the_same_words_are_numbered(tmp_path):
    file = tmp_path / "page.md"
    file.write_text('# Same\n## Same\n## [Linked](x.md) words\n<a id="own"></a>\n')
    assert anchors(file) == {"same", "same-1", "linked-words", "own"}


@pytest.mark.parametrize(
    "page", sorted((DOCS / "reference").glob("requirements*.md")), ids=lambda page: page.name
)
def test_tests_that_show_a_requirement_exist(page):
    named = re.findall(r"`(tests/[^`]+)`", page.read_text(encoding="utf-8"))
    assert len(named) > 2
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_requirements_have_one_id_each():
    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("requirements*.md"))
    ids = re.findall(r"^\| ([HWSFCU]\d+) \|", text, re.MULTILINE)
    series = {letter: [int(each[1:]) for each in ids if each[0] == letter] for letter in "HWSFCU"}
    assert {
        letter: numbers == list(range(1, len(numbers) + 1)) for letter, numbers in series.items()
    } == dict.fromkeys("HWSFCU", True)
