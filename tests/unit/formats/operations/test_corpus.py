"""A corpus of 500 generated edits, each with what must come out: the one right text, or a refusal."""

import difflib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.formats.operations.edits import read_edit
from orchestrator.formats.operations.patching import edited
from orchestrator.model.errors import Refused

SEEDS = range(50)


def some_file(seed):
    """Return lines that are all different, some indented, and the same lines with one to three places changed."""
    dice = random.Random(seed)
    lines = [
        " " * dice.choice((4, 8)) + f"line {nth} {dice.randrange(10**6)}"
        for nth in range(dice.randrange(12, 60))
    ]
    target = list(lines)
    for at in sorted(dice.sample(range(3, len(lines) - 3), dice.randrange(1, 4)), reverse=True):
        match dice.choice(("change", "drop", "add")):
            case "change":
                target[at] = f"{lines[at]} changed"
            case "drop":
                del target[at]
            case "add":
                target.insert(at, f"    added before {at}")
    return dice, lines, target


def text(lines, end="\n"):
    return "".join(line + end for line in lines)


def diff(lines, target):
    return "\n".join(difflib.unified_diff(lines, target, "a/f", "b/f", lineterm=""))


def block(old, new):
    return "\n".join(["<<<<<<< SEARCH", *old, "=======", *new, ">>>>>>> REPLACE"])


def outcome(before, instructions):
    return edited(before, read_edit(instructions))


@pytest.mark.parametrize("seed", SEEDS)
def test_diff_at_its_place(seed):
    _, lines, target = some_file(seed)
    made = outcome(text(lines), diff(lines, target))
    assert (made.text, made.confidence, made.notes) == (text(target), 1.0, ())


@pytest.mark.parametrize("seed", SEEDS)
def test_diff_of_a_file_that_moved(seed):
    dice, lines, target = some_file(seed)
    top = [f"new top {nth}" for nth in range(dice.randrange(1, 9))]
    made = outcome(text(top + lines), diff(lines, target))
    assert (made.text, made.confidence) == (text(top + target), 0.95)
    assert made.notes


@pytest.mark.parametrize("seed", SEEDS)
def test_diff_with_wrong_or_no_numbers(seed):
    """Models count badly: lines are found by what they say."""
    dice, lines, target = some_file(seed)
    heads = ("@@ ... @@", "@@", f"@@ -{dice.randrange(900, 999)},7 +1,9 @@")
    wrong = [
        dice.choice(heads) if line.startswith("@@") else line for line in diff(lines, target).split("\n")
    ]
    assert outcome(text(lines), "\n".join(wrong)).text == text(target)


@pytest.mark.parametrize("seed", SEEDS)
def test_windows_line_ends_stay(seed):
    _, lines, target = some_file(seed)
    assert outcome(text(lines, "\r\n"), diff(lines, target)).text == text(target, "\r\n")


@pytest.mark.parametrize("seed", SEEDS)
def test_missing_last_line_end_stays(seed):
    _, lines, target = some_file(seed)
    assert outcome("\n".join(lines), diff(lines, target)).text == "\n".join(target)


@pytest.mark.parametrize("seed", SEEDS)
def test_search_and_replace(seed):
    dice, lines, _ = some_file(seed)
    at = dice.randrange(len(lines) - 3)
    new = [f"    replaced {nth}" for nth in range(dice.randrange(4))]
    made = outcome(text(lines), block(lines[at : at + 3], new))
    assert (made.text, made.confidence) == (text([*lines[:at], *new, *lines[at + 3 :]]), 1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_other_indentation(seed):
    dice, lines, _ = some_file(seed)
    at = dice.randrange(len(lines) - 3)
    old = [line.removeprefix("    ") for line in lines[at : at + 3]]
    made = outcome(text(lines), block(old, [*old, "added"]))
    assert (made.text, made.confidence) == (text([*lines[: at + 3], "    added", *lines[at + 3 :]]), 0.85)


@pytest.mark.parametrize("seed", SEEDS)
def test_white_space_at_line_ends(seed):
    dice, lines, target = some_file(seed)
    spaced = [line + dice.choice(("", "  ", "\t")) for line in lines]
    spaced[0] += " "
    made = outcome(text(spaced), diff(lines, target))
    assert [line.rstrip() for line in made.text.split("\n")] == [
        line.rstrip() for line in text(target).split("\n")
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_lines_twice_are_refused_with_both_places(seed):
    dice, lines, _ = some_file(seed)
    at = dice.randrange(len(lines) - 3)
    with pytest.raises(Refused, match=f"stand at line {at + 1} and at line {len(lines) + at + 1}"):
        outcome(text(lines + lines), block(lines[at : at + 3], ["x"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_lines_are_refused(seed):
    """What an edit removes must be there: somebody else changed it meanwhile."""
    dice, lines, _ = some_file(seed)
    at = dice.randrange(1, len(lines) - 1)
    target = [*lines[:at], *lines[at + 1 :]]
    meanwhile = [*lines[:at], lines[at] + " by another", *lines[at + 1 :]]
    with pytest.raises(Refused, match="are not in the file"):
        outcome(text(meanwhile), diff(lines, target))


def test_one_line_of_context_may_differ():
    lines = [f"line {nth}" for nth in range(9)]
    target = [*lines[:4], "new 4", *lines[5:]]
    meanwhile = ["other 0", "other 1", *lines[2:]]
    assert outcome(text(meanwhile), diff(lines, target)).confidence == 0.8
    assert outcome(text(meanwhile), diff(lines, target)).text == text([*meanwhile[:4], "new 4", *lines[5:]])


@pytest.mark.parametrize(
    ("before", "instructions", "after"),
    [
        ("a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a", None),
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a", "a\n"),
        ("a\n", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file", "a"),
        ("", "@@ -0,0 +1 @@\n+a", "a\n"),
        ("a\n", "@@ -1 +0,0 @@\n-a", ""),
        ("b\n", "@@ -1,0 +2 @@\n+a", None),
        ("-- a\n", "@@ -1 +1 @@\n--- a\n+++ b", "++ b\n"),
        ("a\r\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c", "a\r\nc\r\n"),
        ("a\rb\n", "@@\n-a\n+b", None),
    ],
)
def test_ends_of_files(before, instructions, after):
    if after is None:
        with pytest.raises(Refused):
            outcome(before, instructions)
    else:
        assert outcome(before, instructions).text == after


def test_overlapping_blocks_are_refused():
    with pytest.raises(Refused, match="overlap"):
        outcome("a\nb\nc\n", block(["a", "b"], ["x"]) + "\n" + block(["b", "c"], ["y"]))


@settings(max_examples=300)
@given(st.lists(st.sampled_from("ab c"), max_size=14), st.lists(st.sampled_from("ab c"), max_size=14))
def test_any_diff_of_a_file_is_applied_right(lines, target):
    """Lines may repeat as often as they like: a diff of this very file says where they stand."""
    if lines != target:
        assert outcome(text(lines), diff(lines, target)).text == text(target)


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.text(alphabet="abc\n@-+ <=>\\", max_size=60)
)
def test_any_instructions_are_carried_out_or_refused(lines, instructions):
    try:
        assert 0.7 < outcome(text(lines), instructions).confidence <= 1
    except Refused as error:
        assert str(error)  # noqa: PT017 (some are carried out)
