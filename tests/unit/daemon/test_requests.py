from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest import requests
from orchestrator.model.errors import BadFile
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind

HOME = Path("/state/tasks/t-1")


@pytest.fixture
def files():
    disk = MemoryFiles()
    disk.make_folder(layout.task_requests(HOME))
    return disk


def put(files, name, content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    files.put(layout.task_requests(HOME) / name, data)


def test_requests_are_read_oldest_first_without_replies(files):
    for name in ("2-b.json", "1-a.json", "1-a.reply.json", "note.txt"):
        put(files, name, {})
    assert requests.waiting(files, HOME) == ["1-a.json", "2-b.json"]


def test_an_answer_is_written_before_the_request_goes(files):
    put(files, "1-a.json", {"id": "1-a", "verb": "stop"})
    assert requests.read_request(files, HOME, "1-a.json").verb == "stop"
    requests.answer(files, HOME, "1-a.json", ok=True, message="done")
    assert requests.waiting(files, HOME) == []
    reply = json.loads(files.read(layout.task_requests(HOME) / "1-a.reply.json"))
    assert reply == {"ok": True, "message": "done"}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{" * 100_000,
        b"[" * 100_000,
        {"id": "other", "verb": "stop"},
        {"id": "1-a"},
        {"id": "1-a", "verb": 7},
        {"id": "1-a", "verb": "stop", "arguments": [1]},
        {"id": "1-a", "verb": "stop", "arguments": {"x": {"deep": 1}}},
    ],
)
def test_what_is_no_request_is_refused(files, content):
    put(files, "1-a.json", content)
    with pytest.raises(BadFile):
        requests.read_request(files, HOME, "1-a.json")


@pytest.mark.parametrize("kind", [Kind.LINK, Kind.PIPE])
def test_request_that_is_no_plain_file_is_removed(files, kind):
    folder = layout.task_requests(HOME)
    files.put(folder / "1-a.json", b"/etc/passwd", kind)
    assert requests.waiting(files, HOME) == ["1-a.json"]
    with pytest.raises(BadFile, match="not a plain file"):
        requests.read_request(files, HOME, "1-a.json")
    requests.answer(files, HOME, "1-a.json", ok=False, message="refused")
    assert requests.waiting(files, HOME) == []


def test_a_folder_with_the_name_of_a_request_is_none(files):
    files.make_folder(layout.task_requests(HOME) / "1-a.json")
    assert requests.waiting(files, HOME) == []
