"""The daily report is written once, made up for after the daemon was down, and tried again if it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.daemon.process.daily_reports import AGAIN, DailyReports
from orchestrator.daemon.process.report_process import ReportProcess
from orchestrator.model.errors import Unavailable
from orchestrator.model.observer_settings import ObserverSettings
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles

STATE = Path("/pm")
FOLDER = layout.daily_reports(STATE)


class Desk:
    """Writes reports of one line, or none."""

    answer: bool | Exception

    def __init__(self):
        self.files, self.clock = MemoryFiles(), FakeClock()
        self.answer, self.asked = True, []

    def observe(self, day, path):
        self.asked.append(day)
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer:
            self.files.write(path, b"# Handoff Pipeline Report\n")
        return self.answer

    def daily(self, at="07:00", folder=""):
        """Return what a daemon that has just started has."""
        settings = ObserverSettings(at, folder)
        return DailyReports(settings, STATE, self.files, self.clock, InlineExecutor(), self)


@pytest.fixture
def desk():
    return Desk()


def test_nothing_is_written_unless_it_is_set(desk):
    daily = desk.daily("")
    daily.look()
    assert (desk.asked, daily.said) == ([], {})


def test_each_day_is_reported_once(desk):
    daily = desk.daily()
    for _ in range(48):
        daily.look()
        desk.clock.advance(3600)
    assert desk.asked == ["2025-11-26", "2025-11-27", "2025-11-28"]
    assert daily.said == {"at": "07:00", "file": f"{FOLDER}/2025-11-28.md", "fault": ""}


def test_days_on_which_no_daemon_ran_are_made_up_for(desk):
    desk.daily().look()
    desk.clock.advance(3 * 86_400)
    daily = desk.daily()
    daily.look()
    daily.look()
    assert desk.asked == ["2025-11-26", "2025-11-27", "2025-11-28", "2025-11-29"]


def test_a_report_that_is_there_is_not_written_again(desk):
    desk.daily().look()
    daily = desk.daily()
    daily.look()
    assert desk.asked == ["2025-11-26"]
    assert daily.said["file"] == f"{FOLDER}/2025-11-26.md"


def test_a_failure_is_said_and_tried_again_in_an_hour(desk):
    daily, desk.answer = desk.daily(), Unavailable("the disk is full")
    daily.look()
    desk.clock.advance(AGAIN - 1)
    daily.look()
    assert (desk.asked, daily.said["fault"]) == (["2025-11-26"], "the disk is full")
    desk.answer = True
    desk.clock.advance(1)
    daily.look()
    assert (len(desk.asked), daily.said["fault"]) == (2, "")


def test_what_an_ending_daemon_left_undone_is_begun_again(desk):
    desk.answer = False
    desk.daily().look()
    desk.answer = True
    desk.daily().look()
    assert desk.asked == ["2025-11-26", "2025-11-26"]


def test_a_folder_that_cannot_be_made_is_a_fault(desk):
    desk.files.make_folder(Path("/shelf"))
    desk.files.write(Path("/shelf/reports"), b"a file")
    daily = desk.daily(folder="/shelf/reports")
    daily.look()
    assert desk.asked == []
    assert daily.said["fault"]


def test_the_process_observes_all_projects_on_that_day(tmp_path):
    seen = tmp_path / "seen"
    program = f"import sys; open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))"
    process = ReportProcess({"PATH": "/usr/bin:/bin"}, (sys.executable, "-I", "-c", program))
    assert process.observe("2025-11-26", tmp_path / "2025-11-26.md")
    assert seen.read_text() == (
        f"observe --all-projects --date 2025-11-26 --markdown {tmp_path / '2025-11-26.md'}"
    )
