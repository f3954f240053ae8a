"""What `task` says of real boxes: `doctor HOST`, and `start` of a task that is to work on one."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.hosts.processes import Process, alive
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes
from tests.remote.test_link import fingerprint
from tests.unit.cli.conftest import Daemon

TASK = """\
# Task: Rename it

## Goal
The old name is gone.

## Success Criteria
- No test fails

## Agent Config
"""


@dataclass
class User:
    """A user whose `task` reads the ssh settings of the test, by an `ssh` ahead of the system's on the PATH."""

    boxes: Boxes
    environ: dict[str, str]

    @property
    def state(self) -> Path:
        return Path(self.environ["ORCHESTRATOR_HOME"])

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "orchestrator.cli", *words]

    def task(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words), env=self.environ, capture_output=True, text=True, timeout=120, check=False
        )

    def left(self) -> list[str]:
        """Return what lies where the sockets of such commands are."""
        return [path.name for path in (self.state / "boxes" / "look").iterdir()]


@pytest.fixture
def user(boxes: Boxes) -> User:
    front = boxes.folder / "bin" / "ssh"
    front.parent.mkdir()
    front.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {boxes.config} "$@"\n')
    front.chmod(0o755)
    (boxes.folder / "user-home").mkdir()
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ORCHESTRATOR_", "XDG_"))
    }
    return User(
        boxes,
        kept
        | {
            "PATH": f"{front.parent}:{os.environ['PATH']}",
            "HOME": str(boxes.folder / "user-home"),
            "ORCHESTRATOR_HOME": str(boxes.folder / "state"),
            "COLUMNS": "100",
        },
    )


@pytest.fixture
def box(boxes: Boxes) -> Box:
    """A box with a folder to work in, and claude."""
    made = boxes.add("alpha")
    (made.home / "repo").mkdir()
    return made


def test_a_box_is_shown_in_one_screen(user: User, box: Box) -> None:
    said = user.task("doctor", f"alpha:{box.home}/repo")
    assert (said.returncode, said.stderr) == (0, "")
    lines = said.stdout.splitlines()
    assert lines[0] == f"alpha:{box.home}/repo"
    assert lines[-1] == "agents could work there"
    assert len(lines) <= 24
    for part in (
        "ok       is reachable, and its key is known (Linux ",
        "ok       tmux ",
        "ok       rsync ",
        "ok       git version ",
        " GiB free",
        "its clock agrees with ours",
        "its tmux outlives a logout",
        "note     claude is not there",
    ):
        assert part in said.stdout
    assert box.logins() == 1
    assert user.left() == []
    assert all(path.stat().st_mode & 0o077 == 0 for path in user.state.rglob("*"))


def test_a_box_is_shown_as_json(user: User, box: Box) -> None:
    said = user.task("doctor", "alpha", "--json")
    shown = json.loads(said.stdout)
    assert (said.returncode, shown["can_run"]) == (0, True)
    assert (shown["box"]["state"], shown["box"]["cwd"], shown["box"]["home"]) == (
        "reachable",
        None,
        str(box.home),
    )
    assert shown["box"]["tmux"].startswith("tmux ")
    assert shown["box"]["programs"].keys() == {"claude", "codex", "gemini", "opencode", "kiro-cli", "aider"}
    explained = user.task("help", "json").stdout.replace("[]", "").split()
    assert set(shown["box"]) <= set(explained)


def test_a_folder_that_is_not_there_is_said_with_what_to_do(user: User, box: Box) -> None:
    said = user.task("doctor", "alpha:/no/such/folder")
    assert said.returncode == 1
    assert "missing  /no/such/folder is not a folder there\n         > make it, or correct" in said.stdout
    assert said.stdout.endswith("no agent could work there: provide what is missing\n")


