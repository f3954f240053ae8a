"""tmux is replaced under its server: everything that a user may ask names the cause, and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, a_world

SAID = "protocol version mismatch (client 8, server 7)"
SCRIPT = """#!/bin/sh
[ "$1" = -V ] || [ ! -e {root}/replaced ] || {{ echo '{said}' >&2; exit 1; }}
PATH={path} exec tmux "$@"
"""


@pytest.fixture
def replaced() -> Iterator[tuple[World, Path]]:
    """A world whose tmux is one of another version as soon as the file is there."""
    with a_world() as world:
        program = world.root / "bin" / "tmux"
        program.parent.mkdir()
        program.write_text(SCRIPT.format(root=world.root, said=SAID, path=os.environ["PATH"]))
        program.chmod(0o755)
        world.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
        world.daemon()
        yield world, world.root / "replaced"


def test_every_verb_names_a_server_of_another_version(replaced: tuple[World, Path]) -> None:
    world, mark = replaced
    world.begin({"explore": [{"hold": "on"}]})
    world.until_works("explore")
    mark.touch()
    world.go("on")
    world.until_is("waiting")
    (question,) = world.state_shown()["questions"]
    remedy = f"kill {world.tmux.server_pid()}"
    assert question["step"] == "plan", "who was at work is not touched"
    assert SAID in question["text"]
    assert remedy in question["text"]
    assert len(world.story().facts("launch_failed")) == 1, "another try would be in vain"
    project = str(world.project)
    for words in (
        ("status", "t1"),
        ("why", "t1"),
        ("questions",),
        ("doctor", "--project", project),
        ("start", "t2", "--check", "--project", project),
        ("attach", "t1"),
    ):
        if "--check" in words:
            world.brief("t2")
        said = world.task(*words)
        shown = " ".join((said.out + said.err).split())
        assert SAID in shown, words
        assert "Restore the former version" in shown, words
    mark.unlink()
    assert world.task("answer", "t1", question["id"], "retry").code == 0
    world.until_is("complete")
    world.check_once()
