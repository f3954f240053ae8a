"""Handoffs by the thousand, half of one, and a page that is being written when the writer is killed."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from tests.chaos.kills import KILLER
from tests.chaos.trial import Lost
from tests.integration.daemon.world import World

HOLD = {"hold": "on"}
PAGE = ("## Recent Activity", "## Milestone Summary", "## Current Blockers", "## Artifacts Generated")


def writer_killed(world: World) -> None:
    """A writer is killed in the middle of its handoff: half a handoff is never taken for one; it is asked for again."""
    folder = world.begin({"explore": [{"slow": 30, "say": "word " * 400}]})
    world.until_works("explore")
    world.until(lambda: list((folder / "handoffs").glob("explore-*.md")))
    (half,) = (folder / "handoffs").glob("explore-*.md")
    world.until(lambda: half.stat().st_size)
    assert "explore" not in {change["run"] for change in world.story().changes("run_reported")}
    lines = (world.root / "runs").read_text().splitlines()
    os.kill(int(lines[0].split()[3]), signal.SIGKILL)
    world.until_is("complete")
    assert world.lives_of("explore") == 2


def half_written(world: World, share: int) -> None:
    """An agent leaves only the first bytes of a handoff behind: that is asked for again, with what is wrong."""
    whole = "# Handoff: explore\n**Status:** COMPLETE\n\n## Completed Work\nAll of it.\n\n## Artifacts Generated\n- "
    world.begin({"explore": [{"bytes": whole[:share]}]})
    world.until(lambda: world.stands() == "complete" or world.state_shown()["questions"])
    for question in world.state_shown()["questions"]:
        assert world.task("answer", "t1", question["id"], "retry").code == 0
    world.until_is("complete")
    assert world.lives_of("explore") >= 1


def old_handoffs(world: World, count: int) -> None:
    """Thousands of handoffs lie there from before: they are history, and steps take as long as without them."""
    folder = world.brief()
    (folder / "handoffs").mkdir()
    text = b"# Handoff: dev\n**Status:** COMPLETE\n\n## Completed Work\nOf old.\n"
    for number in range(count):
        minute, second = divmod(number, 60)
        hour, minute = divmod(minute, 60)
        name = f"dev-2025{1 + hour // 24 % 12:02}{1 + hour // 288 % 28:02}-{hour % 24:02}{minute:02}{second:02}.md"
        (folder / "handoffs" / name).write_bytes(text + str(number).encode())
    world.begin()
    world.until_is("complete")
    assert len(world.lives) == 6
    assert f"{count} handoffs existed before" in world.state_shown()["notices"][0]


def artifact_burst(world: World, count: int) -> None:
    """An agent lays down artifacts by the thousand while others work: nothing is lost, and all goes on."""
    artifacts = {f"artifacts/analysis/{number:05}.md": "x\n" for number in range(count)}
    folder = world.begin({"explore": [{"artifacts": artifacts, "claimed": ["artifacts/analysis/00000.md"]}]})
    world.until_is("complete")
    assert len(list((folder / "artifacts" / "analysis").iterdir())) == count
    assert len(world.lives) == 6


def scribe_killed(world: World, moment: int) -> None:
    """The daemon is killed at a change while it shows: progress.md and the states are the old or the new, whole."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.stop_daemon()
    second = world.launched(sys.executable, str(KILLER), "KILL", str(moment))
    world.go("on")
    world.until(lambda: second.poll() is not None or world.stands() == "complete")
    for path in (folder / "progress.md", folder / "pm_state.json", world.home() / "state.json"):
        if not _whole(path):
            raise Lost(f"{path} is {path.read_text()!a}")
    if second.poll() is not None:
        world.daemon()
    world.until_is("complete")
    world.until(lambda: "phase COMPLETE" in (folder / "progress.md").read_text())
    assert len(world.lives) == 6


def _whole(path: Path) -> bool:
    """Tell whether a file is one that the daemon wrote, from its first byte to its last."""
    text = path.read_text()
    if path.suffix == ".md":
        return all(heading in text for heading in PAGE) and text.endswith("\n")
    return isinstance(json.loads(text), dict)


def many_duplicates(world: World, count: int) -> None:
    """One report lies there again and again, under other names: it is taken once."""
    folder = world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    (first,) = (folder / "handoffs").glob("plan-*.md")
    for number in range(count):
        part = world.root / "part"
        part.write_bytes(first.read_bytes())
        part.rename(folder / "handoffs" / f"plan-20260101-{number:06}.md")
    world.until(lambda: world.state_shown()["notices"])
    world.go("on")
    world.until_is("complete")
    assert len(world.lives) == 6
