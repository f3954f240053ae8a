"""The demo, run as a stranger runs it: it shows what the pictures in README.md show."""

from tests.recording.demo import recorded
from tests.recording.terminal import words


def test_the_demo_shows_what_its_picture_shows():
    """If this fails and the demo is right, `scripts/record-demo` draws the pictures anew."""
    for each in recorded():
        shown = words(each.drawn()).split()
        assert shown == words(each.picture.read_text(encoding="utf-8")).split(), each.name
