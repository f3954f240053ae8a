"""Real boxes for tests, where sshd and rsync are to be had."""

import os
from collections.abc import Iterator

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from tests.remote import boxes as bench


@pytest.fixture
def boxes() -> Iterator[bench.Boxes]:
    if bench.MISSING:
        pytest.skip(f"{' and '.join(bench.MISSING)} missing: scripts/setup --boxes installs them")
    with bench.boxes() as made:
        yield made


@pytest.fixture
def box(boxes: bench.Boxes) -> bench.Box:
    return boxes.add("alpha")


@pytest.fixture
def link(boxes: bench.Boxes, box: bench.Box) -> Iterator[Link]:
    """The connection to `box`."""
    made = Link(Address(box.name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()
