"""Which document each command prints with `--json`."""

from __future__ import annotations

from typing import Final

from scripts.reference.documents.machines import Doctor, DoctorHost, Hosts, StartCheck
from scripts.reference.documents.memory import (
    MemoryAdd,
    MemoryExport,
    MemoryForget,
    MemoryMark,
    MemorySearch,
    MemoryShow,
    Observe,
)
from scripts.reference.documents.program import Config, DaemonStatus, NotifyList, NotifyTest, Templates
from scripts.reference.documents.report import Reports
from scripts.reference.documents.skills import SkillList, SkillShow
from scripts.reference.documents.status import Status
from scripts.reference.documents.tasks import Archived, List, Questions, Why
from scripts.reference.documents.workflows import (
    WorkflowAdapt,
    WorkflowApprove,
    WorkflowArchive,
    WorkflowCheck,
    WorkflowDesign,
    WorkflowNew,
    WorkflowShow,
)

DOCUMENTS: Final[dict[str, tuple[str, type]]] = {
    "status": ("status NAME --json", Status),
    "list": ("list --json", List),
    "list-archived": ("list --archived --json", Archived),
    "questions": ("questions --json", Questions),
    "why": ("why NAME --json", Why),
    "report": ("report NAME --json", Reports),
    "hosts": ("hosts --json", Hosts),
    "doctor": ("doctor --json", Doctor),
    "doctor-host": ("doctor HOST --json", DoctorHost),
    "start-check": ("start NAME --check --json", StartCheck),
    "templates": ("templates --json", Templates),
    "config": ("config --json", Config),
    "notify-test": ("notify test --json", NotifyTest),
    "notify-list": ("notify list --json", NotifyList),
    "workflow-new": ("workflow new NAME --json", WorkflowNew),
    "workflow-check": ("workflow check NAME --json", WorkflowCheck),
    "workflow-approve": ("workflow approve NAME --json", WorkflowApprove),
    "workflow-design": ("workflow design NAME --json", WorkflowDesign),
    "workflow-adapt": ("workflow adapt NAME FILE --json", WorkflowAdapt),
    "workflow-archive": ("workflow archive NAME --json", WorkflowArchive),
    "workflow-show": ("workflow show NAME --json", WorkflowShow),
    "skill-list": ("skill list --json", SkillList),
    "skill-show": ("skill show NAME --json", SkillShow),
    "memory-search": ("memory search WORD --json", MemorySearch),
    "memory-show": ("memory show ID --json", MemoryShow),
    "memory-add": ("memory add CONTENT --tag TAG --json", MemoryAdd),
    "memory-forget": ("memory forget ID --json", MemoryForget),
    "memory-mark": ("memory mark ID misled --json", MemoryMark),
    "memory-export": ("memory export --json", MemoryExport),
    "observe": ("observe --json", Observe),
    "daemon-status": ("daemon status --json", DaemonStatus),
}
"""Each document by the name of its schema: the command that prints it, and its shape."""
