"""`task serve`: until the page is there, what a look at it takes, how late news comes, and the memory it holds."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from orchestrator import layout
from tests.benchmarks.bench import Bench, Stopwatch
from tests.benchmarks.floors import bare_python
from tests.benchmarks.idle import resident
from tests.benchmarks.row import Of, Reach, Row
from tests.benchmarks.status import TASK, Calls, lay_down
from tests.benchmarks.waiting import PATIENCE, until
from tests.benchmarks.world import Begun, World, brief

TASKS, STEPS, AGENTS = 5, 20, 10
_BLOCKED = Path(__file__).with_name("blocked.sh")
_SETTINGS = {"limits__max_blocks": 0, "limits__retry_pause": "20 ms", "limits__max_retry_pause": "100 ms"}
"""A step that is blocked once has a question at once; its next try does not wait."""
TIMES = 60.0
"""A second and a half where an empty interpreter takes 25 ms: the server is started once, and then it runs for days."""


@dataclass
class Browser:
    """Whoever opens the address that the server prints."""

    address: str
    _cookie: str = ""

    def sign_in(self) -> None:
        """Get the cookie."""
        with urllib.request.urlopen(self.address, timeout=PATIENCE) as answer:
            self._cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]

    def open(self, page: str = "") -> HTTPResponse:
        """Ask for a page; return the answer before it is read."""
        parts = urlsplit(self.address)
        request = urllib.request.Request(
            f"http://{parts.netloc}{parts.path}{page}", headers={"Cookie": self._cookie}
        )
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=PATIENCE)
        return answer

    def answer(self, question: Mapping[str, str]) -> None:
        """Send the form of a question, with the first of its options. Raises URLError."""
        parts = urlsplit(self.address)
        data = urlencode({**question, "option": "1", "text": ""}).encode()
        headers = {"Cookie": self._cookie, "Origin": f"http://{parts.netloc}"}
        request = urllib.request.Request(f"http://{parts.netloc}{parts.path}answer", data, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            answer.read()

    def took(self, page: str = "") -> float:
        """Return the milliseconds until a page is here to its end."""
        watch = Stopwatch()
        with self.open(page) as answer:
            answer.read()
        return watch.ms


def rows(bench: Bench) -> Iterator[Row]:
    with World() as world:
        for number in range(TASKS):
            lay_down(world, f"part-{number}", STEPS, AGENTS)
        yield _starts(bench, world)
        with _serving(world) as (browser, pid):
            browser.sign_in()
            yield from _looks(bench, browser)
            yield _news(bench, world, browser)
            what = f"task serve, {TASKS * AGENTS} agents, after all that"
            yield Row(what, "MB", [resident(pid)], reach=Reach(Of.MEDIAN, 40))
    with World(**_SETTINGS) as world:
        yield _answers(bench, world)


@contextmanager
def _serving(world: World) -> Iterator[tuple[Browser, int]]:
    """Run the server; give who has its address, and its process id."""
    command = [str(TASK), "serve", "--port", "0"]
    with subprocess.Popen(command, env=world.environ, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip() if server.stdout else ""
            if not address:
                raise RuntimeError("task serve printed no address")
            yield Browser(address), server.pid
        finally:
            server.send_signal(signal.SIGINT)


def _starts(bench: Bench, world: World) -> Row:
    what = "task serve, until its page is here for the first time"
    floor, taken = Calls(), list[float]()
    for _ in bench.times(5, what):
        floor.call(bare_python(), world, terminal=False)
        watch = Stopwatch()
        with _serving(world) as (browser, _):
            browser.sign_in()
            browser.took()
            taken.append(watch.ms)
    return Row(what, "ms", taken, floor.clock, "python3 -c pass", Reach(Of.RATIO, TIMES))


def _looks(bench: Bench, browser: Browser) -> Iterator[Row]:
    what = f"the page of task serve, {TASKS} tasks, {TASKS * AGENTS} agents"
    style, page = list[float](), list[float]()
    for _ in bench.times(25, what):
        style.append(browser.took("page.css"))
        page.append(browser.took())
    yield Row(what, "ms", page, style, "its style sheet, from the same server")


def _news(bench: Bench, world: World, browser: Browser) -> Row:
    """Measure from the rename to the event; a browser then asks for the page."""
    what, taken = "task serve, a change on disk told to a browser", list[float]()
    state = layout.task_state(layout.task_home(world.state, "part-0-0a1b2c3d"))
    with browser.open("events") as stream:
        _event(stream)
        for _ in bench.times(25, what):
            part = state.with_name("state.json.part")
            part.write_bytes(state.read_bytes())
            watch = Stopwatch()
            part.rename(state)
            _event(stream)
            taken.append(watch.ms)
    return Row(what, "ms", taken, reach=Reach(Of.MEDIAN, 200))


def _event(stream: HTTPResponse) -> None:
    """Take the next event to its end."""
    while (line := stream.readline()) != b"\n":
        if not line:
            raise RuntimeError("task serve ended its stream of events")


def _answers(bench: Bench, world: World) -> Row:
    """Measure from the form that is sent to the state that has no such question any more, with a daemon of its own."""
    what, taken = "task serve, an answer from the page takes effect", list[float]()
    world.start_daemon()
    task = world.start_task("asked", brief({"explore": str(_BLOCKED)}, "shared"))
    with _serving(world) as (browser, _):
        browser.sign_in()
        for _ in bench.times(15, what):
            name = until(lambda: next(iter(_open(task)), ""), "a question", world.complaint)
            with browser.open() as answer:
                (token,) = re.findall(r'name="form" value="([^"]+)"', answer.read().decode())
            form = {"form": token, "task": task.home.name, "question": name}
            sender = threading.Thread(target=browser.answer, args=[form])
            watch = Stopwatch()
            sender.start()
            until(partial(_is_closed, task, name), "the effect of an answer", world.complaint)
            taken.append(watch.ms)
            sender.join()
    return Row(what, "ms", taken, reach=Reach(Of.MEDIAN, 200))


def _is_closed(task: Begun, question: str) -> bool:
    return question not in _open(task)


def _open(task: Begun) -> list[str]:
    """Return the open questions of a task, by its state."""
    state = layout.task_state(task.home)
    return [each["id"] for each in json.loads(state.read_bytes())["questions"]] if state.exists() else []
