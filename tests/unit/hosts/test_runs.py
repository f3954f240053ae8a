"""How a box's answer about its runs is read, whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from orchestrator.hosts.ssh.runs import RunQuery, observing, read_answer, read_observations, read_used
from orchestrator.model.errors import Unavailable
from orchestrator.model.run import Exit
from orchestrator.ports.host import Observation, Standing

ALIVE = Observation(Standing.ALIVE, 12, "%3", start="7@boot")
ASKED = [RunQuery("tasks/a/runs/r0"), RunQuery("tasks/a/runs/r1", ALIVE), RunQuery("tasks/a/runs/r2")]
PID = b"folder\npid pid 12\npid start 7@boot\npid session 11\npid pane %3\npid .\n"


def out(*runs: bytes, end: bytes = b"orchestrator-runs-end\n") -> bytes:
    reported = b"".join(b"run %d\n" % number + each for number, each in enumerate(runs))
    return b"Welcome!\n\norchestrator-runs-1\nhome /home/u\n" + reported + end


def seen(*runs: bytes, end: bytes = b"orchestrator-runs-end\n") -> list[Observation | None]:
    return read_observations(read_answer(out(*runs, end=end)), ASKED)


def test_run_on_a_box_is_read_as_on_any_host() -> None:
    gone = PID + b"exit\nexit code 3\nexit oom_kills 0\nexit .\nclaimed\n"
    assert seen(PID + b"lives\nclaimed\n", b"lives\n", gone) == [
        ALIVE,
        ALIVE,
        Observation(Standing.GONE, 12, "%3", Exit(code=3)),
    ]
    assert seen(PID + b"claimed\n", b"folder\nclaimed\n", b"folder\n") == [
        Observation(Standing.GONE, 12, "%3", Exit(lost=True)),
        Observation(Standing.CLAIMED),
        Observation(Standing.NOT_CLAIMED),
    ]
    assert seen(b"", b"folder\nexit\n", b"folder\nexit\nexit code 0.\n") == [
        Observation(Standing.NOT_CLAIMED),
        Observation(Standing.GONE, exit=Exit(lost=True)),
        Observation(Standing.GONE, exit=Exit(lost=True)),
    ]


def test_who_is_said_to_live_and_was_never_seen_is_unknown() -> None:
    assert seen(b"lives\n", b"lives\n", b"folder\n")[0] is None


def test_truncated_answer_yields_complete_runs_only() -> None:
    assert seen(PID + b"lives\n", b"folder\n", end=b"") == [ALIVE, None, None]
    assert seen(PID + b"lives\n", b"folder\ncl", end=b"") == [ALIVE, None, None]
    assert seen(end=b"") == [None, None, None]


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"Welcome!\n",
        b"orchestrator-runs-1",
        b"orchestrator-runs-1\n",
        b"orchestrator-runs-1\nhome \n",
        b"orchestrator-runs-1\nhome relative\n",
        b"orchestrator-runs-1\nhome /\x1b[2J\n",
        b"orchestrator-runs-1\nhome /\xff\n",
    ],
)
def test_invalid_answer_is_refused(printed: bytes) -> None:
    with pytest.raises(Unavailable):
        read_answer(printed)


@given(some.binary(max_size=200))
def test_nothing_that_a_box_prints_breaks_the_reading(noise: bytes) -> None:
    answer = read_answer(b"orchestrator-runs-1\nhome /h\n" + noise)
    assert len(read_observations(answer, ASKED)) == len(ASKED)
    read_used(answer)


@pytest.mark.parametrize(
    ("line", "used"),
    [(b"used 150 100\n", 1.5), (b"", None), (b"used 1 0\n", None), (b"used x 100\n", None)],
)
def test_processor_time_is_in_seconds(line: bytes, used: float | None) -> None:
    head = b"orchestrator-runs-1\nhome /h\n"
    assert read_used(read_answer(head + line + b"orchestrator-runs-end\n")) == used


def test_every_word_of_ours_is_an_argument() -> None:
    hostile = "tasks/$(touch x)/`id`/'"
    words = observing([RunQuery(hostile), RunQuery("b", ALIVE)])
    assert words[-6:] == [hostile, "", "", "b", "12", "7@boot"]
    assert hostile not in words[2]
