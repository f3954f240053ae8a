"""A sample of `scripts/chaos`: whatever is killed, and whenever, the task ends as if nothing had happened.

At each landing something of each kind; the night takes more moments, and `scripts/chaos` all of them.
"""

from __future__ import annotations

import shutil

import pytest

from tests.chaos.kills import (
    call_failed,
    daemon_killed,
    daemon_killed_by_strace,
    everything_killed,
    task_stopped,
    tmux_killed,
)

NIGHT = pytest.mark.thorough(reason="a whole task for each further moment")


@pytest.mark.parametrize(
    "moment", [2, 962, *(pytest.param(moment, marks=NIGHT) for moment in (322, 642, 1282))]
)
def test_the_daemon_is_killed_at_a_change(moment: int) -> None:
    assert daemon_killed(moment) == [True], "it was not killed: there are fewer changes than moments now"


@pytest.mark.parametrize("moments", [(250, 22, 3), pytest.param((1200, 60, 7), marks=NIGHT)])
def test_the_daemon_is_killed_again_while_it_recovers(moments: tuple[int, ...]) -> None:
    assert daemon_killed(*moments) == [True] * len(moments)


@pytest.mark.parametrize("moment", [600])
def test_sigterm_to_the_daemon_at_any_change(moment: int) -> None:
    assert daemon_killed(moment, by="TERM") == [True]


@pytest.mark.skipif(not shutil.which("strace"), reason="strace brings about the kill")
@pytest.mark.parametrize(("call", "number"), [pytest.param("rename", 40, marks=NIGHT), ("fsync", 90)])
def test_the_daemon_is_killed_in_a_system_call(call: str, number: int) -> None:
    assert daemon_killed_by_strace(call, number)


def test_the_task_is_stopped_and_started_again() -> None:
    task_stopped(4)


@pytest.mark.parametrize("moments", [(1, 2), pytest.param((8,), marks=NIGHT)])
def test_the_tmux_server_is_killed(moments: tuple[int, ...]) -> None:
    tmux_killed(*moments)


@pytest.mark.parametrize("moment", [7])
def test_daemon_and_tmux_server_are_killed(moment: int) -> None:
    everything_killed(moment)


@pytest.mark.parametrize("moment", [1100])
def test_two_sigterms_to_the_daemon(moment: int) -> None:
    assert daemon_killed(moment, by="TERM*2") == [True]


@pytest.mark.parametrize(
    ("error", "moment"),
    [
        pytest.param("ENOSPC", 800, marks=NIGHT),
        pytest.param("EIO", 450, marks=NIGHT),
        ("EMFILE", 400),
        ("ENOSPC*40", 1000),
    ],
)
def test_a_change_fails(error: str, moment: int) -> None:
    assert call_failed(moment, error)
