"""Host kinds: other ways to run an agent than directly, such as in a container, with the files of this machine.

`host: KIND:NAME` in task.md chooses one, for the task or for one agent. The run then has its worktree, its own folder
and the task's folder at the same paths as here, by a mount or a shared folder. Installed packages bring kinds under the
entry point group `agent_orchestrator.hosts`. Machines over SSH, whose files are brought, are another port (`Boxes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from orchestrator.model.host_names import KIND_MARK

if TYPE_CHECKING:
    from orchestrator.ports.host import Host


class HostKind(Protocol):
    """One kind of host. `name` is what stands behind `KIND:` in task.md: an image, a folder, a partition."""

    def lacks(self, name: str) -> str:
        """Return what keeps runs from living there, with what to do about it; empty if nothing does.

        It is asked when a task starts, and should take a second at most.
        """
        ...

    def host(self, name: str, local: Host) -> Host:
        """Return the host. `local` is this machine: most kinds wrap it (`orchestrator.hosts.wrapped`)."""
        ...


def kind_and_name(host: str) -> tuple[str, str]:
    """Return the kind of a host and what names it within that; empty if it is no host of a kind."""
    kind, mark, name = host.partition(KIND_MARK)
    return (kind, name) if mark else ("", "")
