"""The paths and adapters of one task: where everything is, here and as its runs see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from orchestrator import layout
from orchestrator.daemon.core.memories_there import memory_folder
from orchestrator.formats.reset_time import OURS, Zone
from orchestrator.hosts.host_kinds import host_of_kind
from orchestrator.model.composite import MEMORY_FOLDER
from orchestrator.model.errors import Refused
from orchestrator.model.host_names import HERE
from orchestrator.model.plan import Gate
from orchestrator.model.run import Purpose
from orchestrator.model.task import ROLES, WorkspaceKind
from orchestrator.pm.plan.tree_lives import life_of
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.boxes import Boxes, RemoteTask
from orchestrator.ports.host import Host
from orchestrator.ports.marked_runs import MarkedRuns, NoMarkedRuns
from orchestrator.ports.no_boxes import NoBoxes
from orchestrator.ports.reporter import Reporter
from orchestrator.ports.workspaces import Workspaces
from orchestrator.ports.worktree import Tree
from orchestrator.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from orchestrator.model.plan import Step
    from orchestrator.model.run import Run
    from orchestrator.model.settings import Settings
    from orchestrator.model.task import Brief
    from orchestrator.pm.state.task_state import PMState
    from orchestrator.ports.files import Files


@dataclass(frozen=True, slots=True)
class TaskPaths:
    """The folders of one task: its code, its own folder, its folder in the project, its worktrees, its template."""

    code: Path
    home: Path
    task: Path
    trees: Path
    template: Path | None = None


def code_of(project: str, brief: Brief) -> Path:
    """Return the folder here with the code that a task works on: the `cwd:` of task.md, or the project (H3)."""
    place = brief.config.cwd
    return Path(place.path).expanduser() if place and not place.host else Path(project)


def shared_place(state: PMState, run: Run) -> str:
    """Return a name for the tree that a run shares with others, here or on a box: only one may write there at a time.

    Empty if it works in a tree of the task's own.
    """
    place = location_of(state.brief.config, run.agent)
    if place is None:
        shared = state.steps[run.step].kind is WorkspaceKind.SHARED
        return str(code_of(state.project, state.brief)) if shared else ""
    return f"{place.host}:{place.path}" if place.host else str(Path(place.path).expanduser())


def remote_task_of(state: PMState, where: TaskPaths, run: Run, over: Iterable[Run] = ()) -> RemoteTask | None:
    """Return what a task has on the box of a run; None if the run lives here.

    `over` are runs that have ended, and whose files were not all fetched.
    """
    place = location_of(state.brief.config, run.agent)
    if not run.on_box or place is None:
        return None

    def of(runs: Iterable[Run]) -> frozenset[str]:
        """Return the runs that are in the same location."""
        config = state.brief.config
        return frozenset(
            each.id
            for each in runs
            if each.on_box and each.host == run.host and location_of(config, each.agent) == place
        )

    return RemoteTask(
        run.host,
        state.id,
        state.name,
        where.home,
        where.task,
        place.path,
        of(state.live_runs),
        of(over),
        workflow=state.brief.workflow is not None or state.brief.skill is not None,
    )


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapters to the outside world."""

    files: Files
    host: Host
    workspaces: Workspaces
    settings: Settings
    environ: Mapping[str, str]
    boxes: Boxes = field(default_factory=NoBoxes)
    marked_runs: MarkedRuns = field(default_factory=NoMarkedRuns)
    reporter: Reporter | None = None

    def host_of(self, run: Run) -> Host:
        """Return the host on which a run lives. Raises Unavailable while its box is lost, Refused if there is none."""
        if run.on_box:
            return self.boxes.host(run.host)
        return self.host if run.host == HERE else host_of_kind(run.host, self.host)

    def host_seen(self, run: Run) -> Host:
        """Return the host through which a run with the files of this machine is looked at.

        That is this machine where its kind is not installed any more: then its processes here are all that is seen.
        """
        try:
            return self.host_of(run)
        except Refused:
            return self.host


@dataclass(frozen=True, slots=True)
class RunView:
    """A run's view of its task: the same locations under names of its own machine, and that machine's environment."""

    where: TaskPaths
    environ: Mapping[str, str]
    name: str = ""


