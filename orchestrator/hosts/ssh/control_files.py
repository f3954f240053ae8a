"""Fetching control files: handoffs, events, and what launchers tell of runs; within limits, in one call of rsync."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from orchestrator.hosts.ssh.bounds import RUNS, Quota
from orchestrator.hosts.ssh.pull import Took
from orchestrator.model.errors import Unavailable

if TYPE_CHECKING:
    from orchestrator.hosts.ssh.bounds import Bounds
    from orchestrator.hosts.ssh.publish import Publisher
    from orchestrator.hosts.ssh.pull import Mirror
    from orchestrator.hosts.ssh.remote_paths import RemotePaths

STEERING: Final = 4_194_304 + 1
"""The maximum size of a handoff or event that is fetched: more than is ever read, so that an excess is reported."""

HANDED_IN: Final = "orchestration/"
"""The folder with the files of a workflow, or the memory files of a skill; what agents hand in there is fetched."""

_HAND_IN_RULES: Final = (
    "- .*",
    "+ /orchestration",
    "+ /orchestration/shared_status.*",
    "+ /orchestration/memory",
    "+ /orchestration/memory/*",
    "+ /orchestration/agents",
    "+ /orchestration/agents/*",
    "+ /orchestration/agents/*/completion_drive",
    "+ /orchestration/agents/*/completion_drive/session_current.json",
    "+ /orchestration/agents/*/task_output",
    "+ /orchestration/agents/*/task_output/**",
    "- /orchestration/**",
)

STEERED: Final = 60.0
"""Seconds that a call of rsync may take for control files."""


@dataclass(slots=True)
class ControlFiles:
    """The control files of one task on one box. `is_full`: no more handoffs and events are fetched."""

    mirror: Mirror
    publisher: Publisher
    there: RemotePaths
    bounds: Bounds
    is_full: bool = False
    # Sizes of what was fetched; None until the content of the mirror is counted.
    _sizes: dict[str, int] | None = None
    _total: int = 0

    @property
    def why(self) -> str:
        """Return why no more is fetched."""
        most, files = self.bounds.control_total, self.bounds.control_total_files
        return f"{most} bytes or {files} files of handoffs and events were fetched; the rest stays on the box"

    def fetch(self, runs: Collection[str]) -> Took:
        """Fetch handoffs, and the events of these runs and what is told of them.

        Raises as `Mirror.bring`, and Unavailable if there is too much that cannot be fetched.
        """
        if self._sizes is None:
            self._sizes = self.publisher.sizes(("handoffs/", "requests/"))
            self._total = sum(self._sizes.values())
        bounds = self.bounds
        size = bounds.control_total - self._total
        files = bounds.control_total_files - len(self._sizes)
        self.is_full = self.is_full or min(size, files) <= 0
        # What tells of an end comes first: what was handed in ahead of it is seen then.
        sources = [f"{self.there.own}/./runs"] if runs else []
        quota = Quota(bounds.control, bounds.control_files)
        if not self.is_full:
            sources += [f"{self.there.own}/./requests/events"] if runs else []
            sources.append(f"{self.there.shared}/./handoffs")
            quota = Quota(min(quota.size, size), min(quota.files, files))
        # Last: what tells that a turn is over was seen before what it left.
        sources += [f"{self.there.shared}/./orchestration"] if runs and self.there.workflow else []
        if not sources:
            return Took()
        rules = ["- .*", "- /handoffs/*/", *run_rules(runs, ["claimed", "pid", "exit"])]
        events = [f"+ /requests/events/{run}.*" for run in sorted(runs)]
        rules += _HAND_IN_RULES if self.there.workflow else ()
        rules += ["+ /requests", "+ /requests/events", *events, "- /requests/**"]
        took = self.mirror.bring(sources, rules=rules, largest=STEERING, deadline=STEERED, quota=quota)
        for name, each in took.files:
            if not name.startswith((RUNS, HANDED_IN)):
                self._total += each - self._sizes.get(name, 0)
                self._sizes[name] = each
        if took.over and not took.files:
            if size >= bounds.control and files >= bounds.control_files:
                raise Unavailable(f"{self.mirror.link.address}: {too_many(f'{self.there.shared}/handoffs')}")
            self.is_full = True
            return self.fetch(runs)
        return took


def run_rules(runs: Collection[str], files: Sequence[str]) -> list[str]:
    """Return the filters of rsync by which only these files of these runs are fetched."""
    rules = ["+ /runs"]
    for run in sorted(runs):
        rules += [f"+ /runs/{run}", *(f"+ /runs/{run}/{file}" for file in files)]
    return [*rules, "- /runs/**"]


def too_many(folder: str) -> str:
    """Return the reason for which nothing more is found in a folder there, and what to do."""
    return (
        f"{folder} has so much that cannot be fetched (links, pipes, too large, empty folders) that no other file is "
        "found: remove it there"
    )
