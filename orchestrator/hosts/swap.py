"""Two names change places in one step: a call of the system that Python does not have."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_HERE: Final = -100  # AT_FDCWD of Linux: paths are absolute, so it counts for nothing
_EXCHANGE: Final = 2  # RENAME_EXCHANGE (renameat2) and RENAME_SWAP (renamex_np)


def swapped(one: Path, other: Path) -> bool:
    """Give each of two files the name of the other; return False, and change nothing, if one is missing.

    Raises:
        OSError: the system or the file system cannot do it (ENOSYS, EINVAL, ENOTSUP), or not here.

    """
    import ctypes  # it is slow to import, and most programs that know this module never come here

    first, second = os.fsencode(one), os.fsencode(other)
    library = ctypes.CDLL(None, use_errno=True)
    try:
        if sys.platform == "darwin":
            failed = library.renamex_np(first, second, _EXCHANGE)
        else:
            failed = library.renameat2(_HERE, first, _HERE, second, _EXCHANGE)
    except AttributeError as error:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
    if not failed:
        return True
    number = ctypes.get_errno()
    if number == errno.ENOENT:
        return False
    raise OSError(number, os.strerror(number), str(other))
