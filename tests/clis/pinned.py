"""Which agent CLIs the bench drives (`pinned.toml`), where they are kept, and which of them are there."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PINNED: Final = Path(__file__).with_name("pinned.toml")
NODE: Final = "node"
STAMP: Final = ".installed"


@dataclass(frozen=True, slots=True)
class Pin:
    """One program in one exact version, and the folder below the cache that is its own."""

    name: str
    source: str
    package: str
    version: str
    program: str
    says: str

    def folder(self, cache: Path) -> Path:
        return cache / f"{self.name.removesuffix('-' + self.version)}-{self.version}"

    def path(self, cache: Path) -> Path:
        return self.folder(cache) / self.program

    def is_installed(self, cache: Path) -> bool:
        """Say whether it was installed whole, and said its version when it was."""
        return (self.folder(cache) / STAMP).exists() and self.path(cache).exists()


def pins() -> dict[str, Pin]:
    """Return every pin by its name, in the file's order."""
    return {
        name: Pin(name, each["from"], each["package"], each["version"], each["program"], each["says"])
        for name, each in tomllib.loads(PINNED.read_text("utf-8")).items()
    }


def default_cache() -> Path:
    """Return the folder that the CLIs are kept in: $ORCHESTRATOR_CLIS, else one in the user's cache."""
    if chosen := os.environ.get("ORCHESTRATOR_CLIS"):
        return Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "agent-orchestrator" / "clis"


def why_missing(name: str) -> str:
    """Return why the tests cannot drive a CLI here, or nothing if they can.

    They are asked to by $ORCHESTRATOR_CLIS: an installed CLI alone does not change what a plain test run is.
    """
    if not os.environ.get("ORCHESTRATOR_CLIS"):
        return f"{name}: not asked for (ORCHESTRATOR_CLIS names no folder of CLIs; see scripts/clis)"
    for each in (NODE, name):
        pin = pins()[each]
        if not pin.is_installed(default_cache()):
            return f"{name}: {each} {pin.version} is not installed in {default_cache()} (scripts/clis {name})"
    return ""
