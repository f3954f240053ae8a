"""How the model that a script plays gets something done: each CLI's own tools, chosen by what a request offers."""

from __future__ import annotations

import shlex
from typing import Final

from tests.clis.answers import Reply, call, say
from tests.clis.model_request import ModelRequest

_RUN: Final = {
    "Bash": "command",
    "exec_command": "cmd",
    "shell_command": "command",
    "run_shell_command": "command",
}
_RUN_TOLD: Final = {"bash": "command"}  # opencode wants a description besides
_WRITE: Final = {"Write": "file_path", "write_file": "file_path", "write": "filePath"}


class NoSuchHand(AssertionError):
    """A request offers no tool for what is to be done."""


def run(request: ModelRequest, command: str) -> Reply:
    """Return a reply that wants a shell command run. Raises NoSuchHand."""
    for tools, more in ((_RUN, {}), (_RUN_TOLD, {"description": "As ordered"})):
        for name, field in tools.items():
            if name in request.conversation.tools:
                return call(name, **{field: command}, **more)
    raise NoSuchHand(f"nothing to run a command with among {sorted(request.conversation.tools)}")


def write(request: ModelRequest, path: str, content: str) -> Reply:
    """Return a reply that wants a file written, with a tool for that or else by the shell.

    Without any tool it is the whole file, as aider takes it from what the model says.
    """
    if not request.conversation.tools:
        return say(f"{path}\n```\n{content}```\n")
    for name, field in _WRITE.items():
        if name in request.conversation.tools:
            return call(name, **{field: path}, content=content)
    return run(request, f"printf %s {shlex.quote(content)} > {shlex.quote(path)}")


def may_write(request: ModelRequest) -> bool:
    """Tell whether files can be written: by a tool for that, or by a shell that is the only tool there ever is."""
    offered = set(request.conversation.tools)
    return bool(offered & (_WRITE.keys() | {"exec_command", "shell_command"}))


def publish(request: ModelRequest, folder: str, name: str, content: str) -> Reply:
    """Return a reply that wants a file put into a folder whole; the shell expands `name`, as in `$(date +%s).md`."""
    staged = f"{folder}/.being-written"
    command = f"printf %s {shlex.quote(content)} > {shlex.quote(staged)}"
    return run(request, f'{command} && mv {shlex.quote(staged)} {shlex.quote(folder)}/"{name}"')
