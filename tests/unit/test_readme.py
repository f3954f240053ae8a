"""What README.md tells the reader to type is understood by what is there."""

import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.cli.parser import VerbParser

CHECKOUT = Path(__file__).parents[2]
TEXT = (CHECKOUT / "README.md").read_text(encoding="utf-8")
FIRST, LATER = TEXT.split("## A task of your own")


def typed(text):
    """Return the lines of a shell in the fenced blocks of a text."""
    blocks = re.findall(r"^```(sh|console)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        line.removeprefix("$ ")
        for language, block in blocks
        for line in block.splitlines()
        if language == "sh" or line.startswith("$ ")
    ]


TABLE = re.findall(
    r"`(task [^`]+)`", "\n".join(line for line in TEXT.splitlines() if line.startswith("| `task"))
)
INSTALLERS = {"pipx install .", "uv tool install .", "python3 -m pip install ."}


def understood(words):
    """Read the arguments of a verb as `task` does: an error ends the process."""
    module = import_module(f"orchestrator.cli.{words[0].replace('-', '_')}")
    parser = VerbParser(words[0], VERBS[words[0]], module.EXAMPLE)
    module.arguments(parser)
    parser.parse_args(words[1:])


def test_the_first_lines_install_it_by_pipx_uv_and_pip():
    assert {" ".join(shlex.split(line, comments=True)) for line in typed(FIRST)[:3]} == INSTALLERS


@pytest.mark.parametrize("line", typed(FIRST)[3:])
def test_a_line_of_a_checkout_begins_with_a_script_of_it(line):
    """No reader ends in `command not found` who has installed nothing."""
    script, *words = shlex.split(line, comments=True)
    assert os.access(CHECKOUT / script, os.X_OK)
    if script == "scripts/task":
        understood(words)


@pytest.mark.parametrize("line", [line for line in typed(LATER) if re.match(r"(scripts/)?task ", line)])
def test_a_line_further_down_is_understood(line):
    understood(shlex.split(line, comments=True)[1:])


@pytest.mark.parametrize("command", TABLE)
def test_a_command_of_a_table_is_understood(command):
    """Optional words stand in brackets; somebody who is done with them leaves the brackets away."""
    understood(shlex.split(re.sub(r"[\[\]]", "", command))[1:])
