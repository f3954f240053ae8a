"""What the tests of real CLIs share."""

from __future__ import annotations

import pytest

from tests.clis.pinned import why_missing


@pytest.fixture
def installed(request: pytest.FixtureRequest) -> str:
    """The name of a CLI that is there; otherwise the test is skipped by that name."""
    name: str = request.param
    if why := why_missing(name):
        pytest.skip(why)
    return name
