"""Runs a project's unittest tests and writes down what becomes of each, line by line, as it happens.

usage: unittest_outcomes.py START TOP     (TIDY_OUTCOMES, TIDY_ONLY: as for the pytest plugin)

It runs inside the project's own interpreter: standard library only, and no newer syntax than need be.
"""

import json
import os
import sys
import unittest

WORDS = 2000


class Recorder(unittest.TestResult):
    """Writes one line of JSON for each outcome."""

    def __init__(self, target):
        super().__init__()
        self.file = open(target, "a", encoding="utf-8")

    def addSuccess(self, test):  # noqa: N802 - unittest's own name
        """A test that passed."""
        self.note(test, "passed")

    def addError(self, test, err):  # noqa: N802 - unittest's own name
        """A test, or the reading of a module, that raised."""
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):  # noqa: N802 - unittest's own name
        """A test whose assertion does not hold."""
        self.note(test, "failed", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):  # noqa: N802 - unittest's own name
        """A test that was not run."""
        self.note(test, "skipped")

    def addExpectedFailure(self, test, err):  # noqa: N802 - unittest's own name
        """A test that fails, as its author says it does."""
        self.note(test, "xfailed")

    def addUnexpectedSuccess(self, test):  # noqa: N802 - unittest's own name
        """A test that should fail and passes."""
        self.note(test, "failed", "unexpected success")

    def addSubTest(self, test, subtest, err):  # noqa: N802 - unittest's own name
        """One case of a test; only a failing one says anything of the whole."""
        if err is not None:
            self.note(test, "failed", self._exc_info_to_string(err, test))

    def note(self, test, outcome, words=""):
        """Write one line; a failure with its last words, for they name the error."""
        line = {"id": test.id(), "when": "call", "outcome": outcome, "words": words[-WORDS:]}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


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


def flat(suite):
    """The tests of a suite of suites."""
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from flat(part)
        else:
            yield part


def main(start, top):
    """Find the tests beneath `start`, seen from `top`, and run those asked for."""
    found = list(flat(unittest.TestLoader().discover(start, top_level_dir=top)))
    wanted = os.environ.get("TIDY_ONLY")
    if wanted:
        with open(wanted, encoding="utf-8") as file:
            names = set(json.load(file))
        found = [test for test in found if test.id() in names]
    recorder = Recorder(os.environ["TIDY_OUTCOMES"])
    unittest.TestSuite(found).run(recorder)
    for place in places():
        recorder.file.write(json.dumps(place) + "\n")
    recorder.file.close()


if __name__ == "__main__":
    # The folder of this file stands first, and nothing in it is the project's.
    del sys.path[0]
    main(*sys.argv[1:3])
