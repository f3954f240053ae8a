"""The environment of a login on a real box: what its shell's files set, whatever they print."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.login import login_environment
from orchestrator.model.errors import Unavailable
from tests.remote.boxes import Box


def test_login_environment_precedes_the_plain_path(link: Link, box: Box) -> None:
    """What a login sets is had with the path of a plain command behind."""
    plain = link.run(["sh", "-c", 'printf %s "$PATH"']).out.decode().split(":")
    (box.home / ".profile").write_text(
        "echo hello\nprintf '\\norchestrator-login-1\\nA=b'\nPATH=/mine:$PATH\nexport TWO='a\nb'\n"
    )
    found = login_environment(link)
    assert found["HOME"] == str(box.home)
    assert found["TWO"] == "a\nb"
    assert found["PATH"].split(":") == list(dict.fromkeys(["/mine", *plain]))


def test_the_zone_of_a_box_is_known(link: Link, box: Box) -> None:
    """What a program there says of a time is of that zone."""
    assert ZoneInfo(login_environment(link)["TZ"]).key
    (box.home / ".profile").write_text("export TZ=Asia/Tokyo\n")
    assert login_environment(link)["TZ"] == "Asia/Tokyo"


def test_a_login_that_fails_is_said(link: Link, box: Box) -> None:
    (box.home / ".profile").write_text("exit 3\n")
    with pytest.raises(Unavailable, match="environment of a login"):
        login_environment(link)
