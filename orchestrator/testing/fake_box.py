"""A box in memory and virtual time: a machine with a disk, a host and a clone of its own, and the way to it.

What may go wrong is set from outside: `cut`, `refuses`, `emptied`, and `frail` for what is under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.model.errors import Unavailable
from orchestrator.ports.box_link import Cut, NotLetIn, State, Unreachable, Way
from orchestrator.ports.host import LaunchSpec, Observation, PaneSeen, Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from orchestrator.ports.files import Files
    from orchestrator.testing.fake_clock import FakeClock
    from orchestrator.testing.fake_clone import Clone
    from orchestrator.testing.fake_host import FakeHost
    from orchestrator.testing.memory_files import MemoryFiles

T = TypeVar("T")

Break: TypeAlias = Literal["", "ahead", "behind"]
"""Where a cut comes that hits something under way: ahead of it, or behind it, when it was done and nobody heard."""


@dataclass(slots=True)
class Box:
    """One machine. It knows nothing of the daemon, and goes on whatever becomes of that.

    Args:
        name: What it is called.
        clock: The time.
        files: Its disk.
        host: Its tmux and processes. Their run folders lie beneath `root`.
        clone: Its repositories.

    `cut`: nobody reaches it. `refuses`: it lets nobody in who is not connected. `emptied`: the disk with our folders is
    not mounted, for whoever looks now. `hindered_since`: when its rsync went away, by the clock that nobody sets; None:
    it is there. `frail` says whether a cut hits what is begun now, by what that is. `changed` is called when something
    is news there.

    """

    name: str
    clock: FakeClock
    files: MemoryFiles
    host: FakeHost
    clone: Clone
    cut: bool = False
    refuses: bool = False
    emptied: bool = False
    hindered_since: float | None = None
    frail: Callable[[str], Break] = lambda _: ""
    changed: list[Callable[[], None]] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The PM's folder there."""
        return Path("/box", self.name, "pm")

    @property
    def place(self) -> Path:
        """The folder in which agents work there."""
        return place_on(self.name)

    def tell(self) -> None:
        """Let whoever has an ear there hear that something is news."""
        for listener in list(self.changed):
            listener()


@dataclass(slots=True)
class FakeLink:
    """One daemon's way to a box: what goes over it is done, or is not, or nobody knows (`Cut`)."""

    box: Box
    _state: State = field(default_factory=State)

    def run(self, what: str, work: Callable[[], T]) -> T:
        """Do something there. Raises Unreachable, Cut, NotLetIn, and what `work` does."""
        self._connect()
        where = self.box.frail(what)
        if where == "ahead":
            raise self._ended(what)
        done = work()
        if where == "behind":
            raise self._ended(what)
        return done

    def holds(self, what: str) -> None:
        """Go on with something that has many parts. Raises Cut: the connection ended in the middle of it."""
        if self.box.frail(what):
            raise self._ended(what)

    def state(self) -> State:
        """Return what is held true of it."""
        return self._state

    def patience(self) -> float:
        """Return how long it is to be left alone: no longer than its host monitor thinks."""
        return 0.0

    def again(self) -> None:
        """Try it again, though it refused."""
        self._state = State()

    def close(self) -> None:
        """Let the connection go."""
        if self._state.way is Way.REACHABLE:
            self._state = State()

    def _connect(self) -> None:
        if self._state.way is Way.REFUSED:
            raise NotLetIn(self._state.why, self._state)
        if self.box.cut:
            raise self._lost(Unreachable(f"{self.box.name} does not answer"))
        if self._state.way is not Way.REACHABLE and self.box.refuses:
            why = f"{self.box.name} refuses: permission denied"
            self._state = State(Way.REFUSED, self.box.clock.now(), why)
            raise NotLetIn(why, self._state)
        if self._state.way is not Way.REACHABLE:
            self._state = State(Way.REACHABLE, self.box.clock.now())

    def _ended(self, what: str) -> Unreachable:
        return self._lost(
            Cut(f"{self.box.name}: the connection ended at {what}: nobody knows what came of it")
        )

    def _lost(self, error: Unreachable) -> Unreachable:
        if self._state.way is not Way.UNREACHABLE:
            self._state = State(Way.UNREACHABLE, self.box.clock.now(), "no answer")
        return error


