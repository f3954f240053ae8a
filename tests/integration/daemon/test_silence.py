"""Agents that show no progress, in real panes: each kind is told apart and gets its own answer (H9)."""

from __future__ import annotations

import pytest

from tests.integration.daemon.world import World, altered

QUICK = {"limits__inactivity_timeout": "700 ms", "limits__look_interval": "500 ms"}


def quick(**more: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("world", [QUICK | more], indirect=True)


def seen(world: World) -> list[str]:
    """Return what looks have found, in order."""
    return [change["quiet"] for change in world.story().changes("run_looked")]


def typed(world: World) -> str:
    """Return what was typed into the agent's terminal."""
    path = world.root / "typed"
    return path.read_text() if path.exists() else ""


@quick()
def test_a_dialog_becomes_a_question_and_only_the_user_types(world: World) -> None:
    world.begin({"explore": [{"screen": "Overwrite notes.txt? [y/N] ", "listen": True}]})
    (question,) = world.until(lambda: world.state_shown().get("questions") or [])
    assert question["kind"] == "dialog"
    assert "Overwrite notes.txt? [y/N]" in question["text"]
    assert world.agent("explore")["turn"] == "waiting"
    assert typed(world) == ""

    world.tmux.tmux("send-keys", "-t", world.agent("explore")["pane"], "-l", "--", "y")
    world.tmux.tmux("send-keys", "-t", world.agent("explore")["pane"], "Enter")
    world.until_is("complete")

    assert typed(world) == "y\n"
    assert world.lives_of("explore") == 1
    (answered,) = world.story().changes("question_answered")
    assert answered["by"] == "the PM"


@quick()
def test_one_that_listens_is_nudged_once_and_by_one_line(world: World) -> None:
    world.begin({"explore": [{"listen": True}]}, config=("explore.listens: yes",))
    world.until_is("complete")
    (line,) = typed(world).splitlines()
    assert line.startswith("The PM has seen no progress for a while.")
    # What became of it is told, unless the agent that it woke was gone before that.
    assert [fact["delivery"] for fact in world.story().facts("nudged")] in (["unknown"], [])
    assert world.lives_of("explore") == 1


@quick()
def test_hung_run_is_ended_and_another_continues(world: World) -> None:
    """One that is hung is ended and another goes on with its work."""
    world.begin({"explore": [{"hang": True}]})
    world.until_is("complete")
    first, second = [run for run, step in world.lives if step == "explore"]
    assert "hung" in seen(world)
    assert world.story().runs[second]["resumes"] == first
    assert "shows nothing and does nothing" in world.story().orders("explore")[1]
    said = world.task("why", "t1", "-n", "100", "--project", str(world.project)).out
    assert f"run {first} was quiet and was looked at" in said
    assert "shows nothing and does nothing" in said


@pytest.mark.thorough(reason="unit/pm/test_inactivity.py tells it apart; a hung run ends above")
@quick()
def test_a_moving_spinner_is_no_progress(world: World) -> None:
    world.begin({"explore": [{"spin": True}]})
    world.until_is("complete")
    assert "spinning" in seen(world)
    assert world.lives_of("explore") == 2


@pytest.mark.thorough(reason="unit/pm/test_inactivity.py has the bound; contract/test_host.py the CPU time")
@quick(limits__max_looks="3")
def test_computing_run_gets_time_up_to_its_bound(world: World) -> None:
    """One that only computes is given time and no more than its bound."""
    world.begin({"explore": [{"compute": True}]})
    world.until_is("complete")
    assert seen(world).count("computing") == 3
    assert world.lives_of("explore") == 2


@pytest.mark.thorough(reason="unit/pm/test_inactivity.py asks for it; a hung run ends above")
@quick()
def test_work_without_a_handoff_is_asked_for(world: World) -> None:
    world.begin({"explore": [{"early": True, "hang": True}]})
    world.until_is("complete")
    assert "unreported" in seen(world)
    assert "there is work and no handoff" in world.story().orders("explore")[1]
    world.check_once()


@pytest.mark.thorough(
    reason="simulation/test_killed_anywhere.py kills it around a nudge: nothing typed twice"
)
@quick()
def test_a_kill_in_the_middle_of_a_nudge_never_types_twice(world: World) -> None:
    """The daemon is killed after it claimed the nudge and before it typed: then nobody knows, and nobody types."""
    kill = (
        "from orchestrator.hosts.local import LocalHost\n"
        "import os, signal\n"
        "LocalHost.type_line = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    dead = world.daemon(*altered(kill))
    world.begin({"explore": [{"listen": True}]}, config=("explore.listens: yes",))
    world.until(lambda: world.pid != dead)
    world.reap()
    world.daemon()
    world.until_is("complete")
    assert typed(world) == ""
    (nudged,) = world.story().facts("nudged")
    assert (nudged["delivery"], "begun before" in nudged["reason"]) == ("unknown", True)
    assert world.lives_of("explore") == 2
