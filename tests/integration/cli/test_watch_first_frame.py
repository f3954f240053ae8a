"""The first frame of `task watch`, held on a real terminal until the test lets Textual be imported."""

from __future__ import annotations

import os
import re
import signal

import pytest

from tests.integration.cli.terminal import WATCH, Terminal
from tests.integration.daemon.world import World

HELD_TEXTUAL = """\
import os, sys, pathlib
here = pathlib.Path(__file__).parents[1]
(here / "part").write_text(str(os.getpid()))
(here / "part").rename(here / "held")
said = (here / "go").read_text()
if said:
    raise RuntimeError(said)
sys.path.remove(str(here))
del sys.modules["textual"]
import textual
"""
"""Stands before the real Textual: tells that it is being imported, waits at a pipe, and lets the real one in."""

COLOUR = re.compile(r"\033\[[0-9;]*3[0-7]m")


AGES = re.compile(r"now|\d+ (?:s|min) ago")


def drawn(styled: str) -> list[str]:
    """Return each line on the screen, without ages and spaces, and whatever its terminal was told of each sign."""
    lines, style = [""], set[str]()
    for codes, sign in re.findall(r"\033\[([0-9;]*)m|(\S|\n)", AGES.sub("", styled)):
        if sign == "\n":
            lines.append("")
        elif sign:
            lines[-1] += f"{sign}{'+'.join(sorted(style))}"
        else:
            style = _style_after(style, codes.split(";"))
    return lines


def _style_after(style: set[str], codes: list[str]) -> set[str]:
    """Return the style that holds after a sequence; one without a colour is `39`, and on no colour `49`."""
    for code in codes:
        if code in {"", "0"}:
            style = set()
        elif code == "39":
            style = {each for each in style if not each.startswith("3")}
        elif code != "49":
            style = style | {code}
    return style


class Held(Terminal):
    """A terminal with `task watch` at its first frame."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._folder = world.root / "held-textual"
        (self._folder / "textual").mkdir(parents=True)
        (self._folder / "textual" / "__init__.py").write_text(HELD_TEXTUAL)
        os.mkfifo(self._folder / "go")

    def watch(self, *environ: str) -> int:
        """Start it; return its process id once the first frame is there and Textual is not."""
        self.run("env", f"PYTHONPATH={self._folder}", *environ, *WATCH)
        return int(self.world.until(self._held_process))

    def _held_process(self) -> str:
        written = self._folder / "held"
        return written.read_text() if written.exists() else ""

    def go(self, error: str = "") -> None:
        """Let the real Textual be imported, or fail."""
        with (self._folder / "go").open("w") as pipe:
            pipe.write(error)


@pytest.fixture
def terminal(world: World) -> Held:
    world.begin({"explore": [{"hang": True}]})
    world.until_works("explore")
    return Held(world)


def test_the_first_frame_is_what_textual_draws(terminal: Held) -> None:
    terminal.watch()
    terminal.until_shows("1 task, 0 questions", "daemon up", "explore", "q Quit")
    first = terminal.styled
    terminal.go()
    terminal.press("?")
    terminal.until_shows("keys of task watch")  # Textual's
    terminal.press("Escape")
    terminal.until_hides("keys of task watch")
    assert drawn(terminal.styled) == drawn(first)


@pytest.mark.parametrize("key", ["q", "C-c"])
def test_a_key_at_the_first_frame_is_obeyed(terminal: Held, key: str) -> None:
    terminal.watch()
    terminal.press(key)
    terminal.go()
    screen = terminal.until_shows("ended with 0")
    assert "task watch" not in screen
    assert screen.startswith("ended")  # what was typed has shown nowhere


def test_keys_at_the_first_frame_keep_their_order(terminal: Held) -> None:
    terminal.watch()
    terminal.press("s")
    terminal.press("n")
    terminal.press("?")
    terminal.go()
    terminal.until_shows("keys of task watch")
    assert terminal.world.stands() == "running"


def test_a_terminal_resized_in_between_is_drawn_anew(terminal: Held) -> None:
    terminal.watch()
    terminal.resize(100, 30)
    terminal.go()
    assert "─" * 100 in terminal.until_shows("─" * 100)


def test_a_signal_at_the_first_frame_gives_the_terminal_back(terminal: Held) -> None:
    pid = terminal.watch()
    os.kill(pid, signal.SIGTERM)
    screen = terminal.until_shows("ended with 143")
    assert screen.startswith("ended")


def test_an_error_at_the_first_frame_gives_the_terminal_back(terminal: Held) -> None:
    terminal.watch()
    terminal.go("textual is broken")
    screen = terminal.until_shows("ended with 1")
    assert screen.startswith("task: internal error (RuntimeError: textual is broken)")
    terminal.press("-l", "typed")
    terminal.until_shows("typed")  # it echoes again


def test_a_signal_later_gives_the_terminal_back(terminal: Held) -> None:
    pid = terminal.watch()
    terminal.go()
    terminal.press("?")
    terminal.until_shows("keys of task watch")
    os.kill(pid, signal.SIGTERM)
    assert terminal.until_shows("ended with 143").startswith("ended")


def test_no_color_has_no_colour_from_the_first_frame_on(terminal: Held) -> None:
    terminal.watch("NO_COLOR=1")
    terminal.until_shows("running", "q Quit")
    assert not COLOUR.search(terminal.styled)
    terminal.go()
    terminal.press("?")
    terminal.until_shows("keys of task watch")
    assert not COLOUR.search(terminal.styled)
