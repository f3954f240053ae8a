"""The artifacts that a report on a box names: they are fetched before it, as they are evidence for it."""

from __future__ import annotations

import posixpath

from orchestrator.formats.handoff_format import read_any_report
from orchestrator.hosts.ssh.reconcile import Kind, kind_of
from orchestrator.model.errors import BadFile


def artifacts_named(data: bytes, name: str, shared: str) -> list[str]:
    """Return the artifacts, files or folders, that a report names, as paths in the task's folder.

    Args:
        data: The bytes of the handoff. If it is no report, nothing is returned.
        name: Its name.
        shared: The task's folder on the box, which may begin the paths that it names.

    """
    try:
        report = read_any_report(data, name)
    except BadFile:
        return []
    evidence = [each for mark in report.criteria or () for each in mark.evidence]
    found = []
    for each in (*report.artifacts, *evidence):
        path = posixpath.normpath(each.removeprefix(f"{shared}/"))
        if kind_of(path, ()) is Kind.ARTIFACT:
            found.append(path)
    return found
