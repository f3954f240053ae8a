import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.hosts.ssh.reconcile import Deed, deed, kept_name

NOTHING, BRING, KEEP = Deed.NOTHING, Deed.BRING, Deed.KEEP_AND_BRING


@pytest.mark.parametrize(
    ("base", "here", "there", "what"),
    [
        (None, None, None, NOTHING),
        (None, None, "a", BRING),  # new there
        (None, "a", None, NOTHING),  # new here
        (None, "a", "a", NOTHING),
        (None, "a", "b", KEEP),  # new on both sides
        ("a", None, None, NOTHING),  # gone on both
        ("a", "a", None, NOTHING),  # gone there: stays here
        ("a", None, "a", NOTHING),  # taken away here, and nothing new there
        ("a", None, "b", BRING),  # taken away here, changed there
        ("a", "a", "a", NOTHING),
        ("a", "a", "b", BRING),  # changed there
        ("a", "b", "a", NOTHING),  # changed here
        ("a", "b", "b", NOTHING),  # the same change on both sides
        ("a", "b", "c", KEEP),  # another on each
        ("a", "b", None, NOTHING),
    ],
)
def test_what_is_done(base, here, there, what):
    assert deed(base, here, there) is what


SIDES = st.sampled_from([None, "a", "b", "c"])


@given(SIDES, SIDES, SIDES)
def test_nothing_that_only_exists_here_is_ever_lost(base, here, there):
    if deed(base, here, there) is BRING:
        assert here in {None, base}


@given(SIDES, SIDES, SIDES)
def test_it_comes_to_rest(base, here, there):
    if deed(base, here, there) is not NOTHING:
        here = base = there
    assert deed(base, here, there) is NOTHING


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("a.md", "a.kept-1.md"),
        ("a", "a.kept-1"),
        (".hidden", ".hidden.kept-1"),
        ("a.tar.gz", "a.tar.kept-1.gz"),
    ],
)
def test_what_is_kept_keeps_its_ending(name, kept):
    assert kept_name(name, 1) == kept
