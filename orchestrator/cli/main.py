"""The program: finds the verb, parses its arguments, runs it, and reports an error in one sentence."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from collections.abc import Sequence

VERBS = {
    "start": "create a task's folder; begin the task, or go on with it",
    "status": "show the state of a task",
    "list": "show all tasks",
    "watch": "show all tasks live on one screen, and answer questions there",
    "serve": "show all tasks on a page for a browser; answer questions there",
    "hosts": "show the boxes, containers and clusters where agents work",
    "stop": "end the PM's work on a task, and its agents",
    "attach": "watch the agents in tmux",
    "checkin": "let the PM check a task now",
    "logs": "show what the PM decided, or what an agent's terminal showed",
    "why": "show why the PM did what it did",
    "report": "write a page about a task, or about the night, for the browser",
    "diff": "show what a task, or one of its steps, has changed",
    "merge": "merge a task's branch into yours, or undo that",
    "rebase": "move a task's work on top of your branch as it is now",
    "undo": "undo the file operations of a step",
    "delete": "delete a task, with all that belongs to it",
    "archive": "pack a task into one file and remove it, or restore it",
    "spawn": "start an agent with a handoff of your own",
    "order": "start an agent with a sentence",
    "questions": "show what waits for your answer",
    "answer": "answer a question",
    "notify": "try the notification channels, list notifications",
    "memory": "search what was learned in a project, add to it, put it away",
    "observe": "report how handoffs, questions and time went, by day",
    "workflow": "design, check, approve and show a workflow of several agents",
    "skill": "list composite skills, and carry one out phase by phase",
    "templates": "show the templates that a task can start from",
    "setup-agents": "write the default agents into a project",
    "mcp": "let an agent CLI look at tasks by the Model Context Protocol",
    "config": "show each setting, its value and where the value comes from",
    "doctor": "check what is installed and what a task would lack",
    "completion": "print a completion script for bash, zsh or fish",
    "daemon": "start, stop, install or inspect the daemon",
    "help": "explain a verb, `json` documents and `schemas`, or `exit-codes`",
}
_WITHOUT_CHECK = frozenset({"daemon", "help", "mcp"})
"""Verbs that check on the daemon in their own way, or not at all."""
_READ_ONLY = frozenset(
    {
        "status",
        "list",
        "hosts",
        "logs",
        "why",
        "report",
        "diff",
        "questions",
        "templates",
        "config",
        "doctor",
        "completion",
        "help",
        "daemon",
        "notify",
        "workflow",
        "skill",
        "memory",
        "observe",
        "mcp",
    }
)
"""Read-only verbs, which agents may use too. Those with subcommands that change something check these themselves."""

INTERRUPTED = 130
PIPE_CLOSED = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
        return code
    except CommandError as error:
        return _say(*explained(error))
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (the outermost loop)
        return _unexpected(error)


def _run(words: list[str]) -> int:
    verb, rest = (words[0], words[1:]) if words else ("--help", [])
    if verb == "--version":
        from orchestrator import __version__

        print(f"agent-orchestrator {__version__}")
        return Exit.DONE
    if verb == "complete":  # run by the scripts of `task completion` at each press of a key: prints no errors
        return _complete(rest)
    if verb in {"-h", "--help"}:
        verb = "help"
    if verb not in VERBS:
        raise CommandError(Exit.USAGE, _unknown_verb(verb))

    from orchestrator.cli.parser import VerbParser

    module = import_module(f"orchestrator.cli.{verb.replace('-', '_')}")
    parser = VerbParser(verb, VERBS[verb], module.EXAMPLE)
    module.arguments(parser)
    options = parser.read(rest)
    if verb not in _READ_ONLY:
        from orchestrator.cli.caller import forbid_inside_run

        forbid_inside_run(verb)
    if verb not in _WITHOUT_CHECK:
        check_daemon()
    code: int = module.run(options)
    return code


def _complete(words: list[str]) -> int:
    try:
        from orchestrator.cli.complete import complete

        complete(words)
    except BrokenPipeError:
        raise
    except Exception:
        if os.environ.get("ORCHESTRATOR_DEBUG"):
            raise
    return Exit.DONE


def check_daemon() -> None:
    """Print a line if a daemon with tasks at work is dead or hangs. If its heartbeat is fresh, this costs one stat."""
    from orchestrator import layout
    from orchestrator.cli.beat import is_fresh

    try:
        state = layout.state_folder(os.environ)
        if is_fresh(state):
            return
        from orchestrator.cli.alarm import sound

        sound(state)
    except Exception:
        if os.environ.get("ORCHESTRATOR_DEBUG"):
            raise


def _unknown_verb(word: str) -> str:
    from difflib import get_close_matches

    from orchestrator.cli.parser import called_as

    near, name = get_close_matches(word, VERBS, n=1), called_as()
    guess = f"did you mean `{name} {near[0]}`?" if near else f"`{name} --help` lists all verbs"
    return f"there is no verb {word[:40]!a}: {guess}"


def _say(message: str, code: int) -> int:
    from orchestrator.cli.parser import called_as

    print(f"{called_as()}:", "\n".join(harmless(line) for line in message.split("\n")), file=sys.stderr)
    return code


def _unexpected(error: Exception) -> int:
    if os.environ.get("ORCHESTRATOR_DEBUG"):
        import traceback

        traceback.print_exc()
    return _say(*explained(error))


def explained(error: Exception) -> tuple[str, int]:
    """Return what to tell the user of an error, and the exit code."""
    if isinstance(error, CommandError):
        return str(error), error.code
    from orchestrator import own_files
    from orchestrator.model.errors import OrchestratorError, Refused

    if isinstance(error, OrchestratorError):
        return str(error), Exit.USAGE if isinstance(error, Refused) else Exit.FAILED
    if isinstance(error, own_files.Untrusted):
        return error.reason, Exit.FAILED
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}", Exit.FAILED
    said = f"internal error ({type(error).__name__}: {error}); to see where, set ORCHESTRATOR_DEBUG=1"
    return said, Exit.FAILED
