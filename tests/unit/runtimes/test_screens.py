"""A dialog is known by a rule, and a screen that no rule knows says nothing (laws 4 and 12)."""

from __future__ import annotations

import pytest

from orchestrator.runtimes.screens import SHOWN, dialog_on, end_of

DIALOGS = {
    "yes or no": ["Overwrite config.toml? [y/N]", "Proceed ([y]es/[n]o)? (yes/no): ", "Continue? (Y/n) "],
    "a password": ["[sudo] password for maria:", "Enter passphrase for key '/home/m/.ssh/id':", "Password: "],
    "an unknown host": [
        "The host's key is not known.\nAre you sure you want to continue connecting (yes/no/[fingerprint])?"
    ],
    "a key to be pressed": ["Press any key to continue...", "-- press ENTER --"],
    "a choice": ["Bash command\n\n  rm -rf build\n\n❯ 1. Yes\n  2. Yes, and don't ask again\n  3. No"],
    "trust in a folder": ["Do you trust the files in this folder?\n\n  /srv/code\n"],
    "permission": ["Do you want to make this edit to parser.py?\n"],
}
QUIET = [
    "",
    "$ ",
    "Compiling 12 of 30 modules",
    "The password is stored in the vault: see docs",
    "I asked whether they want to proceed; they do",
    "Overwrite config.toml? [y/N] y\nwritten",
    "> ",
    "Password: accepted\nReading mail",
    "1. Yes, this is a list\n2. of mine",
]


@pytest.mark.parametrize(
    ("name", "screen"), [(name, screen) for name, all_ in DIALOGS.items() for screen in all_]
)
def test_dialog_is_known_by_name(name, screen):
    assert dialog_on(f"some earlier line\n{screen}\n\n\n") == name


@pytest.mark.parametrize("screen", QUIET)
def test_other_screens_are_no_dialog(screen):
    assert dialog_on(screen) == ""


def test_a_dialog_that_scrolled_away_is_none():
    assert dialog_on("Overwrite? [y/N]\n" + "working\n" * 30) == ""


def test_the_end_of_a_screen_is_what_is_shown():
    assert end_of("\n".join(f"line {n}\n" for n in range(40)))[0] == f"line {40 - SHOWN}"
