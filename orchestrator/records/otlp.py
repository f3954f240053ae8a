"""Sends the traces of tasks to a collector, by OpenTelemetry's SDK and exporter of OTLP over HTTP: the extra `traces`.

Only `task observe --otlp` imports it, in a process of its own. What OpenTelemetry's variables say of headers,
certificates, compression, timeouts and further attributes of the resource holds; each span is sampled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import NonRecordingSpan, SpanContext, StatusCode, TraceFlags, set_span_in_context

from orchestrator import __version__
from orchestrator.model.errors import Unavailable
from orchestrator.records.task_spans import Span, spans
from orchestrator.records.task_trace import TaskTrace

BATCH: Final = 512
"""Spans of a request: as many as those of the SDK's own processor have."""

_LIBRARY: Final = "opentelemetry"
_NAME: Final = "agent-orchestrator"


def send(traces: Iterable[TaskTrace], endpoint: str) -> int:
    """Send traces of tasks; return how many spans that were. None: nothing is sent, not even a greeting.

    Args:
        traces: What is to be sent.
        endpoint: The URL to which spans are posted; empty: OpenTelemetry's variables or default say it.

    Raises:
        Unavailable: the collector did not take them all, or OpenTelemetry is switched off; the message says why.

    """
    with _last_words() as reason:
        try:
            exporter: SpanExporter = OTLPSpanExporter(endpoint or None)
        except (ValueError, OSError) as error:
            raise Unavailable(f"OpenTelemetry's variables cannot be used: {error}") from error
        try:
            return _sent(traces, exporter, reason)
        finally:
            exporter.shutdown()


def _sent(traces: Iterable[TaskTrace], exporter: SpanExporter, reason: Callable[[], str]) -> int:
    wanted, count = chain.from_iterable(map(spans, traces)), 0
    recorder = _Recorder()
    while batch := tuple(islice(wanted, BATCH)):
        recorded = recorder.record(batch)
        if len(recorded) < len(batch):
            raise Unavailable("OTEL_SDK_DISABLED is set: no trace is sent")
        if exporter.export(recorded) is not SpanExportResult.SUCCESS:
            raise Unavailable(reason() or "the collector took no spans, and did not say why")
        count += len(batch)
    return count


class _KnownIds(IdGenerator):
    """Gives spans the ids that they have, instead of random ones."""

    def __init__(self) -> None:
        self.span: int = 0
        self.trace: int = 0

    def generate_span_id(self) -> int:
        return self.span

    def generate_trace_id(self) -> int:
        return self.trace


class _Kept(SpanProcessor):
    """Keeps what has ended."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


class _Recorder:
    """Makes the SDK's spans of ours."""

    def __init__(self) -> None:
        self._ids, self._kept = _KnownIds(), _Kept()
        named = Resource.create({"service.name": _NAME, "service.version": __version__})
        provider = TracerProvider(ALWAYS_ON, named, shutdown_on_exit=False, id_generator=self._ids)
        provider.add_span_processor(self._kept)
        self._tracer = provider.get_tracer(_NAME, __version__)

    def record(self, batch: Iterable[Span]) -> Sequence[ReadableSpan]:
        """Return these spans, begun and ended."""
        self._kept.spans = []
        for each in batch:
            self._ids.trace, self._ids.span = each.trace, each.id
            span = self._tracer.start_span(
                each.name, _below(each), attributes=each.attributes, start_time=each.began
            )
            if each.failed:
                span.set_status(StatusCode.ERROR)
            span.end(each.ended)
        return self._kept.spans


def _below(span: Span) -> Context:
    """Return the place of a span: below its parent, which need not be sent by the same process, or at all yet."""
    if span.parent is None:
        return Context()
    parent = SpanContext(span.trace, span.parent, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(parent), Context())


class _Words(logging.Handler):
    """Keeps the last thing that a library logged."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


@contextmanager
def _last_words() -> Iterator[Callable[[], str]]:
    """Yield what the libraries said last; nothing of it is printed."""
    words, log = _Words(), logging.getLogger(_LIBRARY)
    propagates, log.propagate = log.propagate, False
    log.addHandler(words)
    try:
        yield lambda: words.last
    finally:
        log.removeHandler(words)
        log.propagate = propagates
