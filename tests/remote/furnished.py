"""Boxes on which a task's agents can work, for tests of a whole daemon."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from tests.integration.daemon.world import World
from tests.remote.boxes import Box, Boxes

COMMIT: Final = {
    "run": ["sh", "-c", 'cd "$ORCHESTRATOR_WORKSPACE" && git add -A && git commit -qm work && git log -1']
}
"""What a developer does on a box beside its work."""

ONE_EACH: Final = ["explore", "plan", "dev:greet", "test:greet", "review:greet", "accept"]
"""The lives of a task that nobody disturbs."""


def furnished(boxes: Boxes, world: World, name: str, *, server: str = "") -> Box:
    """Make a box with a clone of the project; `server` are lines of its sshd's settings."""
    box = boxes.add(name, server=server)
    (box.home / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
    world.git("clone", "-q", str(world.project), str(box.home / "repo"))
    return box


def cwd(box: Box) -> str:
    """Return the line of task.md by which its developers work there."""
    return f"cwd: {box.name}:{box.home}/repo"


def no_bulk_while(world: World) -> Path:
    """Have rsync here fail to list what is large while a file exists, which is returned."""
    stuck = world.root / "stuck"
    stuck.touch()
    stand_in = world.root / "bin/rsync"
    rsync = shutil.which("rsync", path=os.environ["PATH"])
    stand_in.write_text(
        f"""#!/bin/sh
case " $* " in *" --dry-run "*) [ ! -e '{stuck}' ] || exit 1 ;; esac
exec {rsync} "$@"
"""
    )
    stand_in.chmod(0o755)
    return stuck
