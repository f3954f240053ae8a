"""The template of reports, compiled once: that takes a third of the time of a report.

It is code, so it is read only from a file of this user that nobody else can write, in the state folder. It counts for
the same text, options and versions alone; whatever else lies there is compiled anew and replaced.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING

import jinja2
from jinja2 import BytecodeCache

from orchestrator import own_files
from orchestrator.hosts.disk import DiskFiles

if TYPE_CHECKING:
    from jinja2.bccache import Bucket


class CompiledTemplate(BytecodeCache):
    """Keeps the only template that there is in one file. A file that cannot be read or written costs time alone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_source_checksum(self, source: str) -> str:
        """Return what changes with the template, with Jinja2, and with the options that it is compiled with."""
        versions = [Path(each).stat().st_mtime_ns for each in (jinja2.__file__, __file__)]
        return f"{super().get_source_checksum(source)} {versions} {jinja2.__file__}"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take the compiled template, if it is the one wanted."""
        try:
            bucket.bytecode_from_string(own_files.own_bytes(str(self._path)))
        except (own_files.Untrusted, OSError, EOFError, ValueError, TypeError, UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the template that was compiled just now."""
        with suppress(OSError):
            DiskFiles().write(self._path, bucket.bytecode_to_string(), 0o600, durable=False)
