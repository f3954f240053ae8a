"""What transcripts tell of tokens and money: as real ones have it, and whatever else stands in them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.usage import (
    MOST,
    claude_usage,
    codex_usage,
    gemini_usage,
    opencode_usage,
    script_usage,
)
from orchestrator.model.usage import MODELS, Read, Tokens, Usage

FIXTURES = Path(__file__).parents[2] / "fixtures" / "clis"
READERS = [claude_usage, codex_usage, gemini_usage]


def jsonl(*lines):
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def kept(name):
    return jsonl(*json.loads((FIXTURES / name).read_text(encoding="utf-8")))


def message(name, *, given=10, made=5, cached=0, written=0, **more):
    usage = {
        "input_tokens": given,
        "output_tokens": made,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
    }
    return {"type": "assistant", "message": {"id": name, "usage": usage}, **more}


def bare(read):
    """Return what was read without its tokens by model."""
    return replace(read.usage, models=())


def test_claude_s_transcript_as_it_was_kept():
    """It tells the cost when it ends: what its next life used is told apart, by its model."""
    read = claude_usage(kept("claude/transcript.json"))
    assert bare(read) == Usage(70_268, 37, 0, 0.224964, 14_157)
    assert read.usage.models == (("claude-opus-5-5", Tokens(14_157, 11)),)
    assert read.offset == len(kept("claude/transcript.json"))


def test_older_claude_reports_no_cost():
    used = claude_usage(kept("claude-2.1.197/transcript.json")).usage
    assert used.input > 0
    assert used.output > 0
    assert used.cost is None


def test_a_message_of_several_lines_counts_once():
    lines = jsonl(message("a"), message("a"), message("b", given=1, cached=100, written=20), message("b"))
    assert bare(claude_usage(lines)) == Usage(131, 10, 100, None, 121)


def test_subagent_messages_count_outside_the_context():
    lines = jsonl(message("a", given=100), message("b", given=7, isSidechain=True))
    assert bare(claude_usage(lines)) == Usage(107, 10, 0, None, 100)


def test_cache_writes_are_counted_separately():
    """For minutes and for an hour: they cost more, each another amount."""
    first = message("a", given=10, cached=1000, written=300)
    first["message"]["model"] = "claude-sonnet-5-5"
    first["message"]["usage"]["cache_creation"] = {
        "ephemeral_1h_input_tokens": 100,
        "ephemeral_5m_input_tokens": 200,
    }
    second = message("b", given=7, isSidechain=True)
    second["message"]["model"] = "claude-haiku-5-5"
    tokens = Tokens(input=1310, output=5, cached=1000, written=200, kept=100)
    used = claude_usage(jsonl(first, first, second)).usage
    assert used.models == (("claude-sonnet-5-5", tokens), ("claude-haiku-5-5", Tokens(7, 5)))


def test_reported_cost_covers_earlier_tokens():
    cost = {"type": "cost-state", "totalCostUSD": 0.5}
    used = claude_usage(jsonl(message("a"), cost, message("b", given=3))).usage
    assert (used.cost, used.models) == (0.5, (("", Tokens(3, 5)),))
    assert claude_usage(jsonl(message("a"), {"type": "cost-state"})).usage.models == (("", Tokens(10, 5)),)


def test_codex_s_rollout_as_it_was_kept():
    read = codex_usage(kept("codex/rollout.json"))
    assert bare(read) == Usage(26_489, 9, 0, None, 13_293, 258_400)
    assert read.usage.models == (("gpt-5.1-codex", Tokens(26_489, 9)),)
    assert codex_usage(kept("codex/rollout_credit_gone.json")).usage == Usage()


def test_codex_s_sums_are_of_the_model_that_was_named_last():
    def sums(given, made, cached=0):
        total = {"input_tokens": given, "output_tokens": made, "cached_input_tokens": cached}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": total}}}

    def turn(model):
        return {"type": "turn_context", "payload": {"model": model}}

    lines = [turn("gpt-6-sol"), sums(100, 10), sums(300, 20, 150), turn("gpt-6-luna"), sums(350, 25, 150)]
    models = (("gpt-6-sol", Tokens(300, 20, 150)), ("gpt-6-luna", Tokens(50, 5)))
    assert codex_usage(jsonl(*lines)).usage.models == models
    halfway = codex_usage(jsonl(*lines[:2]))
    assert codex_usage(jsonl(*lines[2:]), halfway).usage.models == models


@pytest.mark.parametrize("cost", [0, None, 0.25])
def test_a_cost_of_nothing_says_that_no_price_is_known(cost):
    """opencode has a list of prices of its own, and says 0 of what is not in it."""
    models = [{"model": "bench/m", "input": 100, "output": 5, "cached": 40, "written": 20}, "none", {}]
    used = script_usage({"usage": {"input": 100, "output": 5, "cached": 40, "cost": cost, "models": models}})
    assert used is not None
    assert used.cost == (cost or None)
    assert used.models == (("bench/m", Tokens(100, 5, 40, 20)), ("", Tokens()))


@pytest.mark.parametrize("models", [None, [], "x", {}, 5])
def test_a_cost_covers_all_tokens_but_those_that_are_named(models):
    assert script_usage({"usage": {"input": 100, "cost": 0.25, "models": models}}) == Usage(100, 0, 0, 0.25)


def test_tokens_of_a_program_that_names_no_model_are_kept_too():
    used = script_usage({"usage": {"input": 100, "output": 5}})
    assert used == Usage(100, 5, models=(("", Tokens(100, 5)),))


def test_opencode_s_events_as_they_were_kept():
    used = Usage()
    for event in json.loads(
        (FIXTURES / "opencode/events_of_an_interruption.json").read_text(encoding="utf-8")
    ):
        used = opencode_usage(json.dumps(event).encode(), used)
    assert used == Usage(cost=0.0)


def test_opencode_s_sums():
    tokens = {"input": 10, "output": 3, "reasoning": 4, "cache": {"read": 100, "write": 20}}
    event = {"type": "session.updated", "properties": {"info": {"cost": 0.5, "tokens": tokens}}}
    used = opencode_usage(json.dumps(event).encode())
    assert used == Usage(130, 7, 100, 0.5)
    assert opencode_usage(json.dumps({**event, "type": "session.created"}).encode(), used) == used
    less = {"type": "session.updated", "properties": {"info": {"cost": 0.1, "tokens": {"input": 1}}}}
    assert opencode_usage(json.dumps(less).encode(), used) == used


def test_gemini_s_lines_count_once_though_they_are_written_again():
    tokens = {"input": 100, "output": 5, "cached": 40, "thoughts": 7, "tool": 2, "total": 114}
    first = {"id": "a", "type": "gemini", "content": "x", "model": "gemini-2.5-pro"}
    lines = jsonl(
        {"sessionId": "s", "projectHash": "h"},
        {"id": "u", "type": "user", "content": "x"},
        first,
        {**first, "tokens": tokens},
        {"$set": {"lastUpdated": "x"}},
        {**first, "tokens": tokens, "toolCalls": []},
        {"id": "b", "type": "gemini", "tokens": {**tokens, "input": 300}, "model": "gemini-2.5-pro"},
    )
    assert bare(gemini_usage(lines)) == Usage(404, 24, 80, None, 302)
    assert gemini_usage(lines).usage.models == (("gemini-2.5-pro", Tokens(404, 24, 80)),)


def test_usages_add_up():
    first, second = Usage(1, 2, 3, 0.5, 10, 100), Usage(10, 20, 30, None, 20, None)
    assert first + second == Usage(11, 22, 33, 0.5, 20, 100)
    assert second + first == Usage(11, 22, 33, 0.5, 10, 100)
    assert sum([first, second], Usage()) == first + second
    assert (first + second).tokens == 33


def test_reported_cost_replaces_the_estimate():
    """The sum of runs is what programs told, and what is estimated of the rest."""
    going, ended = Usage(100, 10, estimate=3.4, prices="2026-10-27"), Usage(100, 10, cost=3.1)
    assert going.at_least(ended).dollars == 3.1
    assert (going + ended.since(going)).dollars == pytest.approx(3.1)
    more = Usage(150, 12, cost=3.1, estimate=0.2, prices="2026-10-27")
    assert ended.at_least(more).dollars == pytest.approx(3.3)
    assert going.at_least(Usage(90, 10, estimate=3.0)).estimate == 3.4
    both = Usage(estimate=1.0, prices="2026-10-27", unpriced=("a",)) + Usage(
        estimate=2.0, prices="2026-01-01", unpriced=("a", "b")
    )
    assert (both.estimate, both.prices, both.unpriced) == (3.0, "2026-01-01", ("a", "b"))


def test_very_many_models_are_bounded():
    lines = []
    for number in range(100):
        lines.append(message(f"m{number}"))
        lines[-1]["message"]["model"] = f"model-{number}"
    models = dict(claude_usage(jsonl(*lines)).usage.models)
    assert len(models) == MODELS + 1
    assert sum(tokens.input for tokens in models.values()) == 1000


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"type":"assistant","message":{"id":"x","usage":{"input_tokens":' + b"9" * 5000 + b"}}}",
        b'{"type":"assistant","message":[]}',
        b'{"type":["assistant"],"message":{"id":"x","usage":{"input_tokens":1}}}',
        b'{"type":"cost-state","totalCostUSD":NaN}',
        b'{"type":"cost-state","totalCostUSD":Infinity}',
        b'{"type":"cost-state","totalCostUSD":' + b"9" * 400 + b"}",
        b'{"type":"cost-state","totalCostUSD":"1"}',
        b'{"type":"event_msg","payload":{"type":"token_count","info":null}}',
        b'{"type":"gemini","id":1,"tokens":{"input":1}}',
        json.dumps(message("x", given=-5, made=True, cached="7", written=1.5)).encode(),
        json.dumps(message("x", given=MOST + 1, made=-1, cached=None, written=[])).encode(),
    ],
)
def test_what_is_no_usage_changes_none(line):
    before = Read(Usage(1, 2, 3, 4.0, 5, 6), 10, ("m",))
    for read in READERS:
        after = read(line + b"\n", before)
        assert after.usage == before.usage
        assert after.offset == 10 + len(line) + 1
    assert opencode_usage(line, before.usage) == before.usage


numbers = (
    st.integers() | st.integers(0, 10**6) | st.floats() | st.none() | st.booleans() | st.text(max_size=2)
)
counts = st.dictionaries(
    st.sampled_from(
        [
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cached_input_tokens",
            "input",
            "output",
            "cached",
        ]
    ),
    numbers,
)
objects = st.one_of(
    st.builds(
        lambda name, usage: {"type": "assistant", "message": {"id": name, "usage": usage}},
        st.sampled_from("abc"),
        counts,
    ),
    st.builds(lambda cost: {"type": "cost-state", "totalCostUSD": cost}, numbers),
    st.builds(
        lambda total, last: {
            "type": "event_msg",
            "payload": {
                "type": "token_count",
                "info": {"total_token_usage": total, "last_token_usage": last},
            },
        },
        counts,
        counts | numbers,
    ),
    st.builds(
        lambda name, tokens: {"type": "gemini", "id": name, "tokens": tokens}, st.sampled_from("abc"), counts
    ),
    st.recursive(
        numbers, lambda each: st.lists(each) | st.dictionaries(st.text(max_size=3), each), max_leaves=5
    ),
)
transcripts = st.lists(
    objects.map(lambda reported: json.dumps(reported).encode()) | st.binary(max_size=20), max_size=8
).map(b"\n".join)


@given(transcripts, st.sampled_from(READERS), st.data())
def test_incremental_reading_equals_reading_at_once(data, read, more):
    whole = read(data)
    cut = more.draw(st.integers(0, len(data)))
    first = read(data[:cut])
    second = read(data[first.offset :], first)
    assert second == whole
    assert first.offset <= cut
    assert second.usage.input >= first.usage.input >= 0
    assert second.usage.output >= first.usage.output >= 0
    assert second.usage.cached >= first.usage.cached >= 0
    assert (second.usage.cost or 0.0) >= (first.usage.cost or 0.0) >= 0.0


@given(st.binary(max_size=200) | objects.map(lambda reported: json.dumps(reported).encode()))
def test_an_event_of_any_kind_never_raises(data):
    assert opencode_usage(data, Usage(5)).input >= 5
