"""Which files the command of a check names."""

from __future__ import annotations

import pytest

from orchestrator.formats.check_files import MOST, files_named


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("./check.sh",), ("check.sh",)),
        (("bash", "scripts/check.sh", "--fast"), ("bash", "scripts/check.sh")),
        (("sh", "-c", "cd app && ./check.sh; make"), ("sh", "cd", "app", "&&", "check.sh", ";", "make")),
        (("python3", "-m", "tools.check"), ("python3", "tools/check.py", "tools/check/__main__.py")),
        (("prove", "--config=t/prove.conf"), ("prove", "t/prove.conf")),
        (("runner", "tests/test_a.py::test_b"), ("runner", "tests/test_a.py")),
        (("/usr/bin/true", "../outside.sh", ".", "-v"), ()),
        (("sh", "-c", "broken 'quote"), ("sh", "broken", "'quote")),
    ],
)
def test_a_command_names_its_files(command, named):
    found = files_named(command)
    assert [each for each in found if each not in {"GNUmakefile", "makefile", "Makefile"}] == list(named)


@pytest.mark.parametrize(
    ("command", "read"),
    [
        (("make", "test"), "Makefile"),
        (("/usr/bin/make", "test"), "Makefile"),
        (("npm", "test"), "package.json"),
        (("python3", "-m", "pytest", "-q"), "conftest.py"),
        (("sh", "-c", "tox -q"), "tox.ini"),
    ],
)
def test_what_a_program_reads_is_named_too(command, read):
    assert read in files_named(command)


def test_a_long_command_names_a_bounded_number_of_files():
    assert len(files_named([f"file{number}.py" for number in range(1000)])) == MOST
