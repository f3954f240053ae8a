"""Draws docs/images/demo.svg and watch.svg from a real run of the demo."""

from __future__ import annotations

from tests.recording.demo import IMAGES, recorded

if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    for each in recorded():
        each.picture.write_text(each.drawn(), encoding="utf-8")
        print(f"drawn: {each.picture}")
