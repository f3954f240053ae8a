"""What a document says is held by a test, is: the test exists, and each row names one."""

import re

import pytest

from tests.named_tests import ROOT, is_there, named_tests

CLAIMS = sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs/explanation").glob("security*.md"))
DOCUMENTS = (*CLAIMS, "tests/README.md")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_a_document_names_exists(document):
    named = named_tests(document)
    assert named
    assert [f"{path}::{name}" for path, name in named if not is_there(path, name)] == []


def test_every_row_that_claims_to_be_held_names_its_test():
    """Of each table whose last column is `held by`."""
    text = "\n".join((ROOT / document).read_text(encoding="utf-8") for document in DOCUMENTS)
    tables = re.findall(r"^\|[^\n]*\| held by \|\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(rows) > 100
    assert [row for row in rows if "::" not in row.rsplit("|", 2)[1]] == []


def test_a_test_that_is_not_there_is_noticed():
    assert is_there("tests/unit/test_named_tests.py", "test_a_test_that_is_not_there_is_noticed")
    assert not is_there("tests/unit/test_named_tests.py", "test_nothing")
    assert not is_there("tests/unit/test_named_tests.py", "is_there")
    assert not is_there("tests/unit/test_none.py", "test_nothing")
