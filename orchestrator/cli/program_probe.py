"""Which programs `task doctor` finds, which version each is, and with which logins an agent would use it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

from orchestrator.cli.agent_environment import AgentEnvironment
from orchestrator.cli.machine_report import CliReport, RuntimeReport, VersionReply
from orchestrator.model.programs import PLACE, Program
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, AgentCli, program_on
from orchestrator.runtimes.environment import passed
from orchestrator.runtimes.logins import login_files, login_variables, shortened
from orchestrator.runtimes.registry import RUNTIMES

DEADLINE: Final = 10.0
"""Seconds that a program has to print its version. Programs that run on Node take two when started cold."""

_VERSION_BYTES: Final = 2000
_PROGRAMS: Final = {"tmux": ("-V",), "git": ("--version",), "ssh": ("-V",), "rsync": ("--version",)}


def ask_all(
    house: AgentEnvironment, clis: Sequence[AgentCli], progress: Callable[[list[str]], None]
) -> tuple[list[tuple[AgentCli, VersionReply]], dict[str, VersionReply]]:
    """Ask every program for its version, all at once: agent CLIs in an agent's environment, the others in ours."""
    wanted = [(each.name, each.program, each.asked, house.of_agent(each)) for each in clis]
    wanted += [(name, name, asked, dict(house.environ)) for name, asked in _PROGRAMS.items()]
    answers: dict[str, VersionReply] = {}
    with ThreadPoolExecutor(len(wanted)) as threads:
        futures = {
            threads.submit(_ask, name, program_on(env.get("PATH", ""), program), words, env): name
            for name, program, words, env in wanted
        }
        open_names = list(futures.values())
        for future in as_completed(futures):
            open_names.remove(futures[future])
            answers[futures[future]] = future.result()
            progress(open_names)
    return [(each, answers[each.name]) for each in clis], {name: answers[name] for name in _PROGRAMS}


def _ask(name: str, path: str | None, words: tuple[str, ...], environ: Mapping[str, str]) -> VersionReply:
    if path is None:
        return VersionReply(name)
    try:
        # Its own process group: some programs are scripts that start the real one.
        child = subprocess.Popen(
            [path, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            start_new_session=True,
        )
    except OSError as error:
        return VersionReply(name, path, fault=f"does not start: {error.strerror}")
    with child:
        try:
            out, err = child.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            return VersionReply(name, path, fault=f"did not print its version within {DEADLINE:.0f} s")
    said = next((text for each in (out, err) if (text := _first_line(each))), "")
    if child.returncode:
        return VersionReply(name, path, said, f"exits with {child.returncode} when asked for its version")
    return VersionReply(name, path, said)


def _first_line(said: bytes) -> str:
    return next(iter(said[:_VERSION_BYTES].decode("utf-8", "replace").strip().splitlines()), "")


def cli_report(cli: AgentCli, asked: VersionReply, house: AgentEnvironment) -> CliReport:
    """Return what is known about a CLI: which logins an agent gets, and which variables do not reach it."""
    reaching = house.of_agent(cli)
    files = [shortened(path, reaching.get("HOME", "")) for path in login_files(cli, reaching)]
    missed = [name for name in login_variables(cli, house.environ) if name not in reaching]
    heard = passed(house.environ, house.names_for(cli))
    return CliReport(
        cli,
        asked,
        (*files, *login_variables(cli, reaching)),
        held_back=tuple(name for name in missed if name not in heard),
        unheard=tuple(name for name in missed if name in heard),
        driven=cli.name in RUNTIMES,
    )


def runtime_report(program: Program, house: AgentEnvironment, project: Path) -> RuntimeReport:
    """Look for a program of the settings as an agent of `project` would; `events` names whose protocol it speaks."""
    source = next((cli.event_source for cli in AGENT_CLIS if cli.name == program.events), "")
    signals = f"{source} of {program.events}" if program.events else "exit"
    word = program.command[0]
    if PLACE.search(word):
        return RuntimeReport(program.name, word, signals, placed=True)
    reaching = passed(house.daemons, (*house.names, *program.variables)) | dict(program.environment)
    found = shutil.which(str(project / word)) if "/" in word else program_on(reaching.get("PATH", ""), word)
    return RuntimeReport(program.name, word, signals, found or "")
