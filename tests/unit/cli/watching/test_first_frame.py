"""The first frame shows, place for place, what Textual draws after it."""

import asyncio
import re
import time

import pytest

from orchestrator.cli.screen import width_of
from orchestrator.cli.watching.app import Watch
from orchestrator.cli.watching.first_frame import first_frame
from orchestrator.cli.watching.tasks_seen import TasksSeen
from tests.unit.cli.watching.injections import INJECTIONS

SECONDS = 20
SCREENS = [(80, 24), (78, 23), (81, 25), (132, 43), (200, 60), (71, 24), (45, 24), (30, 24)]
STYLE = re.compile(r"\033\[[0-9;]+m")


def seen(house):
    found = TasksSeen(str(house.state), lambda _: True)
    found.look()
    found.look_at_daemon()
    return found


def frame(house, size=(80, 24), *, colour=True):
    found = seen(house)
    width, height = size
    return first_frame(
        found.records, found.daemon, width, height, time.time(), up=found.daemon_up, colour=colour
    )


def plain(lines):
    return [STYLE.sub("", line).rstrip() for line in lines]


def drawn(house, size):
    """Return the lines that Textual shows once it shows no other ones than the time before; without scroll bars."""

    async def whole():
        app = Watch(seen(house))
        async with app.run_test(size=size) as pilot:
            deadline, before, lines = time.monotonic() + SECONDS, None, [""]
            while lines != before or not lines[0]:
                assert time.monotonic() < deadline
                await pilot.pause(0.01)
                before = lines
                strips = app.screen._compositor.render_strips()
                lines = [strip.crop(0, size[0] - 1).text.rstrip() for strip in strips]
            return lines

    return asyncio.run(whole())


def nothing(_house):
    """Have no task at all."""


def few(house):
    """Have less of each part than fits."""
    house.task(questions=[house.question()])


def full(house, steps=30, agents=9, tasks=6, questions=5):
    """Have more of each part than fits."""
    plan = [house.step(f"dev:{n}", needs=[f"dev:{n - 1}"] if n else []) for n in range(steps)]
    live = [house.agent(f"dev{n}", step=f"dev:{n}") for n in range(agents)]
    asked = [house.question(f"q{n}", text="Which of the names " * 9) for n in range(questions)]
    for n in range(tasks):
        house.task(f"tidy{n}-0a1b2c3d", steps=plan, agents=live, questions=asked if n == 1 else [])


def cut_to(width, lines):
    return [line[:width].rstrip() for line in lines]


@pytest.mark.parametrize("size", SCREENS, ids=str)
@pytest.mark.parametrize("lay_down", [nothing, few, full], ids=lambda each: each.__name__)
def test_textual_draws_the_same(house, lay_down, size):
    lay_down(house)
    lines = plain(frame(house, size))
    assert cut_to(size[0] - 1, lines) == drawn(house, size)
    assert len(lines) == size[1]


def test_what_cannot_be_read_is_drawn_as_textual_does(house):
    (house.task() / "state.json").write_text("{")
    house.task("other-0a1b2c3e")
    lines = plain(frame(house))
    assert "damaged" in "\n".join(lines)
    assert cut_to(79, lines) == drawn(house, (80, 24))


@pytest.mark.parametrize("size", [(1, 1), (20, 2), (40, 10), (72, 12), (80, 17)], ids=str)
def test_a_small_terminal_has_no_line_too_many(house, size):
    full(house)
    assert len(frame(house, size)) == size[1]


def test_without_colour_what_is_chosen_is_still_marked(house):
    few(house)
    lines = frame(house, colour=False)
    assert re.findall(r"\033\[3[0-9]m", "".join(lines)) == []
    assert lines[2].startswith("\033[7mtidy")
    assert re.findall(r"\033\[36m", "".join(frame(house)))


def test_the_terminal_obeys_no_text_of_an_agent(house):
    house.task(
        steps=[house.step(f"s{n}", title=text, why=text) for n, text in enumerate(INJECTIONS)],
        agents=[house.agent(evidence=text) | {"run": f"r{n}"} for n, text in enumerate(INJECTIONS)],
        questions=[house.question(f"q{n}", text=text) for n, text in enumerate(INJECTIONS)],
        notices=INJECTIONS,
        why=INJECTIONS[0],
    )
    lines = plain(frame(house, (200, 1000)))
    assert [line for line in lines if not line.isprintable()] == []
    assert all(width_of(line) <= 200 for line in lines)


def test_the_daemon_being_down_is_red(house):
    assert frame(house)[0].startswith("\033[1m\033[31mtask watch")
    up = first_frame([], "daemon up", 80, 24, 0.0, up=True, colour=True)
    assert up[0] == "\033[1mtask watch   0 tasks, 0 questions   daemon up\033[0m"
