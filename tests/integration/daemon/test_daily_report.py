"""A real daemon writes the observer's report of yesterday, and says where it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.integration.daemon.world import World, a_world


@pytest.fixture
def world() -> Iterator[World]:
    """Yield a world of its own."""
    with a_world() as made:
        yield made


def test_missed_report_is_written_at_the_start(world: World) -> None:
    """Midnight has passed at any time of the day, so a report of the last full day is due."""
    folder = world.root / "reports"
    world.daemon(
        ORCHESTRATOR_OBSERVER__DAILY="0:00",
        ORCHESTRATOR_OBSERVER__FOLDER=str(folder),
        ORCHESTRATOR_DAEMON__HEARTBEAT_INTERVAL="100 ms",
    )

    def said() -> Any:
        found = json.loads(world.task("daemon", "status", "--json").out)["daily_report"]
        return found if found and found["file"] else None

    (report,) = world.until(lambda: list(folder.glob("*.md")))
    now = datetime.now(UTC)
    assert report.stem in {f"{now - timedelta(days=days):%Y-%m-%d}" for days in (1, 2)}
    assert report.read_text().startswith(f"# Handoff Pipeline Report - {report.stem}\n\n## Summary\n")
    assert report.stat().st_mode & 0o777 == 0o600
    assert world.until(said) == {"at": "00:00", "file": str(report), "fault": None}
