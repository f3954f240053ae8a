"""`task config`: each setting, its value, and where that comes from."""

from __future__ import annotations

import json
import os
import sys
import time

from orchestrator import layout
from orchestrator.cli.beat import Beat
from orchestrator.cli.exits import Exit
from orchestrator.cli.screen import clock, coloured, columns, harmless
from orchestrator.cli.table import table

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from pathlib import Path

EXAMPLE = "task config"


def arguments(parser: ArgumentParser) -> None:
    """Say what `task config` understands."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def _in_force(path: Path) -> str:
    """Say whether the daemon goes by what this file says now, or when it will."""
    from orchestrator.formats.settings_stamp import settings_stamp

    beat = Beat(layout.state_folder(os.environ))
    if not beat.up:
        return "the daemon is down: it reads them when it starts"
    known = beat.settings
    if not known:
        return "the daemon has not said which settings it goes by"
    since = clock(known.get("read_at"), time.time())
    if known.get("stamp") == settings_stamp(path):
        return f"the daemon goes by them since {since}"
    if known.get("fault"):
        return f"the daemon cannot use them and goes by those of {since}: {known['fault']}"
    return f"the daemon goes by those of {since}; it takes these over within about a minute, when nothing is in hand"


def run(options: Namespace) -> int:
    """Show the settings."""
    from pathlib import Path

    from orchestrator.formats.settings import explained
    from orchestrator.formats.settings_stamp import settings_stamp

    path = Path(layout.config_file(os.environ))
    settings = explained(path, os.environ)
    if options.json:
        shape = [{"key": each.key, "value": each.value, "source": each.where} for each in settings]
        beat = Beat(layout.state_folder(os.environ))
        in_force = beat.settings.get("stamp") == settings_stamp(path) if beat.up and beat.settings else None
        print(json.dumps({"settings": shape, "in_force": in_force}))
        return Exit.DONE
    # The file is named whole below; here its line must not be what is cut.
    rows = [(each.key, each.value, each.where.replace(f"{path}:", f"{path.name}:", 1)) for each in settings]
    lines = table(("SETTING", "VALUE", "FROM"), rows, columns(), colour=coloured(sys.stdout))
    print("\n".join(lines))
    if any("…" in line for line in lines):
        print("\nwhat is cut (…) stands whole in `task config --json`")
    print(f"\nsettings file: {path}{'' if path.exists() else ' (there is none)'}")
    print(harmless(_in_force(path)))
    print("environment: ORCHESTRATOR_SECTION__KEY, as in ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL=5m")
    return Exit.DONE
