"""A command line for a login shell that may be any."""

import shlex

import pytest

from orchestrator.hosts.ssh.master import line_of

WORDS = ["=tidy", "~", "-n", "a  b", "it's", '"$(id)"', "two\nlines", "", "*", "a=b", "!!"]


@pytest.mark.parametrize("word", WORDS)
def test_each_word_is_quoted_and_arrives(word):
    line = line_of(["printf", word])
    assert shlex.split(line) == ["printf", word]
    assert line.startswith("'printf' '")
    assert line.endswith("'")
