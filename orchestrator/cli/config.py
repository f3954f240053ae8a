"""`task config`: each setting, its value, and where that comes from."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from orchestrator import places
from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import coloured, columns
from orchestrator.cli.table import table
from orchestrator.formats.settings import explained

EXAMPLE = "task config"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task config` understands."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Show the settings."""
    path = Path(places.config_file(os.environ))
    settings = explained(path, os.environ)
    if options.json:
        shape = [{"key": each.key, "value": each.value, "source": each.where} for each in settings]
        print(json.dumps({"settings": shape}))
        return Exit.DONE
    rows = [(each.key, each.value, each.where) for each in settings]
    print("\n".join(table(("SETTING", "VALUE", "FROM"), rows, columns(), colour=coloured(sys.stdout))))
    print(f"\nsettings file: {path}{'' if path.exists() else ' (there is none)'}")
    print("environment: ORCHESTRATOR_SECTION__KEY, as in ORCHESTRATOR_LIMITS__CHECK_IN=5m")
    return Exit.DONE
