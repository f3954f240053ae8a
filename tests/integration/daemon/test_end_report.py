"""A real daemon writes a task's report when the task ends, also if it is killed before it could."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from tests.integration.daemon.world import World, altered

NEVER = """
import time
from orchestrator.daemon.process.report_process import ReportProcess
ReportProcess.write = lambda self, task: time.sleep(3600)
""".strip()

reporting = pytest.mark.parametrize("world", [{"daemon__reports": "true"}], indirect=True)


def news(world: World) -> list[str]:
    """Return the texts of all notifications of an end. One that is just being put away lies in two folders."""
    found = []
    for path in (world.state / "notifications").glob("*/*.json"):
        with suppress(FileNotFoundError):
            found.append(json.loads(path.read_bytes()))
    return list({each["id"]: each["text"] for each in found if each["rule"] == "complete"}.values())


def check_report_is_named(world: World) -> None:
    """Check that the page is there, tells of the end, and is named wherever the user looks."""
    page = world.project / "tasks" / "t1" / "report.html"
    world.until(lambda: world.story().facts("notified"))
    assert "every step passed" in page.read_text()
    assert "The task is not over" not in page.read_text()
    (text,) = world.until(lambda: news(world))
    assert text.endswith(f"report: {page}")
    world.until(lambda: "**Report:** report.html" in (page.parent / "progress.md").read_text())
    status = "".join(world.task("status", "t1", "--project", str(world.project)).out.split())
    assert f"report{page}(written" in status


@reporting
def test_the_report_is_written_at_the_end_and_named(world: World) -> None:
    world.daemon()
    world.begin()
    world.until_is("complete")
    check_report_is_named(world)


@pytest.mark.thorough(reason="unit/daemon/test_end_report.py: it stays in the outbox, and is written once")
@reporting
def test_killed_between_end_and_report_it_writes_it_later(world: World) -> None:
    """The end is journaled, and its page hangs, when the daemon is killed: the next one writes it, and tells once."""
    world.daemon(*altered(NEVER))
    world.begin()
    world.until_is("complete")
    assert not (world.project / "tasks" / "t1" / "report.html").exists()
    assert news(world) == []
    world.kill_daemon()
    world.daemon()
    check_report_is_named(world)
