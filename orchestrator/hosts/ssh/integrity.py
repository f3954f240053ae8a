"""Whether files fetched from a box are complete: nobody is writing them, and they have not changed since.

A file that is written in place, rather than renamed, may be read half-way. A script of python3 checks this on the box
after the files were read. Without python3, or one that prints what it likes, nothing is known, and the files are
accepted as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orchestrator.hosts.ssh.child import TooMuch
from orchestrator.ports.box_link import BoxLink

AT_ONCE: Final = 200
"""How many files one command checks."""

_FIND_PYTHON: Final = """
if command -v python3 >/dev/null 2>&1 && python3 -I -S -c "$@" 2>/dev/null; then echo looked; fi
"""

# A lease is granted only on files that nobody writes. Others who open it meanwhile wait, and its holder gets SIGIO.
_LOOK: Final = """
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
for number, path in enumerate(sys.argv[1:]):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        print(number, "gone")
        continue
    try:
        if hasattr(fcntl, "F_SETLEASE"):
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        print(number, "written")
        continue
    except OSError:
        pass
    seen = os.fstat(file)
    print(number, seen.st_size, int(seen.st_mtime))
    os.close(file)
"""
_LINE: Final = re.compile(r"([0-9]{1,3}) (?:(gone|written)|([0-9]{1,20}) (-?[0-9]{1,20}))")


def unsettled(link: BoxLink, files: Mapping[str, tuple[int, int]]) -> set[str]:
    """Return the files there that are being written, or differ from what was read.

    `files` maps absolute paths there to the size in bytes, and the time in whole seconds, of what was read. Raises as
    `Link.run` does.
    """
    found = set[str]()
    paths = list(files)
    for first in range(0, len(paths), AT_ONCE):
        some = paths[first : first + AT_ONCE]
        try:
            ended = link.run(["sh", "-c", _FIND_PYTHON, "sh", _LOOK, *some])
        except TooMuch as problem:
            if problem.is_err:
                raise
            continue  # what is called python3 there is something else
        lines = ended.out.decode(errors="replace").splitlines()
        if lines[-1:] == ["looked"]:
            for line in lines[:-1]:
                match = _LINE.fullmatch(line)
                if match and int(match[1]) < len(some) and not _is_as_read(match, files[some[int(match[1])]]):
                    found.add(some[int(match[1])])
    return found


def _is_as_read(match: re.Match[str], read: tuple[int, int]) -> bool:
    if match[2]:
        return match[2] == "gone"
    return (int(match[3]), int(match[4])) == read
