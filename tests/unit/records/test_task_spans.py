"""Traces of tasks: who ran when, below which step, by the journal's times."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.text import neutral
from orchestrator.records import task_spans as module
from orchestrator.records.task_spans import ATTRIBUTES, spans
from orchestrator.records.task_trace import OF_RUNS, TaskRuns, TaskTrace, trace_within
from orchestrator.reporting.build import report_of
from tests.unit.reporting.journal import AT, Lines
from tests.unit.reporting.test_pages import INJECTIONS

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


def night(text="dev:one", state="complete"):
    """A check that fails, a second attempt whose tokens are told, and a run that never came to be."""
    lines = Lines()
    lines.begin()
    lines.open("r-1", step=text, agent=text, instance=text, host="me@box")
    lines.end("r-1", code=143, after=600)
    lines.open("r-2", step=text, purpose="check")
    lines.end("r-2", 1, (text,))
    lines.say("time_passed", {"kind": "step_reopened", "step": text, "attempt": 2, "why": text})
    lines.open("r-3", step=text, attempt=2)
    usage = {"input": 900, "cached": 300, "output": 70, "cost": 0.5}
    lines.say("time_passed", {"kind": "run_metered", "run": "r-3", "usage": usage})
    lines.open("r-4", step="elsewhere")
    lines.say("launch_failed", run="r-4", why="no tmux")
    lines.end("r-3", after=1200)
    lines.open("r-5", step="unknown", purpose="prepare")
    lines.say("time_passed", {"kind": "step_moved", "step": text, "to": "passed"})
    lines.say("time_passed", {"kind": "task_moved", "to": state})
    return lines


def traced(lines, text="dev:one", state="complete"):
    step = {"id": text, "agent": text, "title": text, "status": "passed", "why": text}
    view = {"task": text, "id": "tidy-0a1b2c3d", "project": f"/p/{text}", "state": state, "steps": [step]}
    runs = TaskRuns()
    for line in lines:
        if OF_RUNS.search(json.dumps(line).encode()):
            runs.take(line)
    return TaskTrace(report_of(view, lines.history(), made_at=lines[-1]["at"]), tuple(runs.runs.values()))


def read(trace):
    """Return the spans by name, checked by the rules: known ids, each once, and below one of the same trace."""
    found = list(spans(trace))
    ids = {each.id for each in found}
    assert (len(ids), len({each.trace for each in found})) == (len(found), 1)
    for each in found:
        assert 0 < each.id < 1 << 64
        assert 0 < each.trace < 1 << 128
        assert each.parent is None or each.parent in ids
        assert each.began <= each.ended
        assert each.attributes.keys() <= ATTRIBUTES.keys()
    named = {each.name: each for each in found}
    assert len(named) == len(found)
    return named


def times(span):
    return span.began / 1e9, span.ended / 1e9


def test_a_task_is_a_trace_of_steps_and_runs():
    lines = night()
    found = read(traced(lines))
    root, step = found["invoke_workflow dev:one"], found["step dev:one"]
    first, second = found["invoke_agent dev:one"], found["invoke_agent dev"]
    check, prepare = found["check dev:one"], found["prepare unknown"]
    assert len(found) == 6
    assert root.parent is None
    assert (step.parent, prepare.parent) == (root.id, root.id)
    assert {each.parent for each in (first, second, check)} == {step.id}
    assert times(root) == pytest.approx((AT, lines[-1]["at"]))
    assert times(first)[1] - times(first)[0] == pytest.approx(600)
    assert times(step)[0] == pytest.approx(times(first)[0])
    assert times(prepare)[1] == pytest.approx(lines[-1]["at"])
    assert prepare.attributes["agent_orchestrator.run.unfinished"] is True


def test_attributes_are_those_of_the_conventions():
    found = read(traced(night()))
    root, second = found["invoke_workflow dev:one"].attributes, found["invoke_agent dev"].attributes
    assert (root["gen_ai.operation.name"], root["agent_orchestrator.task.state"]) == (
        "invoke_workflow",
        "complete",
    )
    assert second == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "dev",
        "gen_ai.agent.id": "dev",
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.cache_read.input_tokens": 300,
        "gen_ai.usage.output_tokens": 70,
        "agent_orchestrator.cost.dollars": 0.5,
        "agent_orchestrator.run.id": "r-3",
        "agent_orchestrator.run.attempt": 2,
        "agent_orchestrator.run.purpose": "work",
        "process.exit.code": 0,
    }
    first = found["invoke_agent dev:one"]
    assert (first.attributes["host.name"], "gen_ai.usage.input_tokens" in first.attributes) == (
        "me@box",
        False,
    )


def test_a_failed_check_is_an_error_and_an_agent_that_was_ended_is_none():
    found = read(traced(night()))
    check, agent = found["check dev:one"], found["invoke_agent dev:one"]
    assert (check.failed, check.attributes["error.type"]) == (True, "exit 1")
    assert (agent.failed, agent.attributes["process.exit.code"]) == (False, 143)
    failed = read(traced(night(state="failed"), state="failed"))["invoke_workflow dev:one"]
    assert (failed.failed, failed.attributes["error.type"]) == (True, "failed")


def test_attributes_that_are_documented_are_written(monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    runs = [each.attributes for each in read(traced(night(state="failed"), state="failed")).values()]
    runs += [each.attributes for each in read(traced(ended_by_signal())).values()]
    assert {name for each in runs for name in each} | {"host.name"} == ATTRIBUTES.keys()


def ended_by_signal():
    lines = Lines()
    lines.begin()
    lines.open("r-1")
    lines.say("run_gone", run="r-1", exit={"code": None, "signal": 15}, lines=[])
    lines.say("time_passed", {"kind": "task_moved", "to": "complete"})
    return lines


def test_the_same_task_is_the_same_trace():
    assert read(traced(night())) == read(traced(night()))


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_stays_in_its_values(text):
    found = read(traced(night(text), text))
    assert len(found) == 6
    told = {value for each in found.values() for value in (each.name, *each.attributes.values())}
    assert all(value == neutral(value) for value in told if isinstance(value, str))


def test_secrets_and_texts_of_agents_are_not_in_it():
    """An order, a reason and an output are no names."""
    lines = night(SECRET)
    lines.say("noticed", {"kind": "noticed", "text": "the reason of an agent"})
    text = repr(read(traced(lines, SECRET)))
    assert (SECRET in text, "[redacted]" in text, "the reason" in text) == (False, True, False)


def test_spans_are_bounded_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    found = read(traced(night()))
    assert len(found) == 4
    assert found["invoke_workflow dev:one"].attributes["agent_orchestrator.runs_left_out"] == 2


# What ends in which period ---------------------------------------------------------------------------


def traces_of_days(lines, *bounds, state="complete"):
    """Return the spans by name of each period between two bounds, in seconds since the task began."""
    whole = traced(lines, state=state)
    return [spans_of(whole, since, until) for since, until in itertools.pairwise(bounds)]


def spans_of(whole, since, until):
    found = trace_within(whole.report, whole.runs, AT + since, AT + until)
    if found is None:
        return {}
    return {each.name: each for each in spans(found)}


def test_each_span_is_in_one_period_that_in_which_it_ended():
    """The task is at work over two of them: its runs come first, below a step that comes with the task's end."""
    lines = night()
    seconds = lines[-1]["at"] - AT
    days = traces_of_days(lines, -100, 900, seconds - 0.5, seconds + 100, seconds + 200)
    assert [sorted(each) for each in days] == [
        ["check dev:one", "invoke_agent dev:one"],
        ["invoke_agent dev"],
        ["invoke_workflow dev:one", "prepare unknown", "step dev:one"],
        [],
    ]
    early, late = days[0]["invoke_agent dev:one"], days[2]
    assert early.parent == late["step dev:one"].id
    assert early.trace == late["invoke_workflow dev:one"].trace
    together = traces_of_days(lines, -100, seconds + 100)[0]
    assert together == {name: span for day in days for name, span in day.items()}


def test_a_task_at_work_has_the_spans_of_its_ended_runs_alone():
    lines = night()
    del lines[-1]
    (found,) = traces_of_days(lines, -100, 10_000, state="running")
    assert "invoke_agent dev:one" in found
    assert not {"invoke_workflow dev:one", "step dev:one", "prepare unknown"} & found.keys()


@given(st.lists(st.integers(-10, 4000), min_size=1, max_size=5, unique=True))
def test_periods_that_follow_each_other_share_no_span(cuts):
    days = traces_of_days(night(), -100, *sorted(cuts), 10_000)
    names = [name for day in days for name in day]
    assert sorted(names) == sorted(read(traced(night())))
