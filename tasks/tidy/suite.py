"""Finding a project's tests, and running them on a copy of it.

First the project's own virtualenv with its pytest, then this interpreter's pytest, then unittest; each as the
project configures it, and once more without its options where those need a plugin that is not there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import bounded
import inner_projects
import outcomes
from outcomes import Outcomes, gist
from wording import first_line, last_line

RECORDERS = Path(__file__).resolve().parent / "recorders"
VIRTUALENVS = (".venv", "venv", "env")
ASK_SECONDS = 60
NOTHING_COLLECTED = 5
FEW = 300
# Names that begin so belong to this run or to its caller, not to the tests.
NOT_FOR_TESTS = ("ORCHESTRATOR_", "GIT_", "PYTEST_", "PYTHON", "TIDY_", "RUFF_")
# Who wants pytest without its plugins wants it here too.
FOR_TESTS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
WITHOUT_OPTIONS = ("-o", "addopts=", "-o", "required_plugins=", "-o", "filterwarnings=")
# The names that nose and Django look for as well.
WIDER_NAMES = ("-o", "python_files=test_*.py *_test.py test.py tests.py")
HAS_PYTEST = "import importlib.util; print(importlib.util.find_spec('pytest') is not None)"
WHERE_IS = (
    "import importlib.util, json, sys; "
    "print(json.dumps({n: str(getattr(importlib.util.find_spec(n), 'origin', '')) for n in sys.argv[1:]}))"
)


@dataclass(frozen=True)
class Runner:
    """One way to run the tests."""

    kind: str
    python: str
    options: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As baseline.json keeps it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: dict[str, object]) -> Runner:
        """As baseline.json has it."""
        options = said.get("options")
        listed = tuple(map(str, options)) if isinstance(options, list) else ()
        return cls(str(said.get("kind")), str(said.get("python")), listed)

    def __str__(self) -> str:
        """For a report: the program and how it was asked."""
        words = f"{self.kind} of {'this interpreter' if self.python == sys.executable else self.python}"
        if WITHOUT_OPTIONS[1] in self.options:
            words += ", without the project's options"
        return words


@dataclass(frozen=True)
class SuiteRun:
    """What one run of the tests said, and how it ended (`status` None: killed at its bound)."""

    outcomes: Outcomes
    status: int | None
    seconds: float
    words: str


def choose(copy: Path, homes: Sequence[Path], limit: float) -> Iterator[tuple[Runner, SuiteRun]]:
    """Each way to run the tests, with what its run said; the caller stops where it is content.

    Args:
        copy: A copy of the project; each way runs in it.
        homes: Folders in which the project's virtualenv may stand.
        limit: Seconds for each run.
    """
    pythons = [*_virtualenvs(homes), sys.executable]
    for runner in [
        *(Runner("pytest", python) for python in pythons if _has_pytest(python, copy)),
        *(Runner("unittest", python) for python in pythons),
    ]:
        if _imports_the_copy(runner.python, copy):
            yield from _attempts(copy, runner, limit, homes)


def _attempts(
    copy: Path, runner: Runner, limit: float, homes: Sequence[Path]
) -> Iterator[tuple[Runner, SuiteRun]]:
    """A way as the project configures it, and without what may have kept it from running."""
    ran = run(copy, runner, limit, homes=homes)
    yield runner, ran
    if not ran.outcomes.passed and runner.kind == "pytest" and ran.status is not None:
        more = WIDER_NAMES if ran.status == NOTHING_COLLECTED else WITHOUT_OPTIONS
        runner = replace(runner, options=more)
        yield runner, run(copy, runner, limit, homes=homes)


def run(
    copy: Path,
    runner: Runner,
    limit: float,
    only: Iterable[str] | None = None,
    homes: Iterable[Path] = (),
) -> SuiteRun:
    """Run the tests of a copy, all of them or only some.

    Args:
        copy: The copy.
        runner: How to run them.
        limit: Seconds until the run is killed.
        only: The tests to run; None: all.
        homes: The user's own folders of the project, from which nothing should be imported.

    Raises:
        OSError: the interpreter cannot be started.
    """
    notes = copy.parent / "outcomes.jsonl"
    notes.unlink(missing_ok=True)
    notes.touch()
    environment = surroundings(copy, runner.python)
    environment |= {"TIDY_OUTCOMES": str(notes), "TIDY_ROOT": str(copy)}
    environment["TIDY_HOMES"] = os.pathsep.join(map(str, homes))
    where: Sequence[str] = ()
    if only is not None:
        wanted = sorted(only)
        chosen = copy.parent / "only.json"
        chosen.write_text(json.dumps(wanted), encoding="utf-8")
        environment["TIDY_ONLY"] = str(chosen)
        where = _files_of(copy, wanted)
    ended = bounded.run(_command(copy, runner, where), cwd=copy, environment=environment, limit=limit)
    with notes.open(encoding="utf-8", errors="replace") as lines:
        found = outcomes.read(lines)
    return SuiteRun(found, ended.status, ended.seconds, ended.tail)


def _command(copy: Path, runner: Runner, where: Sequence[str]) -> list[str]:
    if runner.kind == "unittest":
        start = next((name for name in ("tests", "test") if (copy / name).is_dir()), ".")
        top = "." if start == "." or (copy / start / "__init__.py").exists() else start
        return [runner.python, str(RECORDERS / "unittest_outcomes.py"), start, top]
    return [
        *(runner.python, "-m", "pytest", "-p", "tidy_outcomes", "-p", "no:cacheprovider", "-q"),
        # Whatever the project's options say: all tests, in their own order.
        *("-p", "no:randomly", "--maxfail=0", "--continue-on-collection-errors"),
        *(f"--rootdir={copy}", *runner.options, *where),
    ]


def _files_of(copy: Path, tests: Sequence[str]) -> list[str]:
    """The files that hold these tests, for pytest not to read all others; none if they are many."""
    files = sorted({outcomes.home(test) for test in tests})
    there = [f"./{path}" for path in files if (copy / path).is_file()]
    return there if len(there) <= FEW else []


def surroundings(copy: Path, python: str) -> dict[str, str]:
    """The environment of a test run: the copy's code is what gets imported, and nothing is left behind."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in FOR_TESTS or not name.startswith(NOT_FOR_TESTS)
    }
    programs = Path(python).parent
    environment["PATH"] = f"{programs}{os.pathsep}{environment.get('PATH', os.defpath)}"
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [*import_roots(copy), RECORDERS]))
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    # One order of sets before and after, or a test that depends on it looks broken by a change.
    environment["PYTHONHASHSEED"] = "0"
    environment["GIT_CEILING_DIRECTORIES"] = str(copy.parent)
    return environment


