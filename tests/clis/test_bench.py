"""What the bench does around a CLI, seen with programs that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clis import bench, pinned
from tests.clis.drivers.aider import Aider
from tests.clis.network import Network
from tests.clis.pinned import NODE, pins, why_missing
from tests.clis.place import Place
from tests.polling import wait_until


def a_place(root: Path) -> Place:
    place = Place(root, root / "cache", "aider", "http://127.0.0.1:1", Network(), 1)
    place.make()
    return place


@pytest.mark.parametrize("status", [0, 7])
def test_the_end_of_aider_is_reported_and_its_status_kept(tmp_path: Path, status: int) -> None:
    place = a_place(tmp_path)
    argv = Aider().argv(place, "Try.", "")
    program = argv.index(place.program)
    done = subprocess.run([*argv[:program], "sh", "-c", f"exit {status}"], check=False)
    assert done.returncode == status
    assert [Aider().kind(each) for each in Aider().events(place)] == ["exit"]


def test_the_payload_of_a_hook_becomes_one_line(tmp_path: Path) -> None:
    place = a_place(tmp_path)
    for reported in ('{"a":\n 1}\n', '{"b": "%s $x `y` \\\\n"}'):
        subprocess.run(["sh", "-c", place.recording("hooks")], input=reported, text=True, check=True)
    assert place.recorded("hooks") == [{"a": 1}, {"b": "%s $x `y` \\n"}]


def test_a_place_is_left_with_nothing_alive_in_it(tmp_path: Path) -> None:
    root = tmp_path / "place"
    place = a_place(root)
    ignoring = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", ignoring], env=place.environ(), stdout=subprocess.PIPE
    ) as left:
        assert left.stdout is not None
        left.stdout.readline()
        assert bench.at_home(root) == [left.pid]
        bench.OPEN.add(root)
        os.kill(left.pid, 0)
        bench.leave(root)
        wait_until(lambda: left.poll() is not None)
    assert not root.exists()
    assert root not in bench.OPEN


def test_a_missing_cli_is_named_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ORCHESTRATOR_CLIS", raising=False)
    assert "codex: not asked for" in why_missing("codex")
    monkeypatch.setenv("ORCHESTRATOR_CLIS", str(tmp_path))
    assert f"codex: node {pins()[NODE].version} is not installed" in why_missing("codex")
    for name in (NODE, "codex"):
        path = pins()[name].path(tmp_path)
        path.parent.mkdir(parents=True)
        path.touch()
        (pins()[name].folder(tmp_path) / pinned.STAMP).touch()
    assert why_missing("codex") == ""
