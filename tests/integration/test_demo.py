"""The demo, run as a stranger runs it: it shows what the picture in README.md shows."""

from tests.recording.demo import COLUMNS, PICTURE, TITLE, recorded
from tests.recording.terminal import drawn, words


def test_the_demo_shows_what_its_picture_shows():
    """If this fails and the demo is right, `scripts/record-demo` draws the picture anew."""
    shown = words(drawn(recorded(), COLUMNS, TITLE))
    assert shown.split() == words(PICTURE.read_text(encoding="utf-8")).split()
