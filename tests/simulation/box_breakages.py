"""Ways to break how the daemon works with boxes. `test_it_finds` says by which law the simulation must find each."""

from __future__ import annotations

from orchestrator import layout
from orchestrator.daemon.actions import launch as launch_module
from orchestrator.daemon.actions import launching
from orchestrator.daemon.boxes import cleanup_queue, departed_tasks, run_sightings, transfer_failures
from orchestrator.daemon.retention import task_removal
from orchestrator.model.facts import BoxBack, BoxLost, LaunchFailed, RunGone
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit
from orchestrator.pm import decide as decide_module
from orchestrator.pm.handlers import boxes as pm_boxes
from orchestrator.pm.handlers import stuck_termination
from orchestrator.pm.handlers.run_lifecycle import run_gone
from orchestrator.pm.plan.asking import CONTINUE, ask
from orchestrator.ports.box_link import Cut
from orchestrator.ports.boxes import Sighting
from orchestrator.testing import fake_boxes


def observes_after_the_pull(patch):
    """Runs on a box are observed after the pull instead of ahead of it: they may report in between."""
    publish = run_sightings.RunSightings.publish

    def late(self, remote_task, seen, *, gone):
        self.host.link.box.clock.sleep(60.0)
        folders = [layout.run_home(remote_task.home, run) for run in sorted(remote_task.runs)]
        again = self.host.observe_all(folders)
        publish(
            self,
            remote_task,
            {folder: Sighting(each, self.now()) for folder, each in again.items()},
            gone=gone,
        )

    patch.setattr(run_sightings.RunSightings, "publish", late)


def forgets_that_a_box_is_back(patch):
    """After a lost box is back, its runs never count as alive again."""
    patch.setitem(decide_module._RULES, BoxBack, lambda draft, fact: None)


def takes_a_lost_launch_for_a_failed_one(patch):
    """A launch whose outcome is unknown counts as failed, and is tried again."""
    launch = launch_module.launch

    def hasty(world, state, run, where, clock, *rest):
        try:
            return launch(world, state, run, where, clock, *rest)
        except Cut as error:
            action = next(name for name, each in state.outbox.items() if getattr(each, "run", "") == run.id)
            return LaunchFailed(clock.now(), action, run.id, str(error))

    patch.setattr(launching, "launch", hasty)


def declares_gone_on_a_lost_box(patch):
    """A run whose box does not answer is declared gone."""
    lost = decide_module._RULES[BoxLost]

    def rash(draft, fact):
        lost(draft, fact)
        for run in [each for each in draft.state.live_runs if each.host == fact.box]:
            run_gone(draft, RunGone(fact.at, f"{run.id}:lost", run.id, Exit(lost=True)))

    patch.setitem(decide_module._RULES, BoxLost, rash)


def asks_for_each_run(patch):
    """Each run on a lost box asks a question of its own."""

    def each_asks(draft, there, text):
        for run in there:
            ask(draft, run.step, text, (CONTINUE,), QuestionKind.BOX, run.id)

    patch.setattr(pm_boxes, "_ask", each_asks)


def takes_a_failed_pull_for_none(patch):
    """A failed pull counts as one that brought nothing new."""
    patch.setattr(transfer_failures.TransferFailures, "note", lambda *_: False)


def waits_for_what_cannot_end(patch):
    """No question is asked about a run that is to end and is not known to be gone."""
    patch.setattr(stuck_termination, "ask", lambda *_: False)


def sees_no_work_on_boxes(patch):
    """Changes that an agent makes on its box are not seen."""
    patch.setattr(fake_boxes.FakeBoxes, "changed", lambda *_: False)


def forgets_boxes_of_deleted_tasks(patch):
    """What a deleted task has on its boxes is not noted: one that was away keeps its windows."""
    patch.setattr(task_removal, "write_departed", lambda *_: None)


def never_looks_at_deleted_tasks(patch):
    """Nobody cleans the boxes up that deleted tasks have left."""
    patch.setattr(departed_tasks.DepartedTasks, "look", lambda _: None)


def gives_a_box_up_that_is_away(patch):
    """A box that could not be cleaned up counts as done."""
    leave = cleanup_queue.CleanupQueue._leave

    def once(self, box, run):
        leave(self, box, run)
        if box in self.due:
            self.done(box, run)
            self.replace({})

    patch.setattr(cleanup_queue.CleanupQueue, "_leave", once)
