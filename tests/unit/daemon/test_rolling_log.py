from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.daemon.journal.rolling_log import RollingLog, old_one
from orchestrator.hosts.disk import DiskFiles
from orchestrator.testing.memory_files import MemoryFiles

PATH = Path("/home/pm.log")


def test_a_log_begins_anew_and_one_old_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "pm.log"
    log = RollingLog(DiskFiles(), path, 20)
    for number in range(9):
        log.append(b"line %d\n" % number)
    log.close()
    assert path.read_bytes() == b"line 8\n"
    assert old_one(path).read_bytes() == b"line 6\nline 7\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pm.log", "pm.log.1"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_lay_there_before_counts(tmp_path: Path) -> None:
    path = tmp_path / "pm.log"
    path.write_bytes(b"x" * 30)
    log = RollingLog(DiskFiles(), path, 20)
    log.append(b"new\n")
    log.close()
    assert (path.read_bytes(), old_one(path).read_bytes()) == (b"new\n", b"x" * 30)


def test_a_line_longer_than_the_bound_is_written_all_the_same() -> None:
    files = MemoryFiles()
    files.make_folder(PATH.parent)
    log = RollingLog(files, PATH, 20)
    log.append(b"y" * 50)
    assert files.read(PATH) == b"y" * 50


@pytest.mark.parametrize("step", ["rename", "write", "append"])
def test_full_disk_loses_no_log_line_and_logging_resumes(step) -> None:
    files = MemoryFiles()
    files.make_folder(PATH.parent)
    log = RollingLog(files, PATH, 20)
    log.append(b"first line\n")
    files.fail_next(step, OSError(28, "No space left on device"))
    with pytest.raises(OSError, match="No space"):
        log.append(b"second line\n")
    log.append(b"third line\n")
    reported = files.read(PATH)
    if files.entry(old_one(PATH)) is not None:
        reported = files.read(old_one(PATH)) + reported
    assert reported == b"first line\nthird line\n"


# The output of a process ----------------------------------------------------------------------------

PROGRAM = """
import logging, os, sys
from pathlib import Path
from orchestrator.daemon.journal.rolling_log import roll_output
logging.basicConfig(stream=sys.stderr, format="%(message)s")
for number in range(6):
    logging.warning("line %d", number)
    print(roll_output(Path(sys.argv[1]), 14), file=open(sys.argv[2], "a"))
os.system("echo a child of it")
"""


def _run(path: Path, output: Path, reported: Path) -> list[str]:
    with output.open("ab") as file:
        subprocess.run(
            [sys.executable, "-c", PROGRAM, path, reported], stdout=file, stderr=file, check=True, timeout=30
        )
    return reported.read_text().split()


def test_the_output_goes_to_a_new_file_and_that_of_children_too(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    assert _run(log, log, tmp_path / "told") == ["False", "True"] * 3
    assert log.read_text() == "a child of it\n"
    assert old_one(log).read_text() == "line 4\nline 5\n"
    assert log.stat().st_mode & 0o777 == 0o600


def test_output_that_goes_elsewhere_is_let_alone(tmp_path: Path) -> None:
    log, elsewhere = tmp_path / "daemon.log", tmp_path / "elsewhere"
    log.write_bytes(b"x" * 100)
    assert set(_run(log, elsewhere, tmp_path / "told")) == {"False"}
    assert log.read_bytes() == b"x" * 100
    assert elsewhere.read_text().count("line") == 6


def test_rotated_output_gets_its_new_file_when_there_is_room(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    assert "True" in _run(log, old_one(log), tmp_path / "told")
    assert "a child of it" in log.read_text()
