"""Traces are sent by OpenTelemetry's own exporter: a collector on loopback reads them from protobuf."""

from itertools import pairwise

import pytest

from orchestrator import __version__
from orchestrator.model.errors import Unavailable
from orchestrator.records import otlp as module
from orchestrator.records.otlp import send
from orchestrator.records.task_spans import spans
from orchestrator.records.task_trace import trace_within
from tests.otlp_collector import a_collector, values
from tests.unit.records.test_task_spans import night, traced
from tests.unit.reporting.journal import AT
from tests.unit.reporting.test_pages import INJECTIONS


@pytest.fixture
def collector(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with a_collector() as made:
        yield made


def places(found):
    """Return what links spans as a collector has it: bytes."""
    return {each.span_id: (each.trace_id, each.parent_span_id) for each in found}


def test_all_of_a_span_arrives(collector):
    """The ids are those of the journal, not random ones; an error is one, and all else is left unset."""
    trace = traced(night())
    wanted = {each.id.to_bytes(8): each for each in spans(trace)}
    assert send([trace], collector.url) == len(wanted) == len(collector.spans) == 6
    for got in collector.spans:
        span = wanted[got.span_id]
        assert (got.trace_id, got.name) == (span.trace.to_bytes(16), span.name)
        assert got.parent_span_id == (b"" if span.parent is None else span.parent.to_bytes(8))
        assert (got.start_time_unix_nano, got.end_time_unix_nano) == (span.began, span.ended)
        assert values(got) == dict(span.attributes)
        assert (got.kind, got.status.code, got.dropped_attributes_count) == (1, 2 if span.failed else 0, 0)
    (resource,) = [each.resource for each in collector.requests[0].resource_spans]
    assert values(resource)["service.name"] == "agent-orchestrator"
    assert values(resource)["service.version"] == __version__


def test_sent_again_it_is_the_same_spans(collector):
    send([traced(night())], collector.url)
    first = places(collector.spans)
    send([traced(night())], collector.url)
    assert places(collector.spans) == first
    assert len(collector.spans) == 2 * len(first)


def test_what_is_sent_in_parts_is_one_tree(collector):
    """A run is sent before the step in which it lies, whose id it names."""
    whole, lines = traced(night()), night()
    cuts = (-100, 900, lines[-1]["at"] - AT - 0.5, 10_000)
    parts = [
        trace_within(whole.report, whole.runs, AT + since, AT + until) for since, until in pairwise(cuts)
    ]
    for each in filter(None, parts):
        send([each], collector.url)
    in_parts = places(collector.spans)
    collector.requests.clear()
    send([whole], collector.url)
    assert in_parts == places(collector.spans)
    assert len(in_parts) == 6


def test_many_spans_are_several_requests(collector, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 4)
    assert send([traced(night()), traced(night())], collector.url) == 12
    assert [len(each.resource_spans[0].scope_spans[0].spans) for each in collector.requests] == [4, 4, 4]


def test_nothing_is_asked_of_the_collector_for_nothing(collector):
    assert send([], collector.url) == 0
    assert collector.paths == []


def test_hostile_text_is_a_value(collector):
    texts = (*INJECTIONS, "\ud800", "\0")
    assert send([traced(night(each), each) for each in texts], collector.url) == 6 * len(texts)
    assert len(collector.spans) == 6 * len(texts)


def test_variables_of_opentelemetry_hold(collector, monkeypatch):
    """Where to, what a header says, how it is packed; no sampler leaves out a part."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t0ken")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=home")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "always_off")
    assert send([traced(night())], "") == 6
    assert collector.paths == ["/v1/traces"]
    assert collector.headers[0]["authorization"] == "Bearer t0ken"
    assert collector.headers[0]["content-encoding"] == "gzip"
    assert values(collector.requests[0].resource_spans[0].resource)["deployment.environment.name"] == "home"


def test_a_collector_that_refuses_is_an_error(collector, monkeypatch, capfd):
    """Nothing is sent after that, and what the library logs is in the error, not on the terminal."""
    monkeypatch.setattr(module, "BATCH", 4)
    collector.answers = [200, 401]
    with pytest.raises(Unavailable, match="401"):
        send([traced(night()), traced(night())], collector.url)
    assert len(collector.paths) == 2
    assert capfd.readouterr() == ("", "")


def test_a_collector_that_is_busy_is_asked_again(collector, monkeypatch):
    monkeypatch.setattr(
        "opentelemetry.exporter.otlp.common.http._OTLPHTTPClient._compute_backoff", lambda *_: 0
    )
    collector.answers = [503, 429]
    assert send([traced(night())], collector.url) == 6
    assert len(collector.paths) == 3


def test_no_collector_is_an_error(collector, monkeypatch):
    """It answers at once: the port is free."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.3")
    with pytest.raises(Unavailable):
        send([traced(night())], "http://127.0.0.1:9/v1/traces")


def test_opentelemetry_that_is_switched_off_sends_nothing(collector, monkeypatch):
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    with pytest.raises(Unavailable, match="OTEL_SDK_DISABLED"):
        send([traced(night())], collector.url)
    assert collector.paths == []
