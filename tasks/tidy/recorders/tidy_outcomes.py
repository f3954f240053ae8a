"""A pytest plugin that writes down what becomes of each test, line by line, as it happens.

It runs inside the project's own interpreter and pytest, whatever their versions: standard library only, and
no newer syntax than need be. A run that is killed leaves what it had found so far.
"""

import json
import os
import re
import sys

WORDS = 2000
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def stable(name):
    """A test's name without what changes from run to run: the folder it runs in, and addresses."""
    root = os.environ.get("TIDY_ROOT")
    return ADDRESS.sub("0x", name.replace(root, ".") if root else name)


def pytest_configure(config):
    """Take notes; in a worker of pytest-xdist only of imports: its reports arrive at the main process too."""
    target = os.environ.get("TIDY_OUTCOMES")
    if target:
        config.pluginmanager.register(Worker(target) if hasattr(config, "workerinput") else Recorder(target))


def pytest_collection_modifyitems(config, items):
    """Leave only the tests asked for, if any were."""
    wanted = os.environ.get("TIDY_ONLY")
    if not wanted:
        return
    with open(wanted, encoding="utf-8") as file:
        names = set(json.load(file))
    kept = [item for item in items if stable(item.nodeid) in names]
    config.hook.pytest_deselected(items=[item for item in items if stable(item.nodeid) not in names])
    items[:] = kept


def places():
    """The files that are imported in this process: the project's, and those of the user's own tree."""
    files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
    homes = [home for home in os.environ.get("TIDY_HOMES", "").split(os.pathsep) if home]
    inside = [beneath(home, file) for home in homes for file in files if not is_installed(file)]
    return [
        {
            "imported": sorted(
                filter(None, (beneath(os.environ.get("TIDY_ROOT", ""), file) for file in files))
            )
        },
        {"elsewhere": sorted(set(filter(None, inside)))},
    ]


def beneath(folder, file):
    """The file as seen from the folder; empty if it lies elsewhere."""
    folder = os.path.join(folder, "")
    return file[len(folder) :] if file.startswith(folder) else ""


def is_installed(file):
    """Whether a file belongs to a virtualenv, which may lie in the project."""
    return bool(beneath(sys.prefix, file)) or "site-packages" in file.split(os.sep)


class Worker:
    """Writes down what was imported, when all is over."""

    def __init__(self, target):
        self.file = open(target, "a", encoding="utf-8")

    def pytest_unconfigure(self):
        """The end of the run."""
        for place in places():
            self.file.write(json.dumps(place) + "\n")
        self.file.close()


class Recorder(Worker):
    """Writes one line of JSON for each report of pytest as well."""

    def pytest_collectreport(self, report):
        """A module that could not be read, or that skips itself."""
        if report.outcome != "passed" and report.nodeid:
            self.note(report, "collect", report.outcome)

    def pytest_runtest_logreport(self, report):
        """One phase of one test."""
        outcome = "xfailed" if hasattr(report, "wasxfail") and report.outcome == "skipped" else report.outcome
        self.note(report, report.when, outcome)

    def note(self, report, when, outcome):
        """Write one line; a failure with its last words, for they name the error."""
        words = str(report.longrepr)[-WORDS:] if outcome == "failed" else ""
        line = {"id": stable(report.nodeid), "when": when, "outcome": outcome, "words": words}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
