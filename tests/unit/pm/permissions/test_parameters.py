"""What a shell's operators make of a variable, and what a filter makes of what it reads."""

import pytest

from orchestrator.pm.permissions.fields import ANYTHING, SOME_FILE, Field
from orchestrator.pm.permissions.parameters import applied
from orchestrator.pm.permissions.printing import passed_on


@pytest.mark.parametrize(
    ("operator", "value", "operand", "result"),
    [
        ("#", "abc", "a", "bc"),
        ("##", "abc", "a", "bc"),
        ("#", "a/b/c", "*/", "b/c"),
        ("##", "a/b/c", "*/", "c"),
        ("##", "abc", "x", "abc"),
        ("%", "a.b.c", ".*", "a.b"),
        ("%%", "a.b.c", ".*", "a"),
        ("%%", "abc", "x", "abc"),
        ("/", "aba", "a/x", "xba"),
        ("//", "aba", "a/x", "xbx"),
        ("^^", "ab", "", "AB"),
        (",,", "AB", "", "ab"),
    ],
)
def test_what_is_known_is_cut_as_a_shell_cuts_it(
    operator: str, value: str, operand: str, result: str
) -> None:
    assert applied(operator, value, operand) == (result,)


@pytest.mark.parametrize(("name", "result"), [("sed", SOME_FILE), ("tr", ANYTHING)])
def test_only_sed_takes_the_folder_off_names_of_files(name: str, result: str) -> None:
    assert passed_on([Field(name), Field(r"s|^\./||")], f"./{SOME_FILE}") == result
