"""An auditor of workflows. It knows the numbered rules of the contract and the files in a task's folder, nothing else.

It imports nothing of the program, so that a fault there cannot hide itself. The rules and their numbers are in
`docs/explanation/workflow-audit.md`. It is right about a workflow that waits or has ended, while no run of it lives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.auditor import (  # noqa: F401 (they register the rules)
    escalation_rules,
    note_rules,
    recorded,
    run_rules,
    value_rules,
    workflow_rules,
)
from tests.auditor.folder import Folder
from tests.auditor.rules import RULES, Breach

AUDITED: Final = ("orchestration", "handoffs")
"""The folders of a task that it looks at."""


def audit(files: Mapping[str, bytes]) -> list[Breach]:
    """Return every rule that does not hold in a task's folder, with each place."""
    folder = Folder(files)
    looks = ((number, look) for number in sorted(RULES) for look in RULES[number])
    return [Breach(number, text) for number, look in looks for text in look(folder)]
