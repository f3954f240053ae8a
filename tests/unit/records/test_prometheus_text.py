"""The observer's metrics, read by Prometheus' own parser; no name of an agent breaks them."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from orchestrator.formats.text import neutral
from orchestrator.model.coordination import IssueSeverity
from orchestrator.records.observer import observe
from orchestrator.records.observer_metrics import MOST, PREFIX
from orchestrator.records.prometheus_text import metrics
from tests.unit.records.observed import busy
from tests.unit.records.pipelines import BEGAN
from tests.unit.reporting.test_pages import INJECTIONS

SECRET = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
LABEL = r'[a-z]+="([^"\\\n]|\\["\\n])*"'
LINE = re.compile(rf"(#( HELP| TYPE) [a-z0-9_]+ .+|[a-z0-9_]+({{{LABEL}(,{LABEL})*}})? [0-9.e+-]+)")


def read(text):
    """Return each sample by its name without the prefix and its labels."""
    assert text.endswith("\n")
    assert all(LINE.fullmatch(line) for line in text.removesuffix("\n").split("\n"))
    found = {}
    for family in text_string_to_metric_families(text):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        for sample in family.samples:
            assert sample.timestamp is None  # the textfile collector refuses a file that has one
            key = sample.name.removeprefix(PREFIX), tuple(sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


def test_figures_are_those_of_the_report():
    observation, reading = busy("dev", "test")
    found = read(metrics(observation, reading))
    assert found["handoffs", ()] == len(observation.passages)
    assert (found["handoffs_good", ()], found["handoffs_decided", ()]) == (
        observation.good,
        observation.decided,
    )
    assert (found["stuck", ()], found["active", ()]) == (len(observation.stuck), observation.active)
    for severity in IssueSeverity:
        count = sum(each.severity is severity for each in observation.issues)
        assert found["issues", (("severity", severity.value),)] == count
    for each in observation.routes:
        way = ("source", each.source), ("target", each.target)
        assert found["transition_handoffs", way] == each.count
        for figure in ("mean", "median", "p90", "longest"):
            assert found[f"transition_duration_{figure}_seconds", way] == getattr(each.seconds, figure)
    for use in observation.uses:
        assert found["role_tokens", (("role", use.role),)] == use.tokens
    assert found["files_unread", ()] == len(reading.unread)
    assert found["period_start_timestamp_seconds", ()] == observation.since


@pytest.mark.parametrize("text", [*INJECTIONS, 'a"} 1\nfake_metric 9', "back\\slash\\", "a\nb", "\u2028", ""])
def test_hostile_names_are_label_values(text):
    found = read(metrics(*busy(text)))
    usual = read(metrics(*busy("word")))
    assert {name for name, _ in found} == {name for name, _ in usual}
    (role,) = [labels[0][1] for name, labels in found if name == "role_runs"]
    assert role[:40] == neutral(text)[:40] or "[redacted]" in role


def test_secrets_are_masked():
    text = metrics(*busy(SECRET))
    assert (SECRET in text, "[redacted]" in text) == (False, True)


def test_series_are_bounded_and_the_rest_is_counted():
    found = read(metrics(*busy(*(f"agent-{number}" for number in range(MOST + 50)))))
    assert sum(name == "role_runs" for name, _ in found) == MOST
    assert (found["roles_left_out", ()], found["transitions_left_out", ()]) == (50, 50)


def test_what_is_not_known_has_no_sample():
    """Nobody is to take it for zero."""
    _, reading = busy("x")
    found = read(metrics(observe([], [], {}, [], since=BEGAN, until=BEGAN + 1, now=BEGAN), reading))
    assert found["handoffs", ()] == 0
    assert not [
        name for name, _ in found if name.startswith(("transition_duration", "question_wait_m", "role_c"))
    ]
