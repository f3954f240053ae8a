import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.lines import Kind, scan, unclosed, without_comments
from orchestrator.formats.lists import items
from orchestrator.formats.sections import Guard, Shape, plain, sections
from tests.unit.formats.texts import prose

SHAPE = Shape({"goal": "goal", "config": "config"}, deepest=3, commented=frozenset({"config"}))
KINDS = {Kind.TEXT: "t", Kind.FENCE: "f", Kind.CODE: "c", Kind.COMMENT: "-"}


def kinds(text: str, *, to_end: bool = True) -> str:
    return "".join(KINDS[line.kind] for line in scan(text.split("\n"), to_end=to_end))


def parted(text: str) -> list[tuple[int, str, list[str]]]:
    return [
        (
            section.heading.level,
            section.heading.key or section.heading.title,
            [line.text for line in section.lines],
        )
        for section in sections(scan(text.split("\n")), SHAPE)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```py\n# b\n```\nc", "tfcft"),
        ("```\n~~~\n````\nx", "fcft"),
        ("````\n```\n````", "fcf"),
        ("```\n``` x\n```", "fcf"),
        ("``` a`b\nc", "tt"),
        ("    ```\nx", "tt"),
        ("   ~~~\nx\n ~~~ ", "fcf"),
        ("```\nx", "fc"),
        ("<!-- a\n```\n-->\nb", "---t"),
        ("<!-- a -->\nb <!-- c\n-->", "-tt"),
        ("<!-- a --> b\nc", "tt"),
        ("<!-- a\nb", "tt"),
        ("```\n<!--\n```\n-->", "fcft"),
    ],
)
def test_lines_are_split_as_markdown_does(text, expected):
    assert kinds(text) == expected


def test_code_that_is_never_closed_is_known():
    assert unclosed(scan(["a", "```", "b"])) == 2
    assert unclosed(scan(["```", "b", "```"])) == 0
    assert kinds("~~~\na\n```\nb\n```", to_end=False) == "ttfcf"


def test_sections_are_split_at_headings_of_their_level():
    assert parted("a\n# T\nb\n## Goal\nc\n### Detail\nd\n### Config\ne\n#### Goal\n## Other\nf\n### g") == [
        (0, "", ["a"]),
        (1, "T", ["b"]),
        (2, "goal", ["c", "### Detail", "d"]),
        (3, "config", ["e", "#### Goal"]),
        (2, "Other", ["f"]),
        (3, "g", []),
    ]


def test_hash_without_space_is_a_heading_for_known_titles():
    assert parted("#goal\n#7 is fixed\n#!x") == [(0, "", []), (1, "goal", ["#7 is fixed", "#!x"])]


def test_a_title_like_line_is_a_comment_where_comments_begin_so():
    assert parted("## Config\n# a\n# Goal\n## Goal\n# b") == [
        (0, "", []),
        (2, "config", ["# a", "# Goal"]),
        (2, "goal", []),
        (1, "b", []),
    ]
    assert parted("# Config\n# a\n# Goal\nx")[1:] == [(1, "config", ["# a"]), (1, "goal", ["x"])]


@pytest.mark.parametrize(
    "title",
    [
        "Goal",
        "goal",
        "**Goal**",
        "Goal:",
        "1. Goal",
        "2) Goal",
        "✅ Goal",
        "Goal (if any)",
        "Goal (a):",
        "  GOAL  ",
        "`Goal`",
    ],
)
def test_titles_are_compared_without_what_decorates_them(title):
    assert plain(title) == "goal"


@given(prose)
def test_every_line_is_in_exactly_one_section(text):
    found = sections(scan(text.split("\n")), SHAPE)
    numbers = [
        number for part in found for number in (part.line, *(line.number for line in part.lines)) if number
    ]
    assert numbers == list(range(1, text.count("\n") + 2))


def test_items_go_on_over_lines():
    text = "intro\n- a\n  b\nc\n\n  d\n    - e\n- f\n\nout\n  - in\n```\n- g\n```\n* h\n"
    found = [
        (item.line, item.text, [line.text.strip() for line in item.more])
        for item in items(scan(text.split("\n")))
    ]
    assert found == [(2, "a", ["b", "c", "d", "- e"]), (8, "f", ["- in"]), (15, "h", [])]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a<!-- b -->c", "ac"),
        ("<!--a--><!--b-->", ""),
        ("a <!-- b", "a <!-- b"),
        ("<!-->", "<!-->"),
        ("-->", "-->"),
    ],
)
def test_comments_are_taken_out_where_they_end(text, rest):
    assert without_comments(text) == rest


GUARD = Guard(SHAPE, 2, r"\*\*status\b")


@given(prose)
def test_guarded_text_comes_back_and_parts_nothing(text):
    put = GUARD.put(text)
    document = f"## Goal\n{put}\n## Config\nend"
    found = sections(scan(document.split("\n")), SHAPE)
    assert [section.heading.key for section in found] == ["", "goal", "config"]
    assert "\n".join(GUARD.take(found[1].lines)) == text
    assert not any(
        line.text.lower().startswith("**status") for line in found[1].lines if line.kind is Kind.TEXT
    )


@given(st.lists(st.sampled_from(["```", "~~~", "````", "~~~ a", "<!--", "-->", "x", "", "# a"]), max_size=30))
def test_guarded_code_and_comments_end_where_their_text_ends(texts):
    put = GUARD.put("\n".join(texts)).split("\n")
    assert scan([*put, "end", "```", "-->"])[len(put)].kind is Kind.TEXT
