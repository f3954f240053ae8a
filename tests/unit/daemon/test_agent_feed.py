"""One event must neither hold up the others nor leave its program waiting."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.ingest.agent_feed import AgentFeed
from orchestrator.model.event import EventKind
from orchestrator.model.facts import EventLanded
from orchestrator.model.settings import Settings
from orchestrator.pm.state.transitions import IllegalMove
from tests.unit.daemon.test_events import HOME, WHERE, Bench, taken


class Engine:
    """An engine whose rules err on what the first event tells."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.story.state
        self.took: list[EventLanded] = []
        self.erred = 0

    def feed(self, fact: Any) -> None:
        if not self.erred:
            self.erred += 1
            raise IllegalMove("step dev:a: passed to passed")
        self.took.append(fact)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_event_that_a_rule_fails_on_is_skipped(bench: Bench) -> None:
    """The next one is read."""
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=lambda: "n")
    engine: Any = Engine(bench)
    listening = AgentFeed(context, HOME, engine, lambda *_: None, lambda _: "")
    stop = bench.event({"hook_event_name": "PermissionRequest", "tool_name": "Bash"}, waits=True)
    bench.clock.sleep(0.01)
    bench.event(taken("x"))
    listening.hear(WHERE)
    assert engine.erred == 1
    assert [fact.event.kind for fact in engine.took] == [EventKind.TAKEN]
    assert bench.answer(stop) == b""
    assert bench.files.entries(layout.task_events(HOME)) == []


def stopped(**more: Any) -> dict[str, Any]:
    return {"hook_event_name": "Stop", "session_id": "s-1", "last_assistant_message": "All done.", **more}


@pytest.mark.parametrize(("going", "seen"), [([], 1), (["npm run watch"], 0)])
def test_what_a_turn_left_is_read_when_it_is_over(bench: Bench, going: list[str], seen: int) -> None:
    """Agents that hand in by their files are read as their turn ends; not while tasks of it go on behind it."""
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=lambda: "n")
    engine: Any = Engine(bench)
    engine.erred = 1
    looks: list[tuple[str, str]] = []
    feed = AgentFeed(
        context, HOME, engine, lambda *_: None, lambda _: "half.md.tmp", lambda *look: looks.append(look)
    )
    bench.event(stopped(background_tasks=going))
    feed.hear(WHERE)
    assert [fact.event.kind for fact in engine.took] == [EventKind.ENDED]
    assert looks == [(bench.run.id, "All done.")] * seen


def test_turn_waits_until_its_file_operations_are_settled(bench: Bench) -> None:
    """Its event stays where it is: a daemon that is killed meanwhile finds it again. What comes after it waits, too."""
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=lambda: "n")
    engine: Any = Engine(bench)
    engine.erred = 1
    asked, done = list[tuple[str, str]](), list[bool]()

    def answered(run: str, words: str) -> bool:
        asked.append((run, words))
        return bool(done)

    listening = AgentFeed(context, HOME, engine, lambda *_: None, lambda _: "", answered=answered)
    bench.event(stopped())
    bench.clock.sleep(0.01)
    bench.event(taken("x"))
    listening.hear(WHERE)
    assert [words for _, words in asked] == ["All done."]
    assert engine.took == []
    assert len(bench.files.entries(layout.task_events(HOME))) == 2
    done.append(True)
    listening.hear(WHERE)
    kinds = [fact.event.kind for fact in engine.took if isinstance(fact, EventLanded)]
    assert kinds == [EventKind.ENDED, EventKind.TAKEN]
    assert bench.files.entries(layout.task_events(HOME)) == []


def test_turn_with_work_in_the_background_holds_no_answer_yet(bench: Bench) -> None:
    world = SimpleNamespace(files=bench.files, environ={"HOME": "/home/user"}, settings=Settings())
    context: Any = SimpleNamespace(adapters=world, clock=bench.clock, nonce=lambda: "n")
    engine: Any = Engine(bench)
    asked = list[str]()

    def answered(run: str, _words: str) -> bool:
        asked.append(run)
        return False

    listening = AgentFeed(context, HOME, engine, lambda *_: None, lambda _: "", answered=answered)
    bench.event(stopped(background_tasks=["npm run watch"]))
    listening.hear(WHERE)
    assert asked == []
