"""Ways to break what is made of edits in the archive of handoffs. `test_role_worlds` says that a law finds each."""

from __future__ import annotations

from orchestrator.daemon.core import archived_handoffs
from orchestrator.daemon.ingest.task_inputs import TaskInputs
from orchestrator.formats.coordination.handoff_edits import HandoffEdit, edit_of


def hears_no_edit(patch):
    """The archive is only written, never looked at."""
    patch.setattr(TaskInputs, "see_archived_handoffs", lambda *_, **__: None)


def refuses_nothing(patch):
    """What nobody may edit is as if it were not edited."""

    def lenient(said, known, shown):
        found = edit_of(said, known, shown)
        return HandoffEdit() if found.refused else found

    patch.setattr(archived_handoffs, "edit_of", lenient)
