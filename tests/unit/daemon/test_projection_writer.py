from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.daemon.projections.outcome import outcome_of
from orchestrator.daemon.projections.projection_writer import RATE, ProjectionWriter
from orchestrator.daemon.projections.state_document import Unjournaled, projection
from orchestrator.daemon.projections.state_files import FEW, Shown
from orchestrator.daemon.projections.work_done import BranchLook
from orchestrator.model.actions import Rebase
from orchestrator.model.budget import Worked
from orchestrator.model.plan import Step, StepState
from orchestrator.model.question import Question
from orchestrator.model.task import Phase, TaskState
from orchestrator.pm.state.questions import Questions
from orchestrator.pm.state.steps import Steps
from orchestrator.pm.state.task_state import PMState
from orchestrator.scribe.scribe import Scribe
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.memory_files import MemoryFiles

HOME = Path("/pm/tasks/t-0123abcd")
FOLDER = Path("/project/tasks/t")
LARGE = 1000


class CountingFiles(MemoryFiles):
    """Knows what was written since it was last asked."""

    def __init__(self):
        super().__init__()
        self._written = []

    def write(self, path, data, *rest, **more):
        super().write(path, data, *rest, **more)
        self._written.append((path, len(data)))

    def written(self):
        shown_state, self._written = self._written, []
        return shown_state


@pytest.fixture
def files():
    disk = CountingFiles()
    disk.make_folder(HOME)
    disk.make_folder(layout.handoffs(FOLDER))
    return disk


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def showing(files, clock):
    return ProjectionWriter(files, clock, InlineExecutor(), Scribe(files, FOLDER), HOME, FOLDER)


def planned(count):
    steps = [Step(f"dev:{n}", "dev", f"Do part {n}", "do it", Phase.DEVELOPING) for n in range(count)]
    return PMState("t-0123abcd", "t", "/project", state=TaskState.RUNNING, steps=Steps(steps))


def moved(state, step, to=StepState.WORKING):
    return replace(state, steps=state.steps.with_step(replace(state.steps[f"dev:{step}"], state=to)))


def shown_state(files):
    """Return what `state.json` and its pages say, as `task` reads them."""
    shown = json.loads(files.read(layout.task_state(HOME)))
    if "pages" in shown:
        pages = [json.loads(files.read(layout.task_pages(HOME) / name)) for name in shown.pop("pages")]
        shown |= {"steps": [step for page in pages for step in page], "version": 1}
    return shown


def names(files):
    return [path.name for path, _ in files.written()]


def show(showing, state):
    showing.submit(state, 0.0, changed=True)
    showing.soon()


