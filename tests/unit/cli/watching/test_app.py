"""The screen, driven by keys: what it shows as plain text, and the requests that it leaves."""

import asyncio
import json
import time

import pytest
from textual.widgets import Input

from orchestrator.cli.watching.app import Watch
from orchestrator.cli.watching.tasks_seen import TasksSeen
from tests.unit.cli.watching.injections import INJECTIONS, MARKUP

SECONDS = 20


class Driven:
    """The app on a terminal of 80 columns and 24 lines that is not there."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def text(self):
        """What the screen shows."""
        return "\n".join(strip.text.rstrip() for strip in self.app.screen._compositor.render_strips())

    async def press(self, *keys):
        await self.pilot.press(*keys)

    async def until(self, holds):
        """Wait until something holds, or a text is shown."""
        deadline = time.monotonic() + SECONDS
        while not (holds in self.text if isinstance(holds, str) else holds()):
            assert time.monotonic() < deadline, f"{holds} never came:\n{self.text}"
            await self.pilot.pause(0.01)
        return self.text


@pytest.fixture
def drive(house):
    """Run a story on the screen."""

    def run(story, size=(80, 24)):
        async def whole():
            app = Watch(TasksSeen(str(house.state), lambda _: True))
            async with app.run_test(size=size) as pilot:
                driven = Driven(app, pilot)
                await driven.until("task watch")
                await story(driven)

        asyncio.run(whole())

    return run


def test_all_is_shown_on_80_by_24(house, drive):
    steps = [house.step(), house.step("dev:one", agent="dev", needs=["explore"], status="working")]
    house.task(steps=steps, agents=[house.agent(step="dev:one")], questions=[house.question()])
    house.task("other-0a1b2c3e", state="complete")
    (house.project / "tasks" / "other").mkdir(parents=True)

    async def story(screen):
        lines = (await screen.until("q Quit")).splitlines()
        assert lines[0].startswith("task watch   2 tasks, 1 question   daemon down")
        assert lines[1].split()[:4] == ["TASK", "STATE", "PHASE", "STEPS"]
        assert lines[2].split()[:3] == ["tidy", "running", "DEVELOPING"]
        assert lines[3].split()[:2] == ["other", "complete"]
        assert lines[4].split() == ["QUESTION", "OF", "ID", "ASKED", "TEXT"]
        assert "Keep the old name?" in lines[5]
        assert lines[6].split()[:2] == ["STEP", "STATUS"]
        assert lines[8].split()[:3] == [">", "dev:one", "working"]
        assert "process 77" in "\n".join(lines[9:])
        assert lines[-1].strip() == "a Answer  t Attach  w Why  c Check in  s Stop  z Zoom  ? Help  q Quit"
        assert len(lines) == 24

    drive(story)


def test_the_headline_stays_on_a_low_terminal(house, drive):
    """Where the parts do not fit, the screen scrolls to the one that has the keys."""
    agents = [house.agent(f"dev-{number}", run=f"r-{number}") for number in range(6)]
    house.task(agents=agents, questions=[house.question()])
    house.task("other-0a1b2c3e")

    async def story(screen):
        await screen.until("DEVELOPING")
        for _ in range(4):
            await screen.press("tab")
            await screen.pilot.pause()
            assert screen.text.startswith("task watch   2 tasks")

    drive(story, (60, 9))


def test_a_terminal_of_two_columns_ends_nothing(house, drive):
    house.task(questions=[house.question()])

    async def story(screen):
        await screen.until("DEVELOPING")
        await screen.pilot.resize_terminal(2, 2)
        await screen.until(lambda: "DEVELOPING" not in screen.text)
        await screen.pilot.resize_terminal(80, 24)
        await screen.until("DEVELOPING")

    drive(story)


def test_the_chosen_row_is_marked_where_the_keys_are(house, drive):
    house.task()
    house.task("other-0a1b2c3e")

    async def story(screen):
        await screen.until("DEVELOPING")

        def marked():
            strips = screen.app.screen._compositor.render_strips()
            return [
                strip.text.split()[0] for strip in strips[2:4] if all(each.style.reverse for each in strip)
            ]

        await screen.until(lambda: marked() == ["other"])
        await screen.press("down")
        await screen.until(lambda: marked() == ["tidy"])

    drive(story)


def test_nothing_to_show_says_how_to_begin(drive):
    async def story(screen):
        assert "task start NAME" in await screen.until("no tasks yet")

    drive(story)


def test_a_change_on_disk_comes_by_itself(house, drive):
    home = house.task()

    async def story(screen):
        await screen.until("DEVELOPING")
        part = home / "part"
        part.write_text(json.dumps(house.state_json(phase="REVIEWING")))
        part.rename(home / "state.json")
        assert "DEVELOPING" not in await screen.until("REVIEWING")

    drive(story)


def test_a_state_that_cannot_be_shown_ends_nothing(house, drive):
    home = house.task()

    async def story(screen):
        await screen.until("DEVELOPING")
        (home / "state.json").write_text(json.dumps(house.state_json(steps=[7], agents=["x"])))
        await screen.until("cannot be shown")
        (home / "state.json").write_text("{")
        await screen.until(lambda: "damaged" in screen.text and "cannot be shown" not in screen.text)
        house.task()
        await screen.until(lambda: "DEVELOPING" in screen.text and "damaged" not in screen.text)
        assert "cannot be shown" not in screen.text

    drive(story)


def test_a_message_behind_the_last_screen_is_nothing(house):
    """Textual empties its queue of messages once its screens are gone: a row that was chosen then was a traceback."""
    house.task(steps=[house.step()])
    app = Watch(TasksSeen(str(house.state), lambda _: True))

    async def whole():
        async with app.run_test() as pilot:
            await pilot.pause()
        assert not app.screen_stack
        app.on_descendant_focus()

    asyncio.run(whole())


def test_an_answer_leaves_a_request(house, daemon, drive):
    house.task(questions=[house.question()])

    async def story(screen):
        await screen.until("daemon up")
        await screen.press("tab", "enter")
        shown = await screen.until("Enter sends it")
        assert "2) rename" in shown
        await screen.press("2", "enter")
        await screen.until("tidy, answer to q1: so be it")

    drive(story)
    assert [each["arguments"] for each in daemon.heard] == [{"question": "q1", "text": "rename"}]


def test_an_answer_may_be_any_text(house, daemon, drive):
    house.task(questions=[house.question(options=[])])

    async def story(screen):
        await screen.press("a")
        await screen.until("Enter sends it")
        screen.app.screen.query_one(Input).value = "[bold]no[/] \u00e9"
        await screen.press("enter")
        await screen.until("so be it")

    drive(story)
    assert [each["arguments"]["text"] for each in daemon.heard] == ["[bold]no[/] é"]


def test_an_answer_given_up_sends_nothing(house, daemon, drive):
    house.task(questions=[house.question()])

    async def story(screen):
        await screen.press("a")
        await screen.until("Enter sends it")
        await screen.press("enter", "1", "escape")
        await screen.until("q Quit")

    drive(story)
    assert daemon.heard == []


@pytest.mark.parametrize(("key", "heard"), [("y", ["stop"]), ("n", []), ("escape", []), ("enter", [])])
def test_a_stop_wants_a_yes(house, daemon, drive, key, heard):
    house.task()

    async def story(screen):
        await screen.press("s")
        assert "its agents: dev." in await screen.until("Stop tidy?")
        await screen.press(key)
        await screen.until("so be it" if heard else "q Quit")

    drive(story)
    assert [each["verb"] for each in daemon.heard] == heard


def test_a_check_in_is_asked_for(house, daemon, drive):
    house.task()

    async def story(screen):
        await screen.press("c")
        await screen.until("tidy, check-in: so be it")

    drive(story)
    assert [each["verb"] for each in daemon.heard] == ["checkin"]


def test_a_request_is_kept_while_the_daemon_is_down(house, drive):
    home = house.task()

    async def story(screen):
        await screen.until("daemon down")
        await screen.press("c")
        await screen.until("task daemon start")

    drive(story)
    (request,) = (home / "requests").iterdir()
    assert json.loads(request.read_text())["verb"] == "checkin"


def test_a_refusal_is_shown_on_one_line(house, daemon, drive):
    house.task()
    daemon.reply = lambda _home, _request: (False, "it is\nover \x1b[2J [bold]")

    async def story(screen):
        await screen.press("c")
        assert "[bold]" in await screen.until("tidy, check-in: it is over")

    drive(story)


def test_why_reads_the_journal(house, drive):
    home = house.task()
    house.ran(home, {"id": "r-1", "step": "explore"})

    async def story(screen):
        await screen.press("w")
        assert "r-1" in await screen.until("why: tidy")
        await screen.press("escape")
        await screen.until("q Quit")

    drive(story)


def test_the_terminal_of_an_agent_is_shown_as_it_grows(house, drive):
    home = house.task()
    log = home / "runs" / "dev-run" / "pane.log"
    log.parent.mkdir(parents=True)
    log.write_text("it begins\n")

    async def story(screen):
        await screen.until("DEVELOPING")
        await screen.press("tab", "tab")
        await screen.until("it begins")
        with log.open("a") as file:
            file.write("it goes on [red]\n")
        assert "terminal of dev" in await screen.until("it goes on [red]")

    drive(story)


def test_a_zoomed_part_is_alone_with_its_details(house, drive):
    house.task()

    async def story(screen):
        await screen.until("DEVELOPING")
        await screen.press("tab", "z")
        await screen.until(lambda: "TASK" not in screen.text)
        assert "STEP" in screen.text
        await screen.press("z")
        await screen.until("TASK")

    drive(story)


def test_the_keys_are_explained(drive):
    async def story(screen):
        await screen.press("question_mark")
        shown = await screen.until("keys of task watch")
        assert "stop the chosen task" in shown
        assert "Esc back" in shown

    drive(story)


def test_a_long_question_leaves_room_for_the_answer(house, drive):
    house.task(questions=[house.question(text="word " * 1000)])

    async def story(screen):
        await screen.press("a")
        await screen.until("Enter sends it")
        await screen.press("7")
        assert "Enter sends it" in await screen.until("│ 7")

    drive(story)


def test_no_text_is_read_as_markup(house, drive):
    """An agent's words keep their brackets in each part of the screen, and do nothing there."""
    texts = [text for text in INJECTIONS if len(text) < 60]
    whole = [text for text in MARKUP if text.isprintable()]
    steps = [house.step(f"s{n}", title=text, why=text) for n, text in enumerate(texts)]
    agents = [house.agent(evidence=text) | {"run": f"r{n}"} for n, text in enumerate(texts)]
    questions = [house.question(f"q{n}", text=text) for n, text in enumerate(texts)]
    home = house.task(
        steps=steps, agents=agents, questions=[house.question(text="\n".join(texts)), *questions]
    )
    for run in ("r0", "r1"):
        (home / "runs" / run).mkdir(parents=True)
        (home / "runs" / run / "pane.log").write_text("".join(f"{text}\n" for text in texts))

    async def story(screen):
        await screen.until("q Quit")
        for _ in ("questions", "steps", "agents"):
            await screen.press("tab", "z")
            await screen.until(lambda: "TASK" not in screen.text.splitlines()[1])
            await screen.until(lambda: [text for text in whole if text not in screen.text] == [])
            await screen.press("z")
            await screen.until(lambda: "TASK" in screen.text.splitlines()[1])
        assert "terminal of dev" in await screen.until(whole[0])
        await screen.press("shift+tab", "shift+tab", "a")
        await screen.until("Enter sends it")
        shown = screen.text
        assert [text for text in whole if text not in shown] == []
        assert shown.replace("\n", "").isprintable()

    drive(story, size=(150, 300))
