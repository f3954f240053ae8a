"""Evidence: what a report points at to show that a success criterion is met (H10, law 6: a claim is not evidence)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

BY_USER: Final = "accepted by the user in answer to "
"""How evidence begins that is the word of the user, who accepted a criterion as it stands; the question follows."""


class EvidenceKind(StrEnum):
    """What a reference points at, and so where it is looked for."""

    TASK_FILE = (
        "task_file"  # a file in `artifacts/` of the task's folder; one in `handoffs/`, which is a claim
    )
    FILE = "file"  # a file on the task's branch, in the user's tree if the task works there, or in an agent's own `cwd`
    COMMIT = "commit"  # a commit that the task made: on its branch, or on a box where code stays
    CHECK = "check"  # a command that the daemon ran on accepted work, by its step or its run


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing that a report points at.

    `text` is the reference as the report writes it, `target` the path, commit hash or check that it names. `line` is
    the last line that it names of a file, 0 where it names none.
    """

    text: str
    kind: EvidenceKind
    target: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of looking a reference up: `exists`, and in words what was found or why nothing was.

    `own`: whoever names it wrote it while judging. It is what that judge says, and shows nothing apart from that.
    """

    reference: str
    exists: bool
    detail: str = ""
    own: bool = False
