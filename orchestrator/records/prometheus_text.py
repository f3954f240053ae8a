"""The observer's figures in the text format of Prometheus, by its own client: the extra `metrics`.

Only `task observe --prometheus` imports it. No sample has a moment of its own, as the textfile collector of the node
exporter takes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from orchestrator.records.observed_sources import Reading
from orchestrator.records.observer import Observation
from orchestrator.records.observer_metrics import MOST, PREFIX, Labels, Metric, metrics_of


def metrics(found: Observation, reading: Reading) -> str:
    """Return the figures of a period as the text of a `.prom` file."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures(tuple(metrics_of(found, reading))))
    return generate_latest(registry).decode()


@dataclass(frozen=True, slots=True, eq=False)  # the registry keeps it in a set
class _Figures:
    """What the client collects."""

    metrics: tuple[Metric, ...]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for each in self.metrics:
            if known := _known(each):
                family = GaugeMetricFamily(PREFIX + each.name, each.help, labels=each.labels)
                for labels, value in known.items():
                    family.add_metric(labels, value)
                yield family


def _known(metric: Metric) -> dict[Labels, float]:
    """Return the samples with a value; of those with the same labels, which masks or bounds made so, the first."""
    known = dict[Labels, float]()
    for labels, value in metric.samples:
        if value is not None and len(known) < MOST:
            known.setdefault(labels, value)
    return known
