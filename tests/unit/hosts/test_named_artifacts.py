"""What reports on a box name is fetched, by whichever path to the task's folder there it is named."""

from orchestrator.hosts.ssh.named_artifacts import artifacts_named

REPORT = """# Handoff: dev
**Status:** COMPLETE

## Completed Work
Done.

## Artifacts Generated
- artifacts/one
- /repo/tasks/demo/artifacts/two
- /data/repo/tasks/demo/artifacts/three
- /repo/tasks/other/artifacts/four
- /repo/tasks/demo/artifacts/../task.md
- /repo/tasks/demo/task.md
- /etc/passwd
"""


def test_an_artifact_is_fetched_by_any_path_to_it() -> None:
    """Behind a link the agent's folder has another name there: what it named by that was not fetched."""
    found = artifacts_named(REPORT.encode(), "dev-20251127-153001.md", "/repo/tasks/demo")
    assert found == ["artifacts/one", "artifacts/two", "artifacts/three"]
