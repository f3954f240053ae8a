"""Events of agent programs, as they come in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.core.task_paths import TaskPaths
from orchestrator.daemon.ingest.events import EventIngest
from orchestrator.model.event import EventKind, Failure
from orchestrator.model.permission import PermissionDecision, Policy
from orchestrator.model.run import Run
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles
from tests.unit.pm.story import AT, ROLES, Story

HOME = Path("/state/tasks/demo-1")
PROJECT = Path("/project")
WHERE = TaskPaths(PROJECT, HOME, PROJECT / "tasks/demo", Path("/state/worktrees/demo-1"))
TRANSCRIPT = "/home/user/.claude/projects/p/s.jsonl"


class Bench:
    """A developer's run that lives, of Claude, and what it tells."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(ROLES, "dev", replace(ROLES["dev"], runtime="claude", receipts=True))
        self.clock = FakeClock(AT)
        self.files = MemoryFiles(now=self.clock.now)
        self.story = Story().planned("a")
        self.run: Run = self.story.comes_alive("dev:a")
        self.policy = Policy()
        self.events = EventIngest(self.files, HOME, lambda _: {"HOME": "/home/user"}, lambda *_: self.policy)
        folder = layout.run_home(HOME, self.run.id)
        self.files.make_folder(folder)
        self.files.write(layout.run_order(folder), b"# Agent: dev\nDo it;\n")
        self.files.make_folder(layout.task_events(HOME))
        self.serial = 0

    def event(self, reported: object, *, waits: bool = False, run: str = "", raw: bytes = b"") -> str:
        """A hook leaves a file; return the event's name."""
        self.serial += 1
        name = f"{run or self.run.id}.{int(AT)}.{self.serial}"
        path = layout.task_events(HOME) / f"{name}{'.waits' if waits else ''}.json"
        self.files.write(path, raw or json.dumps(reported).encode())
        return name

    def facts(self):
        found = [self.events.fact(entry, self.story.state, WHERE, AT)[0] for entry in self.events.waiting()]
        return [fact for fact in found if fact is not None]

    def answer(self, name: str) -> bytes | None:
        path = layout.run_answers(layout.run_home(HOME, self.run.id)) / name
        return self.files.read(path) if self.files.entry(path) else None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def taken(prompt: str) -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt": prompt}


@pytest.mark.parametrize(
    ("prompt", "whole"),
    [
        ("# Agent: dev\nDo it;\n", True),
        ("# Agent: dev\nDo it;", True),  # as Gemini CLI has it
        ("# Agent: dev\nDo it\n", False),
        ("# Agent: dev \nDo it;\n", False),
    ],
)
def test_receipt_compares_the_order_without_journaling_it(bench, prompt, whole):
    name = bench.event(taken(prompt))
    (fact,) = bench.facts()
    assert (fact.name, fact.run, fact.whole) == (name, bench.run.id, whole)
    assert (fact.event.kind, fact.event.session, fact.event.text) == (EventKind.TAKEN, "s-1", "")


def test_events_come_in_the_order_in_which_they_came(bench):
    bench.event({"hook_event_name": "SessionStart"})
    bench.clock.sleep(0.01)
    bench.event(taken("x"))
    assert [fact.event.kind for fact in bench.facts()] == [EventKind.STARTED, EventKind.TAKEN]


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[1]", b'"x"', b"\xff\xfe", b'{"a":' * 100 + b"1" + b"}" * 100, b'{"a":NaN}']
)
def test_unreadable_event_lets_its_program_go_on(bench, raw):
    name = bench.event(None, waits=True, raw=raw or b" ")
    assert bench.facts() == []
    assert bench.answer(name) == b""


def test_an_event_that_says_nothing_of_a_turn_holds_nobody_up(bench):
    name = bench.event({"hook_event_name": "Whatever"}, waits=True)
    assert bench.facts() == []
    assert bench.answer(name) == b""


@pytest.mark.parametrize("run", ["r-00000000", "r-../../x"])
def test_what_speaks_for_no_run_that_lives_is_no_fact(bench, run):
    layout.task_events(HOME)
    if "/" not in run:
        bench.event(taken("x"), run=run)
    assert bench.facts() == []


