"""Words reach a program as they are, whatever login shell the account has: no word of them is run."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.hosts.ssh.login_shell import line_of

SHELLS = ("bash", "dash", "zsh", "fish", "tcsh")
HOSTILE = [
    "\\'; touch pwned; echo \\'.md",
    "'; touch pwned; echo '",
    "\\\\'; touch pwned; #",
    "$(touch pwned)",
    "`touch pwned`",
    "(touch pwned)",
    "!!",
    "!1",
    "x!y'z",
    "two\nlines",
    "\n",
    "a\n",
    "\\",
    "a\\",
    "",
    "=tidy",
    "~",
    "^a^b",
    "*",
    "{a,b}",
    "%d%%",
    "\\0101",
    "ü\udcff",
    "\x7f\x01\t\r",
]
CHARACTERS = "'\\!\n\"$`%0 17ab*~#{};&|<>()[]^=ü\udcfe\t"


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    found = shutil.which(str(request.param))
    if found is None:
        pytest.skip(f"{request.param} is not installed")
    return found


def arrived(shell: str, words: list[str], folder: Path) -> list[str]:
    """Return the words that a program was given by a line which a login shell ran."""
    line = line_of(["printf", "%s\\0", *words])
    done = subprocess.run(
        [shell, "-c", line],
        capture_output=True,
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return os.fsdecode(done.stdout).split("\0")[:-1]


def test_hostile_words_arrive_and_are_not_run(shell: str, tmp_path: Path) -> None:
    assert arrived(shell, HOSTILE, tmp_path) == HOSTILE
    for word in HOSTILE[:6]:  # alone, as no other word closes its quotes
        assert arrived(shell, [word], tmp_path) == [word]
    assert not list(tmp_path.glob("pwned*"))


def test_words_of_all_characters_arrive(shell: str, tmp_path: Path) -> None:
    draw = random.Random(7)
    words = ["".join(draw.choices(CHARACTERS, k=draw.randrange(12))) for _ in range(500)]
    assert arrived(shell, words, tmp_path) == words


def test_a_line_as_long_as_they_get_arrives(shell: str, tmp_path: Path) -> None:
    words = ["it's " * 4_000]
    assert arrived(shell, words, tmp_path) == words
