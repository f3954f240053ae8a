"""Captures screens and events of the real CLIs as fixtures: `python -m tests.clis.capture CLI [SCENE ...]`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from types import FrameType
from typing import NoReturn

from tests.clis.album import FIXTURES, Album
from tests.clis.bench import OPEN, leave

Scene = Callable[[str, Album], None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", help="a name in pinned.toml")
    parser.add_argument("scenes", nargs="*", help="the scenes; without, all of them")
    parser.add_argument("--at-once", type=int, default=2)
    asked = parser.parse_args()
    scenes: dict[str, Scene] = import_module(f"tests.clis.scenes.{asked.cli.partition('-')[0]}").SCENES
    signal.signal(signal.SIGTERM, _end)
    album = Album(FIXTURES / asked.cli)

    def take(name: str) -> bool:
        try:
            scenes[name](asked.cli, album)
        except Exception:  # noqa: BLE001 - one scene that fails leaves the others
            sys.stderr.write(f"{name}: NOT CAPTURED\n{traceback.format_exc()}\n")
            return False
        sys.stderr.write(f"{name}: captured\n")
        return True

    with ThreadPoolExecutor(asked.at_once) as pool:
        return 0 if all(list(pool.map(take, asked.scenes or scenes))) else 1


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    """Leave no CLI behind: what is taken in threads cannot clean up when this process is told to end."""
    for root in tuple(OPEN):
        leave(root)
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
