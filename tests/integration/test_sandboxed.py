"""`deploy/sandboxed` in a tree that others use too: what an agent can still do there with git, and what it cannot."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.bubblewrap import bwrap_works
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(not bwrap_works(), reason="bwrap is not here, or may not make namespaces")

SANDBOXED = Path(__file__).parents[2] / "deploy" / "sandboxed"
GUARDS = ("config.lock", "config.worktree", "commondir", "hooks", "info", "modules", "worktrees")


@dataclass
class Sandbox:
    """A project with a task, and a run of it whose workspace is `workspace`."""

    root: Path
    project: Path
    workspace: Path
    _processes: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def git_folder(self) -> Path:
        """The repository's own folder."""
        return self.project / ".git"

    @property
    def task(self) -> Path:
        """The task's folder."""
        return self.project / "tasks" / "t1"

    @property
    def state(self) -> Path:
        """The PM's own folder."""
        return self.root / "state"

    def git(self, *words: str, status: int = 0) -> str:
        """Run git in the project as its user."""
        done = subprocess.run(
            ["git", *words], cwd=self.project, env=self._environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done
        return done.stdout.strip()

    def started(self, command: str) -> subprocess.Popen[str]:
        """Start a command of `sh` in the sandbox."""
        run = self.state / "tasks" / "t1-0123abcd" / "runs" / "r1" / "order.md"
        reported = {
            "ORDER": run,
            "TASK_DIR": self.task,
            "WORKSPACE": self.workspace,
            "ARTIFACTS": self.task / "artifacts" / "dev",
            "SCRATCHPAD": self.task / "scratchpad" / "dev",
        }
        made = subprocess.Popen(
            [str(SANDBOXED), "--", "sh", "-c", command],
            env=self._environ | {f"ORCHESTRATOR_{name}": str(value) for name, value in reported.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._processes.append(made)
        return made

    def end(self) -> None:
        """End what still runs."""
        for process in self._processes:
            process.kill()
            process.wait(timeout=20)
            if process.stdout is not None:
                process.stdout.close()

    def run(self, command: str) -> tuple[int, str]:
        """Run a command of `sh` in the sandbox; return its status and what it said."""
        process = self.started(command)
        said = process.communicate(timeout=60)[0]
        return process.returncode, said

    @property
    def guards(self) -> list[str]:
        """What lies in the repository's folder of what may guard it."""
        return [name for name in GUARDS if (self.git_folder / name).exists()]

    @property
    def _environ(self) -> dict[str, str]:
        own = {"HOME": str(self.root), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        return {"PATH": os.environ["PATH"], **own}


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Sandbox]:
    """Make a project of one commit, with a task and a run, whose repository lacks all that need not be there."""
    made = Sandbox(tmp_path, tmp_path / "project", tmp_path / "project")
    for each in ("handoffs", "artifacts/dev", "scratchpad/dev"):
        (made.task / each).mkdir(parents=True)
    (made.task / "task.md").write_text("# Task: t1\n")
    order = made.state / "tasks" / "t1-0123abcd" / "runs" / "r1" / "order.md"
    order.parent.mkdir(parents=True)
    order.write_text("Do it.\n")
    made.git("init", "-q", "-b", "main", "--template=")
    for key, value in (("user.name", "U"), ("user.email", "u@example.org")):
        made.git("config", key, value)
    (made.project / "code.txt").write_text("one\n")
    made.git("add", "code.txt")
    made.git("commit", "-qm", "First")
    assert made.guards == []
    try:
        yield made
    finally:
        made.end()
    assert made.guards == [], "what guarded the repository is taken away with the last sandbox"


SIDE = (
    "git checkout -q -b side && echo s >s.txt && git add s.txt && git commit -qm Side && git checkout -q main"
)


@pytest.mark.parametrize(
    "command",
    [
        "echo two >>code.txt && git add code.txt && git commit -qm Second",
        "git checkout -q -b side && git checkout -q main && git branch -q -d side",
        "echo two >>code.txt && git stash -q && git stash pop -q",
        "git tag v1 && git tag -d v1",
        "git checkout -q --detach && git commit -q --allow-empty -m Other && git checkout -q main",
        "git commit -q --allow-empty -m Second && git reset -q --hard HEAD^",
        f"{SIDE} && echo two >>code.txt && git commit -qam Second && git merge -q --no-edit side",
        f"{SIDE} && git commit -q --allow-empty -m Second && git rebase -q side",
        "git gc --quiet && git fsck",
    ],
)
def test_git_works_in_a_shared_tree(box: Sandbox, command: str) -> None:
    """It works as without the sandbox, and the user's own git is content with what it finds."""
    status, said = box.run(command)
    assert status == 0, said
    box.git("fsck")
    box.git("status")


PLANTED = "printf '[core]\\n\\tfsmonitor = touch %s/planted\\n' \"$PWD\""


@pytest.mark.parametrize(
    "command",
    [
        f"{PLANTED} >>.git/config",
        "git config core.fsmonitor 'touch planted'",
        "rm -f .git/config.lock && git config core.fsmonitor 'touch planted'",
        f"{PLANTED} >other && mv other .git/config",
        f"{PLANTED} >.git/config.worktree",
        f"mkdir other && {PLANTED} >other/config && echo ../other >.git/commondir",
        f"mkdir other && {PLANTED} >other/config && echo ../other >new && mv new .git/commondir",
        "mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch planted\\n' >.git/hooks/post-index-change",
        "mv .git/hooks .git/were",
        "mkdir -p .git/modules/sub",
        "mkdir -p .git/worktrees/one",
        "echo '* filter=x' >.git/info/attributes",
        "cp -r .git other && mv .git was && mv other .git",
    ],
)
def test_what_git_obeys_cannot_be_planted(box: Sandbox, command: str) -> None:
    box.git("config", "extensions.worktreeConfig", "true")
    status, said = box.run(f"( {command} ) 2>/dev/null")
    assert status != 0, said
    box.git("status")
    box.git("checkout", "-q", "-b", "side")
    assert not (box.project / "planted").exists()


@pytest.mark.parametrize("name", ["config", "hooks", "commondir"])
def test_a_link_in_their_place_is_refused(box: Sandbox, name: str) -> None:
    """A mount lies where a link leads, and the link itself could be replaced."""
    path, aside = box.git_folder / name, box.root / "aside"
    if path.exists():
        path.rename(aside)
    elif name == "commondir":
        aside.write_text(".\n")
    else:
        aside.mkdir()
    path.symlink_to(aside)
    assert box.run("true")[0] == 126
    path.unlink()
    if name == "config":
        aside.rename(path)


def test_config_stands_still_while_an_agent_works(box: Sandbox) -> None:
    """Replaced by the user's own git, it would lose its mount: then the agent could write it (measured)."""
    process = box.started("echo up; until [ -e go ]; do sleep 0.02; done; echo '#' >>.git/config")
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    box.git("config", "user.name", "Another", status=255)
    (box.project / "go").touch()
    assert process.wait(timeout=20) != 0
    box.git("config", "user.name", "Another")


def test_guards_stay_until_the_last_sandbox_ends(box: Sandbox) -> None:
    """Taken away or made anew under another one, they would lose their mounts."""
    second = "until [ -e go ]; do sleep 0.02; done; echo x >.git/commondir"
    processes = [box.started(f"touch up-{number}; {second}") for number in range(4)]
    wait_until(lambda: len(list(box.project.glob("up-*"))) == len(processes), within=30)
    assert box.run("true") == (0, "")
    assert box.guards == list(GUARDS)
    (box.project / "go").touch()
    for process in processes:
        process.communicate(timeout=30)
        assert process.returncode != 0, "what a sandbox protects, it protects to its end"


def test_guards_of_one_that_was_killed_are_taken_over(box: Sandbox) -> None:
    """The user's git works with them meanwhile."""
    process = box.started("touch up; sleep 60")
    wait_until((box.project / "up").exists, within=20)
    process.kill()
    process.wait(timeout=20)
    assert box.guards == list(GUARDS)
    box.git("commit", "-q", "--allow-empty", "-m", "By the user")
    assert box.run("git status")[0] == 0


def test_a_lock_of_the_user_s_git_is_not_taken_over(box: Sandbox) -> None:
    lock = box.git_folder / "config.lock"
    lock.write_text("[user]\n")
    assert box.run("true")[0] == 126
    assert lock.read_text() == "[user]\n"
    lock.unlink()


def test_no_repository_is_begun_where_there_is_none(box: Sandbox) -> None:
    aside = box.git_folder.rename(box.root / "aside")
    assert box.run("git init -q . || mkdir .git/objects")[0] != 0
    assert not box.git_folder.exists(), "nothing is left in its place"
    aside.rename(box.git_folder)


def test_a_repository_beside_its_tree_is_read_only(box: Sandbox) -> None:
    """Of `git init --separate-git-dir`, say: what is beneath the workspace cannot be written, nor moved away."""
    bare = box.project / "deep" / "repository"
    bare.parent.mkdir()
    aside = box.git_folder.rename(bare)
    box.git_folder.write_text("gitdir: deep/repository\n")
    for command in ("echo x >>deep/repository/config", "echo x >.git", "mv .git was", "mv deep were"):
        assert box.run(command)[0] != 0, command
    assert box.run("git status")[0] == 0
    box.git_folder.unlink()
    aside.rename(box.git_folder)


def test_in_a_workspace_around_it_the_project_is_kept(box: Sandbox) -> None:
    """With a `cwd:` above the project, and above the PM's own folder, its tasks and that folder are still closed."""
    box.workspace = box.root
    tasks = shlex.quote(str(box.project / "tasks"))
    for command in (
        "mv project was",
        f"mv {tasks} were",
        f"echo x >>{tasks}/t1/task.md",
        "mv state was",
        "echo x >state/x",
        "git init -q .",
    ):
        assert box.run(command)[0] != 0, command
    assert box.run("ls -A state")[1] == "tasks\n"
    assert box.run(f"echo x >{tasks}/t1/handoffs/x && echo x >project/new.txt")[0] == 0


def test_a_run_writes_its_own_folders_of_the_task(box: Sandbox) -> None:
    may = ("handoffs/x", "artifacts/dev/x", "scratchpad/dev/x")
    assert box.run(" && ".join(f"echo x >tasks/t1/{each}" for each in may))[0] == 0
    for each in ("task.md", "artifacts/x", "scratchpad/x", "x"):
        assert box.run(f"echo x >tasks/t1/{each}")[0] != 0, each
    assert box.run("mv tasks/t1/handoffs tasks/t1/were")[0] != 0


def test_a_role_says_how_its_work_goes(box: Sandbox) -> None:
    """Its status lies among what was read-only: the script said that the folder cannot be written."""
    (box.task / "data" / "agent-status").mkdir(parents=True)
    script = SANDBOXED.parents[1] / "scripts" / "status-update.sh"
    shutil.copy(script, box.project)  # the checkout may lie in what a sandbox has of its own, /tmp
    assert box.run("./status-update.sh implementer findings 'It reads both'") == (0, "")
    status = json.loads((box.task / "data" / "agent-status" / "implementer.json").read_text())
    assert status["findings"] == ["It reads both"]
    assert box.run("echo x >tasks/t1/data/x")[0] != 0


@pytest.mark.parametrize("workspace", ["worktree", "shared"])
def test_what_an_agent_leaves_behind_ends_with_its_sandbox(box: Sandbox, workspace: str) -> None:
    """A process of the author that waits for the judge's order could write the approval: see the boundaries page."""
    if workspace == "worktree":
        box.workspace = box.state / "tasks" / "t1-0123abcd" / "trees" / "dev"
        box.workspace.mkdir(parents=True)
    trace = box.task / "scratchpad" / "dev" / "trace"
    loop = f"for i in $(seq 600); do echo x >>{shlex.quote(str(trace))}; sleep 0.05; done"
    left = f'(env -i PATH="$PATH" setsid sh -c {shlex.quote(loop)} >/dev/null 2>&1 </dev/null &)'
    status, said = box.run(f"{left}; until [ -s {shlex.quote(str(trace))} ]; do sleep 0.05; done")
    assert (status, said) == (0, "")

    def gone() -> bool:
        return not any(_has(words, str(trace)) for words in Path("/proc").glob("[0-9]*/cmdline"))

    wait_until(gone)


def _has(cmdline: Path, word: str) -> bool:
    try:
        return word.encode() in cmdline.read_bytes()
    except OSError:
        return False
