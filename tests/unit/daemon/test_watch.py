from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.daemon import hints as h
from orchestrator.daemon.watch import home_hint, request_hint, task_hint

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


def test_a_reply_is_no_request():
    folder = Path("/s/tasks/t-1/requests")
    assert request_hint("t-1", folder, folder / "1.json") == h.RequestHint("t-1")
    assert request_hint("t-1", folder, folder / "1.reply.json") is None
    assert request_hint("t-1", folder, folder / "events") is None
    assert request_hint("t-1", folder, folder / "events" / "r-1.1.2.json") == h.EventHint("t-1")
    assert request_hint("t-1", folder, folder / "events" / ".r-1.1.2") is None


def test_a_new_task_and_the_bell_of_an_old_one_say_that_something_is_asked():
    homes = Path("/s/tasks")
    assert home_hint(homes, homes / "t-1") == h.RequestHint("t-1")
    assert home_hint(homes, homes) is None
