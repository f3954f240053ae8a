"""The files in a run's folder before it is opened: `launch.sh`, and `agent.sh`, which is made for this run.

If its agent program needs files of its own, they are there too, with `relay.sh`, by which it reports events.

`agent.sh` consists only of assignments and one command, every word of which is in single quotes: no byte of an argument
vector, an environment or a path is ever interpreted by the shell.
"""

from __future__ import annotations

import os
import re
from importlib.resources import files as package_files
from pathlib import Path
from typing import Final

from orchestrator.hosts.claims import CLAIMED, EXIT, PID
from orchestrator.hosts.run_processes import MARK
from orchestrator.hosts.tmux_arguments import checked_run
from orchestrator.model.errors import Refused
from orchestrator.ports.files import Files
from orchestrator.ports.host import RELAY, LaunchSpec

SCRIPT: Final = "launch.sh"
AGENT: Final = "agent.sh"
ORDER: Final = "order.md"
PANE_LOG: Final = "pane.log"

TERMINAL: Final = "screen-256color"
"""The value of `TERM` in our panes: known on every system, unlike tmux-256color. `tmux.conf` sets the same."""

_LAUNCH_SCRIPT: Final = package_files("orchestrator.hosts").joinpath(SCRIPT).read_bytes()
_RELAY: Final = package_files("orchestrator.hosts").joinpath(RELAY).read_bytes()
"""Read at the start: a daemon whose package is replaced keeps using the files that it was tested with."""

_OURS: Final = frozenset({SCRIPT, AGENT, PANE_LOG, CLAIMED, PID, EXIT, "launched", ORDER, "answers"})
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE: Final = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9]+)*")
_BLOCK: Final = 512  # bytes: the unit of POSIX `ulimit -f`


def lay_down(files: Files, spec: LaunchSpec) -> Path:
    """Write the run's files into its folder, which is made if missing; return the path of `launch.sh`.

    Raises:
        Refused: a run id, variable name or word that cannot be launched.

    """
    laid = scripts(spec)
    files.make_folder(spec.folder)
    for name, content in laid.items():
        files.write(spec.folder / name, content, durable=False)
    return spec.folder / SCRIPT


def scripts(spec: LaunchSpec) -> dict[str, bytes]:
    """Return the files of the run's folder, by name, in the order in which they are written. Raises Refused."""
    agent = agent_script(spec)
    theirs = {RELAY: _RELAY} | spec.files if spec.files else {}
    for name in theirs:
        checked_file(name)
    order = {ORDER: spec.order} if spec.order else {}
    return theirs | order | {AGENT: agent, SCRIPT: _LAUNCH_SCRIPT}


def checked_file(name: str) -> str:
    """Return a name if a runtime's file in a run's folder may have it. Raises Refused."""
    if not _FILE.fullmatch(name) or name in _OURS or name.endswith(".new"):
        raise Refused(f"{name[:40]!a} cannot be the name of a runtime's file")
    return name


def agent_script(spec: LaunchSpec) -> bytes:
    """Return the text of `agent.sh`. Raises Refused."""
    if not spec.argv or not spec.argv[0]:
        raise Refused(f"run {spec.run} has no program to run")
    if not spec.cwd.is_absolute():
        raise Refused(f"run {spec.run} would work in {str(spec.cwd)!a}: the folder must be absolute")
    return b"".join(
        [
            b"# What this run is. Made for it alone; read by launch.sh.\n",
            b"run=%b\n" % quoted(checked_run(spec.run)),
            b"cwd=%b\n" % quoted(str(spec.cwd)),
            b"log_blocks=%d\n" % max(1, spec.log_bytes // _BLOCK),
            b"log=%b\n" % quoted(_octal(spec.folder / PANE_LOG)),
            b'agent() {\n    umask 022\n    exec env -i -- "$1"',
            *(b" \\\n        " + quoted(f"{name}={value}") for name, value in _environment(spec).items()),
            *(b" \\\n        " + quoted(word) for word in _shielded(spec.argv)),
            b"\n}\n",
        ]
    )


def quoted(word: str) -> bytes:
    """Return a word as one single-quoted word of sh. Raises Refused for a NUL, which no word can contain."""
    if "\0" in word:
        raise Refused(f"{word[:40]!a} contains a NUL: no argument of a program can")
    try:
        encoded = os.fsencode(word)
    except UnicodeEncodeError as error:
        raise Refused(f"{word[:40]!a} contains half a character: write it again as UTF-8") from error
    return b"'" + encoded.replace(b"'", b"'\\''") + b"'"


def _environment(spec: LaunchSpec) -> dict[str, str]:
    environment = spec.environment | {"TERM": TERMINAL}
    for name in environment:
        if not _VARIABLE.fullmatch(name) or name == MARK:
            raise Refused(f"{name[:40]!a} cannot be the name of a variable: use letters, digits and '_'")
    return environment


def _shielded(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Return `argv` so that `env` takes its first word for the program: with `=` in it, it would be a variable."""
    return ("sh", "-c", 'exec "$0" "$@"', *argv) if "=" in argv[0] else argv


def _octal(path: Path) -> str:
    r"""Return a path as `\057…` for printf: it passes unchanged through tmux formats, strftime and a shell."""
    return "".join(f"\\{byte:03o}" for byte in os.fsencode(path))
