"""Draws docs/images/demo.svg from a real run of the demo."""

from __future__ import annotations

from tests.recording.demo import COLUMNS, PICTURE, TITLE, recorded
from tests.recording.terminal import drawn

if __name__ == "__main__":
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawn(recorded(), COLUMNS, TITLE), encoding="utf-8")
    print(f"drawn: {PICTURE}")
