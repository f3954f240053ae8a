"""`task templates`: lists the templates for tasks. The user's own replace shipped ones of the same name."""

from __future__ import annotations

import json
import os

from orchestrator import layout, plain_files
from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import columns
from orchestrator.cli.table import table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

EXAMPLE = "task templates"


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task templates`."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Print each template with the first line of its goal."""
    from pathlib import Path

    from orchestrator.formats.settings import load_section
    from orchestrator.runtimes.templates import template_roots

    settings = load_section(Path(layout.config_file(os.environ)), os.environ, "templates")
    found = {
        folder.name: folder
        for root in reversed(template_roots(settings.folders, os.environ))
        for folder in (sorted(root.iterdir()) if root.is_dir() else ())
        if (folder / "task.md").is_file()
    }
    rows = [(name, _description(name, found[name] / "task.md"), found[name]) for name in sorted(found)]
    if options.json:
        shape = [{"name": name, "description": text, "folder": str(folder)} for name, text, folder in rows]
        print(json.dumps({"templates": shape}))
        return Exit.DONE
    print("\n".join(table(("TEMPLATE", "GOAL"), [row[:2] for row in rows], columns(), colour=False)))
    print("\nto begin with one: task start NAME --template TEMPLATE")
    print(f"to add your own: a folder with a task.md in {layout.templates_folder(os.environ)}")
    return Exit.DONE


def _description(name: str, path: Path) -> str:
    from orchestrator.formats.task_file import read_brief
    from orchestrator.model.errors import BadFile, BadName
    from orchestrator.model.names import checked_name

    try:
        checked_name(name, "template name")
        brief = read_brief(plain_files.read(path, 1 << 20), str(path))
    except BadName as error:
        return f"(rename its folder: {error})"
    except (BadFile, OSError) as error:
        return f"(cannot be read: {error})"
    return next((line.strip() for line in brief.goal.splitlines() if line.strip()), brief.title)
