"""What runs do, by the records of their programs: read on as they grow, each line once, told where it matters."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest.activity import TranscriptActivity
from orchestrator.daemon.ingest.agent_feed import AgentFeed
from orchestrator.daemon.ingest.file_activity import signs_of_work
from orchestrator.daemon.ingest.transcripts import Tails
from orchestrator.model.activity import Stage
from orchestrator.model.facts import ActivitySeen
from orchestrator.model.run import Run
from orchestrator.model.settings import Settings
from orchestrator.runtimes.aider import Aider
from orchestrator.runtimes.claude import Claude
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.daemon.test_events import HOME, TRANSCRIPT, WHERE, Bench, taken
from tests.unit.pm.story import AT, Story

PATH = Path(TRANSCRIPT)


def line(kind: str, content: object, at: float, **more: object) -> bytes:
    """Return a line of a transcript of Claude Code."""
    stamp = datetime.fromtimestamp(at, UTC).isoformat()
    reported = {"type": kind, "message": {"role": kind, "content": content, **more}, "timestamp": stamp}
    return json.dumps(reported, separators=(",", ":")).encode() + b"\n"


def call(number: int, at: float, command: str = "make") -> bytes:
    part = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    return line("assistant", [part], at, stop_reason="tool_use")


def result(number: int, at: float, text: str = "ok") -> bytes:
    return line("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": text}], at)


class Kept:
    """A transcript, and what is known of its run."""

    def __init__(self) -> None:
        self.files = MemoryFiles(now=lambda: AT)
        self.files.make_folder(PATH.parent)
        self.tails, self.activities = Tails(self.files), TranscriptActivity()
        self.run: Any = replace(RUN, transcript=TRANSCRIPT)
        self.data = b""

    def grows(self, *lines: bytes) -> None:
        self.data += b"".join(lines)
        self.files.write(PATH, self.data)

    def seen(self, at: float = AT + 100) -> Any:
        lines = self.tails.new(self.run, at)
        self.activities.take(self.run, Claude(), lines)
        return self.activities.of(self.run)


RUN = Run("r-1", "explore", 1, "explore", "explore", purpose="work", opened_at=AT)  # type: ignore[arg-type]


def test_each_line_is_taken_once_and_a_torn_one_when_it_is_whole() -> None:
    kept = Kept()
    kept.grows(call(1, AT + 1), result(1, AT + 2)[:40])
    assert (kept.seen().stage, kept.seen().records) == (Stage.TOOL, 1)
    kept.grows(result(1, AT + 2)[40:])
    seen = kept.seen()
    assert (seen.stage, seen.records, seen.recorded_at, seen.novel_at) == (Stage.MODEL, 2, AT + 2, AT + 2)
    assert kept.seen() == seen


def test_what_stands_there_from_before_the_run_is_not_its_own() -> None:
    kept = Kept()
    kept.grows(call(1, AT - 500), result(1, AT - 400), call(2, AT + 1))
    assert (kept.seen().stage, kept.seen().records) == (Stage.TOOL, 1)


def test_a_moment_to_come_is_now() -> None:
    """The clock may have been set back since the line was written."""
    kept = Kept()
    kept.grows(call(1, AT + 3600))
    assert kept.seen(AT + 5).recorded_at == AT + 5


def test_record_from_a_box_is_dated_by_its_arrival() -> None:
    """The box's clock differs."""
    kept = Kept()
    kept.run = replace(kept.run, host="box")
    kept.grows(call(1, AT + 10))
    assert kept.seen(AT + 300).recorded_at == AT + 300


def test_all_is_read_again_after_a_failure_to_the_same_end() -> None:
    kept = Kept()
    kept.grows(
        *(each for number in range(9) for each in (call(number, AT + number), result(number, AT + number)))
    )
    before = kept.seen()
    kept.tails.forget()
    kept.activities.forget()
    assert kept.seen() == before
    assert before.repeats == 7


def test_calls_are_named_without_secrets() -> None:
    kept = Kept()
    kept.grows(call(1, AT + 1, "curl -H 'Authorization: Bearer sk-ant-REDACTED0123456789abcdefghij' \x1b[2J"))
    assert "abcdefghij" not in kept.seen().tool
    assert "\x1b" not in kept.seen().tool


def test_of_runs_that_are_gone_nothing_is_kept() -> None:
    kept = Kept()
    kept.grows(call(1, AT + 1))
    assert kept.seen().records
    kept.tails.keep(())
    kept.activities.keep(())
    assert (kept.tails._read, kept.activities.novel()) == ({}, {})


