"""What differs between two versions of task.md's Agent Config, as its user wrote them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.model.task import Config

_NEEDS_STOP: Final = frozenset(
    {"cwd", "bring", "handoffs", "template", "workspace", "architect", "approve", "pm", "runtime"}
)
"""Keys by which the steps of a plan are laid out: steps that exist cannot follow a change of these."""


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One key of Agent Config that changed: its value before and now, as written; empty where it does not stand."""

    key: str
    was: str
    now: str

    @property
    def needs_stop(self) -> bool:
        """True if a task at work must be stopped before this can count."""
        return self.key in _NEEDS_STOP or self.key.endswith(".cwd")

    @property
    def prepares(self) -> bool:
        """True if it says how worktrees are made ready."""
        return self.key == "prepare" or self.key.startswith("prepare.")

    def words(self) -> str:
        """Return the change for a person: `test.check: pytest -> pytest -q`."""
        if not self.was:
            return f"{self.key}: {self.now} (new)"
        return f"{self.key}: {self.was} -> {self.now}" if self.now else f"{self.key}: {self.was} (taken out)"


def config_changes(old: Config, new: Config) -> tuple[ConfigChange, ...]:
    """Return the keys that differ, in the order in which they stand, those that were taken out last.

    A journal of an older version does not hold what was written: then nothing is known to differ.
    """
    if not old.written and old != type(old)():
        return ()
    keys = dict.fromkeys((*new.written, *old.written))
    pairs = ((key, old.written.get(key, ""), new.written.get(key, "")) for key in keys)
    return tuple(ConfigChange(key, was, now) for key, was, now in pairs if was != now)


def keys_of(changes: Sequence[ConfigChange]) -> str:
    """Return the names of the keys that changed, for a sentence."""
    return ", ".join(f"`{each.key}`" for each in changes)


def digest(config: Config) -> str:
    """Return what stands for exactly this Agent Config: a person who confirms it confirms nothing else."""
    return blake2b(json.dumps(sorted(config.written.items())).encode(), digest_size=8).hexdigest()
