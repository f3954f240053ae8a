"""What one run was asked to do, as the daemon says it in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from errors import OrderError

PREFIX = "ORCHESTRATOR_"
ORDER_LIMIT = 1_000_000


@dataclass(frozen=True)
class Order:
    """One run's order, and where it may work."""

    run: str
    agent: str
    step: str
    subtask: str
    attempt: int
    text_file: Path | None
    reply_to: str
    task_dir: Path
    workspace: Path
    scratchpad: Path
    base: str
    branch: str
    check_exit: int | None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Order:
        """Read the order from `ORCHESTRATOR_…`.

        Raises:
            OrderError: a variable that every run has is missing, or a number is none.
        """
        said = _Said(environment)
        text_file = said.maybe("ORDER")
        return cls(
            run=said.must("RUN"),
            agent=said.must("AGENT"),
            step=said.must("STEP"),
            subtask=said.maybe("SUBTASK"),
            attempt=said.number("ATTEMPT", missing=1),
            text_file=Path(text_file) if text_file else None,
            reply_to=said.maybe("REPLY_TO"),
            task_dir=Path(said.must("TASK_DIR")),
            workspace=Path(said.must("WORKSPACE")),
            scratchpad=Path(said.must("SCRATCHPAD")),
            base=said.must("BASE"),
            branch=said.must("BRANCH"),
            check_exit=said.number("CHECK_EXIT", missing=-1) if said.maybe("CHECK_EXIT") else None,
        )

    def text(self) -> str:
        """The order's text; empty if there is none to read."""
        if self.text_file is None:
            return ""
        try:
            with self.text_file.open(encoding="utf-8", errors="replace") as file:
                return file.read(ORDER_LIMIT)
        except OSError:
            return ""

    @property
    def project(self) -> Path:
        """The user's own folder, to look at and never to write into: the task lies in its `tasks/NAME`."""
        return self.task_dir.parent.parent


@dataclass(frozen=True)
class _Said:
    """The environment, asked by the names without their prefix."""

    environment: Mapping[str, str]

    def maybe(self, name: str) -> str:
        return self.environment.get(PREFIX + name, "")

    def must(self, name: str) -> str:
        value = self.maybe(name)
        if not value:
            raise OrderError(
                f"{PREFIX}{name} is not set: this program is run by the PM daemon, "
                "`task start NAME --template tidy`."
            )
        return value

    def number(self, name: str, *, missing: int) -> int:
        value = self.maybe(name)
        try:
            return int(value) if value else missing
        except ValueError:
            raise OrderError(f"{PREFIX}{name} should be a number and is {value!r}.") from None
