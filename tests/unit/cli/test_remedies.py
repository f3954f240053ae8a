"""What a message tells its reader to type does what it says, wherever it is typed."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from orchestrator import demo

_COMMAND = re.compile(r"\btask (?:start|stop|status|diff|why|attach|merge|delete|checkin)\b[^`;\n]*")


def commands_in(text: str) -> list[list[str]]:
    """Return the words of each command that a text names, without `task`."""
    return [shlex.split(found)[1:] for found in _COMMAND.findall(text)]


@pytest.fixture
def another(house: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Go to another project, which has a task of the same name."""

    def go() -> Path:
        other = house.root / "other"
        (other / "tasks" / "tidy").mkdir(parents=True)
        house.task("tidy-99999999", project=str(other))
        monkeypatch.chdir(other)
        return Path(other)

    return go


def test_blank_task_is_started_by_what_is_said(house: Any, task: Any, another: Any, daemon: Any) -> None:
    """`task start greet`, typed elsewhere, laid a second blank task down there."""
    del daemon
    said = task("start", "tidy", "--project", str(house.project))
    (words,) = commands_in(said.err)
    other = another()
    words = [word for word in words if word != "again"]
    assert str(house.project / "tasks" / "tidy" / "task.md") in task(*words).err
    assert not (other / "tasks" / "tidy" / "task.md").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_check_names_a_start_of_this_task(house: Any, task: Any, another: Any, *, exists: bool) -> None:
    where = ("start", "tidy", "--project", str(house.project))
    if exists:
        task(*where)
    said = task(*where, "--check")
    words = next(each for each in commands_in(said.out + said.err) if each[0] == "start")
    other = another()
    assert str(house.project / "tasks" / "tidy" / "task.md") in task(*words).err
    assert not (other / "tasks" / "tidy" / "task.md").exists()


def test_half_deleted_task_is_named_by_its_id(house: Any, task: Any, another: Any) -> None:
    home = house.task()
    (home / "leaving.json").write_text(json.dumps({"why": "delete", "at": 1.0}))
    said = task("status", "tidy", "--project", str(house.project))
    (words,) = commands_in(said.err)
    another()
    output = task(*words)
    assert "tidy-0a1b2c3d" in output.out + output.err
    assert "tidy-99999999" not in output.out + output.err


def test_demo_names_its_own_project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """A second demo made "several projects have a task demo" of each command that the first one named."""
    ran: list[list[str]] = []

    def task(words: list[str]) -> int:
        ran.append(words)
        return 0

    monkeypatch.setattr(demo, "task", task)
    monkeypatch.setattr(demo, "_called", lambda: "task")
    project = tmp_path / "a pantry"
    assert demo.main(["--keep", str(project)]) == 0
    said = [words for words in commands_in(capsys.readouterr().out) if demo.NAME in words]
    assert len(said) >= len(ran) + 3
    for words in (*ran, *said):
        assert words[1:4] == [demo.NAME, "--project", str(project)], words
