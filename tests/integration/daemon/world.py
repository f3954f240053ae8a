"""A small world for one test: folders, a project in git, a tmux server and a daemon of its own, real ones all.

Whatever was started in it is found at the end by the world's own folder, which every process of it has in its
environment, and ended by its number.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from orchestrator.daemon.journal.segments import first_line, segments, unpacked
from tests.cgroups import remove_groups
from tests.forked import Forked, may_be_forked
from tests.polling import wait_until
from tests.report_audit import audit
from tests.tmux_server import TmuxSocket

T = TypeVar("T")
Started = Forked | subprocess.Popen[bytes]
Turns = dict[str, list[dict[str, Any]]]

ROLES = Path(__file__).with_name("roles.py")
AGENTS = ("explore", "plan", "dev", "test", "review")
AGENT = f"{sys.executable} -I -S {ROLES} {{script}}"
PATIENCE = 25.0
"""Seconds until a test gives up. Less than a rescan takes to come: a hint that was lost must not go unnoticed."""

SMALL = {
    "LIMITS__SETTLE_TIME": "300 ms",
    "LIMITS__EXIT_TIMEOUT": "500 ms",
    "LIMITS__RETRY_PAUSE": "20 ms",
    "LIMITS__MAX_RETRY_PAUSE": "100 ms",
    "LIMITS__TERMINATION_GRACE": "500 ms",
    "LIMITS__START_TIMEOUT": "3 s",
    "NOTIFY__CHANNELS": "[]",
    "DAEMON__REPORTS": "false",
}
"""Limits that let nothing wait, nobody who is told, no page at each end. `rescan` stays as users have it: what only a
rescan finds is found late.
"""


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass
class Story:
    """What the journal of a task tells, over all its segments."""

    lines: list[dict[str, Any]]

    def facts(self, kind: str) -> list[dict[str, Any]]:
        """Return the facts of one kind, in order."""
        return [line["fact"] for line in self.lines if line["fact"]["kind"] == kind]

    def changes(self, kind: str) -> list[dict[str, Any]]:
        """Return the changes of one kind, in order."""
        return [change for line in self.lines for change in line["changes"] if change["kind"] == kind]

    @cached_property
    def runs(self) -> dict[str, dict[str, Any]]:
        """The runs that were opened, by id."""
        return {change["run"]["id"]: change["run"] for change in self.changes("run_opened")}

    def orders(self, step: str) -> list[str]:
        """Return the instructions that each run of a step was given."""
        given = [change["order"] for change in self.changes("order_given")]
        return [order["instructions"] for order in given if order["step"] == step]


@dataclass
class World:
    """One user with one project, on a machine of their own."""

    root: Path
    environ: dict[str, str]
    project: Path = field(init=False)
    state: Path = field(init=False)
    tmux: TmuxSocket = field(init=False)
    _daemons: list[Started] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.project = self.root / "project"
        self.state = self.root / "state"
        self.tmux = TmuxSocket(self.root / "tmux", "test", self.environ)

    # The user ----------------------------------------------------------------------------------------

    def repository(self, name: str = "project") -> Path:
        """Make a project with one small package, and one commit."""
        project = self.root / name
        (project / "pkg").mkdir(parents=True)
        (project / "pkg" / "__init__.py").write_text('"""A package."""\n')
        (project / "notes.txt").write_text("by the user\n")
        self.git("init", "-q", "-b", "main", project=project)
        self.git("add", "--all", project=project)
        self.git("commit", "-q", "-m", "First", project=project)
        return project

    def git(self, *words: str, project: Path | None = None) -> str:
        """Run git in the project, as the user would, and return what it printed."""
        command = ["git", "-C", str(project or self.project), *words]
        done = subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=30, check=True
        )
        return done.stdout.removesuffix("\n")

    def task(
        self, *words: str | bytes, cwd: Path | None = None, environ: dict[str, str] | None = None
    ) -> Said:
        """Run one `task` command."""
        given = self.environ | (environ or {})
        if may_be_forked(given):
            return self._forked([os.fsdecode(word) for word in words], cwd or self.root, given)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "orchestrator.cli", *words],
            cwd=cwd or self.root,
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=60,
            check=False,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    def _forked(self, words: list[str], cwd: Path, environ: dict[str, str]) -> Said:
        # Not in the world, whose disk may be full.
        with tempfile.TemporaryDirectory(prefix="said-") as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            made = Forked("cli", words, environ=environ, cwd=cwd, out=out, err=err)
            try:
                code = made.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.kill(made.pid, signal.SIGKILL)
                raise
            said = [path.read_text(encoding="utf-8", errors="surrogateescape") for path in (out, err)]
        return Said(code, *said)

    def brief(
        self,
        name: str = "t1",
        *config: str,
        project: Path | None = None,
        goal: str = "A greeting.",
        title: str = "",
        criteria: Sequence[str] = ("There is a greeting.",),
        dev: str = "",
    ) -> Path:
        """Write the task.md of a task whose agents all follow the script, dev perhaps not; return the task's folder."""
        folder = (project or self.project) / "tasks" / name
        folder.mkdir(parents=True, exist_ok=True)
        agents = [f"{agent}.command: {AGENT.format(script=self.script)}" for agent in AGENTS]
        agents = [f"dev.command: {dev}" if dev and each.startswith("dev.") else each for each in agents]
        parts = [f"# Task: {title or name}", "## Goal", goal, "## Success Criteria"]
        parts += [*(f"- {each}" for each in criteria), "## Agent Config", *agents, *config]
        (folder / "task.md").write_text("\n".join(parts) + "\n")
        return folder

    @property
    def script(self) -> Path:
        """The script of all agents."""
        return self.root / "script.json"

    def let(self, turns: Turns) -> None:
        """Say what the agents do: see `roles.py`. Steps that are not named do as they should."""
        part = self.root / "script.part"
        part.write_text(json.dumps(turns))
        part.rename(self.script)

    def go(self, name: str) -> None:
        """Let those go on who hold at `name`."""
        (self.root / "go" / name).touch()

    def begin(
        self, turns: Turns | None = None, name: str = "t1", config: Sequence[str] = (), **brief: Any
    ) -> Path:
        """Start a task whose agents do as told; return its folder."""
        self.let(turns or {})
        folder = self.brief(name, *config, **brief)
        if not self.pid and may_be_forked(self.environ):
            self.daemon()  # else the command starts it, as a new interpreter
        said = self.task("start", name, "--project", str(self.project))
        assert said.code == 0, said
        return folder

    def ask(self, verb: str, task: str = "t1", /, **arguments: str) -> Path:
        """Leave a request for the daemon, up or not, and wait for nothing; return where it lies."""
        home = next(self.homes(task), None) or self.state / "tasks" / f"{task}-0123abcd"
        request = f"20260101000000-{os.urandom(4).hex()}"
        (home / "requests").mkdir(parents=True, exist_ok=True, mode=0o700)
        said = {"id": request, "verb": verb, "at": time.time(), "arguments": arguments}
        part = home / "requests" / f".{request}"  # on the same disk
        part.write_text(json.dumps(said))
        left = part.rename(part.with_name(f"{request}.json"))
        os.utime(home)  # the bell, as `task` rings it
        return left

    # The daemon --------------------------------------------------------------------------------------

    def daemon(self, *command: str, log: Path | None = None, **environ: str) -> int:
        """Start a daemon (by another command, if given) and return its pid once it is up."""
        made = self.launched(*command, log=log, **environ)

        def up() -> bool:
            assert made.poll() is None, f"the daemon ended: {self.log}"
            return self.beat.get("pid") == made.pid

        self.until(up)
        return made.pid

    def launched(self, *command: str, log: Path | None = None, **environ: str) -> Started:
        """Start a daemon and wait for nothing."""
        self.state.mkdir(mode=0o700, exist_ok=True)
        given, path = self.environ | environ, log or self.state / "daemon.log"
        made = (
            Forked("daemon", environ=given, cwd="/", out=path, err=path, session=True)
            if not command and may_be_forked(given)
            else self._spawned(command, given, path)
        )
        self._daemons.append(made)
        return made

    def _spawned(self, command: Sequence[str], environ: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            return subprocess.Popen(
                command or [sys.executable, "-P", "-m", "orchestrator.daemon"],
                cwd="/",
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    @property
    def beat(self) -> dict[str, Any]:
        """What the daemon wrote of itself last."""
        return read_json(self.state / "daemon.beat")

    @property
    def pid(self) -> int:
        """The pid of the daemon that runs, or 0."""
        try:
            descriptor = os.open(self.state / "daemon.lock", os.O_RDONLY)
        except FileNotFoundError:
            return 0
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(os.read(descriptor, 32) or 0)
        finally:
            os.close(descriptor)
        return 0

    def kill_daemon(self) -> None:
        """Kill the daemon, as a crash would."""
        self._end(signal.SIGKILL)

    def stop_daemon(self) -> None:
        """Ask the daemon to end, and wait until it has."""
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        pid = self.pid
        assert pid
        os.kill(pid, number)
        self.until(lambda: self.pid != pid)
        self.reap()

    def reap(self) -> None:
        """Wait for the daemons that have ended, so that no zombie counts as a process."""
        for made in self._daemons:
            made.poll()

    @property
    def log(self) -> str:
        """What the daemon said."""
        path = self.state / "daemon.log"
        return path.read_text(errors="replace") if path.exists() else ""

    # What can be seen --------------------------------------------------------------------------------

    def homes(self, name: str = "t1") -> Iterator[Path]:
        """Yield the PM's own folders of the tasks of this name that were begun."""
        # By names alone: a test that waits looks a hundred times a second.
        tasks = self.state / "tasks"
        for found in sorted(listed(tasks)):
            if found[:-9] == name and any(".jsonl" in each for each in listed(tasks / found / "journal")):
                yield tasks / found

    def home(self, name: str = "t1") -> Path:
        """Return the PM's own folder of the one task of this name."""
        (home,) = self.homes(name)
        return home

    def state_shown(self, name: str = "t1") -> dict[str, Any]:
        """Return what the daemon tells of a task."""
        home = next(self.homes(name), None)
        return read_json(home / "state.json") if home else {}

    def stands(self, name: str = "t1") -> str:
        """Return the task's state: running, waiting, complete …."""
        return str(self.state_shown(name).get("state", ""))

    def steps(self, name: str = "t1") -> dict[str, str]:
        """Return the state of each step."""
        return {step["id"]: step["status"] for step in self.state_shown(name)["steps"]}

    def agent(self, step: str, name: str = "t1") -> dict[str, Any]:
        """Return the live run of a step; empty if there is none."""
        found = [each for each in self.state_shown(name).get("agents", ()) if each["step"] == step]
        return next((each for each in found if each["state"] == "alive"), {})

    def believed(self, step: str, name: str = "t1") -> str:
        """Return what is believed of the life of a step's last run; empty where none lives."""
        found = [each["state"] for each in self.state_shown(name).get("agents", ()) if each["step"] == step]
        return found[-1] if found else ""

    def story(self, name: str = "t1") -> Story:
        """Return what was journaled. A line that is just being written does not count."""
        lines = list[dict[str, Any]]()
        folder = self.home(name) / "journal"
        for segment in segments(path.name for path in folder.iterdir()):
            # What a failed write left is replaced by the next segment.
            lines = [line for line in lines if line["n"] < first_line(segment)]
            for line in unpacked(segment, (folder / segment).read_bytes()).split(b"\n"):
                with suppress(ValueError):
                    lines.append(json.loads(line))
        return Story([line for line in lines if "fact" in line])

    @property
    def lives(self) -> list[tuple[str, str]]:
        """The run and the step of every agent's life that began, in order."""
        path = self.root / "runs"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(line.split()[0], line.split()[1]) for line in lines]

    def lives_of(self, step: str) -> int:
        """Return how many lives a step's agents had."""
        return [each for _, each in self.lives].count(step)

    def lives_at(self, step: str) -> list[str]:
        """Return the runs of a step whose agents lived, in order."""
        return [run for run, each in self.lives if each == step]

    def until(self, holds: Callable[[], T], *, within: float | None = None) -> T:
        """Wait until something holds, and tell the whole story if it never does."""
        try:
            return wait_until(holds, within=within or PATIENCE, every=0.01)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.account()}") from None

    def until_is(self, state: str, name: str = "t1") -> None:
        """Wait until a task is complete, waits, …."""
        self.until(lambda: self.stands(name) == state)

    def until_works(self, step: str) -> None:
        """Wait until an agent works on a step and the daemon knows that it lives."""
        self.until(lambda: self.lives_of(step) > 0 and self.agent(step))

    def account(self) -> str:
        """Return all that helps to understand a failure."""
        parts = [f"lives: {self.lives}", "daemon.log:", self.log[-4000:]]
        for log in sorted((self.state / "tasks").glob("*/pm.log")):
            parts += [str(log), log.read_text(errors="replace")[-6000:]]
        return "\n".join(parts)

    # Laws --------------------------------------------------------------------------------------------

    def check_report(self, name: str = "t1") -> None:
        """Check that the report of a task says what its journal says."""
        (report,) = json.loads(self.task("report", name, "--json").out)["reports"]
        assert audit(self.home(name), report) == []

    def check_once(self, name: str = "t1") -> None:
        """Check that no agent was started twice and that no report was handled twice."""
        story = self.story(name)
        lives = Counter(run for run, _ in self.lives)
        assert not [run for run, times in lives.items() if times > 1], self.lives
        for kind, key in (("run_opened", "run"), ("run_reported", "run"), ("order_given", "order")):
            seen = Counter(json.dumps(change[key]) for change in story.changes(kind))
            assert not [each for each, times in seen.items() if times > 1], (kind, seen)
        landed = Counter((fact["name"], fact["sha256"]) for fact in story.facts("report_landed"))
        assert not [each for each, times in landed.items() if times > 1], landed
        assert [line["n"] for line in story.lines] == list(range(1, len(story.lines) + 1))

    def check_nobody_is_left(self) -> None:
        """Check that no agent and no launcher lives on."""
        self.until(lambda: not [pid for pid in self.processes() if b"ORCHESTRATOR_RUN=" in environ_of(pid)])

    def processes(self) -> list[int]:
        """Return every process of this world. Where there is no /proc, those that are known."""
        mark = os.fsencode(self.root) + b"/"
        if not Path("/proc/self/environ").exists():
            known = [self.pid, self.tmux.server_pid(), *(made.pid for made in self._daemons)]
            return [pid for pid in known if pid]
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
        forks = {made.pid for made in self._daemons if made.poll() is None}
        return [pid for pid in pids if pid != os.getpid() and (pid in forks or mark in environ_of(pid))]

    def end(self) -> None:
        """End everything that was started here, and remove the folders."""
        self.end_processes()
        remove_groups(self.state)
        shutil.rmtree(self.root, ignore_errors=True)

    def end_processes(self) -> None:
        """End everything that was started here, by its number."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.reap()
            left = [pid for pid in self.processes() if not ended(pid)]
            if not left:
                break
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        for made in self._daemons:
            made.wait(timeout=10)


@contextmanager
def a_world(**settings: str) -> Iterator[World]:
    """Make a world, and take it away again whatever happens. `settings`: `limits__inactivity_timeout="2 s"`."""
    with a_world_at(None, settings) as world:
        yield world


@contextmanager
def a_world_at(root: Path | None, settings: Mapping[str, str]) -> Iterator[World]:
    """Make a world in an empty folder, which must have a short path; None: in one of its own."""
    # Short, since it holds the tmux server's socket.
    root = root or Path(tempfile.mkdtemp(prefix="world-", dir="/tmp"))
    for name in ("home", "tmux", "go"):
        (root / name).mkdir(mode=0o700)
    (root / "home" / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
    chosen = SMALL | {key.upper(): value for key, value in settings.items()}
    environ = {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(__file__).parents[3]),
        "HOME": str(root / "home"),
        "TMUX_TMPDIR": str(root / "tmux"),
        "ORCHESTRATOR_HOME": str(root / "state"),
        "ORCHESTRATOR_TMUX__SOCKET": "test",
        "ORCHESTRATOR_DAEMON__RESTART": "false",  # a test starts its daemons itself
        **{f"ORCHESTRATOR_{key}": value for key, value in chosen.items()},
    }
    made = World(root, environ)
    try:
        made.let({})
        made.repository()
        yield made
    finally:
        made.end()


def altered(change: str) -> list[str]:
    """Return the command of a daemon of which something was altered, by a line of Python, before it begins."""
    run = "import runpy; runpy.run_module('orchestrator.daemon', run_name='__main__')"
    return [sys.executable, "-P", "-c", f"{change}\n{run}"]


def read_json(path: Path) -> dict[str, Any]:
    """Return an object from a file; an empty one if it is not there."""
    try:
        said = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    assert isinstance(said, dict)
    return said


def listed(folder: Path) -> list[str]:
    """Return the names in a folder; none if it is not there."""
    try:
        return os.listdir(folder)  # noqa: PTH208 (names, not paths)
    except (FileNotFoundError, NotADirectoryError):
        return []


def environ_of(pid: int) -> bytes:
    """Return the environment that a process was started with; empty if that cannot be told."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def ended(pid: int) -> bool:
    """Tell whether a process is only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2][:1] in b"ZX"
    except OSError:
        return True


def names(entries: Iterable[Path]) -> list[str]:
    """Return the sorted names of paths."""
    return sorted(path.name for path in entries)
