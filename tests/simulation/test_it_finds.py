"""The daemon is broken on purpose, and the simulation finds it. A law that nothing can break holds nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.daemon import engine, journal, task
from orchestrator.daemon.act import finish
from orchestrator.model.facts import WorkMerged
from orchestrator.pm import gates, reports, setbacks
from orchestrator.pm.decide import decide
from orchestrator.testing.simulation.run import live

SEEDS = [f"s{number}" for number in range(10)]


def forgets_lines(patch):
    """Every ninth line is decided and folded, but never written."""
    append, count = journal.Journal.append, iter(range(10**9))

    def forgetful(self, fact, decision):
        if next(count) % 9 == 8:
            self.state = decision.state
            return '{"at":0}'
        return append(self, fact, decision)

    patch.setattr(journal.Journal, "append", forgetful)


def forgets_its_outbox(patch):
    """What was not done when the daemon was killed is never done."""
    patch.setattr(task.Task, "act_again", lambda self: None)


def lets_everything_pass(patch):
    """A verdict is not looked at, nor the check."""
    patch.setattr(reports, "judged", lambda step, report: gates.Judgement())


def says_merged_and_does_not(patch):
    """The branch is said to have moved."""

    def claimed(workspaces, state, action, where, at):
        return WorkMerged(at, action.id, action.step, action.attempt, action.commit)

    patch.setattr(finish, "merge", claimed)


def forgets_a_bound(patch):
    """An agent is asked again, and may be blocked, without end."""

    def lavish(state, fact, limits):
        return decide(state, fact, replace(limits, asks=10**6, blocks=10**6))

    patch.setattr(engine, "decide", lavish)


def buries_before_the_last_words(patch):
    """A run is said to be gone before what it left is read, and that is never read."""
    see = task.Task.see_reports

    def late(self, name="", *, final=()):
        if not final:
            see(self, name)

    patch.setattr(task.Task, "see_reports", late)
    patch.setattr(
        task.Task,
        "see_everything",
        lambda self: [self.see_run(run.id) for run in self.engine.state.live_runs],
    )


def starts_without_a_place(patch):
    """Runs are opened without looking at what is taken."""
    patch.setattr("orchestrator.pm.readiness.Floor.admits", lambda self, step, at: step.state == "pending")


def shows_what_was(patch):
    """The projection is written once and never again."""
    shown = set()
    show = task.Task.show

    def once(self, *names, rescan=False, now=False):
        if self.id not in shown and self.begun:
            shown.add(self.id)
            show(self, *names, rescan=rescan, now=now)

    patch.setattr(task.Task, "show", once)


def answers_every_question_itself(patch):
    """Nobody is asked."""
    patch.setattr(setbacks, "ask", lambda draft, step, text, options=(): None)


BREAKS = [
    forgets_lines,
    forgets_its_outbox,
    lets_everything_pass,
    says_merged_and_does_not,
    forgets_a_bound,
    buries_before_the_last_words,
    starts_without_a_place,
    shows_what_was,
    answers_every_question_itself,
]


@pytest.mark.parametrize("break_it", BREAKS, ids=lambda each: each.__name__)
def test_it_finds_a_daemon_that(break_it, monkeypatch):
    break_it(monkeypatch)
    found = []
    for seed in SEEDS:
        try:
            live(seed, 1.5)
        except AssertionError as error:
            found.append(str(error))
            break
    assert found, f"{break_it.__doc__} Nobody noticed."