def test_changed_key_is_shown_with_both_fingerprints(user: User, box: Box) -> None:
    """Another key is shown with both fingerprints and what to do."""
    user.boxes.know(box, "other")
    said = user.task("doctor", "alpha")
    assert said.returncode == 1
    assert f"its key    {fingerprint(box.folder / 'host.pub')}" in said.stdout
    assert f"known key  {fingerprint(box.folder / 'other.pub')}" in said.stdout
    assert "> ask whoever runs the box whether its key was changed" in said.stdout
    shown = json.loads(user.task("doctor", "alpha", "--json").stdout)["box"]
    assert (shown["state"], shown["offered"]) == ("refused", fingerprint(box.folder / "host.pub"))
    assert box.logins() == 0


def test_unknown_box_is_refused_with_the_accepting_command(user: User, box: Box) -> None:
    """An unknown box is refused with the command that accepts it."""
    user.boxes.forget()
    said = user.task("doctor", "alpha")
    assert said.returncode == 1
    assert "accept it: `ssh -- alpha true`" in said.stdout
    assert user.boxes.known.read_text() == ""


def test_a_box_that_is_down_is_said(user: User, box: Box) -> None:
    box.stop()
    said = user.task("doctor", "alpha")
    assert said.returncode == 1
    assert "missing  does not answer (" in said.stdout


def test_a_killed_command_leaves_nothing_for_long(user: User, box: Box) -> None:
    with subprocess.Popen(
        user.command("doctor", "alpha"), env=user.environ, stdout=subprocess.DEVNULL
    ) as child:
        owner = wait_until(lambda: list((user.state / "boxes" / "look").glob("*.pid")), within=30)[0]
        pid, _, start = wait_until(owner.read_text, within=10).partition("@")
        child.send_signal(signal.SIGKILL)
    assert user.task("doctor", "alpha").returncode == 0
    assert not alive(Process(int(pid), start))
    assert user.left() == []


def test_an_interrupted_command_leaves_nothing(user: User, box: Box) -> None:
    with (
        box.frozen(),
        subprocess.Popen(
            user.command("doctor", "alpha"), env=user.environ, stdout=subprocess.DEVNULL
        ) as child,
    ):
        owner = wait_until(lambda: list((user.state / "boxes" / "look").glob("*.pid")), within=30)[0]
        pid, _, start = wait_until(owner.read_text, within=10).partition("@")
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=20) == 130
        wait_until(lambda: not alive(Process(int(pid), start)))
    assert user.left() == []


# Starting -----------------------------------------------------------------------------------------


@pytest.fixture
def begun(user: User) -> Callable[[str], subprocess.CompletedProcess[str]]:
    """Start a task whose Agent Config is this, in a repository that has a commit, of a user who is told elsewhere."""
    project = user.boxes.folder / "shop"
    folder = project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    for words in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "Begin")):
        subprocess.run(["git", "-C", str(project), *words], check=True, env=user.environ, timeout=20)
    user.environ["ORCHESTRATOR_NOTIFY__CHANNELS"] = "tmux://"

    def start(config: str) -> subprocess.CompletedProcess[str]:
        here = "".join(f"{agent}.command: sh -c true\n" for agent in ("explore", "plan", "test", "review"))
        (folder / "task.md").write_text(TASK + here + config)
        return user.task("start", "tidy", "--project", str(folder.parent.parent))

    return start


@pytest.fixture
def daemon(user: User) -> Iterator[Daemon]:
    """One that takes every start up."""
    import threading

    user.state.mkdir(mode=0o700)
    made = Daemon(user.state)

    def reply(home: Path, request: dict[str, object]) -> tuple[bool, str]:
        shown = {
            "version": 1,
            "task": "tidy",
            "project": str(user.boxes.folder / "shop"),
            "phase": "EXPLORING",
        }
        lists: dict[str, object] = {
            name: [] for name in ("steps", "agents", "questions", "criteria", "notices")
        }
        (home / "state.json").write_text(json.dumps({**shown, **lists, "state": "running"}))
        return True, "tidy runs"

    made.reply = reply
    thread = threading.Thread(target=made.live)
    thread.start()
    wait_until((user.state / "daemon.beat").exists)
    yield made
    made.end()
    thread.join()


