from hypothesis import given
from hypothesis import strategies as st

from orchestrator.hosts.ssh.backoff import FIRST, MOST, pause


def test_the_pause_doubles_up_to_its_bound():
    assert [pause(failures, 0) for failures in range(9)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]


@given(st.integers(1, 10**9), st.floats(0, 1))
def test_luck_shortens_it_by_a_half_at_most(failures, luck):
    assert FIRST / 2 <= pause(failures, luck) <= MOST
    assert pause(failures, 0) / 2 <= pause(failures, luck) <= pause(failures, 0)
