import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.hosts.ssh.box import BoxFinding, findings, question, read_box
from orchestrator.model.errors import Refused, Unavailable

TOLD = """\
Welcome to this box!
orchestrator-box-1
home=/home/me
uname=Linux x86_64
clock=1000
cwd=writable
disk=2097152
tmux=tmux 3.3a
rsync=rsync  version 3.2.7  protocol version 31
git=git version 2.39.5
linger=unneeded
program=claude 2.1.328 (Claude Code)
missing=codex
orchestrator-box-end
"""
ASKED = ["claude", "codex"]


def read(text=TOLD, asked=1000.2, answered=1000.4, programs=ASKED):
    return read_box(text, programs, asked, answered)


def test_answers_of_a_box_are_read():
    box = read()
    assert (box.home, box.uname, box.cwd, box.disk) == ("/home/me", "Linux x86_64", "writable", 2 * 1024**3)
    assert box.offset == 0
    assert box.programs == {"claude": "2.1.328 (Claude Code)", "codex": None}


@pytest.mark.parametrize(("clock", "offset"), [(1000, 0), (999, -0.2), (1301, 300.6), (700, -299.2)])
def test_the_offset_is_what_is_certain_of_it(clock, offset):
    assert read(TOLD.replace("clock=1000", f"clock={clock}")).offset == pytest.approx(offset)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("orchestrator-box-end\n", ""),
        ("orchestrator-box-1\n", ""),
        ("clock=1000", "clock=noon"),
        ("clock=1000", "clock=1000\nclock=5"),
        ("clock=1000\n", ""),
        ("disk=2097152", "disk="),
        ("home=/home/me", "home="),
        ("missing=codex\n", ""),
        ("linger=unneeded", "no answer"),
        ("linger=unneeded", "linger=" + "x" * 500),
    ],
)
def test_another_answer_is_none(old, new):
    with pytest.raises(Unavailable):
        read(TOLD.replace(old, new))


@given(st.text() | st.lists(st.sampled_from(TOLD.splitlines()), max_size=20).map("\n".join))
def test_any_answer_is_read_or_refused(text):
    try:
        box = read(text)
    except Unavailable:
        return
    assert box.home.startswith("/")


def test_a_good_box_stops_nothing():
    box = read(programs=["claude"], text=TOLD.replace("missing=codex\n", ""))
    assert [each.what for each in findings(box, "/repo")] == [
        "tmux 3.3a",
        "rsync  version 3.2.7  protocol version 31",
        "git version 2.39.5",
        "claude 2.1.328 (Claude Code)",
        "/repo exists",
        "2.0 GiB free",
        "its clock agrees with ours",
        "its tmux outlives a logout: no systemd there that would end it",
    ]
    assert not any(each.stops or each.advice for each in findings(box, "/repo"))


@pytest.mark.parametrize(
    ("old", "new", "what", "stops"),
    [
        ("tmux=tmux 3.3a", "tmux=", "tmux is missing", True),
        ("tmux=tmux 3.3a", "tmux=tmux 2.9", "tmux is too old: tmux 2.9", True),
        ("tmux=tmux 3.3a", "tmux=tmux next-3.5", "tmux next-3.5", False),
        (
            "rsync=rsync",
            "rsync=openrsync: protocol version 29, rsync version 2.6.9 #",
            "rsync is too old",
            True,
        ),
        ("git=git version 2.39.5", "git=", "git is missing", True),
        ("cwd=writable", "cwd=missing", "/repo is not a folder there", True),
        ("cwd=writable", "cwd=readonly", "/repo is not writable", True),
        ("disk=2097152", "disk=1024", "0.0 GiB free", False),
        ("clock=1000", "clock=700", "its clock is 299 s behind ours: nothing gets lost", False),
        ("linger=unneeded", "linger=no", "a logout may end its tmux", False),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(old, new, what, stops):
    said = findings(read(TOLD.replace(old, new), programs=["claude", "codex"]), "/repo")
    (found,) = [each for each in said if each.what.startswith(what)]
    assert found.stops is stops
    assert found.advice or found == BoxFinding(found.what)
    assert said.index(found) < len([each for each in said if each.stops]) or not stops


@pytest.mark.parametrize(
    ("clock", "what"),
    [(1005, "its clock is 4.6 s ahead of ours"), (940, "its clock is 59 s behind ours")],
)
def test_small_clock_offset_is_reported_without_a_remedy(clock, what):
    said = findings(read(TOLD.replace("clock=1000", f"clock={clock}")), "/repo")
    assert BoxFinding(what) in said


def test_what_need_not_be_there_stops_nothing():
    said = findings(read(), "/repo", optional=ASKED)
    assert BoxFinding("codex is not there") in said
    assert not any(each.stops for each in said)


def test_without_a_folder_nothing_is_said_of_one():
    said = findings(read(TOLD.replace("cwd=writable", "cwd=missing")), "", optional=ASKED)
    assert not any(each.stops or "folder" in each.what for each in said)


def test_commands_are_there_or_stop_a_start():
    text = TOLD.replace("missing=codex\n", "missing=codex\nfound=1\nlost=2\n")
    box = read_box(text, ASKED, 1000.2, 1000.4, commands=["python3", "./a b"])
    assert box.commands == {"python3": True, "./a b": False}
    assert [each.what for each in findings(box, "/repo", optional=ASKED) if each.stops] == [
        "./a b does not exist, or may not be executed"
    ]
    with pytest.raises(Unavailable, match="did not answer for its make"):
        read_box(text, ASKED, 1000.2, 1000.4, commands=["python3", "./a b", "make"])


def test_home_in_a_command_is_not_expanded_and_said_so():
    """It was said not to exist, and to be put there, where it was."""
    box = read_box(
        TOLD.replace("codex\n", "codex\nlost=1\n"), ASKED, 1000.2, 1000.4, commands=["~/bin/agent"]
    )
    [found] = [each for each in findings(box, "/repo", optional=ASKED) if each.stops]
    assert "nothing expands the `~`" in found.what
    assert "whole path" in found.advice


@pytest.mark.parametrize("name", ["-x", "a b", "$(x)", "", "a/b", "a;b"])
def test_what_is_no_programs_name_is_not_asked_for(name):
    with pytest.raises(Refused):
        question("/repo", [name])


@pytest.mark.parametrize(
    ("answer", "behind", "said", "warned"),
    [
        ("head=0123456789abcdef\nbase=apart", True, "/repo is at 0123456789: abcdef0123", False),
        ("head=0123456789abcdef\nbase=apart", False, "/repo is at 0123456789, beside abcdef0123", True),
        ("head=\nbase=apart", False, "/repo has no commit: abcdef0123", True),
        ("head=0123456789abcdef\nbase=held", False, "", False),
    ],
)
def test_a_clone_without_the_first_commit_is_foreseen(answer, behind, said, warned):
    """That commit is sent there; a person is asked only where the clone has commits of its own."""
    box = read(TOLD.replace("linger=", f"{answer}\nlinger="))
    found = findings(box, "/repo", base="abcdef0123456", behind=behind)
    found = [each for each in found if each.what.startswith("/repo") and each.what != "/repo exists"]
    assert [each.what.startswith(said) for each in found] == ([True] if said else [])
    assert not any(each.stops for each in found)
    assert any(each.advice for each in found) is warned
