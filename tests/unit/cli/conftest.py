"""A state folder as a daemon leaves it, a daemon that only replies, and the command itself."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli import requests
from orchestrator.cli.main import main
from orchestrator.hosts.processes import start_of
from tests.json_schemas import faults, schema_of
from tests.unit.cli.repository import Shop

AT = 1_764_254_100.0
_OURS = ("ORCHESTRATOR_", "XDG_", "GIT_", "TMUX", "VISUAL", "EDITOR", "NO_COLOR")


@dataclass(frozen=True)
class Said:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document that it printed."""
        return json.loads(self.out)


def _unknown_use() -> dict[str, Any]:
    """What is told of tokens where no program told of any."""
    names = ("tokens", "input", "output", "cached", "cost", "estimate", "prices", "context", "window")
    return {**dict.fromkeys(names), "unpriced": [], "partial": False}


def _step(step: str = "explore", **other: Any) -> dict[str, Any]:
    return {
        "id": step,
        "agent": "explore",
        "title": "Look around",
        "status": "passed",
        "attempts": 1,
        "tries": 1,
        "phase": "EXPLORING",
        "subtask": "",
        "needs": [],
        "since": AT,
        "began": AT,
        "said": "",
        "why": "",
        "replaced": False,
        "commit": "",
        "unchanged": "",
        "check": None,
        "cause": None,
    } | other


def _agent(name: str = "dev", **other: Any) -> dict[str, Any]:
    return {
        "name": name,
        "run": f"{name}-run",
        "agent": "dev",
        "step": "dev-1",
        "state": "alive",
        "turn": "busy",
        "evidence": "process 77",
        "since": AT,
        "turn_since": AT,
        "host": "local",
        "pane": "%3",
        "pid": 77,
        "order": "pm-20251127-153000.md",
        **_unknown_use(),
    } | other


def _question(question: str = "q1", **other: Any) -> dict[str, Any]:
    return {
        "id": question,
        "step": "dev-1",
        "text": "Keep the old name?",
        "options": ["keep", "rename"],
        "asked_at": AT,
        "kind": "stuck",
        "run": "",
        "default": "",
        "deadline": None,
        "holds": [],
    } | other


@dataclass
class House:
    """The folders of one user."""

    root: Path
    state: Path
    project: Path
    step = staticmethod(_step)
    agent = staticmethod(_agent)
    question = staticmethod(_question)

    def state_json(self, task: str = "tidy-0a1b2c3d", /, **other: Any) -> dict[str, Any]:
        """Return the state.json that a daemon would write for a task."""
        return {
            "version": 1,
            "id": task,
            "task": task[:-9],
            "project": str(self.project),
            "phase": "DEVELOPING",
            "state": "running",
            "why": "",
            "limited": None,
            "counts": {
                "passed": 1,
                "set_aside": 0,
                "open": 1,
                "total": 2,
                "criteria": 1,
                "met": 1,
                "attested": 0,
            },
            "outcome": {
                "asked": "Tidy: take away what can be",
                "outcome": "at work; 1 of 2 steps passed",
                "work": "branch `task/tidy` at 0123456789: 1 commit",
                "not_done": "nothing",
                "cost": "2 h at work",
                "next": "`task merge tidy` takes over what is done",
                "branch_seen": None,
            },
            "steps": [_step(), _step("dev-1", agent="dev", title="Rename it", status="working")],
            "agents": [_agent()],
            "boxes": [],
            "questions": [],
            "criteria": [
                {
                    "text": "No test fails",
                    "met": True,
                    "evidence": ["artifacts/tests/run.txt"],
                    "details": ["artifacts/tests/run.txt: there"],
                    "reason": "",
                    "attested": False,
                }
            ],
            "usage": _unknown_use()
            | {
                "time": 7200.0,
                "idle": 0.0,
                "limits": {"tokens": None, "cost": None, "time": None},
                "defaults": [],
            },
            "used_by": [],
            "edited": [],
            "brief_fault": "",
            "goal": "Take away what can be.",
            "goal_before": "",
            "code": str(other.get("project", self.project)),
            "branch": "task/tidy",
            "base": "0123456789abcdef",
            "tip": "",
            "started_at": AT,
            "moved_at": AT,
            "last_checkin": AT,
            "updated": AT,
            "notices": [],
            "noticed": 0,
        } | other

    def task(self, task: str = "tidy-0a1b2c3d", /, **other: Any) -> Path:
        """Write what a daemon would write of a task, and return the task's own folder."""
        home = self.home(task)
        (home / "state.json").write_text(json.dumps(self.state_json(task, **other)), encoding="utf-8")
        return home

    def ran(self, home: Path, *runs: dict[str, Any]) -> None:
        """Write a journal that opens these runs, in this order."""
        usual = {"step": "dev:one", "attempt": 1, "agent": "dev", "instance": "dev"}
        lines = [
            json.dumps({"fact": {}, "changes": [{"kind": "run_opened", "run": usual | run}]}) for run in runs
        ]
        folder = home / "journal"
        folder.mkdir()
        (folder / "0000000001.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def asked_for(self, task: str, **arguments: str) -> Path:
        """Leave the request to start a task as a daemon that is down would find it."""
        folder = self.home(task) / "requests"
        folder.mkdir()
        asked = {"project": str(self.project), "name": task[:-9]} | arguments
        request = {"id": "20251127143500-00000001", "verb": "start", "at": AT, "arguments": asked}
        path = folder / "20251127143500-00000001.json"
        path.write_text(json.dumps(request), encoding="utf-8")
        return path

    def home(self, task: str) -> Path:
        """Return the own folder of a task, made."""
        home = self.state / "tasks" / task
        home.mkdir(parents=True, exist_ok=True)
        return home


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    for variable in list(os.environ):
        if variable.startswith(_OURS):
            monkeypatch.delenv(variable)
    made = House(tmp_path, tmp_path / "state", tmp_path / "shop")
    made.project.mkdir()
    made.state.mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(made.state))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "elsewhere")
    return made


