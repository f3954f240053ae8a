"""Ports that worktrees are given: none twice, the same again, and free when their task is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon.core import ports
from orchestrator.daemon.core.ports import FIRST, ports_of
from orchestrator.model.errors import Refused
from orchestrator.testing.memory_files import MemoryFiles

STATE = Path("/pm")
ONE, TWO = STATE / "tasks/demo-1", STATE / "tasks/demo-2"


@pytest.fixture
def files() -> MemoryFiles:
    made = MemoryFiles()
    for home in (ONE, TWO):
        made.make_folder(home)
    return made


def test_each_worktree_has_ports_of_its_own(files):
    given = [ports_of(files, home, tree, ("WEB", "DB")) for home in (ONE, TWO) for tree in ("a", "b")]
    numbers = [port for each in given for port in each.values()]
    assert len(set(numbers)) == 8
    assert min(numbers) == FIRST
    assert ports_of(files, ONE, "b", ("DB",)) == {"DB": given[1]["DB"]}


def test_ports_of_a_deleted_task_are_given_again(files):
    ports_of(files, ONE, "a", ("WEB",))
    left = MemoryFiles()
    left.make_folder(TWO)
    left.write(STATE / "ports.json", files.read(STATE / "ports.json"))
    assert ports_of(left, TWO, "a", ("WEB",)) == {"WEB": FIRST}


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{", b"[" * 100_000, b'{"20000": 5, "x": "a b c", "20001": "../.. a b"}', b"\xff"]
)
def test_damaged_list_of_ports_is_begun_anew(files, text):
    files.write(STATE / "ports.json", text)
    assert ports_of(files, ONE, "a", ("WEB",)) == {"WEB": FIRST}


def test_that_no_port_is_left_is_said(files, monkeypatch):
    monkeypatch.setattr(ports, "LAST", FIRST + 1)
    ports_of(files, ONE, "a", ("A", "B"))
    with pytest.raises(Refused, match="all 2 ports are given to worktrees"):
        ports_of(files, TWO, "a", ("A",))
