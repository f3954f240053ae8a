"""An artifact on a box that is too large to come: its agent is told so, with the limit, and that it may be raised."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.daemon.world import World, a_world
from tests.remote.boxes import Boxes
from tests.remote.furnished import COMMIT, cwd, furnished

LIMIT = 100_000


@pytest.fixture
def world(boxes: Boxes) -> Iterator[World]:
    with a_world(limits__max_artifact_bytes=str(LIMIT)) as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def test_artifact_too_large_comes_back_with_limit_and_remedy(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    large, small = "artifacts/code/large", "artifacts/code/small"
    turns = [
        {"artifacts": {large: "x" * (LIMIT + 1)}, **COMMIT},
        {"artifacts": {small: "x" * LIMIT}, **COMMIT},
    ]
    folder = world.begin({"dev:greet": turns}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    first, second = world.story().orders("dev:greet")
    assert large not in first
    assert f"{large} stays on alpha" in second
    assert f"{LIMIT:,} bytes" in second
    assert "max_artifact_bytes" in second
    assert "not on disk" not in second
    assert world.lives_of("dev:greet") == 2
    assert (box.home / "repo/tasks/t1" / large).exists()
    assert not (folder / large).exists()
    world.until((folder / small).exists)
    world.check_once()
