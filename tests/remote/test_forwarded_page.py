"""The page of `task serve` from another machine: by a port that ssh forwards, as `task serve` says."""

from __future__ import annotations

import html
import re
import shlex
import socket
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.daemon.world import World, a_world
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

LOCAL = "127.0.0.1"
SECONDS = 30


@pytest.fixture
def world() -> Iterator[World]:
    """A daemon on the machine where the page is served."""
    with a_world() as made:
        yield made


@contextmanager
def over_ssh(boxes: Boxes, *words: str) -> Iterator[subprocess.Popen[str]]:
    """Run ssh as the user would, until the test has what it wants."""
    command = ["ssh", "-F", str(boxes.config), "-o", "BatchMode=yes", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as client:
        try:
            yield client
        finally:
            client.kill()


def free_port() -> int:
    with socket.create_server((LOCAL, 0)) as taken:
        return int(taken.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((LOCAL, port)) == 0


def asked(address: str, cookie: str = "", form: dict[str, str] | None = None) -> tuple[str, str]:
    """Return what a page says, and the cookie that it gives; send a form first, if there is one."""
    parts = urllib.parse.urlsplit(address)
    headers = {"Cookie": cookie, "Origin": f"http://{parts.netloc}", "Sec-Fetch-Site": "same-origin"}
    sent = urllib.parse.urlencode(form).encode() if form else None
    request = urllib.request.Request(address, data=sent, headers=headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        given = str(answer.headers.get("Set-Cookie") or "").partition(";")[0]
        return answer.read().decode(), given


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of the page's first form, and where it goes."""
    form = re.search(r'<form class="question"[^>]*action="([^"]*)"[^>]*>(.*?)</form>', page, re.DOTALL)
    assert form, page
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[2])
    return {"action": form[1]} | {name: html.unescape(value) for name, value in hidden}


def test_a_question_is_answered_over_a_forwarded_port(boxes: Boxes, box: Box, world: World) -> None:
    """See and answer it on another machine: that has a network of its own, and reaches this one by ssh alone."""
    world.begin({"dev:greet": [{"status": "BLOCKED"}] * 2 + [{"hang": True}]})
    world.until_is("waiting")
    ours = [f"{name}={value}" for name, value in world.environ.items() if name.startswith("ORCHESTRATOR_")]
    serve = ["env", *ours, sys.executable, "-P", "-m", "orchestrator.cli", "serve", "--port", "0"]
    with over_ssh(boxes, box.name, shlex.join(serve)) as there:
        assert there.stdout
        address = there.stdout.readline().strip()
        said = there.stdout.readline()
        far, near = urllib.parse.urlsplit(address).port, free_port()
        assert f"ssh -N -L {far}:{LOCAL}:{far}" in said
        with over_ssh(boxes, "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"{near}:{LOCAL}:{far}", box.name):
            wait_until(lambda: is_open(near), within=SECONDS)
            address = address.replace(f":{far}/", f":{near}/")
            root = address.partition("?")[0]
            _, cookie = asked(address)
            page, _ = asked(root, cookie)
            assert "dev is blocked on" in page
            form = fields(page)
            action = urllib.parse.urljoin(root, form.pop("action"))
            page, _ = asked(action, cookie, form | {"text": "Use <b>db.sqlite</b>."})
            assert "answer to" in page
    world.until_works("dev:greet")
    assert any("Use <b>db.sqlite</b>." in str(fact) for fact in world.story().facts("answered"))