@pytest.fixture
def task(house: House, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run one command in this process."""

    def run(*words: str) -> Said:
        capfd.readouterr()
        code = main(list(words))
        out, err = capfd.readouterr()
        if "--json" in words and out:
            assert faults(schema_of(words), json.loads(out)) == []
        return Said(code, out, err)

    return run


@dataclass
class Daemon:
    """Holds the lock, beats, and replies to each request by what `reply` returns."""

    state: Path
    heard: list[dict[str, Any]] = field(default_factory=list)
    reply: Callable[[Path, dict[str, Any]], tuple[bool, str]] = lambda _home, _request: (True, "so be it")
    _over: threading.Event = field(default_factory=threading.Event)

    def live(self) -> None:
        with (self.state / "daemon.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write(f"{os.getpid()}\n")
            lock.flush()
            self.beat(time.time())
            while not self._over.wait(0.005):
                self.look()

    def beat(self, at: float) -> None:
        said = {
            "pid": os.getpid(),
            "process": start_of(os.getpid()),
            "started_at": at - 60,
            "beat_at": at,
            "version": "0.1.0",
        }
        path = self.state / "daemon.beat.part"  # nobody is to find it half written, and write to it meanwhile
        path.write_text(json.dumps(said), encoding="utf-8")
        path.rename(self.state / "daemon.beat")

    def look(self) -> None:
        for path in self.state.glob("tasks/*/requests/*.json"):
            if path.name.endswith(".reply.json") or path.name.startswith("."):
                continue
            request = json.loads(path.read_text(encoding="utf-8"))
            self.heard.append(request)
            ok, message = self.reply(path.parent.parent, request)
            reply = path.with_name(f"{path.stem}.reply.json.part")
            reply.write_text(json.dumps({"ok": ok, "message": message}), encoding="utf-8")
            reply.rename(path.with_name(f"{path.stem}.reply.json"))
            path.unlink()

    def end(self) -> None:
        self._over.set()


@pytest.fixture
def daemon(house: House) -> Iterator[Daemon]:
    made = Daemon(house.state)
    thread = threading.Thread(target=made.live)
    thread.start()
    deadline = time.monotonic() + 10
    while not (house.state / "daemon.beat").exists():
        assert time.monotonic() < deadline
    yield made
    made.end()
    thread.join()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "PATIENCE", 0.05)


@pytest.fixture
def repository(house: House) -> Path:
    """The project as a git repository."""
    subprocess.run(["git", "init", "-q", str(house.project)], check=True)
    return house.project


@pytest.fixture
def python() -> str:
    return sys.executable


@pytest.fixture
def shop(house: House, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """The project in git, with one commit on `main`, from which a task began that is complete."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(house.root / ".gitconfig"))
    (house.root / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
    made = Shop(house)
    made.git("init", "-q", "-b", "main")
    made.base = made.commit()
    made.state_json()
    return made
