"""A run is launched with the conversation that it goes on with, unless its program has lost that."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from orchestrator import layout
from orchestrator.daemon.actions.launch import launch
from orchestrator.daemon.actions.launch_times import UNUSUAL
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.daemon.ingest.run_lifecycle import LAUNCHED
from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.handoff import Order
from orchestrator.model.plan import Step, StepState
from orchestrator.model.run import Life, Purpose, Run
from orchestrator.model.settings import Settings
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.runs import Runs
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.files import Entry
from orchestrator.ports.host import Host, LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_process import FOREVER, FakeProcess, Program
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles

HOME, PROJECT = Path("/pm/tasks/demo-1"), Path("/project")
SESSION = "11111111-2222-4333-8444-555555555555"
CHAT = Path("/home/user/chats/chat.jsonl")
ORDER = Order("pm-20261120-000002.md", "r-2", "dev:one", "dev", 0.0, "Go on.")

LOST = b'{"type":"mode","mode":"default"}\n{"type":"last-prompt","lastPrompt":"{\\"type\\":\\"user\\"}"}\n'
"""What Claude Code 2.1.197 leaves of a conversation that it was ended in before it had written it [tests/clis]."""
BEGUN = b'{"sessionId":"s","projectHash":"0","kind":"main"}\n'
SAID = b'{"id":"1","type":"user","content":[{"text":"Do it."}]}\n'


def _lives(process: FakeProcess) -> Generator[float, None, int]:
    yield FOREVER
    return 0


def argv_of(runtime: str, kept: bytes | None, **given: Any) -> str:
    """Return the command line of a run that goes on with another one's work, given what is kept of that."""
    return " ".join(spec_of(runtime, kept, **given).argv)


def spec_of(
    runtime: str,
    kept: bytes | None,
    *,
    host: str = "local",
    lives_on: str = "local",
    transcript: Path | str = CHAT,
    orders: dict[str, Order] | None = None,
    machine: type[FakeHost] = FakeHost,
    disk: MemoryFiles | None = None,
    clock: FakeClock | None = None,
    session: str = SESSION,
    with_folder: bool = True,
) -> LaunchSpec:
    """Return the launch of a run that goes on with another one's work; `lives_on` is its host."""
    launched: list[LaunchSpec] = []

    def program_of(spec: LaunchSpec) -> Program:
        launched.append(spec)
        return _lives

    before = Run(
        "r-1", "dev:one", 1, "dev", "dev", Purpose.WORK, 0.0, life=Life.GONE, session=session, host=host,
        transcript=str(transcript),
    )  # fmt: skip
    run = Run(
        "r-2", "dev:one", 1, "dev", "dev", Purpose.WORK, 0.0, order=ORDER.name, resumes=before.id, host=lives_on
    )  # fmt: skip
    step = Step("dev:one", "dev", "Do it", "", Phase.DEVELOPING, state=StepState.WORKING)
    state = PMState(
        id="demo-1",
        name="demo",
        agents={"dev": Agent("dev", runtime=runtime)},
        state=TaskState.RUNNING,
        steps=Steps([step]),
        runs=Runs([before, run]),
        orders={ORDER.name: ORDER} if orders is None else orders,
    )
    clock = clock or FakeClock(0.0)
    files = disk or MemoryFiles(now=clock.now)
    if kept is not None:
        files.make_folder(CHAT.parent)
        files.write(CHAT, kept)
    host_here = machine(files, clock, program_of)
    where = TaskPaths(PROJECT, HOME, layout.task_folder(PROJECT, "demo"), Path("/pm/trees"))
    if with_folder:
        files.make_folder(where.task)
    world = Adapters(files, host_here, FakeWorkspaces(), Settings(), {"HOME": "/home/user"})
    launch(world, state, run, where, clock)
    return launched[0]


@pytest.mark.parametrize(
    ("runtime", "kept"),
    [("claude", LOST + SAID), ("claude", b'{"parentUuid":"1","type":"assistant"}'), ("gemini", BEGUN + SAID)],
)
def test_a_conversation_that_was_kept_is_gone_on_with(runtime: str, kept: bytes) -> None:
    assert f"--resume {SESSION}" in argv_of(runtime, kept)


