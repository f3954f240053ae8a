"""`task spawn`: starts an agent with a handoff of the user's own (H2)."""

from __future__ import annotations

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import TaskRecord, find, parted

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

EXAMPLE = "task spawn tidy dev --handoff handoffs/pm-20251127-153000.md"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task spawn`."""
    parser.usage = (
        "task spawn [--project P] [NAME] AGENT (--handoff FILE | --instructions T)\n"
        "       task spawn --task-dir DIR AGENT (--handoff FILE | --instructions T)"
    )
    parser.add_argument(
        "names",
        metavar="[NAME] AGENT",
        nargs="+",
        help="the task (needed if there are several here; not with --task-dir), the agent",
    )
    parser.add_argument("--project", metavar="PATH", help="the task's project, if it is not where you are")
    parser.add_argument(
        "--task-dir", metavar="DIR", help="the task's folder, PROJECT/tasks/NAME, instead of NAME"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--handoff", metavar="FILE", help="a file with the instructions; its path may be relative to the task"
    )
    what.add_argument("--instructions", metavar="TEXT", help="the instructions themselves")
    parser.add_argument("--remote", metavar="USER@HOST:/PATH", help="refused: use `AGENT.cwd:` in task.md")


def run(options: Namespace) -> int:
    """Request a run of the agent with these instructions."""
    if options.remote:
        raise CommandError(
            Exit.USAGE,
            "--remote is not supported: an agent works on one box for the whole task. Write "
            "`AGENT.cwd: user@host:/path` under Agent Config of task.md, then start the task",
        )
    from pathlib import Path

    from orchestrator.cli.requests import ask

    task, agent = _meant(options)
    instructions = options.instructions or _handoff(options.handoff, Path(task.project) / "tasks" / task.name)
    print(harmless(ask(task.home, "spawn", {"agent": agent, "instructions": instructions})))
    return Exit.DONE


def _meant(options: Namespace) -> tuple[TaskRecord, str]:
    from pathlib import Path

    from orchestrator.model.names import checked_name

    names = options.names
    if options.task_dir:
        folder = Path(options.task_dir).resolve()
        if folder.parent.name != "tasks":
            raise CommandError(
                Exit.USAGE, f"--task-dir {folder} is not a task's folder, which is PROJECT/tasks/NAME"
            )
        task = find(folder.name, str(folder.parent.parent))
    else:
        task, names = parted(names, options.project)
    if len(names) != 1:
        raise CommandError(
            Exit.USAGE, "name the task and one agent: `task spawn [NAME] AGENT --handoff FILE`"
        )
    return task, checked_name(names[0], "agent name")


def _handoff(given: str, folder: Path) -> str:
    """Return the text of a handoff; its path is relative to the current folder, or else to the task's folder."""
    from orchestrator.formats.text import decoded
    from orchestrator.hosts.disk import DiskFiles

    path = folder.__class__(given)
    if not path.exists():
        path = folder / given
    return decoded(DiskFiles().read(path), str(path))
