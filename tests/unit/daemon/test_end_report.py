"""A task's report is written at its end, before the notification that names it, and holds nothing up."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.actions.end_report import LAST_RUNS, EndReport
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.hints import OutcomeHint, SayHint
from orchestrator.daemon.core.task_paths import Adapters
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.daemon.process.report_process import ReportProcess
from orchestrator.model.actions import Notify
from orchestrator.model.errors import Unavailable
from orchestrator.model.notification import NotificationRule
from orchestrator.model.sections import DaemonSettings
from orchestrator.model.settings import Settings
from orchestrator.model.task import TaskState
from orchestrator.notifications.spool import FOLDERS
from orchestrator.pm.state.task_state import PMState
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import Story

FOLDER = Path("/project/tasks/demo")
END = Notify("complete-1", NotificationRule.COMPLETE, "demo is complete", "All is done.", 5.0)


class Desk:
    """Writes no page, and notes what was done in which order."""

    def __init__(self, *, answer=True):
        self.answer, self.order, self.hints = answer, [], []
        self.files, self.clock = MemoryFiles(), FakeClock()

    def write(self, task):
        self.order.append(f"page of {task}")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def report(self, *, on=True):
        settings = Settings(daemon=DaemonSettings(reports=on))
        world = Adapters(self.files, None, None, settings, {}, reporter=self)  # type: ignore[arg-type]
        hands = InlineExecutor()
        post = self.hints.append
        context = Context(world, self.clock, hands, hands, lambda: "n", post, Path("/pm"), lambda *_: ())
        return EndReport(context, "demo-1")

    def go(self, report, state):
        report.go(state, FOLDER, lambda: self.order.append("shown"), lambda: self.order.append("again"))

    @property
    def sent(self):
        """The texts in the spool; nobody is there to send them."""
        folders = [Path("/pm/notifications") / each for each in FOLDERS]
        found = [self.files.read(at / entry.name) for at in folders for entry in self.files.entries(at)]
        return [json.loads(each)["text"] for each in found]


@pytest.fixture
def ended():
    """Return the state of a task that is complete, and has no run any more."""
    return replace(PMState(), state=TaskState.COMPLETE)


def test_the_page_comes_first_and_the_news_name_it(ended):
    desk = Desk()
    report = desk.report()
    assert report.takes(END)
    desk.go(report, ended)
    assert desk.order == ["shown", "page of demo-1", "again"]
    assert desk.sent == [f"All is done.\nreport: {FOLDER}/report.html"]
    (hint,) = desk.hints
    assert (type(hint), hint.fact.action) == (OutcomeHint, END.id)


def test_only_an_end_waits_and_only_if_the_user_wants_it():
    blocked = Notify("b", NotificationRule.BLOCKED, "x", "y", 5.0)
    assert not Desk().report().takes(blocked)
    assert not Desk().report(on=False).takes(END)


def test_a_page_that_fails_keeps_no_news_back(ended):
    desk = Desk(answer=Unavailable("no room"))
    report = desk.report()
    report.takes(END)
    desk.go(report, ended)
    assert desk.sent == ["All is done."]
    said = [hint.text for hint in desk.hints if isinstance(hint, SayHint)]
    assert said == ["the report could not be written: no room; `task report demo-1` writes it"]


def test_a_daemon_that_ends_leaves_the_news_in_the_outbox(ended):
    desk = Desk(answer=False)
    report = desk.report()
    report.takes(END)
    desk.go(report, ended)
    assert (desk.sent, desk.hints) == ([], [])


def test_repeating_the_action_writes_no_second_page(ended):
    """A rescan repeats what is in the outbox while its outcome is on the way."""
    desk = Desk()
    report = desk.report()
    for _ in range(2):
        report.takes(END)
        desk.go(report, ended)
    assert desk.order.count("page of demo-1") == 1
    report.forget()
    assert report.takes(END)
    desk.go(report, ended)
    assert (desk.order.count("page of demo-1"), len(desk.sent)) == (2, 1)


def test_last_runs_are_waited_for_but_not_for_long():
    desk, story = Desk(), Story().planned("a")
    story.comes_alive("dev:a")
    running = replace(story.state, state=TaskState.COMPLETE)
    report = desk.report()
    report.takes(END)
    desk.go(report, running)
    assert (desk.order, report.moments) == ([], [desk.clock.monotonic() + LAST_RUNS])
    desk.clock.advance(LAST_RUNS)
    desk.go(report, running)
    assert desk.order[1] == "page of demo-1"


def test_a_task_started_again_gets_no_page_of_its_end():
    desk, story = Desk(), Story().planned("a")
    report = desk.report()
    report.takes(END)
    desk.go(report, story.state)
    assert (desk.order, desk.sent) == ([], ["All is done."])


# The process -------------------------------------------------------------------------------------


def process(program, deadline=30.0):
    return ReportProcess({"PATH": "/usr/bin:/bin"}, (sys.executable, "-I", "-c", program), deadline)


def test_the_process_gets_the_task_and_is_not_to_start_a_daemon(tmp_path):
    seen = tmp_path / "seen"
    said = "' '.join(sys.argv[1:]) + os.environ['ORCHESTRATOR_DAEMON__RESTART']"
    program = f"import os, sys; open({str(seen)!r}, 'w').write({said})"
    assert process(program).write("demo-1")
    assert seen.read_text() == "report demo-1false"


def test_why_a_page_was_not_written_is_said():
    with pytest.raises(Unavailable, match="the disk is full"):
        process("import sys; sys.exit('first\\nthe disk is full')").write("demo-1")


def test_a_page_that_takes_too_long_is_given_up():
    with pytest.raises(Unavailable, match=r"more than 0\.2 s"):
        process("import time; time.sleep(600)", 0.2).write("demo-1")


def test_an_ending_daemon_begins_no_page():
    ending = process("raise SystemExit(1)")
    ending.close()
    assert ending.write("demo-1") is False
