"""Files that others may have put there, read without waiting and within bounds.

A plain `open` of a pipe waits for a writer, perhaps for ever, and a file of holes is read until no memory is left. So
nothing here opens a path of others in that way (`tests/unit/test_plain_reads.py`). What lies in the PM's own folder
is read by `own_files`, what the daemon looks at by the port `Files`; both follow no link. This is for the rest, where a
link of the user's counts: their settings, their repository, their programs.
"""

from __future__ import annotations

import errno
import os
import stat

_Path = str | os.PathLike[str]  # no pathlib and no typing here: completion of words reads settings by this


def opened(path: _Path, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of a plain file, or of what a link to one leads to; `flags` as for `os.open`.

    Raises:
        OSError: it is not there, cannot be opened, or is something else (EINVAL).

    """
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    return descriptor


def read(path: _Path, most: int) -> bytes:
    """Return the bytes of a plain file. Raises OSError, EFBIG if there are more than `most`."""
    data = head(path, most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
    return data


def head(path: _Path, most: int) -> bytes:
    """Return the first bytes of a plain file, at most so many. Raises OSError."""
    descriptor = opened(path)
    try:
        parts = list[bytes]()
        while most > 0 and (part := os.read(descriptor, min(most, 1 << 20))):
            parts.append(part)
            most -= len(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)
