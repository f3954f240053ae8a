"""What a preparation is launched with: files of the project, if git ignores them, and the variables of its tree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.daemon.actions.preparation import preparation_of, shared_caches, tree_variables
from orchestrator.daemon.core.task_paths import Adapters, TaskPaths
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Refused
from orchestrator.model.plan import Gate, Step
from orchestrator.model.run import Purpose, Run
from orchestrator.model.settings import Settings
from orchestrator.model.task import AgentOverrides, Brief, Config, Location, Phase, WorkspaceKind
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.ports.worktree import Tree
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.fake_workspaces import FakeWorkspaces
from orchestrator.testing.memory_files import MemoryFiles

HOME, PROJECT = Path("/pm/tasks/demo-1"), Path("/project")
WHERE = TaskPaths(PROJECT, HOME, PROJECT / "tasks/demo", Path("/pm/worktrees/demo-1"))
RUN = Run("r-1", "dev:a", 1, "dev", "dev-prepare", Purpose.PREPARE, 0.0)
STEP = Step(
    "dev:a",
    "dev",
    "Do",
    "",
    Phase.DEVELOPING,
    kind=WorkspaceKind.WORKTREE,
    workspace="a",
    gates=(Gate.COMMIT,),
)


class Ignoring(FakeWorkspaces):
    """Workspaces in which git ignores `.env` and `link`."""

    def ignored(self, tree: Tree, paths: object) -> tuple[str, ...]:
        assert tree.name == "a"
        return tuple(path for path in (".env", "link", "gone") if path in paths)  # type: ignore[operator]


def world(**config: object) -> tuple[Adapters, PMState]:
    files = MemoryFiles()
    for folder in (HOME, PROJECT, Path("/etc")):
        files.make_folder(folder)
    files.write(PROJECT / ".env", b"A=1")
    files.write(Path("/etc/shadow"), b"root")
    state = PMState(
        id="demo-1",
        name="demo",
        brief=Brief("T", "g", ("c",), Config(**config)),  # type: ignore[arg-type]
        steps=Steps([STEP]),
    )
    host = FakeHost(files, FakeClock(0.0), lambda _: None)  # type: ignore[arg-type, return-value]
    return Adapters(files, host, Ignoring(), Settings(), {}), state


def test_copied_files_are_laid_into_the_runs_folder() -> None:
    adapters, state = world(prepare=(("make",),), prepare_copy=(".env",))
    launching = preparation_of(adapters, state, RUN, WHERE, WHERE)
    assert launching.argv == ("sh", f"{HOME}/runs/r-1/prepare.sh")
    assert launching.files["copied-1"] == b"A=1"
    assert b"copy 'copied-1' '.env'\nrun 'make' 'make'\n" in launching.files["prepare.sh"]


def test_file_that_git_does_not_ignore_is_refused() -> None:
    adapters, state = world(prepare_copy=("config.toml",))
    with pytest.raises(Refused, match=r"names config\.toml, which git does not ignore on task/demo"):
        preparation_of(adapters, state, RUN, WHERE, WHERE)


def test_file_that_is_not_there_is_refused_by_name() -> None:
    adapters, state = world(prepare_copy=("gone",))
    with pytest.raises(Refused, match="names gone, which is not in /project"):
        preparation_of(adapters, state, RUN, WHERE, WHERE)


def test_variables_name_ports_and_folders_that_exist() -> None:
    adapters, state = world(prepare_ports=("WEB",), prepare_caches=("CACHE",))
    variables = tree_variables(adapters, state, STEP, WHERE, WHERE)
    assert variables == {"WEB": "20000", "CACHE": "/pm/caches/demo-1/CACHE"}
    (cache,) = shared_caches(state, STEP, WHERE)
    entry = adapters.files.entry(cache)
    assert entry is not None
    assert entry.is_folder


def test_folder_of_an_agents_own_gets_no_variables() -> None:
    own = {"dev": AgentOverrides(cwd=Location("/elsewhere"))}
    adapters, state = world(prepare_ports=("WEB",), prepare_caches=("CACHE",), agents=own)
    assert tree_variables(adapters, state, STEP, WHERE, WHERE) == {}
    assert shared_caches(state, STEP, WHERE) == ()


def test_link_that_leads_out_of_the_project_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("mine")
    (project / "link").symlink_to(tmp_path / "secret")
    adapters, state = world(prepare_copy=("link",))
    with pytest.raises(Refused, match="names link, which leads out of"):
        preparation_of(
            replace(adapters, files=DiskFiles(project)), state, RUN, replace(WHERE, code=project), WHERE
        )


def test_a_clone_on_a_box_is_prepared_there() -> None:
    """Its caches lie there, the run makes them, and git there says what it ignores. Files are copied from here."""
    there = TaskPaths(
        Path("/srv/repo"), Path("/home/ada/.pm/tasks/demo-1"), Path("/srv/repo/tasks/demo"), HOME
    )
    config = {"cwd": Location("/srv/repo", "dev1"), "prepare_copy": (".env",), "prepare_caches": ("CACHE",)}
    adapters, state = world(prepare=(("make",),), **config)
    launching = preparation_of(adapters, state, replace(RUN, host="dev1"), WHERE, there)
    cache = "/home/ada/.pm/caches/demo-1/CACHE"
    assert launching.argv == ("sh", f"{there.home}/runs/r-1/prepare.sh")
    assert f"cache '{cache}'\nignored '.env'\nunless_done\n".encode() in launching.files["prepare.sh"]
    assert launching.files["copied-1"] == b"A=1"
    assert tree_variables(adapters, state, STEP, WHERE, there) == {"CACHE": cache}
    assert adapters.files.entry(Path(cache)) is None
