"""What all tasks of one daemon share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.daemon.core.hints import Hint
from orchestrator.daemon.core.notifier import Notifier
from orchestrator.daemon.core.task_paths import Adapters
from orchestrator.daemon.core.worker_pool import Executor
from orchestrator.model.host_names import HERE
from orchestrator.notifications.default_channels import at_hand
from orchestrator.notifications.null_sender import NullSender
from orchestrator.ports.clock import Clock
from orchestrator.ports.sender import Sender
from orchestrator.workspaces.leases import Lease


@dataclass(slots=True)
class Context:
    """The context of all tasks: adapters, worker pools, the notifier.

    `executor` are the workers for this machine; `box_executors` returns those for boxes, None: the same ones.

    `post` sends a hint to the loop from any thread. `leases` returns what the live runs of all tasks hold or wait for;
    None while the daemon starts, and does not know all of them. `notification_executor` are the workers that send
    notifications, through the `sender`; None: the same as `executor`.
    """

    adapters: Adapters
    clock: Clock
    executor: Executor
    scribe_executor: Executor
    nonce: Callable[[], str]
    post: Callable[[Hint], None]
    state_folder: Path
    leases: Callable[[], Sequence[Lease] | None]
    sender: Sender = field(default_factory=NullSender)
    notification_executor: Executor | None = None
    box_executors: Callable[..., Executor] | None = None
    desk: Notifier = field(init=False)

    def executor_for(self, *hosts: str) -> Executor:
        """Return the workers for these hosts: for HERE alone, or for boxes."""
        boxes = [host for host in hosts if host != HERE]
        return self.executor if self.box_executors is None or not boxes else self.box_executors(*boxes)

    def __post_init__(self) -> None:
        """Make the notifier."""
        self.desk = Notifier(
            self.adapters.files,
            self.state_folder,
            at_hand(self.adapters.settings.notify, self.adapters.environ),
            self.clock,
            self.sender,
            self.notification_executor or self.executor,
            self.post,
        )
