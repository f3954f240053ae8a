"""Metrics that `task observe` writes and spans that it sends, from the code that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.records.observed_sources import Reading
from orchestrator.records.observer import observe
from orchestrator.records.observer_metrics import MOST, PREFIX, metrics_of
from orchestrator.records.task_spans import ATTRIBUTES
from scripts.reference.markdown import code, page, table

_METRICS: Final = f"""\
`task observe --prometheus [FILE]` writes them in the text format of Prometheus, each a gauge about the period that was
asked for. What is not known has no sample. A metric has at most {MOST} series. With the setting `observer.metrics` the
daemon does it. It needs the extra `metrics`, Prometheus' own client."""

_SPANS: Final = """\
`task observe --otlp [URL]` sends them to a collector, OTLP over HTTP in protobuf, by OpenTelemetry's SDK, which is
the extra `traces`; with the setting `observer.traces` the daemon does it. For each task there is a span, in it one of
each step that was begun, in that one of each run. A run of no step of the plan lies in the task's. As OpenTelemetry
wants it, a span is sent when it has ended: that of a run in the period in which the run ended, those of the task and
its steps in that in which the task came to rest, as any step may be begun again until then. A run comes ahead of its
step where these are two. The ids are made of those of the task, step and run: a span that is sent again is the same
one. All are of the kind INTERNAL; the status is an error where a task failed or was done in part, a step failed, a
command of the daemon did not exit 0, or a run had no memory left. The names of `gen_ai.*` are those of
OpenTelemetry's conventions for generative AI, which are not stable yet. Of texts, spans hold names and titles;
secrets in them are masked."""


def telemetry_pages() -> Iterator[tuple[str, str]]:
    """Yield the page about them."""
    nothing = observe([], [], {}, [], since=0.0, until=1.0, now=1.0)
    metrics = [
        (code(PREFIX + each.name), ", ".join(map(code, each.labels)), each.help)
        for each in metrics_of(nothing, Reading(""))
    ]
    spans = [(code(name), where, words) for name, (where, words) in ATTRIBUTES.items()]
    yield (
        "telemetry.md",
        page(
            "Metrics and traces",
            "How they come to a server is told in [seeing how the pipeline does](../how-to/observing.md).",
            f"## Metrics\n\n{_METRICS}",
            table(("metric", "labels", "meaning"), metrics),
            f"## Spans\n\n{_SPANS}",
            table(("attribute", "of", "meaning"), spans),
        ),
    )
