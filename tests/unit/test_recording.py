"""The picture of a terminal: it shows the words and colours of the terminal, and loads nothing from elsewhere."""

import re

import pytest

from tests.recording.demo import IMAGES
from tests.recording.terminal import drawn, words

SCREEN = "$ scripts/demo\n  3  dev  \x1b[32mcommit b2cb9fa\x1b[0m   13 s\n\n"


def test_a_picture_shows_the_words_of_its_terminal():
    assert words(drawn(SCREEN, 40, "A demo")) == "A demo $ scripts/demo 0 dev commit 0 0"


def test_what_differs_between_two_runs_is_not_compared():
    other = SCREEN.replace("b2cb9fa", "913070d").replace("13 s", "1 min 4 s")
    assert words(drawn(other, 40, "A demo")) == words(drawn(SCREEN, 40, "A demo"))


def test_an_age_is_an_age_however_short():
    assert words(drawn("passed  now", 40, "A demo")) == words(drawn("passed  3 s ago", 40, "A demo"))


def test_another_outcome_is_compared():
    other = SCREEN.replace("commit", "rejected")
    assert words(drawn(other, 40, "A demo")) != words(drawn(SCREEN, 40, "A demo"))


def test_colours_are_kept():
    assert drawn(SCREEN, 40, "A demo") != drawn(SCREEN.replace("\x1b[32m", ""), 40, "A demo")


@pytest.mark.parametrize(("name", "shows"), [("demo", "scripts/demo"), ("watch", "task watch")])
def test_the_picture_loads_nothing_and_names_nobody_s_folders(name, shows):
    text = (IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert re.findall(r"(?:href|src|url)\s*[=(]\s*[\"']?(?!#)[^\"')]+", text) == []
    assert re.findall(r"/(?:tmp|root|work|Users)/", text) == []
    assert shows in words(text)
