"""Real processes edit the shared status of a workflow while the daemon writes it all the time: nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from orchestrator.daemon.core import shared_status
from orchestrator.daemon.core.shared_status import SharedStatusFile
from orchestrator.daemon.core.workflow_folder import WorkflowFolder
from orchestrator.hosts.disk import DiskFiles
from tests.unit.pm.workflows import WorkflowStory, doer, plan_of

EDITS: Final = 250
AGENTS: Final = ("a", "b")

WRITER: Final = """
import fcntl, json, os, sys
path, lock, agent, edits, way = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]
with open(lock, "w") as one_at_a_time:
    for number in range(1, edits + 1):
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        with open(path, "r+b") as file:
            document = json.load(file)
            document["agents"][agent]["edit_%d" % number] = number
            data = json.dumps(document, indent=2).encode()
            if way == "in place":
                file.seek(0)
                file.write(data)
                file.truncate()
        if way == "renames":
            with open(path + "." + agent, "wb") as file:
                file.write(data)
            os.rename(path + "." + agent, path)
        fcntl.flock(one_at_a_time, fcntl.LOCK_UN)
"""
"""Edits its own entry. Two such agents exclude each other, for nobody can know of what one of them overwrote."""


@pytest.mark.parametrize("way", ["renames", "in place"])
def test_two_agents_and_the_daemon_lose_no_edit(tmp_path: Path, way: str) -> None:
    """The daemon has something else to write each time that it comes: the status of a third agent."""
    shared_status.forget()
    path = tmp_path / "orchestration" / "shared_status.json"
    path.parent.mkdir()
    file = SharedStatusFile(WorkflowFolder(DiskFiles(), tmp_path))
    story = WorkflowStory(plan_of(doer("a"), doer("b"), doer("c")))
    story.starts()
    states = [story.state]
    story.leaves("do:c")
    states.append(story.state)
    file.publish(story.state)
    shared_status._known[
        tmp_path
    ].versions._most = 100_000  # a writer may be held up as long as the machine likes
    command = [sys.executable, "-c", WRITER, str(path), str(tmp_path / "lock")]
    agents = [subprocess.Popen([*command, agent, str(EDITS), way]) for agent in AGENTS]
    published = 0
    try:
        while any(each.poll() is None for each in agents):
            shared_status._known[tmp_path].state = None  # else the older state would be passed over
            file.publish(states[published % 2], own=("c",))
            published += 1
    finally:
        for each in agents:
            each.kill()
            each.wait()
    assert [each.returncode for each in agents] == [0, 0]
    file.publish(story.state, own=("c",))
    document = json.loads(path.read_bytes())
    for agent in AGENTS:
        made = {f"edit_{number}" for number in range(1, EDITS + 1)}
        assert made - document["agents"][agent].keys() == set()
    assert document["agents"]["c"]["status"] == "ready_for_verification"
    assert published > 1
    assert not list(path.parent.glob(".tmp-*"))
    assert not (path.parent / "records").exists()
