"""What every runtime must do: it says how its program is launched, and reads what that reports. Nothing is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator.model.agents import Agent
from orchestrator.model.event import Event, EventKind, Reply, Say
from orchestrator.model.permission import Act
from orchestrator.model.usage import Read
from orchestrator.runtimes import Launching, Metered, Recorded, Remembering, Runtime, Spawn, Traced
from orchestrator.runtimes.registry import RUNTIMES
from orchestrator.runtimes.screens import ScreenRule

FOLDER = Path("/state/tasks/t-1/runs/r-1")
SESSION = "0b6cf3a8-8f0e-5a52-9c0d-3f2f0c4d9a11"
ORDERS = (
    "Do it.",
    "--help\n-rf /\n",
    "two lines,\n\n'single' and \"double\" quotes, `sh -c`, $(id), \\, %s, ünïcode ✓",
    "x" * 100_000,
)
RUBBISH: tuple[Mapping[str, Any], ...] = (
    {},
    {"type": None, "event": [], "hook_event_name": {"a": 1}, "session_id": 7},
    {"type": "ended", "text": 1e308, "message": [None, {"content": [[]]}]},
    {"hook_event_name": "\0", "prompt": "\ud800", "cwd": "../../etc"},
)
LINES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"type": []}',
    b'{"message": {"usage": "much"}}',
    b"{}" * 1000,
)


class RuntimeContract:
    """Subclass it, and set `name` to that of the runtime.

    `agent` is a definition that it can launch. `events` are documents as its hooks hand them in, with the kinds of
    event that they mean. `takes_order` is False for one whose program finds its order in the environment.
    """

    name: str
    agent = Agent("dev", prompt="You develop.")
    events: tuple[tuple[Mapping[str, Any], EventKind], ...] = ()
    takes_order = True

    def it(self) -> Runtime:
        """Return the runtime, which must be registered under its name."""
        return RUNTIMES.find(self.name)

    def spawn(self, prompt: str = ORDERS[0]) -> Spawn:
        """Return a run of `agent`."""
        return Spawn(
            agent=replace(self.agent, runtime=self.name),
            folder=FOLDER,
            workspace=Path("/state/worktrees/t-1/dev"),
            granted=(Path("/project/tasks/t/handoffs"), Path("/project/tasks/t/artifacts/code")),
            order=FOLDER / "order.md",
            prompt=prompt,
            session=SESSION,
            environ={"HOME": "/home/user", "PATH": "/usr/bin:/bin"},
        )

    def test_it_is_registered_under_its_name(self) -> None:
        """It has the name by which it is asked for, and says of itself what the engine asks."""
        it = self.it()
        assert it.name == self.name
        assert isinstance(it.receipts, bool)
        assert set(it.unruled) <= set(Act)
        assert all(isinstance(rule, ScreenRule) for rule in it.screens)
        assert all(name and name == name.strip() and "=" not in name for name in it.variables)
        assert isinstance(it.listens(self.agent), bool)

    def test_launch_can_be_carried_out(self) -> None:
        """Arguments and environment are plain texts; files are laid into the run's own folder only."""
        launching = self.it().launching(self.spawn())
        assert launching.argv
        assert launching.argv[0]
        self._check_plain(launching)

    def test_same_run_is_launched_in_the_same_way(self) -> None:
        """A launch may be repeated after a crash: nothing in it comes from a clock or by chance."""
        assert self.it().launching(self.spawn()) == self.it().launching(self.spawn())

    def test_order_is_one_argument_with_no_byte_altered(self) -> None:
        """Whatever an order holds, it is one argument as it stands; none other changes by it."""
        if not self.takes_order:
            return
        plain = self.it().launching(self.spawn()).argv
        for order in ORDERS:
            argv = self.it().launching(self.spawn(order)).argv
            assert len(argv) == len(plain)
            changed = [given for given, before in zip(argv, plain, strict=True) if given != before]
            assert all(given.endswith(order) for given in changed)
            assert any(given.endswith(order) for given in argv)

    def test_conversation_goes_on(self) -> None:
        """A run that resumes another is launched, whatever its program called that: the engine takes no options."""
        for session in (SESSION, "../../../etc/passwd", "a b", "ünïcode", "x" * 300):
            self._check_plain(self.it().launching(replace(self.spawn(), resumes=session)))

    def test_events_are_read(self) -> None:
        """What its hooks hand in means what the suite's `events` say."""
        for document, kind in self.events:
            event = self.it().event(document)
            assert event is not None
            assert event.kind is kind

    def test_no_document_raises(self) -> None:
        """A hook's document is data from outside: whatever it holds, it is read or ignored."""
        for document in (
            *RUBBISH,
            *({**sample, **rubbish} for sample, _ in self.events for rubbish in RUBBISH),
        ):
            event = self.it().event(document)
            assert event is None or isinstance(event, Event)

    def test_every_reply_has_an_answer(self) -> None:
        """A hook that waits prints a text for each reply, and for passing it by none that asks for anything."""
        for say in Say:
            assert isinstance(self.it().answer(Reply(say, "for this reason")), str)

    def test_transcripts_lie_at_absolute_paths(self) -> None:
        """The folders of its transcripts are absolute, also where the environment has nothing."""
        for environ in ({"HOME": "/home/user"}, {}):
            assert all(path.is_absolute() for path in self.it().transcripts(environ))

    def test_no_line_of_a_transcript_raises(self) -> None:
        """Transcripts are data from outside: torn and foreign lines are ignored."""
        it = self.it()
        assert all(isinstance(event, Event) for event in it.appended(LINES))
        if isinstance(it, Metered):
            assert isinstance(it.usage(b"\n".join(LINES) + b"\n", Read()), Read)
        if isinstance(it, Traced):
            assert all(isinstance(it.records(line), list) for line in LINES)
        if isinstance(it, Recorded):
            assert it.recorded
            assert "/" not in it.recorded
        if isinstance(it, Remembering):
            assert isinstance(it.remembers(b"\n".join(LINES)), bool)

    def _check_plain(self, launching: Launching) -> None:
        assert all("\0" not in word for word in launching.argv)
        for variable, value in launching.environment.items():
            assert variable.isidentifier()
            assert "\0" not in value
        for file, data in launching.files.items():
            assert file not in {"", ".", ".."}
            assert "/" not in file
            assert isinstance(data, bytes)
