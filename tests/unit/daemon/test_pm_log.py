"""The PM's log of a task: what a person follows, with a line for each new day."""

from __future__ import annotations

from pathlib import Path

from orchestrator import layout
from orchestrator.daemon.journal.engine import Engine
from orchestrator.model import facts as f
from orchestrator.model.limits import Limits
from orchestrator.model.task import Brief
from orchestrator.testing.local_zone import local_zone
from orchestrator.testing.memory_files import MemoryFiles

HOME = Path("/pm/tasks/shop-1")
AT = 1_764_254_100.0


def test_a_new_day_has_a_line_of_its_own():
    files = MemoryFiles(now=lambda: AT)
    files.make_folder(HOME)
    with local_zone("UTC"):
        engine = Engine(files, HOME, Limits(), lambda *_: None)
        brief = Brief("Title", "Make it so", ("It works",))
        engine.feed(f.TaskStarted(AT, "n1", "q1", "shop-1", "shop", "/project", brief))
        for number, later in enumerate((60.0, 86_400.0, 86_460.0)):
            engine.feed(f.Intruded(AT + later, f"pm-{number}.md", "00", "it is no handoff"))
        engine.close()
        again = Engine(files, HOME, Limits(), lambda *_: None)
        again.feed(f.Intruded(AT + 2 * 86_400, "pm-9.md", "00", "it is no handoff"))
    lines = files.read(layout.task_log(HOME)).decode().splitlines()
    assert [line for line in lines if line[:1].isalpha()] == ["Fri 28 Nov 2025", "Sat 29 Nov 2025"]
    assert lines[0].startswith("14:35:00 ")


def test_another_zone_is_journaled_ahead_of_the_next_fact():
    """Daylight saving ends while a task is at work: what is named after that is named in the new zone."""
    files = MemoryFiles(now=lambda: AT)
    files.make_folder(HOME)
    offsets = iter((7200, 7200, 3600, 3600))
    engine = Engine(files, HOME, Limits(), lambda *_: None, utc_offset=lambda _: next(offsets))
    brief = Brief("Title", "Make it so", ("It works",))
    engine.feed(f.TaskStarted(AT, "n1", "q1", "shop-1", "shop", "/project", brief, utc_offset=7200))
    lines = engine.lines
    for number in range(3):
        engine.feed(f.Intruded(AT + number, f"pm-{number}.md", "00", "it is no handoff"))
    engine.close()
    again = Engine(files, HOME, Limits(), lambda *_: None)
    assert (again.lines - lines, again.state.utc_offset) == (4, 3600)
