"""The words after `python -m orchestrator.daemon`."""

from __future__ import annotations

import pytest

from orchestrator.daemon.__main__ import parsed
from orchestrator.daemon.process.upgrade import CHECK, LOCK


def test_words_that_an_upgrade_says_are_known():
    assert parsed([CHECK]).check
    assert parsed([f"{LOCK}7"]).lock_fd == 7
    assert parsed([]).lock_fd is None


@pytest.mark.parametrize("words", [["start"], ["--chek"], ["--lock-fd=x"], ["--che"]])
def test_no_daemon_starts_for_words_that_it_does_not_know(words, capsys):
    with pytest.raises(SystemExit) as ended:
        parsed(words)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_help_teaches_and_starts_nothing(capsys):
    with pytest.raises(SystemExit) as ended:
        parsed(["--help"])
    assert ended.value.code == 0
    assert "task daemon start" in capsys.readouterr().out