def test_invalid_event_names_are_removed(bench):
    """A temporary name stays."""
    folder = layout.task_events(HOME)
    bench.files.write(folder / "nonsense", b"{}")
    bench.files.write(folder / ".r-1.2.3", b"{}")
    assert bench.events.waiting() == []
    assert {entry.name for entry in bench.files.entries(folder)} == {".r-1.2.3"}


def asks(tool: str, **given: str) -> dict[str, object]:
    reported = {"hook_event_name": "PermissionRequest", "cwd": "/state/worktrees/demo-1/a"}
    return {**reported, "tool_name": tool, "tool_input": given}


def test_tool_request_is_judged_by_resolved_paths(bench):
    bench.event(asks("Write", file_path="src/../x.py"), waits=True)
    (fact,) = bench.facts()
    assert fact.waits
    assert fact.event.tool_request.paths == ("/state/worktrees/demo-1/a/x.py",)
    assert fact.event.tool_request.inside
    assert fact.judgement.decision is PermissionDecision.ALLOW


@pytest.mark.parametrize(
    "path", ["../../../../etc/passwd", "/etc/passwd", "/state/worktrees/demo-1/other/x.py"]
)
def test_a_way_out_of_its_folders_is_not_inside(bench, path):
    bench.event(asks("Write", file_path=path), waits=True)
    (fact,) = bench.facts()
    assert not fact.event.tool_request.inside
    assert fact.judgement.decision is not PermissionDecision.ALLOW


def test_run_may_write_only_its_own_handoff_and_artifacts(bench):
    for where in ("handoffs/dev-1.md", "artifacts/code/a/x.md", "scratchpad/dev/x"):
        bench.event(asks("Write", file_path=f"/project/tasks/demo/{where}"), waits=True)
    bench.event(asks("Write", file_path="/project/tasks/demo/artifacts/reviews/x.md"), waits=True)
    assert [fact.event.tool_request.inside for fact in bench.facts()] == [True, True, True, False]


def test_transcript_path_must_be_where_its_program_writes(bench):
    bench.event(taken("x") | {"transcript_path": TRANSCRIPT})
    bench.event(taken("x") | {"transcript_path": "/etc/shadow"})
    bench.event(taken("x") | {"transcript_path": "/home/user/.claude/projects/../../../../etc/shadow"})
    kept, *others = [fact.event.transcript for fact in bench.facts()]
    assert kept == TRANSCRIPT
    assert others == ["", ""]


def test_what_a_failed_turn_said_is_cut_and_redacted(bench):
    key = "sk-ant-api03-" + "a" * 40
    bench.event(
        {
            "hook_event_name": "StopFailure",
            "error": "rate_limit",
            "last_assistant_message": f"{key} " + "x" * 999,
        }
    )
    (fact,) = bench.facts()
    assert fact.event.failure is Failure.LIMIT
    assert key not in fact.event.text
    assert len(fact.event.text) <= 401


@pytest.mark.parametrize(
    ("environ", "moments"),
    [
        ({"TZ": "America/New_York"}, (AT + 8 * 3600,)),
        ({"TZ": ":UTC"}, (AT + 3 * 3600,)),
        ({"TZ": "../../etc/passwd"}, None),
        ({}, None),
    ],
)
def test_reset_time_from_a_box_is_in_its_zone(bench, environ, moments):
    """Codex names none. Where that of the box is not known the time is not taken for ours."""
    far = replace(bench.run, host="me@box")
    bench.story.state = replace(bench.story.state, runs=bench.story.state.runs.with_run(far))
    bench.events.environ = lambda host: environ if host == "me@box" else {"TZ": "Asia/Tokyo"}
    said = "You’ve hit your usage limit, or try again at 5:35 PM."
    bench.event({"hook_event_name": "StopFailure", "error": "rate_limit", "last_assistant_message": said})
    (fact,) = bench.facts()
    assert (fact.event.reset and fact.event.reset.moments) == moments
