"""What names a program in git's configuration is known, all of it, and is overridden where a repository says it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from orchestrator.formats.git_config import FIXED, MOST, PROGRAMS, named, overriding
from orchestrator.model.errors import Refused

JUDGED = Path(__file__).parents[2] / "fixtures" / "git-keys.txt"
"""Keys of git up to 2.55 that name no program: somebody read what each of them does."""

FAMILIES = ("advice.", "color.", "fsck.", "fetch.fsck.", "receive.fsck.")


def listed(*entries: tuple[str, str, str]) -> bytes:
    return "".join(f"{scope}\0{key}\n{value}\0" for scope, key, value in entries).encode()


def settings(*entries: tuple[str, str, str]) -> list[tuple[str, str]]:
    said, _ = overriding(listed(*entries))
    count = int(said.get("GIT_CONFIG_COUNT", "0"))
    return [(said[f"GIT_CONFIG_KEY_{n}"], said[f"GIT_CONFIG_VALUE_{n}"]) for n in range(count)]


def test_every_key_that_this_git_knows_was_judged():
    """A key that is new in a later git fails here until somebody has read whether it names a program.

    One that does goes into `PROGRAMS`; any other one into tests/fixtures/git-keys.txt.
    """
    said = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    keys = {line for line in said.splitlines() if re.fullmatch(r"[A-Za-z0-9]+\.\S+", line)}
    assert len(keys) > 500
    judged = {line.lower() for line in JUDGED.read_text().splitlines()} | {key.lower() for key in FIXED}
    unknown = {
        key
        for key in keys
        if key.lower() not in judged and not key.startswith(FAMILIES) and named(key) is None
    }
    assert unknown == set()


def test_no_key_is_judged_both_ways():
    assert [key for key in JUDGED.read_text().splitlines() if named(key) or key in FIXED] == []


@pytest.mark.parametrize(
    ("key", "pair"),
    [
        ("filter.a.b=c.Clean", ("filter", "clean")),
        ("Core.SSHCommand", ("core", "sshcommand")),
        ("pager.log", ("pager", "*")),
        ("credential.https://a.b/c.helper", ("credential", "helper")),
        ("lfs.customtransfer.x.path", ("lfs", "path")),
        ("core.quotepath", None),
        ("filter", None),
    ],
)
def test_a_key_is_known_whatever_stands_in_its_middle(key, pair):
    assert named(key) == pair


@pytest.mark.parametrize("scope", ["local", "worktree", "command", "unknown"])
def test_a_program_of_the_repository_is_overridden(scope):
    assert settings((scope, "filter.y.clean", "evil"), (scope, "filter.y.required", "true")) == [
        ("filter.y.clean", ""),
        ("filter.y.required", "false"),
    ]


def test_what_its_user_says_counts_again():
    """git-lfs installs itself for its user; a repository that says otherwise is not heard."""
    own = ("global", "filter.lfs.process", "git-lfs filter-process")
    assert settings(own) == []
    assert settings(own, ("local", "filter.lfs.process", "evil")) == [
        ("filter.lfs.process", "git-lfs filter-process")
    ]


def test_helpers_that_add_up_are_emptied_first():
    mine, theirs = ("system", "credential.helper", "mine"), ("local", "credential.helper", "evil")
    assert settings(mine, theirs) == [("credential.helper", ""), ("credential.helper", "mine")]


def test_hooks_of_the_configuration_run_for_nobody():
    assert settings(("global", "hook.lint.command", "lint")) == [("hook.lint.command", "true")]


def test_a_plain_repository_needs_nothing_said():
    assert overriding(listed(("local", "core.bare", "false"), ("local", "user.name", "a"))) == ({}, True)


@pytest.mark.parametrize("key", ["include.path", "includeif.gitdir:x.path", "extensions.worktreeconfig"])
def test_included_git_configuration_needs_git_itself(key):
    assert overriding(listed(("local", key, "x"))) == ({}, False)
    assert overriding(listed(("global", key, "x"))) == ({}, True)


def test_more_programs_than_fit_are_refused():
    with pytest.raises(Refused, match="names 501 programs"):
        overriding(listed(*(("local", f"filter.{n}.clean", "evil") for n in range(MOST + 1))))


def test_the_table_is_in_lower_case():
    assert [pair for pair in PROGRAMS if pair != (pair[0].lower(), pair[1].lower())] == []
