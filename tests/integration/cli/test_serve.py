"""`task serve` with a real daemon, its agents, and a real browser."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.accessibility import barriers
from tests.browser import BROWSER, a_browser
from tests.integration.daemon.world import World
from tests.unit.cli.conftest import House

SERVE = [sys.executable, "-P", "-m", "orchestrator.cli", "serve", "--port", "0"]


@contextmanager
def served(world: World) -> Iterator[str]:
    """Run the server, and give the address that it prints; it ends well by Ctrl-C."""
    with subprocess.Popen(
        SERVE, env=world.environ, cwd=world.root, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{24}/\?token=[\w-]{43}", address)
            yield address
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
def test_a_question_is_answered_from_a_phone(world: World, tmp_path: Path) -> None:
    """See the question on 390 pixels, answer it, see it go and the agent begin; then look at the report."""
    world.begin({"dev:greet": [{"status": "BLOCKED"}] * 2 + [{"screen": "so be it\n", "hang": True}]})
    world.until_is("waiting")
    with served(world) as address, a_browser(tmp_path, 390, dark=True) as tab:
        tab.go(address)
        tab.until(
            "document.readyState === 'complete' && !!document.querySelector('form.question') && !location.search"
        )
        text = tab.value("document.body.innerText")
        assert "dev is blocked on" in text
        assert "daemon up" in text
        assert "token" not in tab.value("document.documentElement.outerHTML")
        assert tab.value("document.cookie") == "", "no script sees the cookie"
        assert tab.value("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
        assert barriers(tab) == []
        tab.value("document.querySelector('form.question textarea').value = 'Use <b>db.sqlite</b>.'")
        tab.value("[...document.querySelectorAll('form.question button')].at(-1).click()")
        tab.until("document.getElementById('note')?.innerText.includes('answer to')")
        tab.until("!document.querySelector('form.question')")
        world.until_works("dev:greet")
        assert any("Use <b>db.sqlite</b>." in str(fact) for fact in world.story().facts("answered"))
        tab.until(
            "[...document.querySelectorAll('.agents li')].some(each => /dev:greet: dev: alive/.test(each.innerText))"
        )
        tab.until("document.getElementById('lost').hidden")
        tab.value("document.querySelector('a[href^=report]').click()")
        said = "document.body?.innerText.includes('Use <b>db.sqlite</b>.')"
        tab.until(f"document.title === 't1: report' && {said}")


@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
def test_what_an_open_question_says_is_never_old(world: World, tmp_path: Path) -> None:
    """Who waits for an answer changes while it is awaited; the page went on with what it was when it came."""
    house = House(world.root, world.state, world.root)
    world.state.mkdir(mode=0o700)
    house.task(questions=[house.question(holds=["dev-1"])], state="waiting")
    with served(world) as address, a_browser(tmp_path, 390) as tab:
        tab.go(address)
        tab.until(
            "document.readyState === 'complete' && !!document.querySelector('textarea') && !location.search"
        )
        tab.value("document.querySelector('textarea').value = 'half an ans'")
        house.task(questions=[house.question(holds=["dev-1", "review-2"])], state="waiting")
        tab.until("document.getElementById('questions').innerText.includes('dev-1, review-2')")
        assert tab.value("document.querySelector('textarea').value") == "half an ans"


def test_the_server_is_on_loopback_and_for_one_user(world: World) -> None:
    """Also without a browser: a stranger sees nothing; a second server at the same port says what to do."""
    world.state.mkdir(mode=0o700)
    with served(world) as address:
        port = address.split(":")[2].partition("/")[0]
        assert _listens(int(port)) == {"127.0.0.1"}
        said = world.task("serve", "--port", port)
        assert (said.code, "choose another by --port" in said.err) == (1, True)


def _listens(port: int) -> set[str]:
    """Return the addresses of IPv4 on which somebody listens at a port, and `IPv6` if there is one of those."""
    found = set[str]()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        address, _, hexadecimal = local.partition(":")
        if state == "0A" and int(hexadecimal, 16) == port:
            found.add(".".join(str(each) for each in reversed(bytes.fromhex(address))))
    for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]:
        _, local, _, state, *_ = line.split()
        if state == "0A" and int(local.partition(":")[2], 16) == port:
            found.add("IPv6")
    return found
