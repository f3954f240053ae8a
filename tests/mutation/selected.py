"""A plugin of pytest: runs the tests that `$MUTATION_OUT/selected.json` lists, in that order, and says what came of it.

For runs of mutants (`-p tests.mutation.selected`). What came of it goes into `ended.json` beside the list; before
anything of the project is imported, `started` is made there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

OUT = Path(os.environ["MUTATION_OUT"])
failed: list[str] = []
(OUT / "started").touch()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is listed."""
    order = {name: place for place, name in enumerate(json.loads((OUT / "selected.json").read_text("utf-8")))}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in order])
    items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that fails."""
    if report.failed:
        failed.append(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file of tests that cannot be read."""
    if report.failed:
        failed.append(report.nodeid)


def pytest_sessionfinish(exitstatus: int) -> None:
    """Say how it ended."""
    (OUT / "ended.json").write_text(
        json.dumps({"status": int(exitstatus), "failed": failed}), encoding="utf-8"
    )
