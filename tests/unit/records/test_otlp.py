"""Traces of tasks, read back by the rules of OTLP/JSON: who ran when, below which step, by the journal's times."""

import itertools
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.records import otlp as module
from orchestrator.records.otlp import ATTRIBUTES, otlp
from orchestrator.records.task_trace import OF_RUNS, TaskRuns, TaskTrace, trace_within
from orchestrator.reporting.build import report_of
from tests.unit.reporting.journal import AT, Lines
from tests.unit.reporting.test_pages import INJECTIONS

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
VALUES = {"stringValue": "str", "intValue": "str", "doubleValue": "float", "boolValue": "bool"}
KEYS = {
    "traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "status",
}  # fmt: skip


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


def read(text):
    """Return the spans of one line by name, checked by the rules: hex ids, nanoseconds and whole numbers as text."""
    assert text.endswith("\n")
    (line,) = text.removesuffix("\n").split("\n")
    document = json.loads(line)
    assert document.keys() == {"resourceSpans"}
    (resource,) = document["resourceSpans"]
    assert values(resource["resource"])["service.name"] == "agent-orchestrator"
    (scope,) = resource["scopeSpans"]
    assert scope["scope"].keys() == {"name", "version"}
    spans, ids = {}, {each["spanId"] for each in scope["spans"]}
    assert len(ids) == len(scope["spans"])
    for each in scope["spans"]:
        assert each.keys() - {"parentSpanId"} == KEYS
        assert re.fullmatch("[0-9a-f]{32}", each["traceId"])
        assert re.fullmatch("[0-9a-f]{16}", each["spanId"])
        assert each.get("parentSpanId", each["spanId"]) in ids
        assert each["kind"] == 1
        assert each["status"] in ({}, {"code": 2})
        assert int(each["startTimeUnixNano"]) <= int(each["endTimeUnixNano"])
        assert isinstance(each["startTimeUnixNano"], str)
        assert each["name"] not in spans
        assert values(each).keys() <= ATTRIBUTES.keys()
        spans[each["name"]] = each
    assert len({each["traceId"] for each in spans.values()}) == 1
    return spans


def values(holder):
    found = dict[str, Any]()
    for each in holder["attributes"]:
        ((kind, value),) = each["value"].items()
        assert VALUES[kind] == type(value).__name__
        found[each["key"]] = int(value) if kind == "intValue" else value
    assert len(found) == len(holder["attributes"])
    return found


def times(span):
    return int(span["startTimeUnixNano"]) / 1e9, int(span["endTimeUnixNano"]) / 1e9


def test_a_task_is_a_trace_of_steps_and_runs():
    lines = night()
    spans = read(otlp([traced(lines)]))
    root, step = spans["invoke_workflow dev:one"], spans["step dev:one"]
    first, second = spans["invoke_agent dev:one"], spans["invoke_agent dev"]
    check, prepare = spans["check dev:one"], spans["prepare unknown"]
    assert len(spans) == 6
    assert "parentSpanId" not in root
    assert (step["parentSpanId"], prepare["parentSpanId"]) == (root["spanId"], root["spanId"])
    assert {each["parentSpanId"] for each in (first, second, check)} == {step["spanId"]}
    assert times(root) == pytest.approx((AT, lines[-1]["at"]))
    assert times(first)[1] - times(first)[0] == pytest.approx(600)
    assert times(step)[0] == pytest.approx(times(first)[0])
    assert times(prepare)[1] == pytest.approx(lines[-1]["at"])
    assert values(prepare)["agent_orchestrator.run.unfinished"] is True


def test_attributes_are_those_of_the_conventions():
    spans = read(otlp([traced(night())]))
    root, second = values(spans["invoke_workflow dev:one"]), values(spans["invoke_agent dev"])
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
    first = spans["invoke_agent dev:one"]
    assert (values(first)["host.name"], "gen_ai.usage.input_tokens" in values(first)) == ("me@box", False)


def test_a_failed_check_is_an_error_and_an_agent_that_was_ended_is_none():
    spans = read(otlp([traced(night())]))
    check, agent = spans["check dev:one"], spans["invoke_agent dev:one"]
    assert (check["status"], values(check)["error.type"]) == ({"code": 2}, "exit 1")
    assert (agent["status"], values(agent)["process.exit.code"]) == ({}, 143)
    failed = read(otlp([traced(night(state="failed"), state="failed")]))["invoke_workflow dev:one"]
    assert (failed["status"], values(failed)["error.type"]) == ({"code": 2}, "failed")


def test_attributes_that_are_documented_are_written(monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    runs = [values(each) for each in read(otlp([traced(night(state="failed"), state="failed")])).values()]
    runs += [values(each) for each in read(otlp([traced(ended_by_signal())])).values()]
    assert {name for each in runs for name in each} | {"host.name"} == ATTRIBUTES.keys()


def ended_by_signal():
    lines = Lines()
    lines.begin()
    lines.open("r-1")
    lines.say("run_gone", run="r-1", exit={"code": None, "signal": 15}, lines=[])
    lines.say("time_passed", {"kind": "task_moved", "to": "complete"})
    return lines


def test_the_same_task_is_the_same_trace():
    assert otlp([traced(night())]) == otlp([traced(night())])


@pytest.mark.parametrize("text", INJECTIONS)
def test_hostile_text_stays_in_its_values(text):
    spans = read(otlp([traced(night(text), text)]))
    assert len(spans) == 6


def test_secrets_and_texts_of_agents_are_not_in_it():
    """An order, a reason and an output are no names."""
    lines = night(SECRET)
    lines.say("noticed", {"kind": "noticed", "text": "the reason of an agent"})
    text = otlp([traced(lines, SECRET)])
    assert (SECRET in text, "[redacted]" in text, "the reason" in text) == (False, True, False)


def test_spans_are_bounded_and_the_rest_is_counted(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    spans = read(otlp([traced(night())]))
    assert len(spans) == 4
    assert values(spans["invoke_workflow dev:one"])["agent_orchestrator.runs_left_out"] == 2


# What ends in which period ---------------------------------------------------------------------------


def traces_of_days(lines, *bounds, state="complete"):
    """Return the spans by name of each period between two bounds, in seconds since the task began."""
    whole = traced(lines, state=state)
    return [spans_of(whole, since, until) for since, until in itertools.pairwise(bounds)]


def spans_of(whole, since, until):
    found = trace_within(whole.report, whole.runs, AT + since, AT + until)
    if found is None:
        return {}
    (line,) = otlp([found]).splitlines()
    spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return {each["name"]: each for each in spans}


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
    assert early["parentSpanId"] == late["step dev:one"]["spanId"]
    assert early["traceId"] == late["invoke_workflow dev:one"]["traceId"]
    together = traces_of_days(lines, -100, seconds + 100)[0]
    assert together == {name: span for day in days for name, span in day.items()}


def test_a_task_at_work_has_the_spans_of_its_ended_runs_alone():
    lines = night()
    del lines[-1]
    (spans,) = traces_of_days(lines, -100, 10_000, state="running")
    assert "invoke_agent dev:one" in spans
    assert not {"invoke_workflow dev:one", "step dev:one", "prepare unknown"} & spans.keys()


@given(st.lists(st.integers(-10, 4000), min_size=1, max_size=5, unique=True))
def test_periods_that_follow_each_other_share_no_span(cuts):
    days = traces_of_days(night(), -100, *sorted(cuts), 10_000)
    names = [name for day in days for name in day]
    assert sorted(names) == sorted(read(otlp([traced(night())])))
