"""The program has two names, and calls itself by the one that it was called by."""

import sys

import pytest

from orchestrator.cli.parser import ALIAS, PROGRAM, as_called


@pytest.fixture(params=[PROGRAM, ALIAS])
def name(request, monkeypatch):
    monkeypatch.setattr(sys, "argv", [f"/usr/bin/{request.param}"])
    return request.param


def test_usage_and_examples_show_the_name(house, task, name):
    said = task("help", "spawn")
    other = ({PROGRAM, ALIAS} - {name}).pop()
    assert said.out.startswith(f"usage: {name} spawn ")
    assert f"\n  {name} spawn tidy dev" in said.out
    assert f"{other} spawn" not in said.out


def test_overview_and_errors_show_the_name(house, task, name):
    assert f"\n  {name} start tidy" in task("help").out
    assert task("strat").err.startswith(f"{name}: ")
    assert f"`{name} start`" in task("strat").err


def test_another_caller_sees_the_short_name(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/opt/orchestrator/cli/__main__.py"])
    assert as_called("`task list`") == "`task list`"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("task list", f"{PROGRAM} list"),
        ("see `task list --json`", f"see `{PROGRAM} list --json`"),
        ("first\n  task status tidy", f"first\n  {PROGRAM} status tidy"),
        ("task VERB …", f"{PROGRAM} VERB …"),
        ("where a task stands", "where a task stands"),
        ("how the task starts", "how the task starts"),
        ("show the task list", "show the task list"),
    ],
)
def test_only_commands_are_renamed(monkeypatch, text, shown):
    monkeypatch.setattr(sys, "argv", [PROGRAM])
    assert as_called(text) == shown
