"""The daemon is broken on purpose, and the simulation finds it. A law that nothing can break holds nothing.

Seen in: the first world, of the seeds f0, f1 …, that finds it, and after how many days; or the first change, of a
small life that is killed ahead of each. All of them take some 10 s together.

| a daemon that                | breaks                                            | seen in      |
|------------------------------|---------------------------------------------------|--------------|
| forgets_lines                | journal first; replay gives what is known (law 3) | f0, day 0.01 |
| drops_an_fsync               | what was acted on is on the disk (law 3)          | f0, day 0.20 |
| goes_on_in_a_torn_line       | a torn line is cut or closed (law 11)             | change 9     |
| journals_what_is_no_news     | nothing changed, nothing spent (law 9)            | f0, day 0.01 |
| forgets_its_outbox           | what was decided is done, or given up (law 3)     | f0, day 0.66 |
| swaps_two_writes             | each request has its reply                        | change 22    |
| launches_without_a_claim     | no run is started twice (law 4)                   | f0, day 0.04 |
| opens_two_runs               | one step, one run; one writer per workspace       | f0, day 0.00 |
| buries_before_the_last_words | gone is not before the last words (law 5)         | f0, day 0.02 |
| forgets_what_it_has_seen     | no handoff is taken in twice (H6)                 | f0, day 0.01 |
| lets_everything_pass         | no step passes without its gate (law 6)           | f2, day 0.28 |
| says_merged_and_does_not     | what has passed is on the branch (law 6)          | f2, day 1.57 |
| forgets_a_bound              | each retry has its bound (law 8)                  | f0, day 0.04 |
| forgets_the_pauses           | what dies again rests longer each time (W7)       | f0, day 0.04 |
| ends_without_a_look          | no run that works is ended as silent (law 5)      | f1, day 0.04 |
| takes_a_long_answer_for_a_stall | who is answered, however slowly, is not ended  | p0           |
| tells_of_circles_again_and_again | an agent is told once that it repeats itself  | p0           |
| types_twice                  | nothing is typed twice (law 4)                    | change 153   |
| names_by_the_clock_alone     | no order has another's name (H6)                  | f0, day 0.48 |
| asks_nobody                  | what stands still has a question (H9)             | f0, day 0.04 |
| asks_twice                   | ask once (law 10)                                 | f0, day 0.04 |
| shows_what_was               | state.json is what the journal says (H2)          | f0, day 0.01 |
| tells_an_old_page            | progress.md is what lies on the disk (H11)        | f0, day 0.01 |
| leaves_the_shelved_unheard   | each request has its reply                        | s3, day 0.60 |
| takes_just_past_for_tomorrow | a usage limit costs two minutes at the most       | f0, day 0.00 |
| asks_for_the_launcher_alone  | no two lives in one tree (law 5)                  | f0, day 0.01 |
| works_in_one_folder          | no commit holds what another run wrote later      | l3, day 0.25 |
| believes_any_folder          | no commit lacks what nobody has deleted           | l4, day 0.46 |

Of agents on boxes, in worlds that have some (g0, g1 …), of which twenty hold while nothing is broken. They take
minutes, and are run by `scripts/test -- -m thorough tests/simulation`:

| a daemon that                | breaks                                            | seen in      |
|------------------------------|---------------------------------------------------|--------------|
| looks_after_the_haul         | gone is asked ahead of what is brought (law 5)    | g0 to g19    |
| forgets_that_a_box_is_back   | every task ends, or waits on a question           | g0 to g19    |
| takes_a_lost_launch_for_none | no run is started twice (law 4)                   | g0 to g19    |
| buries_on_a_lost_box         | unreachable is not dead (law 5)                   | g0 to g19    |
| asks_for_each_run            | one question for a box (law 10)                   | g0 to g19    |
| waits_for_what_cannot_end    | every task ends, or waits on a question (law 8)   | g0 to g19    |
| takes_a_failed_pull_for_none | no run is ended as silent on stale news (law 5)   | g0 to g19    |
| sees_no_work_on_boxes        | no run that works is ended as silent (law 5)      | g0 to g19    |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from orchestrator import layout
from orchestrator.daemon import task
from orchestrator.daemon.actions import dispatcher, finish
from orchestrator.daemon.actions import launch as launching
from orchestrator.daemon.boxes import host_monitor, transfer_failures
from orchestrator.daemon.ingest import handoffs, requests
from orchestrator.daemon.journal import engine, store
from orchestrator.daemon.retention import passivation
from orchestrator.hosts import claims
from orchestrator.hosts.ssh.link_state import Cut
from orchestrator.model.facts import BoxBack, BoxLost, LaunchFailed, RunGone, WorkMerged
from orchestrator.model.question import QuestionKind
from orchestrator.model.run import Exit, Quiet
from orchestrator.model.sections import DaemonSettings, LogSettings
from orchestrator.model.settings import Settings
from orchestrator.pm import decide as decide_module
from orchestrator.pm.decide import decide
from orchestrator.pm.handlers import boxes as pm_boxes
from orchestrator.pm.handlers import reports, stuck_termination
from orchestrator.pm.handlers.run_lifecycle import run_gone
from orchestrator.pm.plan import advance
from orchestrator.pm.plan.asking import CONTINUE, ask
from orchestrator.pm.policies import gates, inactivity, provider_errors, stalls
from orchestrator.pm.policies.repetition import goes_round
from orchestrator.pm.state import draft
from orchestrator.pm.state.changes import HandoffSeen, QuestionAsked
from orchestrator.pm.state.step_changes import StepMoved
from orchestrator.ports.boxes import Sighting
from orchestrator.ports.workspaces import Tree
from orchestrator.scribe import scribe
from orchestrator.testing import fake_boxes, fake_host, fake_workspaces, memory_files
from orchestrator.testing.simulation.box_faults import BoxRates
from orchestrator.testing.simulation.fault_schedule import BUSY
from orchestrator.testing.simulation.faults import CALM, HOUR, NEVER, Chances, Rates
from orchestrator.testing.simulation.invariants import Broken
from orchestrator.testing.simulation.run import live
from orchestrator.testing.simulation.service import LITTLE
from orchestrator.testing.simulation.shared_state import Manners
from orchestrator.testing.simulation.sweep import sweep, told
from orchestrator.testing.simulation.user import Habits
from orchestrator.testing.simulation.user_task import UserTask
from orchestrator.testing.simulation.world import World


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
    """A line of the journal is not on the disk when it is acted on: a power cut takes it back."""

    def hasty(self, line):
        self._step("append", self._path)
        self._node.data += line
        self._tree.written(self._node)
        self._taken(self._path, line)

    patch.setattr(memory_files.MemoryLog, "append", hasty)


def goes_on_in_a_torn_line(patch):
    """A line that lacks its line break is taken as it is, and the next one begins behind it."""
    write = memory_files.MemoryFiles.write

    def lazy(self, path, data, mode=0o600, *, durable=True):
        there = self.entry(path)
        if path.suffix == ".jsonl" and there is not None and len(data) == there.size + 1:
            return
        write(self, path, data, mode, durable=durable)

    patch.setattr(memory_files.MemoryFiles, "write", lazy)


def journals_what_is_no_news(patch):
    """A check-in with no news appends a line."""
    patch.setattr(draft.Decision, "empty", property(lambda self: False))


def forgets_its_outbox(patch):
    """What was not done when the daemon was killed is never done."""
    patch.setattr(task.Task, "act_again", lambda self: None)


def swaps_two_writes(patch):
    """A request is taken away before its reply is written."""
    answer = requests.answer

    def hasty(files, home, name, *, ok, message):
        files.remove(layout.task_requests(home) / name)
        answer(files, home, name, ok=ok, message=message)

    patch.setattr(requests, "answer", hasty)


def launches_without_a_claim(patch):
    """A launcher starts its agent, whoever was there before."""

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


def forgets_what_it_has_seen(patch):
    """A handoff that was dealt with is not noted: after a restart it is taken in again."""
    change = draft.Draft.change
    patch.setattr(
        draft.Draft,
        "change",
        lambda self, *told: change(self, *(each for each in told if not isinstance(each, HandoffSeen))),
    )
    patch.setattr(handoffs.HandoffIngest, "_was_dealt_with", lambda *_: False)


def lets_everything_pass(patch):
    """A verdict is not looked at, nor the check."""
    patch.setattr(reports, "judge_report", lambda step, report: gates.Judgement())


def says_merged_and_does_not(patch):
    """The branch is said to have moved."""

    def claimed(workspaces, state, action, where, at):
        return WorkMerged(at, action.id, action.step, action.attempt, action.commit)

    patch.setattr(finish, "merge", claimed)


def forgets_a_bound(patch):
    """An agent is asked again, and may be blocked, without end."""

    def lavish(state, fact, limits):
        return decide(state, fact, replace(limits, max_report_requests=10**6, max_blocks=10**6))

    patch.setattr(engine, "decide", lavish)


def forgets_the_pauses(patch):
    """What died is tried again at once."""
    change = draft.Draft.change

    def hasty(self, *told):
        change(
            self, *(replace(each, not_before=0.0) if isinstance(each, StepMoved) else each for each in told)
        )

    patch.setattr(draft.Draft, "change", hasty)


def ends_without_a_look(patch):
    """A run that gave no sign for a while is taken for hung, whatever it does."""
    patch.setattr(task, "signs_of_work", lambda *_: {})
    patch.setattr(inactivity, "found", lambda *_: Quiet.HUNG)


def takes_a_long_answer_for_a_stall(patch):
    """What grows on a screen is not looked at."""
    patch.setattr(stalls, "says_more", lambda *_: False)


def tells_of_circles_again_and_again(patch):
    """Who was told that it goes round in circles is told so once more."""

    def insistent(made, run, seen):
        goes_round(made, replace(run, cautioned_at=0.0), seen)

    patch.setattr(stalls, "goes_round", insistent)


def types_twice(patch):
    """A line is typed to an agent without a claim: killed before its outcome is known, it is typed again."""
    create = memory_files.MemoryFiles.create

    def always(self, path, data, mode=0o600, *, durable=True):
        return path.name.startswith("nudge-") or create(self, path, data, mode, durable=durable)

    patch.setattr(memory_files.MemoryFiles, "create", always)


def names_by_the_clock_alone(patch):
    """A clock that is set back lets two orders have one name."""
    patch.setattr(draft.Draft, "new_order_second", lambda self: int(self.at))


def asks_nobody(patch):
    """A question is thought of, and never asked."""
    change = draft.Draft.change
    patch.setattr(
        draft.Draft,
        "change",
        lambda self, *told: change(self, *(each for each in told if not isinstance(each, QuestionAsked))),
    )


def asks_twice(patch):
    """A question is asked under two ids."""
    change = draft.Draft.change

    def insistent(self, *told):
        change(self, *told)
        for each in told:
            if isinstance(each, QuestionAsked):
                number = f"q{len(self.state.questions) + 1}"
                change(self, QuestionAsked(replace(each.question, id=number)))

    patch.setattr(draft.Draft, "change", insistent)


def shows_what_was(patch):
    """What `task status` reads is written once and never again."""
    shown = set()
    show = task.Task.show

    def once(self, *names, rescan=False, now=False):
        if self.id not in shown and self.begun:
            shown.add(self.id)
            show(self, *names, rescan=rescan, now=now)

    patch.setattr(task.Task, "show", once)


def tells_an_old_page(patch):
    """progress.md names the artifacts of the first look for ever."""
    patch.setattr(scribe.Scribe, "_artifacts", lambda self, notes: {})


def leaves_the_shelved_unheard(patch):
    """A rescan does not look at what is asked of a shelved task: the bell may not have been heard."""
    patch.setattr(passivation.PassiveTasks, "keeps", lambda self, home: home.name in self)


def asks_for_the_launcher_alone(patch):
    """A run is taken for gone as soon as its launcher is, whatever else of it lives."""
    patch.setattr(fake_host, "left_behind", lambda seen, left, start: seen)


def works_in_one_folder(patch):
    """Each life of a tree lies where the one before it lay."""
    patch.setattr(Tree, "path", property(lambda self: self.root / self.name))


def believes_any_folder(patch):
    """Whatever lies in the place of a tree is committed as its work."""
    patch.setattr(fake_workspaces.FakeWorkspaces, "_replaced", lambda *_: "")


def looks_after_the_haul(patch):
    """A box is asked what became of its runs when all was brought: they say their last words in between."""
    publish = host_monitor.HostMonitor._publish

    def late(self, remote_task, seen, *, gone):
        self.clock.sleep(60.0)
        folders = [layout.run_home(remote_task.home, run) for run in sorted(remote_task.runs)]
        again = self.ways.host.observe_all(folders)
        publish(
            self,
            remote_task,
            {folder: Sighting(each, self.now()) for folder, each in again.items()},
            gone=gone,
        )

    patch.setattr(host_monitor.HostMonitor, "_publish", late)


def forgets_that_a_box_is_back(patch):
    """What lives on a box that was lost is never believed to live again."""
    patch.setitem(decide_module._RULES, BoxBack, lambda draft, fact: None)


def takes_a_lost_launch_for_none(patch):
    """A launch of which nobody knows whether it came is said to have failed, and tried again."""
    launch = launching.launch

    def hasty(world, state, run, where, clock):
        try:
            return launch(world, state, run, where, clock)
        except Cut as error:
            action = next(name for name, each in state.outbox.items() if getattr(each, "run", "") == run.id)
            return LaunchFailed(clock.now(), action, run.id, str(error))

    patch.setattr(dispatcher, "launch", hasty)


def takes_just_past_for_tomorrow(patch):
    """A usage limit that the service lifts late is taken to end a day later."""
    patch.setattr(
        provider_errors,
        "next_try",
        lambda limit, _: (limit.reset.moments[-1] if limit.reset else limit.at) + 65,
    )


def buries_on_a_lost_box(patch):
    """A run whose box does not answer is said to be gone."""
    lost = decide_module._RULES[BoxLost]

    def rash(draft, fact):
        lost(draft, fact)
        for run in [each for each in draft.state.live_runs if each.host == fact.box]:
            run_gone(draft, RunGone(fact.at, f"{run.id}:lost", run.id, Exit(lost=True)))

    patch.setitem(decide_module._RULES, BoxLost, rash)


def asks_for_each_run(patch):
    """Each run on a box that is lost asks a question of its own."""

    def each_asks(draft, there, text):
        for run in there:
            ask(draft, run.step, text, (CONTINUE,), QuestionKind.BOX, run.id)

    patch.setattr(pm_boxes, "_ask", each_asks)


def takes_a_failed_pull_for_none(patch):
    """A pull that failed is noted as one that brought no news."""
    patch.setattr(transfer_failures.TransferFailures, "note", lambda *_: False)


def waits_for_what_cannot_end(patch):
    """A run that was told to end and is not known to be gone is waited for, and nobody is asked."""
    patch.setattr(stuck_termination, "ask", lambda *_: False)


def sees_no_work_on_boxes(patch):
    """What an agent changes on its box is not looked at."""
    patch.setattr(fake_boxes.FakeBoxes, "changed", lambda *_: False)


ROUGH = replace(
    BUSY,
    rates=Rates(kill=24, power=6, tmux=1, full=0, git=1, clock=8, suspend=8, eio=0),
    chances=Chances(launch=0.2, torn=1.0, steps=40),
    habits=Habits(latest=HOUR, restless=0.5),
)
"""Much goes wrong, and the user is restless: half a day of it holds what a calmer world has in weeks."""


ENDS = {"complete", "partial", "failed", "stopped"}


def a_rough_life(worlds):
    """Let worlds live for half a day each, until one fails, and return what came of them."""
    return [live(f"f{number}", 0.5, climate=ROUGH) for number in range(worlds)]


def a_rough_life_that_merges_early(_worlds):
    """Let a world live that shows a false merge three times sooner than the first one does."""
    return [live("f2", 0.5, climate=ROUGH)]


ON_BOXES = replace(
    ROUGH,
    rates=Rates(kill=12, power=2, tmux=0, full=0, git=0, clock=0, suspend=0, eio=0),
    chances=Chances(launch=0.1, late=0.1, steps=40),
    boxes=BoxRates(cut=24, reboot=4, refuse=2, empty=2, wipe=1, hinder=6, at=4),
)
"""Links are cut all the time."""


def on_boxes(fate):
    """Three tasks with agents on two boxes; two share a repository there, and one has its architect elsewhere."""
    user_tasks = (
        UserTask("alpha", architect=True, box="near", architects_box="far", brings=True),
        UserTask("beta", box="near", brings=True, tells=True),
        UserTask("gamma", architect=True, box="far"),
    )
    return World(fate, user_tasks, Manners(bad=0.2, odd=0.5, longest=60.0, subtasks=2), deaf=0.3)


def a_life_on_boxes(worlds):
    """Let worlds whose agents live on boxes live for some hours each, until one fails; return what came of them."""
    return [live(f"g{number}", 0.4, climate=ON_BOXES, world_of=on_boxes) for number in range(worlds)]


def of_programs(fate):
    """Two tasks whose agents are programs that tell of themselves; much goes wrong with their models."""
    user_tasks = (UserTask("alpha", tells=True), UserTask("beta", tells=True))
    return World(fate, user_tasks, Manners(bad=0.4, odd=0.3, longest=60.0, subtasks=1), deaf=0.1)


def a_life_of_programs(worlds):
    """Let worlds of such programs live for a day each, with few faults beside, until one fails."""
    climate = replace(BUSY, rates=Rates(kill=2, full=0, eio=0))
    return [live(f"p{number}", 1.0, climate=climate, world_of=of_programs) for number in range(worlds)]


def soon_shelved(fate):
    """Three tasks that are shelved whenever nothing came for a minute."""
    settings = Settings(daemon=DaemonSettings(shelve_after=60), logs=LogSettings(pack_after=60))
    settings = replace(settings, limits=replace(settings.limits, check_in_interval=60))
    user_tasks = (UserTask("alpha"), UserTask("beta", checks=True), UserTask("gamma", tells=True))
    return World(fate, user_tasks, Manners(bad=0.1, odd=0.2, longest=60.0, subtasks=1), settings, deaf=0.5)


def a_life_on_the_shelf(worlds):
    """Let worlds whose tasks are soon shelved, and wanted again, live for half a day each, until one fails."""
    return [live(f"s{number}", 0.5, climate=ROUGH, world_of=soon_shelved) for number in range(worlds)]


def limited(fate):
    """Three tasks whose agents all use one service."""
    user_tasks = tuple(UserTask(name, tells=True) for name in ("alpha", "beta", "gamma"))
    return World(fate, user_tasks, Manners(bad=0, rejects=0, odd=0, longest=180.0, subtasks=3))


def a_limited_life(worlds, world_of=limited):
    """Let worlds in which nothing goes wrong but usage limits and clocks that are off live for a day each."""
    calm = replace(BUSY, rates=CALM, chances=NEVER, habits=Habits(latest=HOUR, restless=0, eager=1))
    return [live(f"u{number}", 1.0, climate=calm, world_of=world_of) for number in range(worlds)]


LITTERED = replace(
    ROUGH, rates=replace(ROUGH.rates, kill=6, power=1, clock=0, suspend=0, tree=24, launcher=12)
)
"""Trees are taken away all the time, and launchers die."""


def left_to_write(fate):
    """Two tasks whose agents fail often, and leave behind what goes on writing."""
    user_tasks = (UserTask("alpha"), UserTask("beta", checks=True, tells=True))
    return World(
        fate, user_tasks, Manners(bad=0.4, rejects=0.3, leaves=0.7, longest=60.0, subtasks=2), deaf=0.3
    )


def a_life_among_leftovers(worlds):
    """Let worlds in which nothing is left as it was live for half a day each, until one fails."""
    return [live(f"l{number}", 0.5, climate=LITTERED, world_of=left_to_write) for number in range(worlds)]


def a_kill_ahead_of_every_change(changes):
    """Tell a small life again and again, each time with a kill at another of its first changes."""
    sweep(range(1, changes))


def a_kill_around_the_first_nudge(changes):
    """The same, with agents that report only when something was typed to them, and from the typing on."""
    _, faults = told(nudged=True)
    first = faults.firsts["type"]
    sweep(range(first, first + changes), nudged=True)


@dataclass(frozen=True)
class Breakage:
    """A way to break the daemon, and where that is seen: in how many worlds, or among how many changes, at most."""

    break_it: Callable[[pytest.MonkeyPatch], None]
    most: int = 10
    seen_in: Callable[[int], object] = a_rough_life


SLOWLY_FOUND = {takes_just_past_for_tomorrow, leaves_the_shelved_unheard}
"""Breakages that a whole daemon has to live through for minutes: they are tried by `scripts/test nightly`."""

BREAKAGES = [
    Breakage(forgets_lines),
    Breakage(drops_an_fsync),
    Breakage(goes_on_in_a_torn_line, 500, a_kill_ahead_of_every_change),
    Breakage(journals_what_is_no_news),
    Breakage(forgets_its_outbox),
    Breakage(swaps_two_writes, 500, a_kill_ahead_of_every_change),
    Breakage(launches_without_a_claim),
    Breakage(opens_two_runs),
    Breakage(buries_before_the_last_words),
    Breakage(forgets_what_it_has_seen),
    Breakage(lets_everything_pass),
    Breakage(says_merged_and_does_not, 1, a_rough_life_that_merges_early),
    Breakage(forgets_a_bound),
    Breakage(forgets_the_pauses),
    Breakage(ends_without_a_look),
    Breakage(takes_a_long_answer_for_a_stall, 10, a_life_of_programs),
    Breakage(tells_of_circles_again_and_again, 10, a_life_of_programs),
    Breakage(types_twice, 20, a_kill_around_the_first_nudge),
    Breakage(names_by_the_clock_alone),
    Breakage(asks_nobody),
    Breakage(asks_twice),
    Breakage(shows_what_was),
    Breakage(tells_an_old_page),
    Breakage(leaves_the_shelved_unheard, 10, a_life_on_the_shelf),
    Breakage(takes_just_past_for_tomorrow, 10, a_limited_life),
    Breakage(asks_for_the_launcher_alone),
    Breakage(works_in_one_folder, 30, a_life_among_leftovers),
    Breakage(believes_any_folder, 30, a_life_among_leftovers),
]


ON_BOXES_BREAKAGES = [
    Breakage(looks_after_the_haul, 20, a_life_on_boxes),
    Breakage(forgets_that_a_box_is_back, 20, a_life_on_boxes),
    Breakage(takes_a_lost_launch_for_none, 20, a_life_on_boxes),
    Breakage(buries_on_a_lost_box, 20, a_life_on_boxes),
    Breakage(asks_for_each_run, 20, a_life_on_boxes),
    Breakage(takes_a_failed_pull_for_none, 20, a_life_on_boxes),
    Breakage(waits_for_what_cannot_end, 20, a_life_on_boxes),
    Breakage(sees_no_work_on_boxes, 20, a_life_on_boxes),
]


@pytest.mark.parametrize(
    "breakage",
    [
        pytest.param(each, marks=[pytest.mark.thorough] if each.break_it in SLOWLY_FOUND else [])
        for each in BREAKAGES
    ],
    ids=lambda each: each.break_it.__name__,
)
def test_it_finds_a_daemon_that(breakage, monkeypatch):
    breakage.break_it(monkeypatch)
    with pytest.raises(Broken):
        breakage.seen_in(breakage.most)


@pytest.mark.thorough
@pytest.mark.parametrize("breakage", ON_BOXES_BREAKAGES, ids=lambda each: each.break_it.__name__)
def test_it_finds_a_daemon_with_boxes_that(breakage, monkeypatch):
    breakage.break_it(monkeypatch)
    with pytest.raises(Broken):
        breakage.seen_in(breakage.most)


def test_it_finds_nothing_in_a_daemon_that_is_whole():
    for outcome in a_rough_life(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["deaths of the daemon"] > 0


def test_it_finds_nothing_in_the_life_of_programs_of_a_daemon_that_is_whole():
    for outcome in a_life_of_programs(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["fact: activity_seen"] > 0


def test_it_finds_nothing_on_the_shelf_of_a_daemon_that_is_whole():
    for outcome in a_life_on_the_shelf(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["tasks shelved"] > len(outcome.tasks)


def test_it_finds_nothing_among_leftovers_in_a_daemon_that_is_whole():
    for outcome in a_life_among_leftovers(4):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["fact: run_left"] > 0


def test_it_finds_nothing_on_boxes_in_a_daemon_that_is_whole():
    for outcome in a_life_on_boxes(2):
        assert set(outcome.tasks.values()) <= ENDS
        assert outcome.counts["runs on boxes"] > 0
        assert outcome.counts["fact: box_lost"] > 0


@pytest.mark.thorough
def test_a_limit_costs_two_minutes_in_a_life_of_three_tasks():
    """Of each step that was refused: from the lift of the limit to its next request, by the true time."""
    worlds = []

    def kept(fate):
        worlds.append(limited(fate))
        return worlds[-1]

    outcomes = a_limited_life(8, kept)
    assert all(set(outcome.tasks.values()) <= ENDS for outcome in outcomes)
    dead = [each for world in worlds for each in world.service.dead]
    assert len(dead) > 5
    assert max(dead) <= LITTLE
