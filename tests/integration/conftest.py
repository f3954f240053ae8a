"""A world for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.daemon.world import World, a_world


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world; `parametrize("world", [{"limits__inactivity_timeout": "1 s"}], indirect=True)` sets limits."""
    with a_world(**getattr(request, "param", {})) as made:
        yield made
