"""Links of documents are changed for the site, on which other files of the repository are no pages."""

import pytest

from scripts.site import for_site


@pytest.mark.parametrize(
    ("source", "link", "made"),
    [
        ("docs/index.md", "[a](../ARCHITECTURE.md#the-map)", "[a](project/architecture.md#the-map)"),
        ("docs/how-to/x.md", "[a](../../SECURITY.md)", "[a](../project/security.md)"),
        ("docs/how-to/x.md", "[a](../index.md)", "[a](../index.md)"),
        ("README.md", "[a](docs/index.md)", "[a](../index.md)"),
        ("README.md", "[a](CHANGELOG.md)", "[a](changelog.md)"),
        ("README.md", "[a](#here)", "[a](#here)"),
        ("README.md", "[a](https://a.example)", "[a](https://a.example)"),
        ("README.md", "[`a`](orchestrator/cli/main.py)", "`a`"),
        ("docs/index.md", "[a](../tests/README.md#mutants)", "a"),
        ("docs/index.md", "[a](../nothing.md)", "[a](../nothing.md)"),
        ("docs/index.md", "`[a](../README.md)`", "`[a](../README.md)`"),
        ("docs/index.md", "```\n[a](../README.md)\n```", "```\n[a](../README.md)\n```"),
    ],
)
def test_links_are_those_of_the_site(source, link, made):
    assert for_site(link, source) == made
