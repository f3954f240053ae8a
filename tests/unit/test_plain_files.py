"""Files of others are read without waiting, and within bounds."""

import os
from pathlib import Path

import pytest

from orchestrator import plain_files
from orchestrator.formats.settings_stamp import NONE, UNREADABLE, settings_stamp
from tests.odd_files import make


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse"])
def test_what_is_no_plain_file_of_that_size_is_refused(tmp_path, alarmed, what):
    make(tmp_path / "file", what)
    with pytest.raises(OSError, match=r"not a plain file|larger than|Is a directory"):
        plain_files.read(tmp_path / "file", 1000)


def test_a_plain_file_is_read_also_through_a_link(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to("file")
    assert plain_files.read(tmp_path / "link", 5) == b"12345"
    assert plain_files.head(tmp_path / "link", 3) == b"123"
    with pytest.raises(OSError, match="larger than 4"):
        plain_files.read(tmp_path / "link", 4)


def test_nothing_stays_open(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(OSError, match="not a plain file"):
            plain_files.opened(tmp_path / "pipe")
    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.parametrize("what", ["pipe", "folder", "sparse"])
def test_settings_that_are_no_plain_file_are_stamped_at_once(tmp_path, alarmed, what):
    assert settings_stamp(tmp_path / "config.toml") == NONE
    make(tmp_path / "config.toml", what)
    assert settings_stamp(tmp_path / "config.toml") == UNREADABLE
