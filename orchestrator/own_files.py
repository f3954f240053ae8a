"""The PM's own folder and files: made for its user alone, and read only if nobody else could have written them.

Imports `os` and what that has imported: most commands read a file by this, and an interpreter is fast without `typing`
and `pathlib`.
"""

from __future__ import annotations

import os
import stat

from orchestrator.layout import HOME_VARIABLE

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from typing import Any, BinaryIO, NoReturn

LARGEST = 64 * 1024 * 1024
"""Bytes of a file of the daemon's that are read at most: as many as the daemon itself reads of one."""


# The folder ---------------------------------------------------------------------------------------


def check_state_folder(folder: str) -> bool:
    """Tell whether the PM's folder is there and may be trusted; False if it is not there.

    Raises:
        Refused: it is a symbolic link, no folder, another user's, or writable by others.

    """
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return False
    if stat.S_ISLNK(found.st_mode):
        raise _refused(f"{folder} is a symbolic link: set {HOME_VARIABLE} to the folder that it points at")
    if not stat.S_ISDIR(found.st_mode):
        raise _refused(f"{folder} is not a folder: set {HOME_VARIABLE} to one")
    if found.st_uid != os.getuid():
        raise _refused(
            f"{folder} belongs to user {found.st_uid}, not to you ({os.getuid()}): "
            f"set {HOME_VARIABLE} to a folder of your own"
        )
    if reason := distrust(folder, found):
        raise _refused(reason)
    return True


def make_state_folder(folder: str) -> None:
    """Make the PM's folder, for its user alone (0700); close one that others could read, or that is empty.

    Raises:
        Refused: what stands there may not be used, see `check_state_folder`.
        OSError: it cannot be made.

    """
    try:
        check_state_folder(folder)
    except Exception:
        if not _is_empty_and_ours(folder):
            raise
        os.chmod(folder, 0o700)  # noqa: PTH101 (no pathlib here)
    if not check_state_folder(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)  # noqa: PTH103, PTH120 (no pathlib here)
        try:
            os.mkdir(folder, 0o700)  # noqa: PTH102 (no pathlib here)
        except FileExistsError:
            check_state_folder(folder)
    if (
        stat.S_IMODE(os.lstat(folder).st_mode) != stat.S_IRWXU
    ):  # others could look in; an odd umask shut us out
        os.chmod(folder, 0o700)  # noqa: PTH101 (no pathlib here)


def _is_empty_and_ours(folder: str) -> bool:
    """Tell whether nobody can have put anything into a folder that others may write to."""
    found = os.lstat(folder)
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and not os.listdir(folder)  # noqa: PTH208 (no pathlib here)


# Trust --------------------------------------------------------------------------------------------


class Untrusted(PermissionError):
    """Something in the PM's own folder is not to be believed; `reason` says why, and what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(1, reason)  # EPERM
        self.reason = reason


def distrust(path: str, found: os.stat_result) -> str:
    """Return why something in the PM's own folder is not to be believed, and what to do; nothing if it is.

    Args:
        path: What it is called.
        found: What `lstat`, or `fstat` of the open file, says of it.

    """
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a symbolic link: put what it points at in its place, or take it away"
    if found.st_uid != os.getuid():
        return (
            f"{path} belongs to user {found.st_uid}, not to you ({os.getuid()}): "
            "look at it, then take it away or `chown` it"
        )
    if found.st_mode & 0o022:
        return f"{path} can be written by others: look at it, then `chmod go-w {path}`"
    return ""


def distrust_file(path: str, found: os.stat_result) -> str:
    """Return why what should be a plain file in the PM's own folder is not to be believed; nothing if it is."""
    reason = distrust(path, found)
    return reason or ("" if stat.S_ISREG(found.st_mode) else f"{path} is not a plain file: take it away")


def check_own_folder(folder: str) -> None:
    """Check a folder below the PM's own one.

    Raises:
        Untrusted: it is a link, no folder, another user's, or writable by others.
        OSError: it is not there, or the system cannot tell.

    """
    found = os.lstat(folder)
    reason = distrust(folder, found)
    if not reason and not stat.S_ISDIR(found.st_mode):
        reason = f"{folder} is not a folder: take it away"
    if reason:
        raise Untrusted(reason)


def own_json(path: str, most: int = LARGEST) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the value that a file of JSON below the PM's own folder holds, of `most` bytes at most.

    Raises:
        ValueError: it is not JSON, says NaN or Infinity, or is nested without end.
        Untrusted, OSError: as `own_bytes`.

    """
    import json

    try:
        return json.loads(own_bytes(path, most), parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")


def own_bytes(path: str, most: int = LARGEST) -> bytes:
    """Return the bytes of a plain file below the PM's own folder.

    Raises:
        Untrusted: it is larger than `most` bytes; or as `own_file`.
        OSError: as `own_file`.

    """
    with own_file(path) as file:
        # A file may tell any size, and hold nothing but holes: it is looked at before it is read.
        data = file.read(most + 1) if os.fstat(file.fileno()).st_size <= most else None
    if data is None or len(data) > most:
        raise Untrusted(f"{path} is larger than {most} bytes: look at it, then take it away")
    return data


def own_file(path: str) -> BinaryIO:
    """Return a plain file below the PM's own folder, open to be read.

    Raises:
        Untrusted: it is a link, no plain file, another user's, or writable by others.
        OSError: it is not there, or cannot be read.

    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if reason := _distrusted(path):
            raise Untrusted(reason) from error
        raise
    if reason := distrust_file(path, os.fstat(descriptor)):
        os.close(descriptor)
        raise Untrusted(reason)
    return open(descriptor, "rb")  # noqa: PTH123 (no pathlib here)


def _distrusted(path: str) -> str:
    """Return why what a path names is not to be believed; nothing if it is, or is not there."""
    try:
        return distrust_file(path, os.lstat(path))
    except OSError:
        return ""


def _refused(message: str) -> Exception:
    from orchestrator.model.errors import Refused

    return Refused(message)
