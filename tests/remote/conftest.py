"""Real boxes for tests, where sshd and rsync are to be had."""

from collections.abc import Iterator

import pytest

from tests.remote import boxes as bench


@pytest.fixture
def boxes() -> Iterator[bench.Boxes]:
    if bench.MISSING:
        pytest.skip(f"{' and '.join(bench.MISSING)} missing: scripts/setup --boxes installs them")
    with bench.boxes() as made:
        yield made
