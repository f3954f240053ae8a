"""What was captured of the real CLIs can be read by the drivers, and says nothing of the machine it was captured on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.clis.album import FIXTURES, LONG, shortened
from tests.clis.drivers import DRIVERS
from tests.clis.pinned import NODE, pins

EVENT_FILES = [
    path
    for path in sorted(FIXTURES.glob("*/*.json"))
    if not path.stem.startswith(
        ("measured", "rollout", "notify", "transcript", "sessions_file", "api", "kinds", "told")
    )
]


def test_there_are_captures_of_every_pinned_cli() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == set(pins()) - {NODE}


@pytest.mark.parametrize("path", EVENT_FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_captured_event_is_of_the_kind_that_its_name_says(path: Path) -> None:
    driver = DRIVERS[path.parent.name.partition("-")[0]]
    read = json.loads(path.read_text("utf-8"))
    kinds = {driver.kind(each) for each in (read if isinstance(read, list) else [read])}
    if not path.stem.startswith("events"):
        (kind,) = kinds
        assert path.stem.startswith(kind.replace(".", "_"))


def test_no_capture_names_the_machine() -> None:
    notified = {path.name: path.read_text("utf-8") for path in FIXTURES.glob("*/*")}
    assert notified
    assert not [
        name for name, text in notified.items() if re.search(r"/tmp/clis-|/root/|/home/\w+/|\.cache/", text)
    ]


def test_long_texts_of_a_vendor_are_cut() -> None:
    assert shortened({"system": ["x" * (LONG + 1), "short"], "count": 3}) == {
        "system": [f"{'x' * 80}… ({LONG + 1} characters)", "short"],
        "count": 3,
    }
