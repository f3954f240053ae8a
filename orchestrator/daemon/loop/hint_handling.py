"""What a task does about a hint: it looks where something has landed, and shows what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.daemon.core import hints as h
from orchestrator.model.facts import LaunchFailed

if TYPE_CHECKING:
    from orchestrator.daemon.task import Task


def follow(task: Task, hint: h.TaskHint) -> None:  # noqa: C901, PLR0912 (a case per hint)
    """Look where a hint leads. A request of the user is the loop's to hear; the rest waits until the task has begun."""
    if not task.begun:
        return
    match hint:
        case h.RequestHint():
            pass
        case h.HandoffHint(name=name):
            task.inputs.see_reports(name)
            task.show(name)
        case h.OutboxHint():
            task.inputs.see_outboxes()
        case h.RunHint(run=run):
            task.inputs.see_run(run)
        case h.OutcomeHint(fact=fact):
            if fact is not None:
                try:
                    task.feed(fact)
                finally:
                    task.doing.heard(fact)
                if isinstance(fact, LaunchFailed):  # for want of its folders, perhaps
                    task.inputs.see_folder()
        case h.TreeHint():
            task.inputs.see_trees()
        case h.BoxHint():
            task.see_boxes()
        case h.SayHint(text=text):
            task.engine.say(text)
        case h.EventHint():
            task.inputs.see_events()
        case h.BriefHint():
            task.see_brief()
        case h.WorkflowHint(agent=agent):
            task.inputs.see_workflow(agent)
        case h.RoleStatusHint():
            task.inputs.see_role_statuses()
            task.show()
        case h.ArchiveHint(handoff=handoff):
            task.inputs.see_archived_handoffs((handoff,))
            task.show()
        case h.ArtifactHint(path=path):
            task.show(f"artifacts/{path}")
