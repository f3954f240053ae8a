"""The records of an archived task (state, journal, handoffs), unpacked for as long as they are read.

What agents made lies in an archive as well, and none of it is unpacked: no link, and nothing outside of these folders.
"""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from orchestrator import layout, own_files
from orchestrator.cli.packing import FOLDER, HOME
from orchestrator.model.errors import Refused

_RECORDS: Final = (
    layout.task_state(HOME),
    f"{layout.task_pages(HOME)}/",
    f"{layout.task_journal(HOME)}/",
    f"{layout.role_handoffs(FOLDER)}/",
)
_MOST: Final = 536_870_912
"""Bytes that are unpacked at most; a journal is at most a few dozen million."""

_MEMBERS: Final = 200_000
"""How many parts of an archive are looked at: a task has a few for each run."""


@contextmanager
def unpacked_records(file: Path) -> Iterator[tuple[str, Path]]:
    """Provide the task's own folder and its project's, with its records alone, until they have been read.

    Raises:
        Refused: the file is no archive, or holds more than is ever recorded.
        OSError: the disk fails, or has no room for them.

    """
    with TemporaryDirectory(prefix="task-observe-") as folder:
        stage = Path(folder)
        (stage / HOME).mkdir(mode=0o700)
        try:
            _unpack(file, stage)
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
            raise Refused(f"cannot be read as an archive ({error})") from error
        yield str(stage / HOME), stage / FOLDER


def _unpack(file: Path, stage: Path) -> None:
    room = _MOST
    with own_files.own_file(str(file)) as data, tarfile.open(fileobj=data, mode="r:gz") as packed:
        for number, member in enumerate(packed):
            if number >= _MEMBERS:
                raise Refused(f"holds more than {_MEMBERS:,} parts")
            if not member.isreg() or not _is_record(member.name):
                continue
            room -= member.size
            if room < 0:
                raise Refused(f"holds more than {_MOST:,} bytes of records")
            source = packed.extractfile(member)
            if source is not None:
                _write(stage.joinpath(*member.name.split("/")), source.read())


def _is_record(name: str) -> bool:
    return name.startswith(_RECORDS) and set(name.split("/")).isdisjoint({"", ".", ".."})


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "wb") as out:  # noqa: PTH123 (it is open)
        out.write(data)
