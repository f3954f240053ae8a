"""`task attach`: shows the agents' windows, in the task's tmux session on a socket of our own."""

from __future__ import annotations

import os
import sys

from orchestrator import layout
from orchestrator.cli.exits import SAID, CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.cli.tasks import TaskRecord, about_task, called, chosen
from orchestrator.model.host_names import HERE, is_box

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

EXAMPLE = "task attach tidy dev --read-only"
_DEADLINE = 5.0


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task attach`."""
    about_task(parser)
    parser.add_argument("agent", metavar="AGENT", nargs="?", help="begin at the window of this agent")
    parser.add_argument("--read-only", action="store_true", help="watch only: no key reaches the agents")


def run(options: Namespace) -> int:
    """Replace this process by tmux, attached to the task's session."""
    task = chosen(options, "agent")
    agent = _agent(task, options.agent) if options.agent else {}
    tmux = _tmux(task)
    pane = _pane(task, tmux, agent) if agent else ""
    if not sys.stdout.isatty():
        raise CommandError(Exit.USAGE, f"attach needs a terminal; without one: `task logs {called(task)}`")
    attach = ["attach-session", *(["-r"] if options.read_only else []), "-t", f"={task.id}"]
    environment = {key: value for key, value in os.environ.items() if key not in {"TMUX", "TMUX_PANE"}}
    select = ["select-window", "-t", pane, ";"] if pane else []
    os.execvpe(tmux[0], [*tmux, *select, *attach], environment)  # noqa: S606 (no shell is the point)


def _agent(task: TaskRecord, agent: str) -> dict[str, Any]:
    """Return the entry of an agent that still has a window."""
    agents = [
        each for each in task.readable_view()["agents"] if agent in {each.get("name"), each.get("agent")}
    ]
    there = [
        each for each in agents if (each.get("pane") or is_box(_host(each))) and each.get("state") != "gone"
    ]
    if not there:
        live = [harmless(each.get("name")) for each in task.view["agents"] if each.get("state") != "gone"]
        raise CommandError(
            Exit.USAGE,
            f"{agent[:40]!a} has no window in {task.name} now; agents with a window: {', '.join(live) or 'none'} "
            f"(to see what its last window showed: `task logs {called(task)} {harmless(agent)}`)",
        )
    found: dict[str, Any] = there[-1]
    return found


def _host(agent: dict[str, Any]) -> str:
    return str(agent.get("host") or HERE)


def _pane(task: TaskRecord, tmux: list[str], agent: dict[str, Any]) -> str:
    """Return the pane on this machine that shows an agent: its own, or that of its box.

    Raises:
        CommandError: it is closed, or belongs to another session now, as tmux reuses pane numbers.

    """
    host = _host(agent)
    if not is_box(host):
        pane = str(agent["pane"])
        if _said(tmux, "display-message", "-p", "-t", pane, "#{session_name}") == task.id:
            return pane
        raise CommandError(
            Exit.FAILED,
            f"that agent's window is closed; to see which agents are there: `task status {called(task)}`",
        )
    # The number of its pane counts on the box only; here it may be another pane's.
    panes = _said(tmux, "list-panes", "-s", "-t", f"={task.id}:", "-F", "#{pane_id} #{@box}") or ""
    for pane, _, box in (line.partition(" ") for line in panes.splitlines()):
        if box == host:
            return pane
    raise CommandError(
        Exit.FAILED,
        f"that agent works on {harmless(host)}, which has no window here now; to see that box: `task hosts`",
    )


def _tmux(task: TaskRecord) -> list[str]:
    """Return the command that reaches our tmux server, once the server is known to have the task's session.

    Raises:
        CommandError: there is no such session.

    """
    from pathlib import Path

    from orchestrator.formats.settings import load_section

    socket = load_section(Path(layout.config_file(os.environ)), os.environ, "tmux").socket
    tmux = ["tmux", "-S" if "/" in socket else "-L", os.path.expanduser(socket)]  # noqa: PTH111 (as it was given)
    if _said(tmux, "has-session", "-t", f"={task.id}") is None:
        state = task.view.get("state", "not begun")
        again = f"to start it: `{typed('task', 'start', task.name, '--project', task.project)}`; "
        raise CommandError(
            Exit.FAILED,
            f"{task.name} has no tmux session now ({SAID.get(state, state)}); "
            f"{again if state == 'stopped' else ''}to see its log: `task logs {called(task)}`",
        )
    return tmux


def _said(tmux: list[str], *command: str) -> str | None:
    """Return what tmux printed, or None if it refused."""
    import subprocess

    from orchestrator.hosts.tmux_failures import failure, is_of_another_version

    try:
        done = subprocess.run(
            [*tmux, *command], capture_output=True, text=True, timeout=_DEADLINE, check=False
        )
    except FileNotFoundError as error:
        raise CommandError(
            Exit.FAILED, "tmux is not installed: install it with your package manager"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            Exit.FAILED, f"tmux did not answer within {_DEADLINE:.0f} s: is its server frozen?"
        ) from error
    if is_of_another_version(done.stderr):
        raise CommandError(Exit.FAILED, str(failure(command[0], done.stderr.strip(), tmux[-1])))
    return done.stdout.strip() if done.returncode == 0 else None
