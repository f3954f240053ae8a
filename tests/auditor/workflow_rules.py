"""Rules of the workflow as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tests.auditor.folder import VERIFIED, Folder
from tests.auditor.rules import rule


@rule(30)
def _outputs(folder: Folder) -> Iterator[str]:
    """What is verified has its outputs and its evidence."""
    for agent, plan in folder.workers.items():
        wanted = [*(plan.get("outputs") or []), *(each["path"] for each in plan.get("evidence") or [])]
        for path in wanted:
            if (
                folder.stands(agent) in VERIFIED
                and f"orchestration/agents/{agent}/task_output/{path}" not in folder.files
            ):
                yield f"{agent} is verified without task_output/{path}"


@rule(31)
def _approved(folder: Folder) -> Iterator[str]:
    """Nothing starts that nobody approved."""
    approval = folder.plan.get("approval") or {}
    if folder.orders and not (
        re.fullmatch(r"[0-9a-f]{64}", str(approval.get("hash"))) and approval.get("by")
    ):
        yield "orders were given, and nobody approved the plan"


@rule(34)
def _archives(folder: Folder) -> Iterator[str]:
    """Archive, index and log agree, and nothing is archived twice."""
    base = "orchestration/agents/archival_agent"
    index = folder.json(f"{base}/archive_index.json").get("sessions", [])
    log = folder.json(f"{base}/cleanup_log.json").get("operations", [])
    done = {each["to"] for each in log if each.get("result") == "done"}
    for entry in index:
        if f"orchestration/{entry['file']}" not in folder.files:
            yield f"{entry['file']} is in the index, and not there"
        if entry["file"] not in done:
            yield f"{entry['file']} is in the index, and not in the log"
    kept = Counter((each["agent"], each["session_start"], each["sha256"]) for each in index)
    yield from (
        f"a session of {agent} was archived {times} times" for (agent, *_), times in kept.items() if times > 1
    )


@rule(35)
def _handoffs(folder: Folder) -> Iterator[str]:
    """Each report answers one order, of its own run and agent."""
    known = {each.path.rpartition("/")[2]: each for each in folder.orders}
    for name, report in folder.reports.items():
        order = known.get(name)
        if order is not None and order.fields.get("Run") not in {report.fields.get("Run"), None}:
            yield f"{report.path} is of another run than {order.path}"
        if order is not None and order.agent != report.agent:
            yield f"{report.path} answers an order to {order.agent}"


@rule(36)
def _complete(folder: Folder) -> Iterator[str]:
    """A complete workflow has every agent complete, or waiting for questions, and every session archived."""
    if folder.status.get("status") != "session_complete":
        return
    for agent in folder.workers:
        waits = agent in folder.on_call and folder.stands(agent) == "pending"
        if folder.stands(agent) != "session_complete" and not waits:
            yield f"the workflow is complete, and {agent} is {folder.stands(agent)}"
        if f"orchestration/agents/{agent}/completion_drive/session_current.json" in folder.files:
            yield f"the workflow is complete, and the session of {agent} is not archived"
