"""An agent program that only the settings define runs a task, with hooks and without."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.hooked import TOKENS
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


def begin(world: World, *config: str) -> Path:
    """Start a task whose agents are all of that runtime, as a user would."""
    world.let({})
    folder = world.project / "tasks" / "t1"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text(
        "# Task: t1\n## Goal\nA greeting.\n## Success Criteria\n- There is a greeting.\n"
        "## Agent Config\nruntime: mine\n" + "".join(f"{line}\n" for line in config)
    )
    said = world.task("start", "t1", "--project", str(world.project))
    assert said.code == 0, said
    return folder


@pytest.mark.thorough(reason="the next one has hooks too; unit/runtimes/test_configured.py has the variables")
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
    sessions = {
        change["run"]: change["session"] for change in story.changes("run_signalled") if change["session"]
    }
    assert sessions == {run: f"session-of-{run}" for run in works}
    assert (folder / "scratchpad" / "dev" / "allowed").exists()


def metered(world: World, tokens: int) -> None:
    """Define a runtime whose program says in its transcript that each turn used so many tokens."""
    world.environ[TOKENS] = str(tokens)
    define(
        world,
        command=[
            *PYTHON, str(HOOKED), "{folder}/claude-settings.json", str(ROLES), str(world.script), "{prompt}",
        ],
        events="claude",
        variables=[TOKENS],
    )  # fmt: skip


def shown(world: World) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(world.task("status", "t1", "--json").out)
    return document


@pytest.mark.thorough(reason="unit/daemon/test_usage.py reads them; the limit below needs the sum of a task")
def test_tokens_of_transcripts_are_summed_over_the_task(world: World) -> None:
    metered(world, 1000)
    folder = begin(world)
    world.until_is("complete")
    turns = len(list((Path(world.environ["HOME"]) / ".claude" / "projects" / "p").glob("*.jsonl")))
    assert turns >= 5
    world.until(lambda: shown(world)["usage"]["input"] == 1000 * turns)
    reported = shown(world)
    assert reported["usage"]["tokens"] == 1001 * turns == sum(each["tokens"] for each in reported["used_by"])
    assert "\nused      " in world.task("status", "t1").out
    assert "\n## Usage\n" in (folder / "progress.md").read_text()


def test_task_stops_at_its_limit_until_that_is_raised(world: World) -> None:
    """A task is stopped at its limit and goes on when it was raised."""
    metered(world, 1000)
    begin(world, "limits: 2500 tokens; 8 h")
    world.until_is("waiting")
    world.until(lambda: all(agent["state"] == "gone" for agent in shown(world)["agents"]))
    (question,) = shown(world)["questions"]
    assert (question["kind"], question["options"]) == ("budget", ["double", "continue", "abandon"])
    assert shown(world)["usage"]["tokens"] == 3003
    assert any("has used 2k tokens of 2.5k tokens" in each for each in shown(world)["notices"])
    assert world.task("answer", "t1", question["id"], "continue").code == 0
    world.until_is("complete")
    world.check_nobody_is_left()
