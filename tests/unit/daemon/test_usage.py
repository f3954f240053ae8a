"""What runs use, read from transcripts: once each, and only what was used since the run was opened."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest.usage import UsageMeters
from orchestrator.formats.pricing import UNKNOWN
from orchestrator.model.prices import Price
from orchestrator.model.run import Purpose, Run
from orchestrator.model.usage import Usage
from orchestrator.runtimes.claude import Claude
from orchestrator.runtimes.codex import Codex
from orchestrator.runtimes.command import Command
from orchestrator.testing.memory_files import MemoryFiles

AT = 1_764_254_100.0
PATH = Path("/home/user/.claude/projects/p/s.jsonl")
RUN = Run("r-1", "dev:a", 1, "dev", "dev", Purpose.WORK, AT, transcript=str(PATH))
AGAIN = replace(RUN, resumes="r-0")


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def message(name: str, at: float, given: int = 100, made: int = 10, model: str = "") -> bytes:
    usage = {"input_tokens": given, "output_tokens": made}
    said = {"id": name, "usage": usage, "model": model}
    reported = {"type": "assistant", "timestamp": stamp(at), "message": said}
    return json.dumps(reported).encode() + b"\n"


def cost(dollars: float) -> bytes:
    return json.dumps({"type": "cost-state", "totalCostUSD": dollars}).encode() + b"\n"


def sums(at: float, given: int, made: int) -> bytes:
    total = {"input_tokens": given, "output_tokens": made}
    payload = {"type": "token_count", "info": {"total_token_usage": total}}
    return json.dumps({"timestamp": stamp(at), "type": "event_msg", "payload": payload}).encode() + b"\n"


def bare(usage: Usage) -> Usage:
    """Return what was used without what is said of its price."""
    return replace(usage, unpriced=())


@pytest.fixture
def files():
    return MemoryFiles()


@pytest.fixture
def meters(files):
    return UsageMeters(files)


def test_a_transcript_is_read_on_as_it_grows(files, meters):
    assert meters.look(RUN, Claude()) == Usage()
    files.put(PATH, message("m1", AT + 1))
    assert bare(meters.look(RUN, Claude())) == Usage(100, 10, 0, None, 100)
    whole = message("m1", AT + 1) + message("m2", AT + 2, 200)
    files.put(PATH, whole + message("m3", AT + 3)[:-9])
    assert bare(meters.look(RUN, Claude())) == Usage(300, 20, 0, None, 200)
    files.put(PATH, whole + message("m3", AT + 3))
    assert bare(meters.look(RUN, Claude())) == Usage(400, 30, 0, None, 100)


def test_usage_is_the_same_after_a_restart(files, meters):
    files.put(PATH, message("m1", AT + 1))
    meters.look(RUN, Claude())
    files.put(PATH, message("m1", AT + 1) + message("m2", AT + 2))
    assert meters.look(RUN, Claude()) == UsageMeters(files).look(RUN, Claude())
    assert bare(meters.look(RUN, Claude())) == Usage(200, 20, 0, None, 100)


def test_resumed_conversation_counts_only_its_new_usage(files, meters):
    before = message("m1", AT - 900, 7000) + message("m2", AT - 800, 7000) + cost(1.5)
    files.put(PATH, before)
    assert meters.look(AGAIN, Claude()) == Usage()
    files.put(PATH, before + message("m3", AT + 5, 40) + cost(1.75))
    assert bare(meters.look(AGAIN, Claude())) == Usage(40, 10, 0, 0.25, 40)
    assert UsageMeters(files).look(AGAIN, Claude()) == Usage(40, 10, 0, 0.25, 40)


def test_the_last_line_of_the_run_before_counts_once(files, meters):
    """An agent that is asked again at once goes on in a conversation whose last line is not a second old."""
    files.put(PATH, message("m1", AT) + message("m2", AT + 5, 40))
    opened_at_once = replace(AGAIN, opened_at=AT + 0.3)
    assert bare(meters.look(opened_at_once, Claude())) == Usage(40, 10, 0, None, 40)


def test_session_totals_exclude_usage_before_the_run(files, meters):
    files.put(PATH, sums(AT - 900, 5000, 50) + sums(AT + 5, 5600, 60))
    assert bare(meters.look(AGAIN, Codex())) == Usage(600, 10)


def test_program_without_transcript_has_no_usage(files, meters):
    files.put(PATH, message("m1", AT + 1))
    assert meters.look(RUN, Command()) == Usage()
    assert meters.look(replace(RUN, transcript=""), Claude()) == Usage()
    files.make_folder(PATH.with_name("folder.jsonl"))
    assert meters.look(replace(RUN, transcript=str(PATH.with_name("folder.jsonl"))), Claude()) == Usage()


def test_another_transcript_is_another_beginning(files, meters):
    files.put(PATH, message("m1", AT + 1))
    meters.look(RUN, Claude())
    other = PATH.with_name("other.jsonl")
    files.put(other, message("n1", AT + 1, 1))
    assert meters.look(replace(RUN, transcript=str(other)), Claude()).input == 1


MILLION = 1_000_000
PRICES = (Price("m", ("m",), 2.0, 10.0, 0.2, 2.5, 4.0, "2026-10-27"),)


def test_what_is_used_is_priced_while_the_program_runs(files):
    """Claude tells the cost when it ends: until then a limit in dollars saw nothing."""
    meters = UsageMeters(files, PRICES)
    lines = message("m1", AT + 1, MILLION, 0, "m")
    files.put(PATH, lines)
    used = meters.look(RUN, Claude())
    assert (used.cost, used.estimate, used.prices, used.unpriced) == (None, 2.0, "2026-10-27", ())
    lines += cost(1.9)
    files.put(PATH, lines)
    assert meters.look(RUN, Claude()).dollars == 1.9
    lines += message("m2", AT + 2, MILLION // 2, 0, "m")
    files.put(PATH, lines)
    used = meters.look(RUN, Claude())
    assert (used.cost, used.estimate, used.dollars) == (1.9, 1.0, 2.9)


def test_what_a_killed_run_used_is_priced_once(files):
    """No cost was told of it: it is that run's, and no part of what the next one uses in the same conversation."""
    meters = UsageMeters(files, PRICES)
    files.put(PATH, message("m1", AT - 900, MILLION, 0, "m"))
    assert meters.look(AGAIN, Claude()).dollars is None
    files.put(PATH, message("m1", AT - 900, MILLION, 0, "m") + message("m2", AT + 5, 2 * MILLION, 0, "m"))
    assert meters.look(AGAIN, Claude()).estimate == 4.0


def test_a_model_without_a_price_is_named_and_not_free(files):
    meters = UsageMeters(files, PRICES)
    files.put(
        PATH, message("m1", AT + 1, 10, 0, "m") + message("m2", AT + 2, 10, 0, "n") + message("m3", AT + 3)
    )
    used = meters.look(RUN, Claude())
    assert used.unpriced == ("n", UNKNOWN)
    assert used.estimate is not None


def test_what_is_not_copied_of_a_box_makes_usage_partial(files, meters):
    """It is read here as far as it came: sums that are too low are said to be so."""
    far = replace(RUN, host="box")
    files.put(PATH, message("m1", AT + 1))
    whole = meters.look(far, Claude())
    assert not whole.partial
    files.put(layout.run_transcript_partial(PATH.parent), b"")
    assert meters.look(far, Claude()) == replace(whole, partial=True)
    assert not meters.look(RUN, Claude()).partial
    assert (whole + meters.look(far, Claude())).partial
