"""`task config`: shows each setting, its value, and where the value comes from."""

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
    """Declare the arguments of `task config`."""
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def _in_force(path: Path) -> str:
    """Return a sentence on whether the daemon uses this file as it is now, or when it will."""
    from orchestrator.formats.settings_stamp import settings_stamp

    beat = Beat(layout.state_folder(os.environ))
    if not beat.up:
        return "the daemon is down: it will read these settings when it starts"
    known = beat.settings
    if not known:
        return "the daemon has not reported which settings it uses"
    since = clock(known.get("read_at"), time.time())
    if known.get("stamp") == settings_stamp(path):
        return f"the daemon has used these settings since {since}"
    if known.get("fault"):
        return f"the daemon cannot use them, and uses those of {since}: {known['fault']}"
    return f"the daemon uses those of {since}; it takes these over when it is idle, usually within a minute"


def run(options: Namespace) -> int:
    """Print the settings."""
    from pathlib import Path

    from orchestrator.formats.settings_explained import explained
    from orchestrator.formats.settings_stamp import settings_stamp

    path = Path(layout.config_file(os.environ))
    settings = explained(path, os.environ)
    if options.json:
        shape = [{"key": each.key, "value": each.value, "source": each.where} for each in settings]
        beat = Beat(layout.state_folder(os.environ))
        in_force = beat.settings.get("stamp") == settings_stamp(path) if beat.up and beat.settings else None
        print(json.dumps({"settings": shape, "in_force": in_force}))
        return Exit.DONE
    # The full path is printed below; here the line number must not be cut off.
    rows = [(each.key, each.value, each.where.replace(f"{path}:", f"{path.name}:", 1)) for each in settings]
    lines = table(("SETTING", "VALUE", "FROM"), rows, columns(), colour=coloured(sys.stdout))
    print("\n".join(lines))
    if any("…" in line for line in lines):
        print("\nvalues that are cut (…) are complete in `task config --json`")
    print(f"\nsettings file: {path}{'' if path.exists() else ' (does not exist)'}")
    print(harmless(_in_force(path)))
    print("environment: ORCHESTRATOR_SECTION__KEY, for example ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL=5m")
    return Exit.DONE
