"""A daemon whose installation is replaced, or taken away, under it."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.integration.daemon.world import World

SEALED = Path(__file__).with_name("sealed_daemon.py")
HOLD = {"hold": "on"}


def test_started_daemon_imports_nothing_more(world: World) -> None:
    """After its start a daemon imports nothing whatever happens."""
    late = world.root / "late-imports"
    world.daemon(sys.executable, "-P", str(SEALED), str(late))
    world.begin(
        {
            "explore": [{"exit": 7, "report": False}, {"claims": ["artifacts/none.md"]}],
            "plan": [{"bytes": "\xff{"}, {"hang": True, "ignore_term": True}],
            "dev:greet": [
                HOLD,
                *[{"status": "BLOCKED"}] * 2,
                {"status": "BLOCKED", "blockers": "No space left."},
            ],
            "test:greet": [{"verdict": "REJECTED"}],
        }
    )
    world.until(lambda: world.lives_of("plan") == 2 and world.agent("plan"))
    world.task("checkin", "t1")
    world.task("spawn", "t1", "dev", "--instructions", "Mend the typo.")
    world.brief(goal="A greeting in Welsh.")
    assert world.task("stop", "t1").code == 0
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_works("dev:greet")
    world.tmux.kill()
    world.until(lambda: world.state_shown()["questions"])
    question = world.state_shown()["questions"][0]["id"]
    assert world.task("answer", "t1", question, "retry").code == 0
    world.go("on")
    world.until_is("complete")
    world.stop_daemon()
    assert world.log.rstrip().endswith("agents in their panes work on")
    assert late.read_text() == ""
