"""Panes and tmux servers that are killed, frozen, renamed, or looked at in copy mode."""

from __future__ import annotations

from tests.integration.daemon.world import World

HOLD = {"hold": "on"}


def frozen_while_it_spawns(world: World) -> None:
    """The tmux server stands still when the next agent is due: what was reported is taken, and it starts later."""
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    with world.tmux.frozen():
        world.go("on")
        world.until(lambda: world.steps()["explore"] == "passed")
        world.until(lambda: "order_given" in str(world.story().lines[-40:]) and len(world.lives) == 1)
    world.until_is("complete")
    assert [world.lives_of(step) for step in ("explore", "plan", "accept")] == [1, 1, 1]


def pane_killed(world: World) -> None:
    """Somebody closes the window of an agent at work: it is known to be gone, and another goes on."""
    world.begin({"dev:greet": [HOLD]})
    world.until_works("dev:greet")
    world.tmux.tmux("kill-pane", "-t", world.agent("dev:greet")["pane"])
    world.until(lambda: world.lives_of("dev:greet") == 2)
    world.until_is("complete")
    gone = world.story().facts("run_gone")
    assert [fact["exit"] for fact in gone if fact["exit"].get("signal") or fact["exit"].get("lost")]


def all_renamed(world: World) -> None:
    """Somebody renames windows and the session under a working agent: it is found, and the others get their panes."""
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    pane = world.agent("plan")["pane"]
    world.tmux.tmux("rename-window", "-t", pane, "mine; kill-server")
    world.tmux.tmux("rename-session", "-t", pane, "elsewhere")
    world.go("on")
    world.until_is("complete")
    assert len(world.lives) == 6


def copy_mode(world: World) -> None:
    """A pane is in copy mode when its agent is to be nudged: nothing is typed into it, and nothing gets lost."""
    world.begin({"explore": [{"listen": True}]}, config=("explore.listens: yes",))
    world.until_works("explore")
    world.tmux.tmux("copy-mode", "-t", world.agent("explore")["pane"])
    world.until_is("complete")
    typed = world.root / "typed"
    assert not typed.exists() or typed.read_text() == ""
    assert "delivered" not in [fact["delivery"] for fact in world.story().facts("nudged")]


def dead_pane(world: World) -> None:
    """An agent ends while the daemon is down: its pane is dead and bears its run, and nothing is started in it."""
    world.begin({"plan": [HOLD]})
    world.until_works("plan")
    pane = world.agent("plan")["pane"]
    world.kill_daemon()
    world.go("on")
    world.until(lambda: world.tmux.tmux("display-message", "-p", "-t", pane, "#{pane_dead}") == "1")
    world.daemon()
    world.until_is("complete")
    assert len(world.lives) == 6