@pytest.mark.parametrize(
    ("runtime", "kept"),
    [("claude", LOST), ("claude", b""), ("claude", None), ("gemini", SAID), ("gemini", None)],
)
def test_lost_tree_is_made_anew_before_the_launch(runtime: str, kept: bytes | None) -> None:
    argv = argv_of(runtime, kept)
    assert "--session-id" in argv
    assert SESSION not in argv


@pytest.mark.parametrize("runtime", ["claude", "gemini"])
def test_in_doubt_it_is_gone_on_with(runtime: str) -> None:
    """Where its transcript was never told, lies on a box, or is no file that we would read."""
    assert f"--resume {SESSION}" in argv_of(runtime, None, transcript="")
    assert f"--resume {SESSION}" in argv_of(runtime, None, host="box.example")
    assert f"--resume {SESSION}" in argv_of(runtime, LOST, transcript=CHAT.parent)


@pytest.mark.parametrize("runtime", ["claude", "codex", "gemini", "kiro", "opencode"])
@pytest.mark.parametrize("session", ["--dangerously-skip-permissions", "-c9f", "a\nb", "\x1b[2J"])
def test_session_that_would_be_an_option_is_not_resumed(runtime: str, session: str) -> None:
    """A session's name comes from an event, which an agent can forge: no argument is made of it."""
    assert session not in argv_of(runtime, None, transcript="", session=session)


def test_a_program_that_loses_none_is_not_looked_at() -> None:
    assert f" {SESSION} " in argv_of("codex", None)


class AsItIs:
    """A host kind that is this machine as it is."""

    def lacks(self, name: str) -> str:
        return ""

    def host(self, name: str, local: Host) -> Host:
        return local


def test_host_of_a_kind_gets_what_a_run_must_see():
    """The task's folder and the git folder; here a run sees everything."""
    HOST_KINDS.register("as-it-is", AsItIs, "a test")
    try:
        spec = spec_of("claude", None, lives_on="as-it-is://x", session="")
    finally:
        HOST_KINDS.unregister("as-it-is")
    assert spec.readable == (PROJECT / "tasks" / "demo", PROJECT / ".git")
    assert spec_of("claude", None).readable == ()


class Unheard(FakeHost):
    """A tmux that opens the window, and of which nobody hears that it did."""

    def launch(self, spec: LaunchSpec) -> None:
        super().launch(spec)
        raise Unavailable("tmux did not answer in time")


def test_window_that_may_be_open_is_noted_ahead_of_it():
    """Else the next try would make the workspace anew beneath an agent that may be at work there."""
    disk = MemoryFiles()
    with pytest.raises(Unavailable):
        argv_of("claude", None, machine=Unheard, disk=disk)
    assert disk.entry(layout.run_home(HOME, "r-2") / LAUNCHED) is not None


def test_a_run_that_has_reported_is_not_launched_again():
    """A power cut took what told of its life, and the outbox has its launch still."""
    with pytest.raises(Refused, match="is closed already"):
        argv_of("command", None, orders={})


def test_nothing_is_launched_without_the_tasks_folder():
    """Renamed between two looks, it was made anew by the next launch: empty, without task.md, and unsaid."""
    disk = MemoryFiles()
    with pytest.raises(Unavailable, match="/project/tasks/demo is gone"):
        argv_of("claude", None, disk=disk, with_folder=False)
    assert disk.entry(Path(layout.task_folder(PROJECT, "demo"))) is None
    assert disk.entry(layout.run_home(HOME, "r-2") / LAUNCHED) is None


@pytest.mark.parametrize(("seconds", "reported"), [(UNUSUAL / 4, 0), (UNUSUAL, 1)])
def test_a_long_launch_says_where_its_time_went(
    caplog: pytest.LogCaptureFixture, seconds: float, reported: int
) -> None:
    """At load 15 one in sixteen took 7.7 s, and nothing told on what."""
    clock = FakeClock(0.0)

    class SlowDisk(MemoryFiles):
        def entry(self, path: Path) -> Entry | None:
            if path.name == LAUNCHED:
                clock.sleep(seconds)
            return super().entry(path)

    argv_of("claude", None, disk=SlowDisk(now=clock.now), clock=clock)
    lines = [each.getMessage() for each in caplog.records if each.name.endswith("launch_times")]
    assert len(lines) == reported
    assert all(f"tree {seconds:.1f} s" in line for line in lines)
