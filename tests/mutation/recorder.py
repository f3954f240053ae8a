"""A plugin of pytest: records which lines of the project each test runs, and how long the test takes.

Used for the clean run (`-p tests.mutation.recorder`), once in each worker. What it records goes into the folder
`$MUTATION_OUT`, a file for each worker.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

OUT = Path(os.environ["MUTATION_OUT"])
ROOT = Path(__file__).parents[2]
seconds: dict[str, float] = {}
failed: set[str] = set()
measured = coverage.Coverage(data_file=None, source=[str(ROOT / "orchestrator")], config_file=False)
measured.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Count what is run from here on as this test's."""
    measured.switch_context(item.nodeid)
    result = yield
    measured.switch_context("")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how long a test took, and whether it is of any use: one that fails or is skipped here kills nothing."""
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    if report.outcome != "passed":
        failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write down what this worker has seen; the process that only hands tests out has seen none."""
    measured.stop()
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        return
    data = measured.get_data()
    tests: dict[str, dict[str, list[int]]] = {}
    for path in data.measured_files():
        name = Path(path).relative_to(ROOT).as_posix()
        for line, contexts in data.contexts_by_lineno(path).items():
            for context in contexts:
                if context:
                    tests.setdefault(context, {}).setdefault(name, []).append(line)
    (OUT / f"{os.getpid()}.json").write_text(
        json.dumps({"seconds": seconds, "failed": sorted(failed), "lines": tests}), encoding="utf-8"
    )
