"""The record of file operations in progress.md, in the document's form (F6)."""

from __future__ import annotations

from typing import Any

from orchestrator.formats.text import local_minute
from orchestrator.model.file_operations import OperationDone, OperationKind, OperationsRecord
from orchestrator.scribe.operations import operation_lines

AT = 1_764_254_100.0
MADE = OperationDone(OperationKind.CREATE, "/tree/auth.ts", "Create the middleware", 2345, ("large",))
GONE = OperationDone(OperationKind.DELETE, "/tree/old.ts", "Nobody uses it")


def recorded(**record: Any) -> str:
    made = OperationsRecord(AT, "r-1", "developer", "Implement authentication", 2, **record)
    return "\n".join(operation_lines([made]))


def test_what_was_carried_out_is_recorded_as_the_document_does() -> None:
    assert (
        recorded(done=(MADE, GONE))
        == f"""\
### [{local_minute(AT)}] File Operations Executed

**Specialist**: @developer
**Task**: Implement authentication

**Operations**:
1. ✅ create /tree/auth.ts (2.3 KB)
   - Description: Create the middleware
   - Verified: File exists, its size and its hash are as they should be
   - Note: large
2. ✅ delete /tree/old.ts
   - Description: Nobody uses it
   - Verified: File is gone

**Summary**: 2/2 operations successful, 0 failed"""
    )


def test_what_was_refused_is_shown_with_its_reasons() -> None:
    page = recorded(faults=("Operation 1: <b>does not exist</b>",), rolled_back=True)
    assert "File Operations Refused" in page
    assert "- ❌ Operation 1: &lt;b>does not exist&lt;/b>" in page
    assert "nothing was carried out; what had been carried out was rolled back" in page


def test_deletes_that_wait_are_shown() -> None:
    page = recorded(unconfirmed=(("/tree/old.ts", "import"),))
    assert "- ⚠️ DELETE REQUESTED: /tree/old.ts" in page
    assert "somebody must confirm the deletes" in page
