from __future__ import annotations

import ctypes
import errno
import queue
import sys
from pathlib import Path

import pytest

from orchestrator.daemon.core import hints as h
from orchestrator.daemon.ingest import watchers
from orchestrator.daemon.ingest.watchers import Watch, archive_hint, home_hint, request_hint, task_hint

FOLDER = Path("/p/tasks/t")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("handoffs/dev-1.md", h.HandoffHint("t-1", "dev-1.md")),
        ("handoffs/deeper/dev-1.md", None),
        ("artifacts/code/x.py", h.ArtifactHint("t-1", "code/x.py")),
        ("artifacts", None),
        ("task.md", h.BriefHint("t-1")),
        ("progress.md", None),
        ("scratchpad/dev/x", None),
    ],
)
def test_events_in_a_tasks_folder(path, hint):
    assert task_hint("t-1", FOLDER, FOLDER / path) == hint


HANDOFF = "handoff_1702311000000_a1b2c3d4"


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        (f"2025-12-11/{HANDOFF}.json", h.SharedArchiveHint(HANDOFF)),
        (f"2025-12-11/{HANDOFF}.json.tmp", None),
        (f"{HANDOFF}.json", None),
        ("2025-12-11/chain_t.json", None),
        ("2025-12-11", None),
        ("index.json", None),
    ],
)
def test_events_in_the_archive_of_all_tasks(path, hint):
    assert archive_hint(Path("/a"), Path("/a") / path) == hint


def test_the_archive_of_all_tasks_is_watched_once_it_is_there(tmp_path):
    """It is made when something is first put into it: the next rescan finds it."""
    reported = queue.Queue[h.Hint]()
    archive = tmp_path / "archive"
    looking = Watch(reported.put, tmp_path, str(archive))
    (tmp_path / "tasks").mkdir()
    looking.start()
    try:
        day = archive / "2025-12-11"
        day.mkdir(parents=True)
        looking.homes()
        for name in (HANDOFF, HANDOFF.replace("a1b2", "c3d4")):
            (day / "part").write_text("x")
            (day / "part").rename(day / f"{name}.json")
            while reported.get(timeout=20) != h.SharedArchiveHint(name):
                pass
    finally:
        looking.close()


def test_a_reply_is_no_request():
    folder = Path("/s/tasks/t-1/requests")
    assert request_hint("t-1", folder, folder / "1.json") == h.RequestHint("t-1")
    assert request_hint("t-1", folder, folder / "1.reply.json") is None
    assert request_hint("t-1", folder, folder / "events") is None
    assert request_hint("t-1", folder, folder / "events" / "r-1.1.2.json") == h.EventHint("t-1")
    assert request_hint("t-1", folder, folder / "events" / ".r-1.1.2") is None


def test_new_task_and_wake_up_marker_make_hints():
    homes = Path("/s/tasks")
    assert home_hint(homes, homes / "t-1") == h.RequestHint("t-1")
    assert home_hint(homes, homes) is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no instances that could run out")
def test_folders_are_scanned_without_a_system_watcher(tmp_path, monkeypatch):
    """No inotify instance is left: the daemon starts, says so, and hears of new, renamed and rewritten files."""

    def none_left():
        ctypes.set_errno(errno.EMFILE)
        return -1

    monkeypatch.setattr("watchdog.observers.inotify_c.inotify_init", none_left)
    monkeypatch.setattr(watchers, "POLL", 0.05)
    reported = queue.Queue[h.Hint]()
    handoffs = tmp_path / "project" / "handoffs"
    handoffs.mkdir(parents=True)
    (tmp_path / "tasks").mkdir()
    looking = Watch(reported.put, tmp_path)
    assert "inotify instance limit" in looking.polling
    looking.start()
    try:
        looking.task("t-1", handoffs.parent)
        for name in ("dev-1.md", "dev-2.md"):
            (handoffs / "part").write_text("x")
            (handoffs / "part").rename(handoffs / name)
            wanted = h.HandoffHint("t-1", name)
            while reported.get(timeout=20) != wanted:
                pass
        (handoffs / "dev-1.md").write_text("longer")
        while reported.get(timeout=20) != h.HandoffHint("t-1", "dev-1.md"):
            pass
        (tmp_path / "tasks" / "t-2").mkdir()
        while reported.get(timeout=20) != h.RequestHint("t-2"):
            pass
    finally:
        looking.close()
