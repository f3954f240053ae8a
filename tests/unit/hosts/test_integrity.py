"""What a box says of files that are still being written is believed only in the form that our script gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from orchestrator.hosts.ssh.child import TooMuch
from orchestrator.hosts.ssh.integrity import unsettled
from orchestrator.ports.box_link import Ended

READ = {"/there/a": (10, 100), "/there/b": (20, 200), "/there/c": (30, 300)}


@dataclass
class Link:
    """A link to a box whose answer is made up."""

    answer: bytes | Exception

    def run(self, argv: list[str]) -> Ended:
        del argv
        if isinstance(self.answer, Exception):
            raise self.answer
        return Ended(0, self.answer, b"")


def held(answer: bytes | Exception) -> set[str]:
    return unsettled(cast("Any", Link(answer)), READ)


def test_written_and_changed_files_are_held_back() -> None:
    assert held(b"0 written\n1 20 201\n2 30 300\nlooked\n") == {"/there/a", "/there/b"}


@pytest.mark.parametrize("answer", [b"", b"0 written\n", b"garbage\nlooked\n", b"9 written\nlooked\n"])
def test_answer_of_another_form_says_nothing(answer: bytes) -> None:
    assert held(answer) == set()


def test_python_that_prints_without_end_says_nothing() -> None:
    """Each pull failed, so no report ever came from a box on which python3 is something else."""
    assert held(TooMuch("wrote more than 1 bytes")) == set()


def test_shell_that_floods_its_errors_is_a_failure() -> None:
    with pytest.raises(TooMuch):
        held(TooMuch("wrote more than 1 bytes of error messages", is_err=True))
