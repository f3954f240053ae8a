"""What `prepare:` and its kin may say, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.preparation import read_commands, read_files, read_variables
from orchestrator.formats.task_file import read_brief
from orchestrator.model.config_changes import config_changes, digest
from orchestrator.model.errors import BadFile, Refused
from orchestrator.model.task import Config

TOP = "# X\n## Goal\ng\n## Success Criteria\n- a\n## Agent Config\n"


def config(*lines: str) -> Config:
    return read_brief((TOP + "\n".join(lines)).encode()).config


def faults(*lines: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        config(*lines)
    return [str(each) for each in caught.value.faults]


def test_each_key_of_preparation_is_read():
    read = config(
        "prepare: npm ci --cache 'a #b' && make assets  # once",
        "prepare.inputs: package-lock.json, web/yarn.lock",
        "prepare.copy: .env, config/local.toml",
        "prepare.caches: PIP_CACHE_DIR, npm_config_cache",
        "prepare.ports: WEB_PORT",
    )
    assert read.prepare == (("npm", "ci", "--cache", "a #b"), ("make", "assets"))
    assert read.prepare_inputs == ("package-lock.json", "web/yarn.lock")
    assert read.prepare_copy == (".env", "config/local.toml")
    assert read.prepare_caches == ("PIP_CACHE_DIR", "npm_config_cache")
    assert read.prepare_ports == ("WEB_PORT",)


@pytest.mark.parametrize(
    "text", ["make; reboot", "make | tee x", "a && && b", "&& a", "a &&", "a 'b", "make > x", "''"]
)
def test_what_only_a_shell_understands_is_refused(text):
    with pytest.raises(Refused):
        read_commands(text)


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "~/x",
        "-rf",
        ".git/config",
        "a/.GIT/x",
        "",
        "a//b",
        "a/",
        ".orchestrator/x",
    ],
)
def test_hostile_paths_are_refused(name):
    with pytest.raises(Refused):
        read_files(f"ok, {name}")


@pytest.mark.parametrize(
    "name",
    ["PATH", "LD_PRELOAD", "ORCHESTRATOR_RUN", "GIT_DIR", "BASH_ENV", "A=B", "1A", "A B", "", "TMUX", "é"],
)
def test_hostile_variables_are_refused(name):
    with pytest.raises(Refused):
        read_variables(f"OK, {name}")


@given(st.text(max_size=40))
def test_any_path_that_is_taken_stays_below(text):
    try:
        (found, *_) = read_files(text)
    except Refused:
        return
    parts = found.split("/")
    assert not found.startswith(("/", "-", "~"))
    assert not {"", ".", ".."} & set(parts)


def test_preparing_without_worktrees_is_refused():
    (fault,) = faults("workspace: shared", "prepare: make")
    assert "line 8: `prepare:` is for worktrees, and `workspace: shared` makes none" in fault


def test_one_variable_is_no_cache_and_port_at_once():
    (fault,) = faults("prepare.caches: A, B", "prepare.ports: B")
    assert "names B, which `prepare.caches:` names too" in fault


def test_edit_of_prepare_is_shown_and_confirmed():
    """As with `test.check`: whoever edits it does not get it run before a person has seen it."""
    old, new = config("prepare: make"), config("prepare: make && curl example.org")
    assert [each.words() for each in config_changes(old, new)] == [
        "prepare: make -> make && curl example.org"
    ]
    assert digest(old) != digest(new)
