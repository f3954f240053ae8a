"""What is looked at when a task has ended, by none of the code that did the work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.daemon.world import World, environ_of, read_json
from tests.packages.package import Package, State, git, state_of
from tests.polling import wait_until

LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = b"\xef\xbb\xbf"
TEST_SECONDS = 3600


@dataclass(frozen=True)
class Looked:
    """One package's numbers, and every fault that was seen."""

    lines: int
    findings: tuple[int, int]
    accepted: int
    aside: int
    rejections: int
    tests: tuple[int, int]
    seconds: int
    faults: tuple[str, ...]


def look(world: World, package: Package, project: Path, before: State) -> Looked:
    """Look at everything that a task may have left, done twice, lost or harmed."""
    task = project / "tasks" / package.name
    steps = world.state_shown(package.name)["steps"]
    reviews = [step for step in steps if step["id"].startswith("review:")]
    story = world.story(package.name)
    tests, lost = _tests(project, package, task, world.root / "by-hand")
    faults = [
        *_users_own(project, package, before),
        *_once(world, package.name),
        *_branch(project, package, task),
        *_left_over(world),
        *(f"passed before and not on the branch: {test}" for test in lost[:5]),
        *([f"{len(lost)} tests lost"] if lost else []),
    ]
    rejected = [f for f in story.facts("report_landed") if "REJECTED" in json.dumps(f.get("report") or {})]
    at = [line["at"] for line in story.lines]
    return Looked(
        lines=_lines(project),
        findings=_findings(task),
        accepted=sum(step["status"] == "passed" for step in reviews),
        aside=sum(step["status"] == "set_aside" for step in reviews),
        rejections=len(rejected),
        tests=tests,
        seconds=round(at[-1] - at[0]),
        faults=tuple(faults),
    )


def _users_own(project: Path, package: Package, before: State) -> Iterator[str]:
    """The user's tree, index, settings and branches are as they were."""
    after = state_of(project, package.name)
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path):
            yield f"the user's {path} changed: {before.get(path)} {after.get(path)}"
    try:
        # A tree goes when the run that looked at it has gone, which may be after the task's last step.
        wait_until(lambda: len(git(project, "worktree", "list").splitlines()) == 1, within=30, every=0.2)
    except AssertionError:
        yield f"worktrees left: {git(project, 'worktree', 'list')}"


def _once(world: World, name: str) -> Iterator[str]:
    """No run was opened twice, no line of the journal is missing or double, each run has its folder."""
    story = world.story(name)
    runs = Counter(change["run"]["id"] for change in story.changes("run_opened"))
    yield from (f"run {run} was opened {times} times" for run, times in runs.items() if times > 1)
    folders = {path.name for path in (world.home(name) / "runs").iterdir()}
    if folders != set(runs):
        yield f"runs without a folder or the other way round: {folders ^ set(runs)}"
    numbers = [line["n"] for line in story.lines]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        yield f"the journal's numbers are no row: {numbers}"
    landed = Counter((fact["name"], fact["sha256"]) for fact in story.facts("report_landed"))
    yield from (f"report {report} was taken {times} times" for report, times in landed.items() if times > 1)


def _branch(project: Path, package: Package, task: Path) -> Iterator[str]:
    """One commit for each accepted subtask that changed something; in each only what the subtask names."""
    branch = f"task/{package.name}"
    planned = read_json(task / "artifacts" / "design" / "plan.json").get("subtasks", [])
    made = [each for each in planned if _accepted(task, each["id"])]
    commits = git(project, "rev-list", "--reverse", f"HEAD..{branch}").splitlines()
    if len(commits) != len(made):
        yield f"{len(commits)} commits for {len(made)} accepted subtasks with changes"
    for commit, subtask in zip(commits, made, strict=False):
        raw = git(project, "diff-tree", "-r", "-z", "--raw", "--no-renames", f"{commit}^", commit).split("\0")
        for about, path in zip(raw[::2], raw[1::2], strict=False):
            if path not in subtask["files"]:
                yield f"{commit[:9]} changes {path}, which {subtask['id']} does not name"
            yield from _one_file(project, commit, about.split(), path)
    if git(project, "merge-base", "HEAD", branch) != git(project, "rev-parse", "HEAD"):
        yield "the branch does not start from the user's commit"
    left = git(project, "for-each-ref", "--format=%(refname)", f"refs/heads/task-work/{package.name}")
    if left:
        yield f"work branches left: {left.split()}"


def _accepted(task: Path, subtask: str) -> bool:
    """Whether the last review of a subtask approved of a change."""
    reviews = sorted(
        (task / "artifacts" / "reviews").glob(f"{subtask}-attempt-*.json"),
        key=lambda path: int(path.stem.rpartition("-")[2]),
    )
    return bool(reviews) and bool((last := read_json(reviews[-1]))["approved"] and last["changed"])


