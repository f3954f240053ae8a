"""A sample of `scripts/chaos --boxes`: whatever happens on the way to a box, the task ends as if nothing had."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.chaos.far import Distance, cable_out, daemon_killed, disturbed, sessions_killed, sshd_frozen
from tests.chaos.trial import Skipped


@pytest.mark.parametrize(
    ("what", "call", "ahead"),
    [
        pytest.param(
            sessions_killed,
            6,
            False,
            marks=pytest.mark.thorough(reason="sessions are also killed at call 14"),
        ),
        (sessions_killed, 14, True),
        pytest.param(
            cable_out,
            20,
            False,
            marks=pytest.mark.thorough(reason="remote/test_link.py takes the cable out at each landing"),
        ),
        pytest.param(
            sshd_frozen,
            26,
            True,
            marks=pytest.mark.thorough(reason="remote/test_link.py freezes an sshd at each landing"),
        ),
        pytest.param(
            daemon_killed,
            10,
            False,
            marks=pytest.mark.thorough(reason="the daemon is also killed at call 18"),
        ),
        (daemon_killed, 18, True),
    ],
)
def test_something_happens_at_a_call(what: Callable[[Distance], object], call: int, *, ahead: bool) -> None:
    try:
        assert disturbed(call, what, ahead=ahead), "it never came to that: there are fewer calls now"
    except Skipped as reason:
        pytest.skip(str(reason))
