import os

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh import pulled_files
from orchestrator.hosts.ssh.pulled_files import REASONS_KEPT, REFUSALS_KEPT, Base, Known

STAMP = (1, 2, 3)
ODD = ["a\nb", 'it\'s "so"', os.fsdecode(b"bad \xff"), "ü"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "box/known"


def again(path):
    return Known(DiskFiles(), path)


def test_fetched_and_reported_files_are_remembered(path):
    known = again(path)
    for name in ODD:
        known.brought(name, "digest", STAMP)
    assert known.is_new("link", "why")
    known.prepare()
    known.keep()
    after = again(path)
    assert after.bases == {name: Base("digest", STAMP) for name in ODD}
    assert after.prepared
    assert not after.is_new("link", "why")
    assert after.is_new("link", "another why")


def test_what_is_known_already_costs_no_write(path):
    known = again(path)
    known.brought("a", "digest", STAMP)
    known.keep()
    size = path.stat().st_size
    known.brought("a", "digest", STAMP)
    known.keep()
    assert path.stat().st_size == size


def test_a_line_that_was_cut_off_is_done_without(path):
    known = again(path)
    known.brought("a", "digest", STAMP)
    known.brought("b", "digest", STAMP)
    known.keep()
    path.write_bytes(path.read_bytes()[:-5])
    known = again(path)
    assert list(known.bases) == ["a"]
    known.brought("c", "digest", STAMP)
    known.keep()
    assert list(again(path).bases) == ["a", "c"]


@pytest.mark.parametrize(
    "line",
    [b"\0\0\0", b"[]", b'["base"]', b'["base",1,2,3]', b"{", b'["base","x","y",[1,2]]', b"[" * 200_000],
)
def test_a_line_that_does_not_read_is_left_out(path, line):
    known = again(path)
    known.brought("a", "digest", STAMP)
    known.keep()
    path.write_bytes(line + b"\n" + path.read_bytes())
    assert list(again(path).bases) == ["a"]


def test_it_does_not_grow_with_each_change(path):
    for _ in range(4):
        known = again(path)
        for number in range(1_000):
            known.brought("a", str(number), STAMP)
        known.keep()
    assert len(path.read_bytes().splitlines()) <= 2_100
    assert again(path).bases["a"].digest == "999"


def test_it_does_not_grow_with_each_change_while_open(path, monkeypatch):
    """An agent wrote one file again each second, and the record here grew until the daemon was started anew."""
    monkeypatch.setattr(pulled_files, "_SPARE", 10)
    known = again(path)
    for number in range(50):
        known.brought("a", str(number), STAMP)
        known.keep()
    assert len(path.read_bytes().splitlines()) <= 13
    assert again(path).bases["a"].digest == "49"


def test_reports_of_refusals_are_bounded(path):
    known = again(path)
    assert all(known.is_new(str(number), "why") for number in range(REFUSALS_KEPT))
    assert not known.is_new("one more", "why")
    assert len(known.refusals) == REFUSALS_KEPT


def test_reports_of_one_name_are_bounded(path):
    """An error message of rsync, say, that names another process each time; a restart counts nothing anew."""
    known = again(path)
    assert [known.is_new("rsync", str(number)) for number in range(100)].count(True) == REASONS_KEPT
    known.keep()
    lines = len(path.read_bytes().splitlines())
    for number in range(4):
        known = again(path)
        assert not known.is_new("rsync", f"{number} again")
        known._write_anew()
    assert len(path.read_bytes().splitlines()) == lines
    assert known.is_new("another", "why")