def _one_file(project: Path, commit: str, about: list[str], path: str) -> Iterator[str]:
    """A file keeps its mode, its line ends, its byte order mark, and stays UTF-8."""
    old_mode, new_mode, old, new, kind = about
    if kind != "M" or old_mode.lstrip(":") != new_mode:
        yield f"{commit[:9]} {kind} {path}: mode {old_mode} {new_mode}"
    was, now = (_blob(project, name) for name in (old, new))
    if extra := set(LINE_END.findall(now)) - set(LINE_END.findall(was)):
        yield f"{commit[:9]} {path}: new line ends {extra}"
    if was.startswith(BOM) != now.startswith(BOM):
        yield f"{commit[:9]} {path}: its byte order mark changed"
    try:
        was.decode("utf-8"), now.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"{commit[:9]} {path}: {error}"


def _blob(project: Path, name: str) -> bytes:
    command = ["git", "cat-file", "blob", name]
    return subprocess.run(command, cwd=project, capture_output=True, check=True, timeout=60).stdout


def _left_over(world: World) -> Iterator[str]:
    """No agent, and nothing that a test started, lives on; only the PM's own panes do; no copy lies about."""
    for pid in world.processes():
        if b"ORCHESTRATOR_RUN=" in environ_of(pid):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")[:200]
            yield f"process {pid} is left: {words!r}"
    asked = ("list-panes", "-a", "-F", "#{pane_dead} #{window_name}")
    for pane in world.tmux.tmux(*asked).splitlines() if world.tmux.server_pid() else ():
        if pane.startswith("0 ") and pane != "0 pm":
            yield f"a pane is alive: {pane}"
    copies = [path.name for path in (world.root / "tmp").glob("tidy-*")]
    if copies:
        yield f"copies are left: {copies}"


def _lines(project: Path) -> int:
    paths = git(project, "ls-files", "-z", "--", "*.py", "*.pyi").split("\0")
    files = [project / path for path in paths if path and (project / path).is_file()]
    return sum(path.read_bytes().count(b"\n") for path in files)


def _findings(task: Path) -> tuple[int, int]:
    """Before and after, as the summary's table has them."""
    summary = task / "artifacts" / "reviews" / "summary.md"
    found = re.search(r"\*\*all\*\* \| \*\*(\d+)\*\* \| \*\*(\d+)\*\*", summary.read_text(encoding="utf-8"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


# The tests, by hand ---------------------------------------------------------------------------------


def _tests(project: Path, package: Package, task: Path, folder: Path) -> tuple[tuple[int, int], list[str]]:
    """How many tests pass before and on the branch, and those that did and do not, seen twice."""
    runner = read_json(task / "artifacts" / "tests" / "baseline.json").get("runner")
    if not runner:
        return (0, 0), []
    place = folder / package.name / package.name
    shutil.rmtree(place.parent, ignore_errors=True)
    shutil.copytree(project, place, symlinks=True, ignore=shutil.ignore_patterns(".venv", "tasks"))
    git(place, "checkout", "--quiet", "--force", "HEAD")
    before = _passing(place, runner)
    git(place, "checkout", "--quiet", "--force", f"task/{package.name}")
    after = _passing(place, runner)
    lost = before - after
    if lost:
        lost -= _passing(place, runner)
    return (len(before), len(after)), sorted(lost)


def _passing(place: Path, runner: dict[str, Any]) -> set[str]:
    if runner["kind"] == "pytest":
        report = place.parent / "junit.xml"
        report.unlink(missing_ok=True)
        words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--maxfail=0"]
        words += [f"--rootdir={place}", f"--junitxml={report}", "--continue-on-collection-errors"]
        _python(place, runner["python"], *words, *runner["options"])
        return {name for name, good in _cases(report) if good} if report.exists() else set()
    start = next((name for name in ("tests", "test") if (place / name).is_dir()), ".")
    top = "." if start == "." or (place / start / "__init__.py").exists() else start
    said = _python(place, runner["python"], "-m", "unittest", "discover", "-v", "-s", start, "-t", top)
    return set(re.findall(r"^(\w+ \([\w.]+\)).*\.\.\. ok$", said, re.MULTILINE))


def _cases(report: Path) -> Iterator[tuple[str, bool]]:
    for case in ET.parse(report).iter("testcase"):
        yield f"{case.get('classname')}::{case.get('name')}", not list(case.iterfind("*"))


def _python(place: Path, python: str, *words: str) -> str:
    built = [
        path.parent
        for depth in ("", "*/", "*/*/")
        for path in place.glob(f"{depth}setup.*")
        if not (path.parent / "__init__.py").exists()
    ]
    folders = [project / name for project in dict.fromkeys([place, *built]) for name in ("src", "lib", ".")]
    roots = [folder for folder in folders if folder.is_dir()]
    done = subprocess.run(
        [python, *words],
        cwd=place,
        env={
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(place.parent),
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(map(str, roots)),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=TEST_SECONDS,
        check=False,
    )
    return done.stdout + done.stderr
