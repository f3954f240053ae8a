"""`task watch` on a real terminal, of 80 columns and 24 lines, with a real daemon and its agents."""

from __future__ import annotations

import pytest

from tests.integration.cli.terminal import WATCH, Terminal
from tests.integration.daemon.world import World


@pytest.fixture
def terminal(world: World) -> Terminal:
    return Terminal(world)


def test_a_question_is_answered_on_the_screen(world: World, terminal: Terminal) -> None:
    """All of a user's evening: see the question, answer it, see the agent's words come, stop the task."""
    world.begin({"dev:greet": [{"status": "BLOCKED"}] * 2 + [{"screen": "so be it\n", "hang": True}]})
    world.until_is("waiting")
    terminal.run(*WATCH)
    terminal.until_shows("1 task, 1 question", "daemon up", "dev:greet", "dev is blocked on", "q Quit")
    terminal.press("a")
    terminal.until_shows("Enter sends it")
    terminal.press("-l", "Use the file [bold]db.sqlite[/].")
    terminal.until_shows("db.sqlite")
    terminal.press("Enter")
    terminal.until_shows("0 questions")
    terminal.until_hides("dev is blocked on")  # before that, Tab would lead to the part that is about to go
    world.until_works("dev:greet")
    assert any("[bold]db.sqlite[/]" in str(fact) for fact in world.story().lines)
    terminal.press("Tab", "Down", "Down")
    terminal.until_shows("├─>  dev:greet", "terminal of dev", "so be it")
    terminal.press("w")
    terminal.until_shows("why: t1", "Esc back")
    terminal.press("Escape")
    terminal.until_shows("q Quit")
    terminal.press("s")
    terminal.until_shows("Stop t1?", "dev")
    terminal.press("y")
    terminal.until_shows("stopped")
    assert world.stands() == "stopped"
    terminal.press("q")
    terminal.until_shows("ended with 0")


def test_attach_gives_the_terminal_and_takes_it_back(world: World, terminal: Terminal) -> None:
    world.begin({"explore": [{"screen": "here I am\n", "hang": True}]})
    world.until_works("explore")
    terminal.run(*WATCH)
    terminal.until_shows("daemon up", "explore", "q Quit")
    terminal.press("Tab", "t")
    terminal.until_shows("here I am", "1:explore*")
    terminal.press("C-b", "d")
    terminal.until_shows("daemon up", "q Quit")
    terminal.press("q")
    terminal.until_shows("ended with 0")
    assert world.stands() == "running"