# state.json ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, FEW, FEW + 1, LARGE])
def test_state_json_and_its_pages_show_the_state(files, count):
    state, shown = planned(count), Shown(files, HOME)
    for step in (0, count // 2, count - 1):
        state = moved(state, step) if count else state
        shown.write(state, 0.0, 1.0)
        assert shown_state(files) == projection(state, last_checkin=0.0, at=1.0)


def test_of_a_change_only_the_page_is_written_on_which_it_is(files):
    state, shown = planned(LARGE), Shown(files, HOME)
    shown.write(state, 0.0, 1.0)
    files.written()
    shown.write(moved(state, 500), 0.0, 2.0)
    (page, size), (head, _) = files.written()
    assert (page.parent, head.name) == (layout.task_pages(HOME), "state.json")
    assert size < 64 * 260


def test_unnamed_pages_are_removed(files):
    """Those of an earlier daemon, too."""
    state = planned(LARGE)
    for each in (Shown(files, HOME), Shown(files, HOME)):
        for step in (1, 2, 500):
            state = moved(state, step, StepState.SET_ASIDE)
            each.write(state, 0.0, 1.0)
            there = {entry.name for entry in files.entries(layout.task_pages(HOME))}
            assert there == set(json.loads(files.read(layout.task_state(HOME)))["pages"])


def test_killed_at_any_step_state_json_names_pages_of_one_moment(files):
    class KilledError(BaseException):
        pass

    before = planned(LARGE)
    after = moved(moved(before, 1), 900)
    known = [projection(state, last_checkin=0.0, at=1.0)["steps"] for state in (before, after)]
    kills = 0
    for number in range(30):
        shown = Shown(files, HOME)
        shown.write(before, 0.0, 1.0)
        left = iter(range(number))

        def die(step, path, left=left):
            if next(left, None) is None:
                raise KilledError

        files.before = die
        try:
            shown.write(after, 0.0, 1.0)
        except KilledError:
            kills += 1
        files.before = None
        assert shown_state(files)["steps"] in known
    assert 5 < kills < 30


# The documents ---------------------------------------------------------------------------------------


def test_the_documents_of_a_small_plan_are_written_at_once(files, showing):
    state = planned(10)
    for step in range(5):
        state = moved(state, step)
        show(showing, state)
        assert {"state.json", "pm_state.json"} <= set(names(files))
    assert not showing.behind


def test_large_projections_are_rate_limited_and_end_current(files, clock, showing):
    state = planned(LARGE)
    show(showing, state)
    began, size = clock.monotonic(), sum(size for path, size in files.written() if path.parent == FOLDER)
    written = 0
    for step in range(600):
        clock.advance(10.0)
        state = moved(state, step)
        show(showing, state)
        news = files.written()
        assert "state.json" in {path.name for path, _ in news}, "what `task status` shows never waits"
        written += sum(size for path, size in news if path.parent == FOLDER)
    assert 0 < written <= RATE * (clock.monotonic() - began) + size
    assert showing.behind
    clock.advance(2 * size / RATE)
    showing.soon()
    assert not showing.behind
    milestones = json.loads(files.read(layout.pm_state(FOLDER)))["milestones"]
    assert sum(each["status"] == "working" for each in milestones) == 600


def test_outcome_of_a_large_plan_is_as_new_as_its_documents(files, clock, showing):
    """It was computed anew with the documents, and reached state.json only with the next change."""
    state = planned(LARGE)
    show(showing, state)
    later = replace(state, worked=Worked(time=7200.0))
    show(showing, later)
    clock.advance(LARGE * 1000 / RATE)
    showing.soon()
    assert not showing.behind
    assert shown_state(files)["outcome"]["cost"] == outcome_of(later, None).cost


def test_a_question_an_end_and_one_who_waits_for_it_do_not_wait(files, showing):
    state = moved(planned(LARGE), 0)
    show(showing, state)
    show(showing, moved(state, 1))
    files.written()
    show(showing, moved(state, 2))
    assert "pm_state.json" not in names(files)
    asked = replace(state, questions=Questions([Question("q1", "dev:1", "Which?", ("this", "that"), 1.0)]))
    show(showing, asked)
    assert {"pm_state.json", "progress.md"} <= set(names(files))
    show(showing, replace(asked, state=TaskState.STOPPED))
    assert {"pm_state.json", "progress.md"} <= set(names(files))
    showing.submit(moved(asked, 3), 0.0, changed=True)
    showing.now()
    assert {"pm_state.json", "progress.md"} <= set(names(files))


@pytest.mark.parametrize(
    "where", [layout.task_state(HOME), layout.pm_state(FOLDER), layout.task_progress(FOLDER)]
)
def test_what_could_not_be_written_is_written_the_next_time(files, showing, where):
    state = planned(3)
    show(showing, state)
    files.fail_next("write", OSError(errno.ENOSPC, "full"), where)
    show(showing, moved(state, 1))
    assert showing.behind
    showing.soon()
    assert not showing.behind
    assert shown_state(files)["steps"][1]["status"] == "working"
    assert json.loads(files.read(layout.pm_state(FOLDER)))["milestones"][1]["status"] == "working"
    assert b"| Do part 1 | developing |" in files.read(layout.task_progress(FOLDER))


# What is to be typed -------------------------------------------------------------------------------


def test_commands_stay_right_when_a_namesake_appears(files, showing):
    """An ended task's page named it by its name alone, which reached another project's task later on."""
    ended = replace(planned(0), state=TaskState.STOPPED)
    asks = Questions([Question("q1", "dev:0", "Which?", ("this", "that"), 1.0)])
    show(showing, replace(planned(1), state=TaskState.RUNNING, questions=asks))
    assert "`task answer t-0123abcd q1 this`" in shown_state(files)["outcome"]["next"]
    assert files.read(layout.task_progress(FOLDER)).decode().count("`task answer t-0123abcd q1 this`") == 2
    show(showing, ended)
    assert f"`task start t --project {ended.project}`" in files.read(layout.task_progress(FOLDER)).decode()


def test_an_edit_that_cannot_be_taken_is_in_both_documents(files, showing):
    """It stood in the PM's log alone: whoever had edited task.md believed the edit to be in force."""
    fault = "task.md, line 7: `dev.modle` is no key"
    showing.submit(planned(1), 0.0, changed=True, unjournaled=Unjournaled(brief_fault=fault))
    showing.soon()
    assert shown_state(files)["brief_fault"] == fault
    progress = files.read(FOLDER / "progress.md").decode()
    assert "cannot be taken, and the last good one is in force (task.md, line 7: " in progress
    show(showing, moved(planned(1), 0))
    assert not shown_state(files)["brief_fault"]
    assert "cannot be taken" not in files.read(FOLDER / "progress.md").decode()


def test_branch_is_not_counted_during_a_rebase(files, clock):
    """After `task rebase`: "1 commit, 2 files changed", of which one was in the new base, until the next check-in."""
    looks = []

    def look(state):
        looks.append(state.base)
        return BranchLook(1.0, fault=f"seen from {state.base}")

    showing = ProjectionWriter(files, clock, InlineExecutor(), Scribe(files, FOLDER), HOME, FOLDER, look=look)
    old = replace(planned(1), state=TaskState.STOPPED, base="old")
    show(showing, old)
    moving = replace(old, base="new", outbox={"a1": Rebase("a1", "c1", "c2", "old")})
    show(showing, moving)
    assert looks == ["old"]
    assert "has not been looked at yet" in shown_state(files)["outcome"]["work"]
    show(showing, replace(moving, outbox={}))
    assert looks == ["old", "new"]
    assert "seen from new" in shown_state(files)["outcome"]["work"]
