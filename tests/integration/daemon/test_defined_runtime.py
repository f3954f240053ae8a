"""An agent program that only the settings define runs a task, with hooks and without."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.integration.daemon.world import ROLES, World

HOOKED = Path(__file__).with_name("hooked.py")
PYTHON = [sys.executable, "-I", "-S"]


def define(world: World, **keys: object) -> None:
    """Write the user's settings with one runtime, `mine`."""
    path = world.root / "config.toml"
    path.write_text(
        "[runtimes.mine]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    )
    path.chmod(0o600)
    world.environ["ORCHESTRATOR_CONFIG"] = str(path)


def begin(world: World) -> Path:
    """Start a task whose agents are all of that runtime, as a user would."""
    world.let({})
    folder = world.project / "tasks" / "t1"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text(
        "# Task: t1\n## Goal\nA greeting.\n## Success Criteria\n- There is a greeting.\n"
        "## Agent Config\nruntime: mine\n"
    )
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    return folder


def test_a_program_that_the_settings_name_runs_a_whole_task(world: World) -> None:
    define(world, command=[*PYTHON, str(ROLES), str(world.script), "{order}"], variables=["MINE_*"])
    world.environ |= {"MINE_KEY": "of-mine", "THEIRS_KEY": "of-others"}
    begin(world)
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    scripts = [path.read_text() for path in world.home().glob("runs/*/agent.sh")]
    assert scripts
    assert all("MINE_KEY=of-mine" in script and "of-others" not in script for script in scripts)


def test_one_that_speaks_known_hooks_is_heard_answered_and_ended(world: World) -> None:
    settings = "{folder}/claude-settings.json"
    define(
        world,
        command=[*PYTHON, str(HOOKED), settings, str(ROLES), str(world.script), "{prompt}"],
        events="claude",
    )
    folder = begin(world)
    world.until_is("complete")
    world.check_nobody_is_left()
    story = world.story()
    works = {run["id"] for run in story.runs.values() if run.get("purpose", "work") == "work"}
    delivered = {change["run"]: change["delivery"] for change in story.changes("run_delivered")}
    assert delivered == dict.fromkeys(works, "delivered")
    sessions = {change["run"]: change["session"] for change in story.changes("run_told") if change["session"]}
    assert sessions == {run: f"session-of-{run}" for run in works}
    assert (folder / "scratchpad" / "dev" / "allowed").exists()
