"""A command line for a login shell that may be any: which words are quoted, and which are escaped."""

import re
import shlex
import subprocess

import pytest

from orchestrator.hosts.ssh.login_shell import line_of

SAME = ["=tidy", "~", "-n", "a  b", '"$(id)"', "", "*", "a=b", r"\n", "^a^b"]
DIFFERENT = ["it's", "two\nlines", "!!", r"a\\b", "a\\", r"\'; id; echo \'", "ü", "\udcff", "\t"]


@pytest.mark.parametrize("word", SAME)
def test_a_word_that_is_the_same_everywhere_is_quoted(word: str) -> None:
    assert line_of(["printf", word]) == f"'printf' '{word}'"


@pytest.mark.parametrize("word", DIFFERENT)
def test_what_shells_read_differently_is_escaped(word: str) -> None:
    """Nothing is left of it but characters that mean themselves between single quotes, whatever the shell."""
    line = line_of(["printf", word])
    shell, option, script, name, escaped = shlex.split(line)
    assert (shell, option, name) == ("sh", "-c", "sh")
    assert script == 'eval "exec $(printf %b "$1")"'
    assert re.fullmatch(r"(?:\\0[0-7]{3}|[ -&(-\[\]-~])*", escaped)
    assert "!" not in line


def test_long_words_arrive_whole() -> None:
    word = "it's " * 4_000
    done = subprocess.run(["sh", "-c", line_of(["printf", "%s", word])], capture_output=True, check=True)
    assert done.stdout.decode() == word
