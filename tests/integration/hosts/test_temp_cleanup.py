"""A write that was killed leaves a temporary file; it is swept when it is old, and nothing else ever is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.temp_cleanup import sweep
from tests.another_user import by_root, give_away

HOUR = 3600.0
KILLED = """
import os, signal, sys
from pathlib import Path
from orchestrator.hosts.disk import DiskFiles
Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
DiskFiles().write(Path(sys.argv[1]) / "a", b"new")
"""
NAME = ".tmp-0123456789abcdef"


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def old(path: Path) -> Path:
    path.touch()
    os.utime(path, (time.time() - HOUR,) * 2)
    return path


def test_what_a_killed_write_left_is_swept_once_it_is_old(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    (name,) = left(tmp_path)
    assert sweep([tmp_path], time.time() - 60) == 0
    assert left(tmp_path) == [name]
    assert sweep([tmp_path], time.time() + 60) == 1
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "name", [".tmp-1", ".tmp-0123456789ABCDEF", f"{NAME}.md", "tmp-0123456789abcdef", "a.md"]
)
def test_what_is_not_named_as_ours_stays(tmp_path, name):
    old(tmp_path / name)
    assert sweep([tmp_path], time.time()) == 0
    assert left(tmp_path) == [name]


def test_what_is_no_plain_file_stays(tmp_path):
    (tmp_path / NAME).mkdir()
    (tmp_path / ".tmp-0123456789abcde0").symlink_to(tmp_path)
    os.mkfifo(tmp_path / ".tmp-0123456789abcde1")
    assert sweep([tmp_path], time.time() + HOUR) == 0
    assert len(left(tmp_path)) == 3


@by_root
def test_what_belongs_to_another_user_stays(tmp_path):
    give_away(old(tmp_path / NAME))
    assert sweep([tmp_path], time.time()) == 0
    assert left(tmp_path) == [NAME]


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path):
    old(tmp_path / NAME)
    (tmp_path / "file").touch()
    assert sweep([tmp_path / "none", tmp_path / "file", tmp_path], time.time()) == 1


def test_the_names_of_temporary_files_are_those_that_are_swept(tmp_path, monkeypatch):
    names = []
    monkeypatch.setattr(Path, "rename", lambda path, _: names.append(old(path).name))
    DiskFiles().write(tmp_path / "a", b"x")
    assert left(tmp_path) == names
    assert sweep([tmp_path], time.time()) == 1
