"""Whether an agent CLI is logged in, as far as files and variables tell: nothing is started, nobody is asked."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from orchestrator.runtimes.cli_inventory import AgentCli, Store

_LARGEST: Final = 4_194_304
"""Bytes that are read of a file; Claude Code's own grows with every project."""


def login_variables(cli: AgentCli, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return those variables of an environment by which a CLI is logged in."""
    return tuple(name for name in cli.variables if environ.get(name))


def login_files(cli: AgentCli, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that tell of a login, as a CLI with this environment would find them."""
    return tuple(
        dict.fromkeys(
            path for store in cli.stores if (path := _path(store, environ)) and _shows_login(store, path)
        )
    )


def _path(store: Store, environ: Mapping[str, str]) -> str:
    """Return where a store lies; nothing where no home is known."""
    home, configured = environ.get("HOME", ""), environ.get(store.variable, "") if store.variable else ""
    folder = configured or store.usual.replace("~", home, 1)
    return f"{folder.rstrip('/')}/{store.file}" if folder.startswith("/") else ""


def _shows_login(store: Store, path: str) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not found.st_size:
            return False
        return not store.says or store.says.encode() in file.read(_LARGEST)


def shortened(path: str, home: str) -> str:
    """Return a path as people write it: with `~` for their home."""
    return f"~{path[len(home.rstrip('/')) :]}" if home and Path(path).is_relative_to(home) else path
