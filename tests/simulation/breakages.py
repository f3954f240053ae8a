"""Ways to break the daemon on this machine. `test_it_finds` says by which law the simulation must find each."""

from __future__ import annotations

from dataclasses import replace

from orchestrator import layout
from orchestrator.daemon import task
from orchestrator.daemon.actions import finish
from orchestrator.daemon.ingest import handoffs, requests, task_inputs
from orchestrator.daemon.ingest.finished_writers import NOBODY
from orchestrator.daemon.journal import engine, store
from orchestrator.daemon.retention import passivation
from orchestrator.hosts import claims
from orchestrator.model.facts import BranchTended, WorkMerged
from orchestrator.model.run import Quiet
from orchestrator.pm.decide import decide
from orchestrator.pm.handlers import reports
from orchestrator.pm.plan import advance
from orchestrator.pm.policies import gates, inactivity, provider_errors, stalls
from orchestrator.pm.policies.repetition import goes_round
from orchestrator.pm.state import draft
from orchestrator.pm.state.changes import HandoffSeen, QuestionAsked
from orchestrator.pm.state.step_changes import StepMoved
from orchestrator.ports.worktree import Tree
from orchestrator.reporting import history
from orchestrator.scribe import scribe
from orchestrator.testing import fake_host, fake_workspaces, memory_files


def forgets_lines(patch):
    """Every ninth line is decided and folded, but never written."""
    append, count = store.Journal.append, iter(range(10**9))

    def forgetful(self, fact, decision):
        if next(count) % 9 == 8:
            self.state = decision.state
            return '{"at":0}'
        return append(self, fact, decision)

    patch.setattr(store.Journal, "append", forgetful)


def drops_an_fsync(patch):
    """A journal line is not on the disk when the daemon acts on it: a power cut can remove it."""

    def hasty(self, line):
        self._step("append", self._path)
        self._node.data += line
        self._tree.written(self._node)
        self._taken(self._path, line)

    patch.setattr(memory_files.MemoryLog, "append", hasty)


def goes_on_in_a_torn_line(patch):
    """A torn line is kept without its line break, and the next line begins right behind it."""
    write = memory_files.MemoryFiles.write

    def lazy(self, path, data, mode=0o600, *, durable=True):
        there = self.entry(path)
        if path.suffix == ".jsonl" and there is not None and len(data) == there.size + 1:
            return
        write(self, path, data, mode, durable=durable)

    patch.setattr(memory_files.MemoryFiles, "write", lazy)


def journals_empty_decisions(patch):
    """A check-in that changes nothing appends a line."""
    patch.setattr(draft.Decision, "empty", property(lambda self: False))


def forgets_its_outbox(patch):
    """An action that was open when the daemon was killed is never carried out."""
    patch.setattr(task.Task, "act_again", lambda self: None)


def swaps_two_writes(patch):
    """A request is removed before its reply is written."""
    answer = requests.answer

    def hasty(files, home, name, *, ok, message, confirm=""):
        files.remove(layout.task_requests(home) / name)
        answer(files, home, name, ok=ok, message=message, confirm=confirm)

    patch.setattr(requests, "answer", hasty)


def launches_without_a_claim(patch):
    """A launcher starts its agent although another launcher claimed the run."""

    def reckless(self, spec, pane):
        if self._panes.get(pane.id) is pane:
            self._files.put(spec.folder / claims.CLAIMED)
            self._begin(spec, pane, self._boot)

    patch.setattr(fake_host.FakeHost, "_claim", reckless)


def opens_two_runs(patch):
    """A step gets two agents at once."""
    open_work = advance.open_work

    def twice(made, step):
        open_work(made, step)
        if len(made.runs_of(step)) == 1:
            open_work(made, step)

    patch.setattr(advance, "open_work", twice)


def declares_gone_too_early(patch):
    """A run is declared gone before its last report is read, and that is never read."""
    see = task_inputs.TaskInputs.see_reports

    def late(self, name="", done=NOBODY):
        if not done:
            see(self, name)

    patch.setattr(task_inputs.TaskInputs, "see_reports", late)
    patch.setattr(
        task.Task,
        "see_everything",
        lambda self: [self.inputs.see_run(run.id) for run in self.engine.state.live_runs],
    )


def forgets_what_it_has_seen(patch):
    """Handled handoffs are not remembered: after a restart they are accepted again."""
    change = draft.Draft.change
    patch.setattr(
        draft.Draft,
        "change",
        lambda self, *changes: change(self, *(each for each in changes if not isinstance(each, HandoffSeen))),
    )
    patch.setattr(handoffs.HandoffIngest, "_was_dealt_with", lambda *_: False)


def lets_everything_pass(patch):
    """Neither the verdict nor the check is evaluated."""
    patch.setattr(reports, "judge_report", lambda step, report: gates.Judgement())


