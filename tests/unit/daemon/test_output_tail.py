"""The last lines of a run's log, fit to be shown to anybody."""

from __future__ import annotations

from pathlib import Path

from orchestrator.daemon.ingest.output_tail import LENGTH, LINES, last_lines
from orchestrator.hosts.disk import DiskFiles


def lines_of(tmp_path: Path, log: bytes) -> tuple[str, ...]:
    (tmp_path / "pane.log").write_bytes(log)
    return last_lines(DiskFiles(), tmp_path)


def test_the_last_lines_that_say_anything_are_taken(tmp_path):
    log = b"".join(b"line %d\r\n\r\n" % number for number in range(100))
    assert lines_of(tmp_path, log) == tuple(f"line {number}" for number in range(100 - LINES, 100))


def test_nothing_in_them_acts_or_is_a_secret(tmp_path):
    log = b"\x1b[31mE   KeyError\x1b[0m\n\x1b]52;c;cm0=\x07token=hunter2hunter2\n10%\r99%\n"
    assert lines_of(tmp_path, log) == ("E KeyError", "token=[redacted]", "99%")


def test_they_are_few_and_short(tmp_path):
    (line,) = lines_of(tmp_path, b"y" * 3_000_000 + b"\n")
    assert len(line) == LENGTH


def test_without_a_log_there_are_none(tmp_path):
    assert last_lines(DiskFiles(), tmp_path) == ()
    (tmp_path / "pane.log").mkdir()
    assert last_lines(DiskFiles(), tmp_path) == ()
