"""A headless Chromium that a test drives, by the protocol of its developer tools over a pipe: no port is opened."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from select import select
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
PATIENCE = 120.0
"""Seconds for each thing that is waited for. Most take a tenth of one where the machine has nothing else to do."""

_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)


@dataclass
class Tab:
    """One page of the browser."""

    reads: int
    writes: int
    session: str = ""
    _number: int = 0
    _unread: bytes = b""
    _replies: dict[int, dict[str, Any]] = field(default_factory=dict)

    def open(self, width: int, *, dark: bool = False) -> None:
        """Make the page, `width` pixels wide, and take it over."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        shape = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **shape)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def go(self, url: str) -> None:
        """Open an address."""
        self.call("Page.navigate", url=url)

    def value(self, script: str) -> Any:
        """Return what a script comes to in the page; None if there is no page to run it in at this moment."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return done.get("result", {}).get("value")

    def until(self, script: str) -> Any:
        """Wait until a script comes to something true, and return that."""
        deadline = time.monotonic() + PATIENCE
        while not (found := self.value(script)):
            assert time.monotonic() < deadline, (
                f"{script} never came: {self.value('document.body.innerText')}"
            )
            select([], [], [], 0.02)
        return found

    def picture(self) -> bytes:
        """Return what the page looks like, as PNG."""
        from base64 import b64decode

        return b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol, and return what it returns; empty if it could not be carried out."""
        self._number += 1
        said: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        os.write(
            self.writes,
            json.dumps(said | ({"sessionId": self.session} if self.session else {})).encode() + b"\0",
        )
        deadline = time.monotonic() + PATIENCE
        while self._number not in self._replies:
            self._hear(deadline)
        result = self._replies.pop(self._number).get("result", {})
        assert isinstance(result, dict)
        return result

    def _hear(self, deadline: float) -> None:
        ready, _, _ = select([self.reads], [], [], max(deadline - time.monotonic(), 0))
        assert ready, "the browser says nothing"
        data = os.read(self.reads, 1 << 20)
        assert data, "the browser has ended"
        *whole, self._unread = (self._unread + data).split(b"\0")
        for each in whole:
            message = json.loads(each)
            if "id" in message:
                self._replies[message["id"]] = message


@contextmanager
def a_browser(folder: Path, width: int = 1280, *, dark: bool = False) -> Iterator[Tab]:
    """Start a browser with a profile of its own, open a page in it, and end it with all its processes."""
    theirs, ours = os.pipe()
    reads, writes = os.pipe()
    # The protocol wants the numbers 3 and 4.
    command = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{writes}', "bash", BROWSER, *_OPTIONS]
    with subprocess.Popen(
        [*command, f"--user-data-dir={folder / 'profile'}"],
        pass_fds=(theirs, writes),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.close(writes)
        try:
            tab = Tab(reads, ours)
            tab.open(width, dark=dark)
            yield tab
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            os.close(reads)
            os.close(ours)
