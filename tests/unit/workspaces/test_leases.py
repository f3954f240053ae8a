import pytest

from orchestrator.workspaces.leases import Lease, is_full, may_take

HELD = Lease("/a/b", run="r1", task="demo")


@pytest.mark.parametrize(
    "path", ["/a/b", "/a/b/", "/a//b", "/a/b/c", "/a/b/c/d", "/a", "/", "/a/./b", "/a/c/../b"]
)
def test_one_writer_keeps_out_another_at_above_and_beneath(path):
    assert may_take([HELD], path) is HELD


@pytest.mark.parametrize("path", ["/a/bb", "/a/c", "/b", "/a/b-2", "/b/a/b"])
def test_other_folders_are_free(path):
    assert may_take([HELD], path) is None


def test_nobody_holds_anything_at_first():
    assert may_take([], "/") is None


def test_the_first_holder_is_named():
    other = Lease("/x", run="r2", task="other")
    assert may_take([other, HELD], "/a") is HELD
    assert may_take([other, HELD], "/") is other


def test_a_box_is_full_when_as_many_are_there_as_it_may_have():
    there = [Lease("box:/a", "r1", "demo", "box"), Lease("", "r2", "demo", "box"), HELD]
    assert is_full(there, "box", 2)
    assert not is_full(there, "box", 3)
    assert not is_full(there, "other", 1)


def test_run_that_only_takes_a_slot_leases_no_folder():
    assert may_take([Lease("", "r2", "demo", "box")], "/") is None
