"""Looking whether a file is being written costs nobody their life, whoever opens it in that moment."""

import fcntl
import subprocess
import sys

import pytest

OPENED_IN_THAT_MOMENT = """
import fcntl, os, sys
from pathlib import Path
from orchestrator.hosts.disk import DiskFiles

path, asked = Path(sys.argv[1]), fcntl.fcntl

def ask(file, command, *value):
    if (command, *value) == (fcntl.F_SETLEASE, fcntl.F_UNLCK):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        except BlockingIOError:
            print("broken into")
    return asked(file, command, *value)

fcntl.fcntl = ask
print(DiskFiles().being_written(path))
"""


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="this system has no leases")
def test_who_opens_it_in_that_moment_does_not_end_who_looks(tmp_path):
    (tmp_path / "a").write_text("a")
    command = [sys.executable, "-c", OPENED_IN_THAT_MOMENT, str(tmp_path / "a")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "broken into\nFalse\n"), done.stderr