def reports_a_merge_falsely(patch):
    """A merge is reported that was not made, and nobody sees afterwards where the branch is."""

    def claimed(workspaces, state, action, where, at):
        return WorkMerged(at, action.id, action.step, action.attempt, action.commit)

    def unseen(workspaces, state, action, where, at):
        return BranchTended(at, action.id, action.step, action.attempt, state.tip, state.tip)

    patch.setattr(finish, "merge", claimed)
    patch.setattr(finish, "tend", unseen)


def forgets_a_bound(patch):
    """A report may be requested, and a step be blocked, without a bound."""

    def lavish(state, fact, limits):
        return decide(state, fact, replace(limits, max_report_requests=10**6, max_blocks=10**6))

    patch.setattr(engine, "decide", lavish)


def forgets_the_pauses(patch):
    """What failed is tried again at once."""
    change = draft.Draft.change

    def hasty(self, *changes):
        change(
            self,
            *(replace(each, not_before=0.0) if isinstance(each, StepMoved) else each for each in changes),
        )

    patch.setattr(draft.Draft, "change", hasty)


def ends_without_a_look(patch):
    """A run without a sign of work for a while counts as hung, whatever it does."""
    patch.setattr(task_inputs, "signs_of_work", lambda *_: {})
    patch.setattr(inactivity, "found", lambda *_: Quiet.HUNG)


def takes_a_long_answer_for_a_stall(patch):
    """An answer that grows on the screen is ignored."""
    patch.setattr(stalls, "says_more", lambda *_: False)


def cautions_repeatedly(patch):
    """An agent that was cautioned for repeated calls is cautioned again."""

    def insistent(made, run, seen):
        goes_round(made, replace(run, cautioned_at=0.0), seen)

    patch.setattr(stalls, "goes_round", insistent)


def types_twice(patch):
    """A line is typed without a claim: after a kill ahead of its outcome it is typed again."""
    create = memory_files.MemoryFiles.create

    def always(self, path, data, mode=0o600, *, durable=True):
        return path.name.startswith("nudge-") or create(self, path, data, mode, durable=durable)

    patch.setattr(memory_files.MemoryFiles, "create", always)


def names_by_the_clock_alone(patch):
    """Orders are named by the clock alone: once that is set back, two have one name."""
    patch.setattr(draft.Draft, "new_order_second", lambda self: int(self.at))


def asks_no_question(patch):
    """No question is ever asked."""
    change = draft.Draft.change
    patch.setattr(
        draft.Draft,
        "change",
        lambda self, *changes: change(
            self, *(each for each in changes if not isinstance(each, QuestionAsked))
        ),
    )


def asks_twice(patch):
    """A question is asked under two ids."""
    change = draft.Draft.change

    def insistent(self, *changes):
        change(self, *changes)
        for each in changes:
            if isinstance(each, QuestionAsked):
                number = f"q{len(self.state.questions) + 1}"
                change(self, QuestionAsked(replace(each.question, id=number)))

    patch.setattr(draft.Draft, "change", insistent)


def shows_an_old_state(patch):
    """state.json is written once and never again."""
    shown = set()
    show = task.Task.show

    def once(self, *names, rescan=False, now=False):
        if self.id not in shown and self.begun:
            shown.add(self.id)
            show(self, *names, rescan=rescan, now=now)

    patch.setattr(task.Task, "show", once)


def shows_old_artifacts(patch):
    """progress.md never names an artifact."""
    patch.setattr(scribe.Scribe, "_artifacts", lambda self, notes: {})


def reports_longer_runs(patch):
    """In the report each run ends a minute later than it did."""
    gone = history.History._gone
    patch.setattr(history.History, "_gone", lambda self, fact, at, number: gone(self, fact, at + 60, number))


def ignores_passive_tasks(patch):
    """A rescan ignores the requests for passive tasks, whose hint a watcher may have missed."""
    patch.setattr(passivation.PassiveTasks, "keeps", lambda self, home: home.name in self)


def looks_at_the_launcher_alone(patch):
    """A run counts as gone once its launcher is, whatever else of it lives."""
    patch.setattr(fake_host, "left_behind", lambda seen, left, start: seen)


def works_in_one_folder(patch):
    """All lives of a worktree share one folder."""
    patch.setattr(Tree, "path", property(lambda self: self.root / self.name))


def commits_any_folder(patch):
    """A folder that lies in the place of a worktree is committed as its work."""
    patch.setattr(fake_workspaces.FakeWorkspaces, "_replaced", lambda *_: "")


def waits_a_day_for_a_past_reset(patch):
    """A usage limit that the service lifts late is taken for one that ends a day later."""
    patch.setattr(
        provider_errors,
        "next_try",
        lambda limit, _: (limit.reset.moments[-1] if limit.reset else limit.at) + 65,
    )
