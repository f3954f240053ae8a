"""Folders that hang: whoever looks into one waits until it is let go, as on a file server that does not answer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.remote.boxes import Box

_MOUNT: Final = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
folder = os.fsencode(sys.argv[1])
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
if libc.mount(b"hangs", folder, b"fuse", 0, options.encode()):
    sys.exit(os.strerror(ctypes.get_errno()))
print("hangs", flush=True)
sys.stdin.read()
os.close(device)
libc.umount2(folder, 2)
"""
"""A file system that nobody serves, as long as standard input is open."""


@contextmanager
def hanging(box: Box, folder: Path) -> Iterator[None]:
    """Have a folder hang on a box for a while; on this machine as well, if both see the same mounts."""
    assert box.sshd is not None
    enter = ["nsenter", "-t", str(box.sshd.pid), "-m"] if box.namespace else []
    argv = [*enter, sys.executable, "-c", _MOUNT, os.fspath(folder)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, text=True, **pipes) as child:  # type: ignore[call-overload]
        try:
            if child.stdout.readline() != "hangs\n":
                pytest.skip(f"no file system that hangs can be made here: {child.stderr.read().strip()}")
            yield
        finally:
            child.stdin.close()
            child.wait(20)
