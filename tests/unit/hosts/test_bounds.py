from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.hosts.ssh.bounds import Bounds, Quota, Room, choice, room

FILES = st.lists(
    st.tuples(st.sampled_from([f"artifacts/{letter}" for letter in "abcdefgh"]), st.integers(0, 50)),
    unique_by=lambda file: file[0],
)
ANY = st.lists(
    st.tuples(
        st.sampled_from(
            ["artifacts/a", "artifacts/deep/er/b", "scratchpad/dev/c", "runs/r-1/pane.log", "handoffs/d"]
        ),
        st.integers(0, 50),
    )
)


def left(had, bounds):
    return room([("artifacts/before", had)], bounds)


@given(FILES, st.integers(0, 100), st.integers(1, 5), st.integers(1, 60), st.integers(0, 200))
def test_what_is_fetched_is_bounded_goes_on_and_ends(listed, had, files, size, total):
    bounds, sizes, todo = Bounds(files, size, total), dict(listed), dict(listed)
    for _ in range(len(listed) + 1):
        chosen = choice(todo.items(), left(had, bounds), bounds)
        got = [sizes[name] for name in chosen.now]
        assert sum(got) == chosen.size
        assert len(got) <= files
        assert sum(got) <= size or len(got) == 1
        assert sum(got) + had <= total or not got
        assert chosen.now or not chosen.later
        had += sum(got)
        todo = {name: large for name, large in todo.items() if name not in chosen.now}
        if not chosen.later:
            break
    assert set(todo) == set(chosen.over)


def test_logs_have_their_own_limit_and_small_ones_come_first():
    listed = [("artifacts/large", 900), ("artifacts/small", 2), ("runs/r-1/pane.log", 5000)]
    assert choice(listed, left(10, Bounds(total=10)), Bounds(total=10)).now == ("runs/r-1/pane.log",)
    assert choice(listed, left(10, Bounds()), Bounds(size=1000)).now == ("artifacts/small", "artifacts/large")


@given(
    ANY, st.integers(0, 100), st.integers(0, 5), st.integers(0, 100), st.integers(0, 12), st.integers(0, 100)
)
def test_quota_takes_no_more_than_each_of_its_limits(files, size, number, counted, entries, logs):
    quota = Quota(size, number, Room(counted, entries, logs))
    alone = quota.copy()
    taken = [(name, large) for name, large in files if quota.take(name, large)]
    assert sum(large for _, large in taken) <= size
    assert len(taken) <= number
    kept = [(name, large) for name, large in taken if name.startswith(("artifacts/", "scratchpad/"))]
    assert sum(large for _, large in kept) <= counted
    assert sum(1 + name.count("/") for name, _ in kept) <= entries
    assert sum(large for name, large in taken if name.startswith("runs/")) <= logs
    assert alone == replace(Quota(size, number), room=Room(counted, entries, logs)), "a copy counts by itself"


def test_empty_files_take_room_with_the_folders_above_them():
    bounds = Bounds(entries=8)
    listed = [(f"artifacts/a/b/{number}", 0) for number in range(5)]
    chosen = choice(listed, room([], bounds), bounds)
    assert (len(chosen.now), len(chosen.over)) == (2, 3)
    assert choice(listed, room([(chosen.now[0], 0)], bounds), bounds).now == chosen.now[:1]
