"""The real Claude Code carries out a composite skill: spawned by the daemon for each phase, or driving it itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.cli.skill_driver import DONE
from tests.clis.answers import Answer, Reply, call, say
from tests.clis.hands import run, write
from tests.clis.house import PATIENCE, House, a_house
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.pinned import pins
from tests.clis.playing import played
from tests.clis.selection import in_ci

Steps = Generator[Reply, tuple[ToolResult, ...], None]

CLAUDES = [name for name in pins() if name.startswith("claude")]
SKILL = """\
name: greet
description: Makes a greeting.
match: [greet*]
phases:
  - {id: look, agent: explore, instructions: Look around.}
  - {id: work, agent: dev, instructions: Write greet.py.}
"""

_YES = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
SAYS_YES = {"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': _YES})}'"}
"""The user, who says yes to what Claude Code asks: it asks about each write below `.claude`, whatever is allowed."""


def furnish(house: House) -> None:
    """Give the project a skill of two phases."""
    config = house.world.project / "protocols/skill/composite/greet/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(SKILL)


def memory_of(prompt: str) -> tuple[str, str]:
    """Return where an agent is to write its memory file, and the form that it is shown, filled in."""
    (project,) = set(re.findall(r"^\s*All paths are in (\S+)\.$", prompt, re.MULTILINE))
    (name,) = set(re.findall(r"^\s*At the end write (\S+) in this form", prompt, re.MULTILINE))
    form = prompt[prompt.index("# Memory of ") :].partition("**Status:** COMPLETE")
    text = re.sub(r"^ {4}", "", form[0] + form[1] + "\n", flags=re.MULTILINE)
    text = text.replace("What you found or did, in a few sentences.", "Done.")
    return f"{project}/{name}", text.replace("All that the agents after you need.", "See the files.")


def sessions(house: House) -> list[dict[str, Any]]:
    """Return what the state files of the project say."""
    folder = house.world.project / "skill-orchestration/state"
    return [json.loads(each.read_text()) for each in sorted(folder.glob("*.json"))]


def drives(request: ModelRequest) -> Answer:
    """Play a session that follows directives, and its agents: by what the tools brought back in the conversation."""
    results = [result.text for message in request.messages for result in message.results]
    if any("At the end write" in each for each in request.prompts[:1]):
        path, text = memory_of(request.prompts[0])
        return say("Done.") if results else write(request, path, text)
    said = next((each for each in reversed(results) if "task skill" in each or DONE in each), "")
    if not said and len(results) > 2:
        return say(results[-1])  # it is not allowed to begin
    if not said:
        wants_skill = not results and "by the Agent Skill" in request.prompts[0]
        return (
            call("Skill", skill="composite-skills")
            if wants_skill
            else run(request, "task skill run greet 'greet me'")
        )
    if DONE in said or "stays at work" in said:
        return say(said)  # the end, or an agent that was not allowed to write
    agent = re.search(r"subagent_type: '(\w+)'\nPrompt:\n\n(.*?)\nWhen the agent has ended:", said, re.DOTALL)
    if agent is None or said != results[-1]:  # that agent has been started, and has ended
        return run(request, re.findall(r"^    (task skill .*)$", said, re.MULTILINE)[-1])
    prompt = re.sub(r"^ {4}", "", agent[2], flags=re.MULTILINE)
    (tool,) = {"Task", "Agent"} & set(request.conversation.tools)
    # By itself the tool comes back at once, and says later that the agent has ended.
    return call(tool, description="A phase", subagent_type=agent[1], prompt=prompt, run_in_background=False)


@pytest.mark.parametrize("installed", ["claude"], indirect=True)
@pytest.mark.parametrize(
    "words",
    [
        pytest.param("/task-skill greet greet me", id="slash-command"),
        pytest.param(
            "Carry the composite skill greet out, by the Agent Skill, for: greet me",
            id="agent-skill",
            marks=pytest.mark.thorough(reason="another way into the same session"),
        ),
    ],
)
def test_real_session_follows_the_directives(installed: str, words: str) -> None:
    """It starts both agents by its own tool for that, and ends when the protocol's last line is printed.

    2.1.197 asks about writes below `.claude` in its own dialog alone, which nobody answers here.
    """
    with a_house(installed, drives) as house:
        furnish(house)
        world = house.world
        task = Path(world.environ["PATH"].partition(":")[0], "task")
        task.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m orchestrator.cli "$@"\n')
        task.chmod(0o755)
        assert world.task("setup-agents", cwd=world.project).code == 0
        settings = world.project / ".claude/settings.json"
        settings.write_text(
            json.dumps({"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": [SAYS_YES]}]}})
        )
        done = subprocess.run(
            [*house.inside, "claude", "-p", words],
            cwd=world.project,
            env=world.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert not house.server.faults, done
        assert DONE in done.stdout, done
        (session,) = sessions(house)
        assert session["fsm"]["state"] == "COMPLETE"
        phases = session["step_outputs"]["5"]["phases_completed"]
        assert [each["agent"] for each in phases] == ["explore", "dev"]
        assert any(b"each directive" in request.raw for request in house.server.turns)


@pytest.mark.parametrize("installed", in_ci(CLAUDES, "claude"), indirect=True)
def test_daemon_has_real_agents_work_on_the_phases(installed: str) -> None:
    """The first forgets its memory file, and is asked again; what the second wrote is merged."""

    def turn(request: ModelRequest) -> Steps:
        path, text = memory_of(request.prompt)
        if path.endswith("explore-memory.md") and "is missing: write it" not in request.prompt:
            yield say("I looked around.")
            return
        if path.endswith("dev-memory.md"):
            yield write(request, "greet.py", "NAME = 'hi'\n")
        yield write(request, path, text)
        yield say("Done.")

    with a_house(installed, played(turn)) as house:
        furnish(house)
        house.daemon()
        said = house.world.task("skill", "run", "--daemon", "greet me", cwd=house.world.project)
        assert said.code == 0, said
        (session,) = sessions(house)
        task = f"greet-{session['session_id']}"
        over = {"complete", "failed", "waiting"}
        house.world.until(lambda: house.server.faults or house.world.stands(task) in over, within=PATIENCE)
        assert not house.server.faults
        assert house.world.stands(task) == "complete", house.screens()
        house.world.until(lambda: sessions(house)[0]["fsm"]["state"] == "COMPLETE")
        assert house.world.git("show", f"task/{task}:greet.py") == "NAME = 'hi'"
        assert len(house.world.story(task).orders("phase:look")) == 2
        assert not house.world.state_shown(task).get("questions")
        house.world.check_nobody_is_left()
