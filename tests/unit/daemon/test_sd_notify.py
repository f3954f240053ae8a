import os
import socket
from pathlib import Path

import pytest

from orchestrator.daemon.process.sd_notify import SdNotify


@pytest.fixture(params=["a path", "an abstract name"])
def manager(request, tmp_path):
    """A service manager: the address that it gives, and what it was told since it was asked last."""
    abstract = request.param == "an abstract name"
    if abstract and not Path("/proc/self/ns/net").exists():
        pytest.skip("abstract names are Linux's")
    address = f"@orchestrator-test-{os.getpid()}-{tmp_path.name}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(f"\0{address[1:]}" if abstract else address)
        ours.settimeout(5)
        yield address, lambda: ours.recv(4096).decode().split("\n")


def test_service_manager_gets_start_heartbeat_and_end(manager):
    address, notified = manager
    notify = SdNotify.taken_from({"NOTIFY_SOCKET": address})
    notify.ready("2 tasks, 1 at work")
    assert notified() == ["READY=1", "STATUS=2 tasks, 1 at work", "WATCHDOG=1"]
    notify.beat("2 tasks, 0 at work")
    assert notified() == ["WATCHDOG=1", "STATUS=2 tasks, 0 at work"]
    notify.stopping()
    assert notified()[0] == "STOPPING=1"


def test_nothing_that_we_start_can_speak_in_our_name():
    environ = {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "2", "PATH": "/bin"}
    notify = SdNotify.taken_from(environ)
    assert environ == {"PATH": "/bin"}
    assert notify.variables == {"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "2"}


def test_without_a_manager_nothing_is_said(monkeypatch, caplog):
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("there is nobody to speak to"))
    notify = SdNotify.taken_from({"PATH": "/bin"})
    notify.ready("1 tasks")
    notify.beat("1 tasks")
    assert not caplog.records


@pytest.mark.parametrize("address", ["", "/nowhere/at/all", "x" * 200, "@", "relative", "\udcff"])
def test_deaf_service_manager_is_logged_once(address, caplog):
    notify = SdNotify({"NOTIFY_SOCKET": address})
    for _ in range(3):
        notify.beat("1 tasks")
    assert len(caplog.records) == (1 if address else 0)


def test_a_manager_that_is_full_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("orchestrator.daemon.process.sd_notify._DEADLINE", 0.01)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind(str(tmp_path / "notify"))
        notify = SdNotify({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        beats = 0
        while not notify._failed and beats < 2000:
            notify.beat("1 tasks")
            beats += 1
    assert notify._failed, "it was never full"
    assert beats > 1


@pytest.mark.parametrize(
    ("variables", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "120000000"}, 120.0),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": str(os.getpid())}, 0.5),
        ({"WATCHDOG_USEC": "500000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdogs_time_is_read(variables, seconds):
    assert SdNotify(variables).watchdog == seconds