def test_a_task_starts_when_its_boxes_have_what_its_agents_need(
    user: User, box: Box, begun: Callable[..., subprocess.CompletedProcess[str]], daemon: Daemon
) -> None:
    beta = user.boxes.add("beta")
    (beta.home / "dev.sh").write_text("#!/bin/sh\ntouch was-run\n")
    (beta.home / "dev.sh").chmod(0o755)
    config = f"architect: yes\narchitect.command: sh -c true\ncwd: alpha:{box.home}/repo\n"
    said = begun(f"{config}dev.cwd: beta:{beta.home}\ndev.command: ./dev.sh\n")
    assert said.returncode == 0, said
    first, second, rest = said.stdout.split("\n\n")
    assert first.startswith(f"beta:{beta.home}\n")
    assert "./dev.sh exists" in first
    assert second.startswith(f"alpha:{box.home}/repo\n")
    assert " sh exists" in second
    assert rest.startswith("tidy runs\n")
    assert len(daemon.heard) == 1
    assert not list(beta.folder.rglob("was-run"))
    # At work, it is not looked at again, whatever became of its boxes.
    box.stop()
    began = time.monotonic()
    assert begun(config + "dev.command: ./dev.sh\n").returncode == 0
    assert time.monotonic() - began < 10
    assert len(daemon.heard) == 2


def test_a_task_whose_program_is_not_on_the_box_is_not_started(
    box: Box, begun: Callable[..., subprocess.CompletedProcess[str]], daemon: Daemon
) -> None:
    said = begun(f"cwd: alpha:{box.home}/repo\ndev.runtime: claude\n")
    assert said.returncode == 1
    assert "missing  claude is not on the PATH of a login" in said.stdout
    assert (
        f"tidy was not started: provide first what is marked `missing` on alpha:{box.home}/repo"
        in said.stderr
    )
    assert daemon.heard == []


def test_every_box_is_looked_at_before_a_start_is_refused(
    user: User, box: Box, begun: Callable[..., subprocess.CompletedProcess[str]], daemon: Daemon
) -> None:
    beta = user.boxes.add("beta")
    user.boxes.know(box, "other")
    config = f"architect: yes\narchitect.cwd: alpha:{box.home}\ndev.cwd: beta:{beta.home}\n"
    said = begun(config + "architect.command: sh\ndev.command: sh\n")
    assert said.returncode == 1
    assert "known key  SHA256:" in said.stdout
    assert f"beta:{beta.home}\nok       is reachable" in said.stdout
    assert "no connection to alpha (" in said.stderr
    assert daemon.heard == []


@pytest.mark.parametrize(("config", "warned"), [("bring: branch\n", True), ("", False)])
def test_a_clone_without_the_first_commit_is_a_warning(
    box: Box,
    begun: Callable[..., subprocess.CompletedProcess[str]],
    daemon: Daemon,
    config: str,
    warned: bool,  # noqa: FBT001 (a parameter)
) -> None:
    """A folder that is no repository: said before the night, and only where code is exchanged with it."""
    said = begun(f"cwd: alpha:{box.home}/repo\ndev.command: sh\n{config}")
    assert said.returncode == 0, said
    assert ("warn     " in said.stdout.partition("tidy runs")[0]) is warned
    assert ("make it a git repository" in said.stdout) is warned
    assert len(daemon.heard) == 1


@pytest.mark.skipif(
    not pwd.getpwuid(os.getuid()).pw_shell.endswith("/bash"), reason="the login shell is not bash"
)
def test_launch_is_rehearsed_by_doctor_and_ahead_of_a_start(
    user: User, box: Box, begun: Callable[..., subprocess.CompletedProcess[str]], daemon: Daemon
) -> None:
    """Nothing is missing there, and no launch would come to its end."""
    (box.home / ".bashrc").write_text("echo Welcome\n")
    looked = user.task("doctor", f"alpha:{box.home}/repo")
    started = begun(f"cwd: alpha:{box.home}/repo\ndev.command: sh\n")
    for said in (looked, started):
        assert said.returncode == 1
        assert "Welcome" in said.stdout
    assert daemon.heard == []
