import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.hosts.ssh.reconcile import (
    NOT_PLAIN,
    Deed,
    Kind,
    deed,
    kept_name,
    kind_of,
    steps,
)

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


@given(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=300), st.integers(1, 1000))
def test_a_kept_name_fits_and_differs(name, number):
    name = os.fsdecode(name.encode(errors="surrogatepass")[:255])
    kept = kept_name(name, number)
    assert len(os.fsencode(kept)) <= 255
    assert kept != name
    assert "/" not in kept
    assert f".kept-{number}" in kept


# What a box may say ---------------------------------------------------------------------------------

RUNS = frozenset({"r-1", "r-2"})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("handoffs/dev-20251127-154500.md", Kind.HANDOFF),
        ("handoffs/two\nlines.md", Kind.HANDOFF),
        ("handoffs/-rf.md", Kind.HANDOFF),
        ("handoffs/pm-20251127-154500.md", Kind.HANDOFF),
        ("handoffs/.hidden.md", None),
        ("handoffs/notes.txt", None),
        ("handoffs/deep/a.md", None),
        ("artifacts/code/a b", Kind.ARTIFACT),
        ("artifacts/.git/config", Kind.ARTIFACT),
        ("scratchpad/dev-1/notes.md", Kind.ARTIFACT),
        ("scratchpad/dev-1", None),
        ("scratchpad/dev-1/../../handoffs/pm-x.md", None),
        ("artifacts", None),
        ("artifacts/", None),
        ("artifacts/../handoffs/pm-x.md", None),
        ("artifacts//a", None),
        ("artifacts/./a", None),
        ("requests/events/r-1.17.3.json", Kind.EVENT),
        ("requests/events/r-1.17.3.waits.json", Kind.EVENT),
        ("requests/events/r-3.17.3.json", None),  # a run that is not there
        ("requests/events/r-1.17.json", None),
        ("requests/stop.json", None),
        ("runs/r-1/claimed", Kind.RUN),
        ("runs/r-1/pid", Kind.RUN),
        ("runs/r-1/exit", Kind.EXIT),
        ("runs/r-1/pane.log", Kind.LOG),
        ("runs/r-3/exit", None),
        ("runs/r-1/order.md", None),
        ("runs/r-1/agent.sh", None),
        ("runs/r-1/launched", None),
        ("runs/r-1/answers/r-1.17.3", None),
        ("runs/../exit", None),
        ("task.md", None),
        ("", None),
    ],
)
def test_what_a_name_of_a_box_is(name, kind):
    assert kind_of(name, RUNS) is kind


NAMES = st.sampled_from(
    [
        "handoffs/a.md",
        "handoffs/pm-a.md",
        "artifacts/a",
        "requests/events/r-1.1.1.json",
        "runs/r-1/pid",
        "runs/r-1/exit",
        "runs/r-1/pane.log",
        "runs/r-3/exit",
        "runs/r-1/order.md",
    ]
)
DIGESTS = st.sampled_from(["a", "b", "c"])
SIDE = st.dictionaries(NAMES, DIGESTS)
HERE = st.dictionaries(NAMES, st.sampled_from(["a", "b", "c", NOT_PLAIN]))


def carried_out(found, there, base, here):
    """Return base, what lies here, and what was kept, after these steps."""
    base, here, kept = dict(base), dict(here), []
    for step in found:
        if step.deed is Deed.KEEP_AND_BRING:
            kept.append(here[step.name])
        if step.deed in {Deed.BRING, Deed.KEEP_AND_BRING}:
            here[step.name] = there[step.name]
        if step.deed is not Deed.REFUSE:
            base[step.name] = there[step.name]
    return base, here, kept


@given(SIDE, SIDE, HERE)
def test_what_is_published_is_whole_ours_and_in_order(there, base, here):
    found = steps(there, base, here, RUNS)
    assert [step.kind for step in found] == sorted(step.kind for step in found)
    assert {step.name for step in found} == {name for name in there if kind_of(name, RUNS) is not None}
    for step in found:
        assert (step.deed is Deed.REFUSE) == bool(step.why)


@given(SIDE, SIDE, HERE)
def test_nothing_that_lies_here_is_lost(there, base, here):
    _, after, kept = carried_out(steps(there, base, here, RUNS), there, base, here)
    for name, digest in here.items():
        assert (
            after[name] == digest or digest in kept or digest == base.get(name) or name.endswith("pane.log")
        )
        if digest == NOT_PLAIN or kind_of(name, RUNS) is None:
            assert after[name] == digest


@given(SIDE, SIDE, HERE, st.integers(0, 9))
def test_one_that_is_killed_in_the_middle_is_caught_up(there, base, here, done):
    found = steps(there, base, here, RUNS)
    whole = carried_out(found, there, base, here)
    # What was done is not remembered: the worst that a kill can do.
    _, half, kept = carried_out(found[:done], there, base, here)
    again, after, kept_again = carried_out(steps(there, base, half, RUNS), there, base, half)
    assert (again, after, sorted(kept + kept_again)) == (whole[0], whole[1], sorted(whole[2]))


@given(SIDE, SIDE, HERE)
def test_the_next_pull_finds_nothing_to_do(there, base, here):
    base, here, _ = carried_out(steps(there, base, here, RUNS), there, base, here)
    for step in steps(there, base, here, RUNS):
        assert step.deed in {Deed.NOTHING, Deed.REFUSE}


def test_handled_event_does_not_come_again():
    name = "requests/events/r-1.1.1.json"
    assert steps({name: "a"}, {name: "a"}, {}, RUNS)[0].deed is Deed.NOTHING


def test_files_of_one_kind_keep_their_order():
    """The number of a process says nothing: it has a digit more at 10,000, and begins anew at 32,768."""
    first, then = "requests/events/r-1.7.9999.json", "requests/events/r-1.7.10001.waits.json"
    there = {then: "b", first: "a"}, {first: "a", then: "b"}
    assert [[step.name for step in steps(each, {}, {}, RUNS)] for each in there] == [
        [then, first],
        [first, then],
    ]


def test_an_order_comes_from_nobody_but_the_pm():
    name = "handoffs/pm-20251127-154500.md"
    assert steps({name: "a"}, {}, {name: "a"}, RUNS)[0].deed is Deed.NOTHING
    assert steps({name: "a"}, {name: "a"}, {}, RUNS)[0].deed is Deed.NOTHING
    assert steps({name: "a"}, {}, {}, RUNS)[0].deed is Deed.REFUSE
    assert steps({name: "b"}, {name: "a"}, {name: "a"}, RUNS)[0].deed is Deed.REFUSE
