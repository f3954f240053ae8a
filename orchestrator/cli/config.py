"""`task config`: each setting, its value, and where that comes from."""

from __future__ import annotations

import json
import os
import sys

from orchestrator import places
from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import coloured, columns
from orchestrator.cli.table import table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task config"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task config` understands."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show the settings."""
    from pathlib import Path

    from orchestrator.formats.settings import explained

    path = Path(places.config_file(os.environ))
    settings = explained(path, os.environ)
    if options.json:
        shape = [{"key": each.key, "value": each.value, "source": each.where} for each in settings]
        print(json.dumps({"settings": shape}))
        return Exit.DONE
    # The file is named whole below; here its line must not be what is cut.
    rows = [(each.key, each.value, each.where.replace(f"{path}:", f"{path.name}:", 1)) for each in settings]
    lines = table(("SETTING", "VALUE", "FROM"), rows, columns(), colour=coloured(sys.stdout))
    print("\n".join(lines))
    if any("…" in line for line in lines):
        print("\nwhat is cut (…) stands whole in `task config --json`")
    print(f"\nsettings file: {path}{'' if path.exists() else ' (there is none)'}")
    print("environment: ORCHESTRATOR_SECTION__KEY, as in ORCHESTRATOR_LIMITS__CHECK_IN=5m")
    return Exit.DONE
