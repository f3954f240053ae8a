"""`task observe --otlp`: traces reach a collector, each span once, whatever ends in between."""

import json
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.cli import trace_sending
from orchestrator.cli.extras import OF_OBSERVER
from orchestrator.cli.trace_sending import FIRST, LONGEST, SETTLED
from tests.otlp_collector import a_collector
from tests.unit.cli.test_observe import worked  # noqa: F401 (a fixture)
from tests.unit.records.test_observer import journal

NAMES = [
    "invoke_agent dev", "invoke_agent dev", "invoke_agent test", "invoke_workflow tidy", "step dev-1", "step test-1",
]  # fmt: skip
DAY = ("observe", "--date", "2025-11-27")
BEGAN, ENDED = (journal()[at]["at"] for at in (0, -1))


@pytest.fixture
def collector(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with a_collector() as made:
        yield made


def names(collector):
    return sorted(each.name for each in collector.spans)


def ids(collector):
    return sorted(each.span_id for each in collector.spans)


def test_a_day_is_sent_to_the_collector(task, worked, house, monkeypatch, collector):  # noqa: F811
    """Of what ended on it, archived or not; how many are at work is said."""
    monkeypatch.chdir(house.project)
    said = task(*DAY, "--otlp", collector.url)
    assert (said.code, said.out, said.err) == (0, "sent 6 spans of 1 task\n", "")
    assert (names(collector), collector.paths) == (NAMES, ["/v1/traces"])
    first = ids(collector)
    assert task("observe", "--date", "2025-11-28", "--otlp", collector.url).out == "sent 0 spans of 0 tasks\n"
    assert task("archive", "tidy", "--yes").code == 0
    collector.requests.clear()
    assert task(*DAY, "--otlp", collector.url).code == 0
    assert ids(collector) == first
    house.task("busy-0a1b2c3d")
    assert "1 task is at work: of this, runs" in task("observe", "--otlp", collector.url).err


def test_the_settings_say_where_to(task, worked, house, monkeypatch, collector):  # noqa: F811
    monkeypatch.chdir(house.project)
    monkeypatch.setenv("ORCHESTRATOR_OBSERVER__TRACES", collector.url)
    assert task(*DAY, "--otlp").code == 0
    assert names(collector) == NAMES


# What has not been sent -------------------------------------------------------------------------------


@pytest.fixture
def unsent(task, worked, monkeypatch, collector):  # noqa: F811
    """Return what sends at a moment, in seconds since the task ended, and returns how many spans came."""

    def at(seconds, *more):
        monkeypatch.setattr("time.time", lambda: ENDED + seconds)
        before = len(collector.spans)
        said = task("observe", "--all-projects", "--unsent", "--otlp", collector.url, *more)
        assert said.code == 0, said.err
        return len(collector.spans) - before

    return at


def test_what_was_sent_is_not_sent_again(unsent, collector):
    assert [unsent(seconds) for seconds in (100, 200, 10_000, 3 * FIRST)] == [6, 0, 0, 0]
    assert names(collector) == NAMES


def test_what_has_just_ended_waits_until_all_of_it_is_known(unsent):
    """The task and its last run end within moments of each other."""
    assert sum(unsent(seconds) for seconds in range(int(BEGAN - ENDED), 0, 1500)) < 6
    assert unsent(SETTLED - 1) == 0
    assert unsent(SETTLED + 1) > 0


@pytest.mark.parametrize("step", [300, 1000, 3333])
def test_each_span_is_sent_once(unsent, collector, step):
    """However often it is sent while the task goes on."""
    for seconds in range(-9500, -8500 if step == 40 else 2 * step, step):
        unsent(seconds)
    unsent(2 * SETTLED)
    assert names(collector) == NAMES
    assert len(set(ids(collector))) == 6


def test_what_a_collector_refused_is_sent_the_next_time(task, worked, unsent, collector, monkeypatch):  # noqa: F811
    monkeypatch.setattr("time.time", lambda: ENDED + 100)
    collector.answers = [400]
    said = task("observe", "--all-projects", "--unsent", "--otlp", collector.url)
    assert (said.code, said.err.count("\n"), "400" in said.err) == (1, 1, True)
    assert unsent(200) == 6


def test_the_first_time_it_is_a_day(unsent):
    assert unsent(FIRST + SETTLED + 1) == 0


def test_after_a_week_it_is_given_up(unsent):
    assert unsent(BEGAN - ENDED) == 0
    assert unsent(LONGEST + SETTLED + 1) == 0


def test_each_collector_has_its_own(unsent, collector):
    assert (unsent(100), unsent(100)) == (6, 0)
    collector.url += "/other/v1/traces"
    assert (unsent(100), unsent(100)) == (6, 0)
    assert collector.paths == ["/v1/traces", "/other/v1/traces"]


def test_a_clock_that_was_set_back_sends_nothing_twice(unsent):
    assert (unsent(100), unsent(BEGAN - ENDED), unsent(100), unsent(300)) == (6, 0, 0, 0)


def test_another_process_that_sends_is_left_alone(unsent, house, monkeypatch):
    """A killed daemon's, for one: it says itself what it has sent."""
    folder = Path(layout.traces_sent(house.state)).parent
    folder.mkdir(mode=0o700)
    with trace_sending._alone(folder) as alone:
        assert alone
        assert unsent(100) == 0
    assert unsent(100) == 6


@pytest.mark.parametrize("text", ["", "{", "[]", '{"http://x": "soon"}', "[" * 50_000, '{"x": NaN}'])
def test_marks_that_are_none_are_as_if_not_there(unsent, house, text):
    path = Path(layout.traces_sent(house.state))
    path.parent.mkdir(mode=0o700)
    path.write_text(text)
    path.chmod(0o600)
    assert (unsent(100), unsent(100)) == (6, 0)
    assert len(json.loads(path.read_text())) == 1


# Refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("--unsent",),
        ("--unsent", "--otlp"),
        ("--unsent", "--all-projects", "--json"),
        ("--unsent", "--all-projects", "--otlp", "--date", "2025-11-27"),
        ("--otlp", "collector"),
        ("--otlp", "file:///etc/passwd"),
        ("--otlp", "http://"),
        ("--otlp", "http://me:secret@127.0.0.1:4318"),
        ("--otlp", "http://127.0.0.1:99999"),
        ("--otlp", "http://127.0.0.1:4318/ x"),
        ("--otlp", "http://127.0.0.1:4318", "--date", "soon"),
    ],
    ids=" ".join,
)
def test_misuse_is_one_line(task, worked, words):  # noqa: F811
    said = task("observe", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "secret" not in said.err


def test_no_agent_sends(task, worked, monkeypatch, collector):  # noqa: F811
    monkeypatch.setenv("ORCHESTRATOR_RUN", "r-1")
    assert task(*DAY, "--all-projects", "--otlp", collector.url).code == 2
    assert collector.paths == []


def test_without_the_sdk_it_says_how_to_install_it(task, worked, house, monkeypatch):  # noqa: F811
    monkeypatch.setitem(OF_OBSERVER, "traces", "opentelemetry.nothing.of.this")
    monkeypatch.chdir(house.project)
    said = task(*DAY, "--otlp", "http://127.0.0.1:9")
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert "'.[traces]'" in said.err
