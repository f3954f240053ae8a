"""What became of a world in which something went wrong: was work lost, was anything done twice, is anything stuck?

Each row of the table is one fault with its tries. A try ends well, or as one of the errors below; one that this
machine cannot bring about is skipped, and says why.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.integration.daemon.world import Story, World, a_world, read_json

ENDED = frozenset({"complete", "stopped", "failed"})
_REPORT = re.compile(r"(?!pm-)[a-z0-9][a-z0-9_-]*-[0-9]{8}-[0-9]{6}\.md")

Way = Callable[[], object]
Scene = Callable[..., object]


class Lost(AssertionError):
    """Work is missing that an undisturbed run has."""


class Doubled(AssertionError):
    """Something was done twice."""


class Stuck(AssertionError):
    """A task neither ended nor waits on a named question, or an agent outlived its task."""


class Skipped(Exception):
    """This machine cannot bring the fault about."""


# Held against the laws ----------------------------------------------------------------------------


def check(world: World) -> None:
    """See every task of a world to its end, or to its question, and hold what came of it against the laws."""
    if not world.pid:
        world.launched()  # one that is just starting may be quicker
        world.until(lambda: world.pid)
    segments = (world.state / "tasks").glob("*-????????/journal/*.jsonl*")
    homes = sorted({segment.parents[1] for segment in segments})
    try:
        for home in homes:
            world.until(lambda home=home: _settled(home))  # type: ignore[misc]
        world.check_nobody_is_left()
    except AssertionError as error:
        raise Stuck(error) from None
    for home in homes:
        if not read_json(home / "state.json"):
            continue
        name = home.name.rpartition("-")[0]
        try:
            world.check_once(name)
        except AssertionError as error:
            raise Doubled(f"{error}\n{world.account()}") from None
        with suppress(AssertionError):
            world.until(lambda name=name: not _missing(world, name))  # type: ignore[misc]  # what is ignored, in time
        if missing := _missing(world, name):
            raise Lost(f"{missing}\n{world.account()}")


def _settled(home: Path) -> bool:
    """Tell whether a task has ended, or waits on a question that it names."""
    shown = read_json(home / "state.json")
    state = shown.get("state", "")
    alive = [each for each in shown.get("agents", ()) if each["state"] != "gone"]
    return not shown or (state in ENDED and not alive) or bool(state == "waiting" and shown["questions"])


def _missing(world: World, name: str) -> str:
    """Return what of a task is lost: a report that nobody read, or a commit that no ref holds any more."""
    story = world.story(name)
    started = next(iter(story.facts("task_started")), {})
    folder = Path(str(started.get("project", world.project))) / "tasks" / name / "handoffs"
    known = {change["name"] for change in story.changes("handoff_seen")}
    known |= {fact["name"] for fact in story.facts("report_landed")}
    known |= {change["order"]["name"] for change in story.changes("order_given")}
    known |= set(map(str, started.get("history", ())))
    lying = [path.name for path in folder.glob("*.md") if path.is_file() and not path.is_symlink()]
    if unread := [each for each in lying if _REPORT.fullmatch(each) and each not in known]:
        return f"nobody read {unread}"
    # The same work may be committed anew on what the task's branch gained meanwhile: the last one counts.
    last = {(fact["step"], fact["attempt"]): fact["commit"] for fact in story.facts("work_committed")}
    lost = {step: commit for step, commit in last.items() if commit and not _held(world, commit)}
    return "".join(
        f"no ref holds {commit}, of {step}\n{_account_of(story, step[0])}" for step, commit in lost.items()
    )


def _account_of(story: Story, step: str) -> str:
    """Return what the journal tells of a step, a line each."""
    runs = {run["id"] for run in story.runs.values() if run["step"] == step}
    shown = []
    for line in story.lines:
        about = [
            each for each in (line["fact"], *line["changes"], *line["actions"]) if _is_of(each, step, runs)
        ]
        shown += [f"{line['n']} {str(each)[:240]}" for each in about]
    return "\n".join(shown)


def _is_of(shown: dict[str, Any], step: str, runs: set[str]) -> bool:
    run = shown.get("run")
    return shown.get("step") == step or (isinstance(run, str) and run in runs)


def _held(world: World, commit: str) -> bool:
    """Tell whether a ref holds a commit, or at least each file as it made it.

    A commit that is asked for again, as its outcome was late, is made anew if the task's branch has moved meanwhile.
    """
    with suppress(subprocess.CalledProcessError):
        if world.git("for-each-ref", "--contains", commit, "refs/heads", "refs/tasks"):
            return True
        made = {line.split()[3] for line in world.git("diff-tree", "-r", f"{commit}^", commit).splitlines()}
        there = world.git("rev-list", "--objects", "--glob=refs/heads", "--glob=refs/tasks").splitlines()
        return made <= {line.partition(" ")[0] for line in there}
    return False


def staged(scene: Scene, /, *arguments: Any, **settings: str) -> Way:
    """Return the way to try a fault that a scene in a world of its own brings about; a test may be one."""

    def way() -> None:
        with a_world(**settings) as world:
            try:
                scene(world, *arguments)
            except pytest.skip.Exception as error:
                raise Skipped(str(error)) from None
            except AssertionError:
                check(world)  # what is lost, doubled or stuck says more than what was expected
                raise
            check(world)

    return way


# The table ----------------------------------------------------------------------------------------


HEADING = f"{'fault':44} {'tries':>6} {'lost':>6} {'doubled':>8} {'stuck':>6} {'broken':>7} {'skipped':>8}"


@dataclass
class Row:
    """How often a fault was tried, and what came of it. Broken: its own promise, whatever else held."""

    fault: str
    tries: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    broken: int = 0
    skipped: int = 0
    stories: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def bad(self) -> int:
        """How many tries ended badly."""
        return self.lost + self.doubled + self.stuck + self.broken

    def __str__(self) -> str:
        counts = (
            f"{self.tries:6} {self.lost:6} {self.doubled:8} {self.stuck:6} {self.broken:7} {self.skipped:8}"
        )
        return f"{self.fault[:44]:44} {counts}"


def tried(fault: str, ways: Iterable[Way], at_once: int) -> Row:
    """Try a fault in all ways and return what came of it."""
    row = Row(fault)

    def one(way: Way) -> None:
        try:
            way()
        except Skipped as reason:
            row.skipped += 1
            row.reasons[str(reason)] += 1
            return
        except Lost as error:
            row.lost += 1
            row.stories.append(str(error))
        except Doubled as error:
            row.doubled += 1
            row.stories.append(str(error))
        except Stuck as error:
            row.stuck += 1
            row.stories.append(str(error))
        except Exception as error:  # noqa: BLE001 (a try that fails in any other way is counted too)
            row.broken += 1
            row.stories.append(f"{type(error).__name__}: {error}")
        row.tries += 1

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(one, ways))
    return row
