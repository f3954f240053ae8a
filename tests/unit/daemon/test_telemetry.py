"""Traces and metrics leave now and then if the settings say where to; one that fails does not hold up the other."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import orchestrator
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.daemon.process import preload
from orchestrator.daemon.process.report_process import ReportProcess
from orchestrator.daemon.process.telemetry import Telemetry
from orchestrator.model.errors import Unavailable
from orchestrator.model.observer_settings import ObserverSettings
from orchestrator.testing.fake_clock import FakeClock

LIBRARIES = re.compile(r"^\s*(from|import) (opentelemetry|prometheus_client)\b", re.MULTILINE)
URL, FILE = "http://127.0.0.1:4318/v1/traces", "/metrics/agents.prom"


class Reporter:
    """Notes what it is asked for; each answer is for one kind."""

    def __init__(self):
        self.clock, self.asked = FakeClock(), []
        self.traces: bool | Exception = True
        self.metrics: bool | Exception = True

    def send_traces(self, endpoint):
        return self._answer(endpoint, self.traces)

    def write_metrics(self, path):
        return self._answer(path, self.metrics)

    def _answer(self, what, answer):
        self.asked.append(str(what))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def telemetry(self, traces=URL, metrics=FILE):
        settings = ObserverSettings(traces=traces, metrics=metrics, interval=300)
        return Telemetry(settings, self.clock, InlineExecutor(), self)


@pytest.fixture
def reporter():
    return Reporter()


def test_nothing_is_sent_unless_it_is_set(reporter):
    telemetry = reporter.telemetry("", "")
    telemetry.look()
    assert (reporter.asked, telemetry.said) == ([], {})


def test_each_is_done_once_in_an_interval(reporter):
    telemetry = reporter.telemetry()
    for _ in range(11):
        telemetry.look()
        reporter.clock.advance(60)
    assert reporter.asked == [URL, FILE] * 3
    assert telemetry.said["at"] == reporter.clock.now() - 60
    assert (telemetry.said["traces"], telemetry.said["metrics"]) == (URL, FILE)


@pytest.mark.parametrize(("traces", "metrics", "asked"), [(URL, "", [URL]), ("", FILE, [FILE])])
def test_one_may_be_set_without_the_other(reporter, traces, metrics, asked):
    reporter.telemetry(traces, metrics).look()
    assert reporter.asked == asked


def test_a_fault_is_said_and_the_other_is_done(reporter):
    reporter.traces = Unavailable("no collector")
    telemetry = reporter.telemetry()
    telemetry.look()
    assert reporter.asked == [URL, FILE]
    assert (telemetry.said["fault"], telemetry.said["at"]) == ("traces: no collector", None)
    reporter.metrics = OSError("disk full")
    reporter.clock.advance(300)
    telemetry.look()
    assert telemetry.said["fault"] == "traces: no collector; metrics: disk full"
    reporter.traces = reporter.metrics = True
    reporter.clock.advance(300)
    telemetry.look()
    assert (telemetry.said["fault"], telemetry.said["at"]) == ("", reporter.clock.now())


def test_what_an_ending_daemon_left_counts_as_nothing(reporter):
    reporter.traces = False
    telemetry = reporter.telemetry()
    telemetry.look()
    assert (reporter.asked, telemetry.said["at"], telemetry.said["fault"]) == ([URL], None, "")


def test_the_process_sends_what_was_not_sent_of_all_projects(tmp_path):
    seen = tmp_path / "seen"
    program = f"import sys; open({str(seen)!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')"
    process = ReportProcess({"PATH": "/usr/bin:/bin"}, (sys.executable, "-I", "-c", program))
    assert process.send_traces(URL)
    assert process.write_metrics(Path(FILE))
    assert seen.read_text().splitlines() == [
        f"observe --all-projects --unsent --otlp {URL}",
        f"observe --all-projects --days 7 --prometheus {FILE}",
    ]


def test_a_daemon_loads_no_library_of_the_extras(monkeypatch):
    """All that it will ever import it imports at its start: with these it would be a third larger."""
    package = Path(orchestrator.__file__).parent
    users = [path for path in package.rglob("*.py") if LIBRARIES.search(path.read_text())]
    names = {".".join(path.relative_to(package.parent).with_suffix("").parts) for path in users}
    assert names == {"orchestrator.records.otlp", "orchestrator.records.prometheus_text"}
    loaded = set[str]()
    monkeypatch.setattr(preload, "import_module", loaded.add)
    preload.preload()
    assert "orchestrator.daemon.process.telemetry" in loaded
    assert not loaded & names