def import_roots(copy: Path) -> list[Path]:
    """The folders that imports of the project's code start from; last those of projects beneath it."""
    inner = [root for project in inner_projects.of(copy) for root in _roots_of(project)]
    return list(dict.fromkeys([*_roots_of(copy), *inner, copy]))


def _roots_of(project: Path) -> Iterator[Path]:
    for folder in (project / "src", project / "lib", project):
        if _holds_modules(folder):
            yield folder


def _holds_modules(folder: Path) -> bool:
    # One level more: a namespace's folder has no `__init__.py`, the package in it has.
    return any(any(folder.glob(modules)) for modules in ("*.py", "*/__init__.py", "*/*/__init__.py"))


def _virtualenvs(homes: Iterable[Path]) -> list[str]:
    pythons = [home / name / "bin" / "python" for home in homes for name in VIRTUALENVS]
    return [str(python) for python in dict.fromkeys(pythons) if os.access(python, os.X_OK)]


def _has_pytest(python: str, copy: Path) -> bool:
    return _asked(python, HAS_PYTEST, copy) == "True"


def _imports_the_copy(python: str, copy: Path) -> bool:
    """Whether this interpreter imports the project's packages from the copy, not from an installed one."""
    packages = sorted(
        {path.parent.name for root in import_roots(copy) for path in root.glob("*/__init__.py")}
        - {"test", "tests", "doc", "docs"}
    )
    try:
        found = json.loads(_asked(python, WHERE_IS, copy, *packages))
    except ValueError:
        return False
    return all(Path(place).is_relative_to(copy) for place in found.values())


def _asked(python: str, program: str, copy: Path, *arguments: str) -> str:
    """The last line that a small program prints; empty if it fails."""
    try:
        done = subprocess.run(
            [python, "-c", program, *arguments],
            cwd=copy.parent,
            env=surroundings(copy, python),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return lines[-1] if done.returncode == 0 and lines else ""


def why_none(ran: SuiteRun) -> str:
    """Why no test of a run passed, in one line; empty if there simply are no tests."""
    if ran.outcomes.elsewhere:
        return f"the tests import your own {min(ran.outcomes.elsewhere)}, so they say nothing of a change"
    if ran.outcomes.failed:
        return gist(next(iter((ran.outcomes.unread or ran.outcomes.failed).values())))
    if ran.status in {0, NOTHING_COLLECTED}:
        return ""
    errors = [line for line in ran.words.splitlines() if "rror" in line]
    return first_line(errors[-1]) if errors else last_line(ran.words)
