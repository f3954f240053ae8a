"""tmux and git fail or hang at one call of a whole task: nothing is lost, doubled or left without a word."""

from __future__ import annotations

import os

import pytest

from tests.integration.daemon.world import World, a_world

FAR = 100_000
STRIDE = 5
WAYS = {
    "fails": "echo 'fatal: no such thing today' >&2; exit 1",
    "fails afterwards": '"$@"; exit 1',
    "hangs": "exec sleep 600",
    "prints rubbish": "echo '\\377 rubbish %% :0 {}'; exit 0",
}
SCRIPT = """#!/bin/sh
set -- {program} "$@"
PATH={path}
# Each call has a number of its own: the first that can make the folder.
[ -e {root}/counting ] || exec "$@"
n=$(cat {root}/calls 2>/dev/null || echo 1)
until mkdir {root}/call-$n 2>/dev/null; do n=$((n + 1)); done
echo $n >{root}/calls.$$ && mv {root}/calls.$$ {root}/calls
[ $n -ne {at} ] || {{ {deed}; }}
exec "$@"
"""


def calls(world: World) -> int:
    return len(list(world.root.glob("call-*")))


def lived(program: str, way: str, at: int) -> int:
    """Let a task be done by a daemon for which one call goes wrong, and judge it; return how many calls it made.

    The user's own git and tmux are what they are.
    """
    with a_world(git__timeout="3 s", daemon__rescan="1 s") as world:
        wrapper = world.root / "bin" / program
        wrapper.parent.mkdir()
        wrapper.write_text(
            SCRIPT.format(program=program, path=os.environ["PATH"], root=world.root, at=at, deed=WAYS[way])
        )
        wrapper.chmod(0o755)
        world.daemon(PATH=f"{wrapper.parent}:{os.environ['PATH']}")
        (world.root / "counting").touch()
        world.let({})
        world.brief("t1")
        start = ("start", "t1", "--project", str(world.project))
        if (said := world.task(*start)).code:
            assert program in said.err, "who starts it is told that it was not, and why"
            assert world.task(*start).code == 0
        world.until(lambda: world.stands() in {"complete", "waiting"}, within=120)
        if world.stands() == "waiting":
            for question in world.state_shown()["questions"]:
                assert question["text"]
                assert world.task("answer", "t1", question["id"], "retry").code == 0
        world.until_is("complete")
        world.check_once()
        world.check_nobody_is_left()
        assert world.git("diff", "--name-status", "main", "task/t1") == "A\tpkg/greet.py"
        return calls(world)


@pytest.mark.parametrize(
    ("program", "at", "way"),
    [
        ("tmux", 3, "hangs"),
        ("git", 40, "fails"),
        pytest.param("tmux", 3, "fails", marks=pytest.mark.thorough(reason="the same program is also hung")),
        pytest.param("git", 40, "hangs", marks=pytest.mark.thorough(reason="the same program also fails")),
    ],
)
def test_one_call_that_goes_wrong_costs_nothing(program: str, at: int, way: str) -> None:
    assert lived(program, way, at) >= at


@pytest.mark.thorough(reason="hundreds of whole tasks: above, one call of each program goes wrong")
@pytest.mark.parametrize("program", ["tmux", "git"])
@pytest.mark.parametrize("way", WAYS)
def test_every_call_that_goes_wrong_costs_nothing(program: str, way: str) -> None:
    at, made = 1, FAR
    while at <= made:
        made = min(made, lived(program, way, at))
        at += 1 if program == "tmux" else STRIDE
