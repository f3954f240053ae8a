"""Memories on disk and their index, which is made from them."""

import os
import sqlite3

import pytest

from orchestrator.formats.coordination.memory import render_memory
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused
from orchestrator.model.memory import Memory, MemoryKind
from orchestrator.records.memory_folder import MemoryFolder
from orchestrator.records.memory_index import MemoryIndex
from orchestrator.records.memory_ranking import Wanted

KEY = "sk-ant-abcdefghijklmnopqrstuvwxyz"


def memory(number, content="Run the suites serially", tags=("tests",)):
    identifier = f"mem_170000000{number}_abc"
    return Memory(identifier, content, MemoryKind.SEMANTIC, 0.5, tags, "2025-12-11T14:00:00Z")


@pytest.fixture
def folder(tmp_path):
    made = MemoryFolder(DiskFiles(), tmp_path / "data")
    made.path.mkdir(parents=True)
    return made


@pytest.fixture
def put(folder):
    def put(*memories):
        for each in memories:
            (folder.path / f"{each.id}.json").write_bytes(render_memory(each))

    return put


@pytest.fixture
def find(folder, tmp_path):
    """Search by the index on disk; return the ids that were found."""

    def find(text="", path=tmp_path / "index.sqlite", **wanted):
        with MemoryIndex(folder, path) as index:
            return sorted(each.memory.id for each in index.search(text, Wanted(**wanted)))

    return find


def test_words_are_found_by_stem_and_tag(put, find):
    put(memory(1), memory(2, "Nothing of it", tags=("suite",)), memory(3, "Else"))
    assert find("suite") == ["mem_1700000001_abc", "mem_1700000002_abc"]
    assert find("?!") == []
    assert len(find()) == 3


def test_what_changed_on_disk_is_found(put, find, folder):
    put(memory(1), memory(2))
    assert len(find("suite")) == 2
    put(memory(1, "Something else"))
    (folder.path / "mem_1700000002_abc.json").unlink()
    assert find("suite") == []
    assert find("something") == ["mem_1700000001_abc"]


@pytest.mark.parametrize("damage", ["missing", "rubbish", "cut", "older", "hollow"])
def test_a_lost_index_is_made_again(put, find, tmp_path, damage):
    """Missing, no database, cut off, of another version, or with pages full of zeros."""
    put(*(memory(n, f"Run suite {n} " * 50) for n in range(9)))
    path = tmp_path / "index.sqlite"
    before = find("suite")
    data = path.read_bytes()
    match damage:
        case "missing":
            path.unlink()
        case "rubbish":
            path.write_bytes(b"x" * 9000)
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "older":
            with sqlite3.connect(path) as database:
                database.execute("UPDATE about SET version = '0'")
            database.close()
        case _:
            path.write_bytes(data[:4096] + bytes(len(data) - 4096))
    assert find("suite") == before != []


def test_a_link_in_the_place_of_the_index_is_left(put, find, tmp_path):
    """The file that it leads to is neither read nor changed."""
    put(memory(1))
    (tmp_path / "other").write_text("mine")
    (tmp_path / "index.sqlite").symlink_to(tmp_path / "other")
    assert find("suite") == ["mem_1700000001_abc"]
    assert (tmp_path / "other").read_text() == "mine"


def test_an_index_that_cannot_be_written_is_kept_in_memory(put, find, tmp_path):
    put(memory(1))
    assert find("suite", path=tmp_path / "nowhere" / "index.sqlite") == ["mem_1700000001_abc"]


def test_no_secret_lies_in_the_index(put, find, tmp_path):
    put(memory(1, f"The key is {KEY}, run the suite"))
    assert find("suite") == ["mem_1700000001_abc"]
    assert KEY.encode() not in (tmp_path / "index.sqlite").read_bytes()


def test_odd_files_are_named_with_their_reasons(put, folder):
    """An id with a path, a link, 10 MB, a control character, an id of another file, a name that is none."""
    put(memory(1))
    bad = {
        "mem_1700000002_abc.json": b'{"id": "../mem_1700000002_abc"}',
        "mem_1700000003_abc.json": b" " * 10_000_000,
        "mem_1700000004_abc.json": render_memory(memory(4)).replace(b"suites", b"\\u001b[2J"),
        "mem_1700000005_abc.json": render_memory(memory(1)),
        "notes.txt": b"",
    }
    for name, data in bad.items():
        (folder.path / name).write_bytes(data)
    (folder.path / "mem_1700000006_abc.json").symlink_to("/etc/passwd")
    os.mkfifo(folder.path / "mem_1700000007_abc.json")
    with MemoryIndex(folder, None) as index:
        assert [each.memory.id for each in index.search("", Wanted())] == ["mem_1700000001_abc"]
        refused = {each.path.name: each.reason for each in index.refused}
    assert set(refused) == {*bad, "mem_1700000006_abc.json", "mem_1700000007_abc.json"}
    assert "larger than 262144 bytes" in refused["mem_1700000003_abc.json"]
    assert "control character" in refused["mem_1700000004_abc.json"]
    assert refused["mem_1700000006_abc.json"] == "is not a plain file"


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "memories").symlink_to(tmp_path)
    folder = MemoryFolder(DiskFiles(), tmp_path / "data")
    for act in (
        folder.entries,
        lambda: folder.read("mem_1700000001_abc"),
        lambda: folder.add(memory(1), str),
    ):
        with pytest.raises(Refused, match="is a link or a file"):
            act()


@pytest.mark.parametrize(
    "identifier", ["../x", "mem_1", "", "mem_1700000001_abc/../../x", "mem_1700000001_A"]
)
def test_an_odd_id_never_becomes_a_path(folder, identifier):
    for act in (folder.read, folder.forget, folder.recall, lambda each: folder.mark(each, 1.0)):
        with pytest.raises(Refused, match="is no id of a memory"):
            act(identifier)


def test_what_is_forgotten_comes_back_as_it_was(put, find, folder):
    put(memory(1), memory(2))
    before = (folder.path / "mem_1700000001_abc.json").read_bytes()
    away = folder.forget("mem_1700000001_abc")
    assert (find(), folder.forgotten()) == (["mem_1700000002_abc"], ["mem_1700000001_abc"])
    assert folder.read("mem_1700000001_abc")[1]
    back = folder.recall("mem_1700000001_abc")
    assert (away.exists(), back.read_bytes()) == (False, before)


def test_nothing_is_replaced_by_what_comes_back(put, folder):
    put(memory(1))
    away = folder.forget("mem_1700000001_abc")
    put(memory(1, "Another"))
    with pytest.raises(Refused, match="is not forgotten"):
        folder.recall("mem_1700000001_abc")
    with pytest.raises(Refused, match="is there already"):
        folder.forget("mem_1700000001_abc")
    assert away.exists()


def test_a_mark_is_written_into_the_file_and_taken_back(put, find, folder):
    put(memory(1))
    before = (folder.path / "mem_1700000001_abc.json").read_bytes()
    assert folder.mark("mem_1700000001_abc", 1_765_000_000.0).misled == "2025-12-06T05:46:40Z"
    assert folder.read("mem_1700000001_abc")[0].misled
    folder.mark("mem_1700000001_abc", None)
    assert folder.read("mem_1700000001_abc")[0].misled is None
    assert (folder.path / "mem_1700000001_abc.json").read_bytes() == before
