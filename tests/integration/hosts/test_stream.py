"""What a child says by its output is read by a deadline, however far that is."""

from __future__ import annotations

import math

import pytest

from orchestrator.hosts.ssh import stream


@pytest.mark.parametrize("until", [1e12, math.inf])
def test_a_deadline_beyond_what_poll_takes_is_waited_for(until: float) -> None:
    with stream.opened(["cat"], {"PATH": "/usr/bin:/bin"}, until) as there:
        assert there.send(b"hello") == 5
        assert there.recv(100) == b"hello"