def test_program_without_records_yields_no_activity() -> None:
    kept = Kept()
    kept.grows(call(1, AT + 1))
    kept.activities.take(kept.run, Aider(), kept.tails.new(kept.run, AT + 9))
    assert not kept.activities.of(kept.run).records
    assert kept.activities.novel() == {}


def test_repetitions_in_a_transcript_are_no_progress(bench: Bench) -> None:
    state = bench.story.state
    run = replace(bench.run, transcript=TRANSCRIPT)
    state = replace(state, runs=state.runs.with_run(run))
    bench.files.make_folder(PATH.parent)
    bench.files.write(PATH, b"{}\n")
    assert signs_of_work(bench.files, WHERE.task, state, {})[run.id] == AT
    assert signs_of_work(bench.files, WHERE.task, state, {run.id: AT - 900})[run.id] == AT - 900


class Engine:
    """An engine that takes note of what it is fed, and knows the run's transcript."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.took: list[Any] = []

    @property
    def state(self) -> Any:
        return self.bench.story.state

    def feed(self, fact: Any) -> None:
        self.took.append(fact)
        self.bench.story.feed(fact)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_only_relevant_activity_becomes_a_fact(bench: Bench) -> None:
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=lambda: str(bench.clock.now()))
    engine: Any = Engine(bench)
    listening = AgentFeed(context, HOME, engine, lambda *_: None, lambda _: "")
    bench.clock.sleep(bench.story.at - bench.clock.now())
    bench.files.make_folder(PATH.parent)
    bench.event(taken("x") | {"transcript_path": TRANSCRIPT})
    data = line("user", "work", bench.clock.now())
    bench.files.write(PATH, data)
    listening.hear(WHERE)
    reported = [fact for fact in engine.took if isinstance(fact, ActivitySeen)]
    assert [fact.activity.stage for fact in reported] == [Stage.MODEL]
    for number in range(5):
        bench.clock.sleep(10)
        now = bench.clock.now()
        data += call(number, now, f"make {'abcde'[number]}") + result(number, now)
        bench.files.write(PATH, data)
        listening.hear(WHERE)
    assert len([fact for fact in engine.took if isinstance(fact, ActivitySeen)]) == 1
    for number in range(5, 30):
        bench.clock.sleep(1)
        now = bench.clock.now()
        data += call(number, now) + result(number, now)
        bench.files.write(PATH, data)
        listening.hear(WHERE)
    seen = [fact.activity for fact in engine.took if isinstance(fact, ActivitySeen)][1]
    assert (seen.repeats, seen.repeated) == (12, "Bash: make")
    assert engine.state.runs[bench.run.id].cautioned_at


def test_work_before_a_failure_is_read_before_it(bench: Bench) -> None:
    """Hook and transcript are read at one look: the failure was counted before the work that preceded it."""
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=bench.story.nonce)
    engine: Any = Engine(bench)
    listening = AgentFeed(context, HOME, engine, lambda *_: None, lambda _: "")
    bench.clock.sleep(bench.story.at - bench.clock.now())
    bench.files.make_folder(PATH.parent)
    data = b""
    for number in range(2):
        bench.run = bench.story.run_of("dev:a")
        bench.event(taken("x") | {"transcript_path": TRANSCRIPT})
        listening.hear(WHERE)
        bench.clock.sleep(10)
        now = bench.clock.now()
        data += call(number, now, f"make {'ab'[number]}") + result(number, now)
        bench.files.write(PATH, data)
        bench.event({"hook_event_name": "StopFailure", "error": "server_error"})
        listening.hear(WHERE)
        assert bench.story.step("dev:a").tally.overloads == 1
        bench.story.at = bench.clock.now()
        bench.story.ends(run=bench.run)
        bench.story.passes(60)
        bench.clock.sleep(60)
        bench.story.comes_alive("dev:a")


def test_artifacts_of_another_subtask_are_no_sign_of_life() -> None:
    """Two developers at the same time: what one writes kept the other, that hung, from being looked at."""
    story = Story().planned("a", "b")
    files = MemoryFiles(now=lambda: AT)
    written = layout.artifacts(WHERE.task, "code", "b") / "notes.md"
    files.make_folder(written.parent)
    files.write(written, b"at it\n")
    signs = signs_of_work(files, WHERE.task, story.state, {})
    assert set(signs) == {story.run_of("dev:b").id}
