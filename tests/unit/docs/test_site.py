"""Links of documents are changed for the site, on which other files of the repository are no pages."""

from types import SimpleNamespace

import pytest

from scripts.site import for_site, on_nav


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


def page(path):
    return SimpleNamespace(is_section=False, is_page=True, file=SimpleNamespace(src_uri=path))


def section(*paths):
    return SimpleNamespace(is_section=True, is_page=False, children=[page(path) for path in paths])


def paths(items):
    return [paths(item.children) if item.is_section else item.file.src_uri for item in items]


def test_the_navigation_follows_a_newcomer():
    names = ("tutorials/first-box.md", "tutorials/first-task.md", "tutorials/more.md")
    items = [
        section("project/readme.md"),
        section("how-to/b.md", "how-to/a.md"),
        section(*names),
        page("index.md"),
    ]
    assert paths(on_nav(SimpleNamespace(items=items), None, None).items) == [
        "index.md",
        ["tutorials/first-task.md", "tutorials/first-box.md", "tutorials/more.md"],
        ["how-to/b.md", "how-to/a.md"],
        ["project/readme.md"],
    ]