@dataclass(slots=True)
class FarHost:
    """A box as a host, by round trips over a link that may be cut. Folders of runs are those here, beneath `state`."""

    link: FakeLink
    state: Path
    files: Files
    _claimed: set[Path] = field(default_factory=set)

    def open_session(self, session: str, title: str, log: Path) -> None:
        """Make a session there."""
        host, there = self._box.host, self._there(log)
        self.link.run("session", lambda: host.open_session(session, title, there))

    def launch(self, spec: LaunchSpec) -> None:
        """Launch a run there. Raises Cut: it may come all the same."""
        there = replace(spec, folder=self._there(spec.folder))
        self._refuse_if_emptied(spec.folder)
        if spec.folder in self._claimed and not self._is_claimed(there.folder):
            raise self._missing(spec.folder)
        self.link.run("launch", lambda: self._box.host.launch(there))

    def observe(self, folder: Path) -> Observation:
        """Tell how far a run is. Raises Unavailable where nothing is certain."""
        seen = self.observe_all([folder]).get(folder)
        if seen is None:
            raise self._missing(folder)
        return seen

    def observe_all(self, folders: Sequence[Path]) -> dict[Path, Observation]:
        """Tell how far runs are; one of which nothing is certain is left out."""
        seen = self.link.run("observe", lambda: {folder: self._observed(folder) for folder in folders})
        return {folder: each for folder, each in seen.items() if self._believed(folder, each)}

    def cpu(self, folder: Path) -> float | None:
        """Return the processor time of a run there."""
        return self.link.run("cpu", lambda: self._box.host.cpu(self._there(folder)))

    def fence(self, folder: Path) -> None:
        """Claim a run there that nobody claimed yet."""
        self._do_to(folder, "fence", self._box.host.fence)

    def end(self, folder: Path, *, kill: bool) -> None:
        """Signal a run there; one that was not claimed is fenced."""
        self._do_to(folder, "end", partial(self._box.host.end, kill=kill))

    def _do_to(self, folder: Path, about: str, deed: Callable[[Path], None]) -> None:
        """Do something to a run there. One that was seen claimed, and is not any more, is left alone."""
        there = self._there(folder)
        if not self._box.cut and self._knows(folder) and (self._box.emptied or not self._is_claimed(there)):
            raise self._missing(folder)

        def work() -> None:
            if not self._box.emptied:
                self._box.files.make_folder(there)
                deed(there)

        self.link.run(about, work)

    def panes(self) -> list[PaneSeen]:
        """Return every pane there."""
        return self.link.run("panes", self._box.host.panes)

    def close_pane(self, pane: str, run: str) -> None:
        """Close a pane there."""
        self.link.run("close", lambda: self._box.host.close_pane(pane, run))

    def close_session(self, session: str) -> None:
        """End a session there."""
        self.link.run("close", lambda: self._box.host.close_session(session))

    def close_ended(self, session: str) -> None:
        """Close what has ended in a session there."""
        self.link.run("close", lambda: self._box.host.close_ended(session))

    def capture(self, pane: str, lines: int) -> str:
        """Return what a pane there shows."""
        return self.link.run("capture", lambda: self._box.host.capture(pane, lines))

    def type_line(self, pane: str, run: str, text: str) -> bool:
        """Type a line there."""
        return self.link.run("type", lambda: self._box.host.type_line(pane, run, text))

    # Parts ----------------------------------------------------------------------------------------

    @property
    def _box(self) -> Box:
        return self.link.box

    def _there(self, path: Path) -> Path:
        return self._box.root / path.relative_to(self.state)

    def _observed(self, folder: Path) -> Observation:
        if self._box.emptied:
            return Observation(Standing.NOT_CLAIMED)
        return self._box.host.observe(self._there(folder))

    def _believed(self, folder: Path, seen: Observation) -> bool:
        """Tell whether what is seen goes with what was: a claim that is not there any more says nothing (BoxHost)."""
        if seen.standing is Standing.NOT_CLAIMED:
            return not self._knows(folder)
        self._claimed.add(folder)
        return True

    def _knows(self, folder: Path) -> bool:
        return folder in self._claimed or any(
            self.files.entry(folder / name) is not None for name in (CLAIMED, PID, EXIT)
        )

    def _is_claimed(self, there: Path) -> bool:
        return self._box.files.entry(there / CLAIMED) is not None

    def _refuse_if_emptied(self, folder: Path) -> None:
        if self._box.emptied and not self._box.cut:
            raise self._missing(folder)

    def _missing(self, folder: Path) -> Unavailable:
        return Unavailable(f"{self._box.name}: nothing is certain of run {folder.name}: was it emptied?")


def place_on(box: str) -> Path:
    """Return the folder in which agents work on a box."""
    return Path("/box", box, "repo")


def under(files: MemoryFiles, folder: Path, *, without: Collection[str] = ()) -> list[Path]:
    """Return the plain files beneath a folder, in order; hidden ones and some folders are left out."""
    found, waiting = list[Path](), [folder]
    while waiting:
        here = waiting.pop()
        for entry in sorted(files.entries(here), key=lambda each: each.name):
            if entry.is_folder and entry.name not in without:
                waiting.append(here / entry.name)
            elif entry.is_file and not entry.name.startswith("."):
                found.append(here / entry.name)
    return found
