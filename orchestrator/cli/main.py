"""The program: finds the verb, reads its arguments, runs it, and says in one sentence what went wrong."""

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
    "start": "make a task's folder and let the PM begin, or go on, with it",
    "status": "show where a task stands",
    "list": "show all tasks",
    "hosts": "show the boxes on which agents work, and how each is",
    "stop": "end the PM's work on a task, and its agents",
    "attach": "look over the agents' shoulders in tmux",
    "checkin": "let the PM look at a task now",
    "logs": "show what the PM decided, or what an agent's terminal showed",
    "why": "show why the PM did what it did",
    "diff": "show what a task, or one of its steps, has changed",
    "merge": "bring a task's branch into yours, or take that back",
    "rebase": "let a task's work stand upon your branch as it is today",
    "delete": "take a task away, with all that belongs to it",
    "archive": "put a task into one file and take it away, or bring it back",
    "spawn": "start an agent with a handoff of your own",
    "order": "start an agent with a sentence",
    "questions": "show what waits for your answer",
    "answer": "answer a question",
    "notify": "try the channels that tell you, show what was told",
    "templates": "show the templates that a task can start from",
    "setup-agents": "write the default agents into a project",
    "config": "show each setting, its value and where that comes from",
    "doctor": "tell what is here, what a task would miss, and how to mend it",
    "completion": "print a script by which bash, zsh or fish complete `task`",
    "daemon": "start, stop, install or look at the daemon",
    "help": "explain a verb, `json` documents and `schemas`, or `exit-codes`",
}
_ABOUT_ITSELF = frozenset({"daemon", "help"})
"""Verbs that mind the daemon in their own way, or not at all."""
_LOOKING = frozenset(
    {
        "status",
        "list",
        "hosts",
        "logs",
        "why",
        "diff",
        "questions",
        "templates",
        "config",
        "doctor",
        "completion",
        "help",
        "daemon",
        "notify",
    }
)
"""Verbs that an agent may use too: they change nothing. `daemon`, `doctor` and `notify` tell their own uses apart."""

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
        return _say(str(error), error.code)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (the outermost loop)
        return _unforeseen(error)


def _run(words: list[str]) -> int:
    verb, rest = (words[0], words[1:]) if words else ("--help", [])
    if verb == "--version":
        from orchestrator import __version__

        print(f"agent-orchestrator {__version__}")
        return Exit.DONE
    if (
        verb == "complete"
    ):  # for the scripts of `task completion`: at each press of a key, and never a word of trouble
        return _complete(rest)
    if verb in {"-h", "--help"}:
        verb = "help"
    if verb not in VERBS:
        raise CommandError(Exit.USAGE, _no_verb(verb))

    from orchestrator.cli.parser import VerbParser

    module = import_module(f"orchestrator.cli.{verb.replace('-', '_')}")
    parser = VerbParser(verb, VERBS[verb], module.EXAMPLE)
    module.arguments(parser)
    options = parser.parse_args(rest)
    if verb not in _LOOKING:
        from orchestrator.cli.caller import forbid_inside_run

        forbid_inside_run(verb)
    if verb not in _ABOUT_ITSELF:
        mind_daemon()
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


def mind_daemon() -> None:
    """Say so if a daemon that has tasks at work is dead or hangs. Where it beats, this costs one look at a file."""
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


def _no_verb(word: str) -> str:
    from difflib import get_close_matches

    from orchestrator.cli.parser import called_as

    near, name = get_close_matches(word, VERBS, n=1), called_as()
    guess = f"did you mean `{name} {near[0]}`?" if near else f"`{name} --help` shows what there is"
    return f"there is no verb {word[:40]!a}: {guess}"


def _say(message: str, code: int) -> int:
    from orchestrator.cli.parser import called_as

    print(f"{called_as()}:", "\n".join(harmless(line) for line in message.split("\n")), file=sys.stderr)
    return code


def _unforeseen(error: Exception) -> int:
    from orchestrator import layout
    from orchestrator.model.errors import OrchestratorError, Refused

    if os.environ.get("ORCHESTRATOR_DEBUG"):
        import traceback

        traceback.print_exc()
    if isinstance(error, OrchestratorError):
        return _say(str(error), Exit.USAGE if isinstance(error, Refused) else Exit.FAILED)
    if isinstance(error, layout.Untrusted):
        return _say(error.reason, Exit.FAILED)
    if isinstance(error, OSError):
        return _say(f"{error.filename or 'the system'}: {error.strerror or error}", Exit.FAILED)
    kind = type(error).__name__
    return _say(f"this should not happen ({kind}: {error}): ORCHESTRATOR_DEBUG=1 shows where", Exit.FAILED)