def zone_of(run: Run, environ: Callable[[str], Mapping[str, str]]) -> Zone:
    """Return the time zone of the machine of a run; None if it is unknown. `environ` returns a host's environment."""
    if not run.on_box:
        return OURS
    try:
        return ZoneInfo(environ(run.host).get("TZ", "").removeprefix(":"))
    except (KeyError, ValueError, OSError):
        return None


def workspace_of(state: PMState, run: Run, where: TaskPaths) -> Path:
    """Return the folder in which a run works, on its own machine, as far as it is known without a look."""
    if (place := location_of(state.brief.config, run.agent)) is not None:
        return Path(place.path) if place.host else Path(place.path).expanduser()
    tree = tree_of(state, state.steps[run.step], where)
    return where.code if tree is None else tree.path


def task_folder_of(state: PMState, run: Run, here: Path) -> Path:
    """Return the task's folder as a run sees it; `here` is the local one."""
    place = location_of(state.brief.config, run.agent)
    return layout.task_folder(Path(place.path), state.name) if run.on_box and place else here


def tree_of(state: PMState, step: Step, where: TaskPaths) -> Tree | None:
    """Return the worktree with a step's work, or None if it works in the user's own tree."""
    if not step.workspace:
        return None
    return Tree(
        project=where.code,
        root=where.trees,
        name=step.workspace,
        branch=state.branch,
        base=state.tip or state.base,  # from where the branch is made, if somebody deleted it
        detached=step.kind is WorkspaceKind.READ_ONLY,
        life=max(life_of(state, step), 1),
    )


def worked_in(state: PMState, run: Run, where: TaskPaths) -> Tree | None:
    """Return the worktree in which a run works here; None if it has none, or a folder of its own."""
    if location_of(state.brief.config, run.agent) is not None:
        return None
    return tree_of(state, state.steps[run.step], where)


def artifacts_of(state: PMState, run: Run, task: Path) -> Path:
    """Return the folder for a run's artifacts. Subtasks have one each here, as they are worked on at the same time."""
    subtask = "" if run.on_box else state.steps[run.step].subtask
    return layout.artifacts(task, state.agents[run.agent].artifact_folder, subtask)


def hands_in_to(state: PMState, run: Run, task: Path) -> Path:
    """Return the folder in which a run puts its handoffs; `task` is the task's folder as the run sees it.

    On a box all agents share the `handoffs/` there: what is fetched from it has passed no outbox.
    """
    if state.brief.config.outboxes and not run.on_box:
        return layout.outbox(task, run.instance)
    return layout.handoffs(task)


def operation_roots(files: Files, state: PMState, run: Run, where: TaskPaths) -> tuple[Path, ...]:
    """Return the folders below which the PM carries out a run's file operations, links followed: the workspace first.

    A step that is only to look has its folder for artifacts alone.
    """
    own = artifacts_of(state, run, where.task)
    looks = state.steps[run.step].kind is WorkspaceKind.READ_ONLY
    return tuple(map(files.real, (own,) if looks else (workspace_of(state, run, where), own)))


def status_script(state: PMState, run: Run) -> Path | None:
    """Return the script by which the agent of a run says in its status how its work goes; None if it has none."""
    works = run.purpose is Purpose.WORK and not run.on_box
    return shipped("scripts") / "status-update.sh" if works and state.brief.config.family == ROLES else None


def granted(state: PMState, run: Run, task: Path) -> tuple[Path, ...]:
    """Return the folders that a run must write besides its workspace; there are no others (H8)."""
    own = (
        hands_in_to(state, run, task),
        artifacts_of(state, run, task),
        layout.scratchpad(task, run.instance),
    )
    if Gate.MEMORY in state.steps[run.step].gates:
        memories = memory_folder(task) if run.on_box else Path(state.project) / MEMORY_FOLDER
        return (*own, memories)
    if Gate.NOTES in state.steps[run.step].gates:
        return (*own, layout.orchestration(task))
    return (*own, layout.role_statuses(task)) if state.brief.config.family == ROLES else own
