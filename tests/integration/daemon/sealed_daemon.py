"""A daemon that writes down what it imports once it has imported all it needs: `python sealed_daemon.py FILE`."""

from __future__ import annotations

import os
import sys

from orchestrator.daemon import __main__ as daemon
from orchestrator.daemon.process.preload import preload


class Recorder:
    """Finds nothing; but is asked first for everything that is not there yet."""

    def __init__(self, path: str) -> None:
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        os.write(self.file, f"{name}\n".encode())


def sealed() -> None:
    preload()
    sys.meta_path.insert(0, Recorder(sys.argv[1]))


if __name__ == "__main__":
    daemon.preload = sealed  # type: ignore[attr-defined]  # a name that it only uses
    sys.exit(daemon.main([]))
