"""Bringing what a box has, as a keeper does."""

from collections.abc import Collection

from orchestrator.hosts.ssh.publish import Pulled, together
from orchestrator.hosts.ssh.sync import TaskSync


def pull(sync: TaskSync, runs: Collection[str]) -> Pulled:
    """Bring what steers, and what is large behind it."""
    control_pulled = sync.pull_control(runs)
    return together([control_pulled, sync.pull_bulk(runs)])
