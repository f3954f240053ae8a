"""task.md before a start: created from a template, filled in by the user, read strictly (H1, H3)."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from orchestrator import layout, plain_files
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import harmless, typed
from orchestrator.formats.settings import load_settings
from orchestrator.formats.task_file import blank_task, read_brief
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.task import Brief
from orchestrator.runtimes.templates import template_folder

ARTIFACTS: Final = ("analysis", "design", "code", "tests", "reviews")
PREFLIGHT_SECONDS: Final = 120


def lay_down(folder: Path, project: Path, template: str | None, family: str | None = None) -> None:
    """Create a task's folder with its task.md, or what is missing of it.

    Raises:
        CommandError: the template does not fit the project, or the task was made from another one, or is of another
            plan family; then nothing is created.

    """
    brief = layout.task_brief(folder)
    if not brief.exists():
        blank = "" if template else blank_task(folder.name, _installed(family) if family else "")
        text = _from_template(template, project) if template else blank.encode()
        _fits(read_brief(text, str(brief)), family)
        _make_folders(folder)
        DiskFiles().create(brief, text, 0o644)
    else:
        if template and (made_from := _read(brief).config.template) != template:
            raise CommandError(
                Exit.USAGE,
                f"{brief} exists already, made from {made_from or 'no template'}: "
                f"omit --template, or start a task of another name",
            )
        _fits(_read(brief), family)
        _make_folders(folder)


def lay_down_text(folder: Path, text: str) -> None:
    """Create a task's folder with the task.md that a client wrote.

    Raises:
        CommandError: another task.md lies there already, or this one does not say what to do; nothing is created.
        BadFile: it cannot be parsed.

    """
    path, data = layout.task_brief(folder), text.encode("utf-8", "replace")
    if read_brief(data, "task.md").unfilled:
        raise CommandError(
            Exit.USAGE, "task.md does not say what to do: its goal is still the blank template's"
        )
    if path.exists() and DiskFiles().read(path) != data:
        raise CommandError(
            Exit.USAGE,
            f"{path} exists already and says something else: start it as it is, without a text, or choose another name",
        )
    _make_folders(folder)
    DiskFiles().create(path, data, 0o644)


def _installed(family: str) -> str:
    """Return the name of a plan family. Raises Refused if there is none of that name."""
    from orchestrator.extensions import discover
    from orchestrator.pm.plan.families import FAMILIES

    if family not in FAMILIES:
        discover()
    FAMILIES.find(family)
    return family


def _fits(brief: Brief, family: str | None) -> None:
    """Raise CommandError if a task.md is of another plan family than was asked for."""
    if family and brief.config.family != family:
        raise CommandError(
            Exit.USAGE,
            f"its task.md is of the family {brief.config.family}: write `family: {harmless(family)}` there under "
            "`## Agent Config`, or omit --family",
        )


def filled_brief(folder: Path, project: Path) -> Brief:
    """Return the brief. If it is not filled in yet and there is a terminal, open it in the user's editor first.

    Raises:
        CommandError: it is not filled in.
        BadFile: it cannot be parsed; the error lists every fault with its line.

    """
    path = layout.task_brief(folder)
    brief = _read(path)
    if brief.unfilled and _edited(path):
        brief = _read(path)
    if brief.unfilled:
        raise CommandError(
            Exit.USAGE,
            f"not started: write in {path} what to do, then type `{_start(folder, project)}` again",
        )
    return brief


def read_or_made(folder: Path, project: Path, template: str | None, family: str | None = None) -> Brief:
    """Return the brief of the existing task.md, or of the one that a template would give; writes nothing.

    Raises:
        CommandError: there is no task.md, it is of another plan family, or the template does not fit the project.
        BadFile: it cannot be parsed.

    """
    path = layout.task_brief(folder)
    if path.exists():
        brief = _read(path)
        _fits(brief, family)
        return brief
    if template is None:
        raise CommandError(
            Exit.USAGE, f"{path} does not exist yet; to create it: `{_start(folder, project)}`"
        )
    return read_brief(_from_template(template, project), str(path))


def _start(folder: Path, project: Path) -> str:
    """Return the command that starts the task in this folder, wherever it is typed."""
    return typed("task", "start", folder.name, "--project", project)


def is_remote(brief: Brief) -> bool:
    """Return whether any agent shall work on a box."""
    config = brief.config
    return any(place and place.host for place in (config.cwd, *(wish.cwd for wish in config.agents.values())))


def _read(path: Path) -> Brief:
    return read_brief(DiskFiles().read(path), str(path))


def _make_folders(folder: Path) -> None:
    """Create the folders that agents and users share; the umask decides their modes, as elsewhere in the project."""
    for each in (
        layout.handoffs(folder),
        layout.scratchpad(folder),
        *(layout.artifacts(folder, a) for a in ARTIFACTS),
    ):
        each.mkdir(parents=True, exist_ok=True)


def _from_template(name: str, project: Path) -> bytes:
    """Return a template's task.md, after its preflight, if there is one, has accepted the project."""
    settings = load_settings(Path(layout.config_file(os.environ)), os.environ)
    template = template_folder(name, settings.templates.folders, os.environ)
    preflight = template / "preflight.py"
    if preflight.is_file():
        _preflight(preflight, name, project)
    return plain_files.read(layout.task_brief(template), 1 << 20)


def _preflight(script: Path, name: str, project: Path) -> None:
    try:
        done = subprocess.run(
            [sys.executable, str(script), str(project)],
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PREFLIGHT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            Exit.FAILED,
            f"the preflight of template {name} did not finish checking {project} within {PREFLIGHT_SECONDS} s",
        ) from error
    for line in done.stdout.splitlines():
        print(harmless(line))
    if done.returncode:
        said = " ".join(done.stderr.split()) or f"exit {done.returncode}"
        raise CommandError(Exit.FAILED, f"the template {name} does not fit this project: {said}")


def _edited(path: Path) -> bool:
    """Open a file in the user's editor; False if there is no editor or no terminal."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not (editor and shutil.which(editor[0]) and sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    print(f"write in {path} what to do", flush=True)
    return subprocess.run([*editor, str(path)], check=False).returncode == 0
