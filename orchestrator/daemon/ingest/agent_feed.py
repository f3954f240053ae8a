"""Listening to the agent programs of one task: events, last words and usage become its facts, in order."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.daemon.core.context import Context
from orchestrator.daemon.core.task_paths import status_script
from orchestrator.daemon.ingest.activity import TranscriptActivity
from orchestrator.daemon.ingest.events import EventIngest
from orchestrator.daemon.ingest.final_message import last_words
from orchestrator.daemon.ingest.finished_writers import NOBODY, Stopped
from orchestrator.daemon.ingest.transcripts import Tails
from orchestrator.daemon.ingest.usage import UsageMeters
from orchestrator.daemon.journal.engine import Engine
from orchestrator.formats.prices import prices_in_force
from orchestrator.formats.pricing import priced
from orchestrator.model.event import EventKind
from orchestrator.model.facts import ActivitySeen, UsageSeen
from orchestrator.model.host_names import is_box
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Permissions, Policy
from orchestrator.model.usage import Usage
from orchestrator.pm.permissions import policy_for
from orchestrator.pm.plan.families import handoffs_of
from orchestrator.pm.policies import budget
from orchestrator.pm.policies.stalls import is_worth_journaling, works_again
from orchestrator.pm.state.transitions import IllegalMove
from orchestrator.runtimes.registry import runtime_known

if TYPE_CHECKING:
    from orchestrator.daemon.core.task_paths import TaskPaths
    from orchestrator.daemon.ingest.finished_writers import Done
    from orchestrator.model.facts import EventLanded
    from orchestrator.model.prices import Price
    from orchestrator.model.run import Run
    from orchestrator.pm.state.task_state import PMState

log = logging.getLogger(__name__)

GROWN: Final = 0.1
"""The share by which a run's usage must have grown at a check-in to be journaled in the middle of a turn."""


@dataclass(slots=True)
class AgentFeed:
    """The agent programs of one task.

    `see_reports` handles new files in `handoffs/`: one name, or all, of which some writers have finished. `saving`
    returns the file that an instance had under a temporary name there at the last scan. `see_turn_end` reads what a run
    left that hands in by its files; it gets the run's last words. `answered` has the file operations in the last words
    of a run carried out, if it hands in by those; it returns whether that is done.
    """

    context: Context
    home: Path
    engine: Engine
    see_reports: Callable[[str, Done], None]
    saving: Callable[[str], str]
    see_turn_end: Callable[[str, str], None] = lambda _run, _words: None
    answered: Callable[[str, str], bool] = lambda _run, _words: True
    _events: EventIngest = field(init=False)
    _meters: UsageMeters = field(init=False)
    _prices: tuple[Price, ...] = field(init=False)
    _tails: Tails = field(init=False)
    _activities: TranscriptActivity = field(default_factory=TranscriptActivity, init=False)

    def __post_init__(self) -> None:
        """Begin with nothing read."""
        adapters = self.context.adapters
        self._events = EventIngest(
            adapters.files, self.home, self._environ, self._policy, adapters.settings.runtimes
        )
        self._prices = prices_in_force(adapters.settings.prices)
        self._meters = UsageMeters(adapters.files, self._prices)
        self._tails = Tails(adapters.files)

    def hear(self, where: TaskPaths) -> None:
        """Handle the events that programs reported. A file is removed once its fact is journaled."""
        at, held = self.context.clock.now(), set[str]()
        for entry in self._events.waiting():
            fact, text = self._events.fact(entry, self.engine.state, where, at)
            if fact is not None and (fact.run in held or not self._is_ready(fact, text)):
                held.add(fact.run)  # what it reports after that waits, too
                continue
            if fact is not None:
                if fact.event.kind is EventKind.FAILED:  # what it did before that must be known first
                    self._read_on(self.engine.state.runs[fact.run], where, at)
                self._take(fact, text, where)
            self._events.take_away(entry.name)
        live = self.engine.state.runs.live
        self._tails.keep(live)
        self._activities.keep(live)
        for run in live.values():
            self._read_on(run, where, at)

    @property
    def novel(self) -> dict[str, float]:
        """Return when a call of each run last brought a new result, for programs that keep transcripts."""
        return self._activities.novel()

    def forget(self) -> None:
        """Read all transcripts from the beginning again: what was read recently may not have been journaled."""
        self._tails.forget()
        self._activities.forget()

    def meter(self, share: float = math.inf) -> None:
        """Record the usage of live runs, if it has grown by a share, or takes the task to one of its limits."""
        for run in self.engine.state.live_runs:
            self._note_usage(run, self._used_by(run.id), share)

    def gone(self, run: str, where: TaskPaths) -> None:
        """Read all that is left of a run whose process is gone: events, transcript, usage (law 5)."""
        self.hear(where)
        self._feed_usage(run, self._used_by(run))
        self._meters.forget(run)

    # -------------------------------------------------------------------------------------------------

    def _is_ready(self, fact: EventLanded, text: str) -> bool:
        """Return whether an event may be handled: the end of a turn only when the file operations in it are settled."""
        ended = fact.event.kind is EventKind.ENDED and not fact.event.background
        return not ended or self.answered(fact.run, text)

    def _note_usage(self, run: Run, usage: Usage, share: float) -> None:
        grown = usage.tokens > run.usage.tokens and usage.tokens >= (1 + share) * run.usage.tokens
        limits = self.context.adapters.settings.limits
        if grown or budget.crosses_limit(self.engine.state, limits, run.id, usage):
            self._feed_usage(run.id, usage)

    def _take(self, fact: EventLanded, text: str, where: TaskPaths) -> None:
        if fact.event.kind is EventKind.USED:
            # It says nothing else, and is frequent: only its effect is journaled, if any.
            self._note_usage(self.engine.state.runs[fact.run], self._reported_usage(fact) or Usage(), GROWN)
            return
        if fact.event.kind is EventKind.ENDED:
            # Its turn is over, so what it left will not get any more complete (law 5).
            instance = self.engine.state.runs[fact.run].instance
            self.see_reports("", {instance: Stopped.TURN})
            fact = replace(fact, saving=self.saving(instance))
            if not fact.saving:
                self._hand_in(fact.run, text, where)
            if not fact.event.background:
                self.see_turn_end(fact.run, text)
        if fact.event.kind in {EventKind.ENDED, EventKind.FAILED}:
            self._feed_usage(fact.run, self._reported_usage(fact) or self._used_by(fact.run))
        try:
            self.engine.feed(fact)
        except IllegalMove:  # one event must neither hold up the others nor leave its program waiting
            log.exception("task %s: a rule erred on %s; nothing was changed", self.home.name, fact)
            if fact.waits:
                self._events.let_go(self.engine.state.runs[fact.run], fact.name)

    def _reported_usage(self, fact: EventLanded) -> Usage | None:
        """Return the usage that an event reports; None if it reports none."""
        usage = fact.event.usage
        return None if usage is None else priced(usage, self._prices)

    def _read_on(self, run: Run, where: TaskPaths, at: float) -> None:
        """Read what was added to the transcript of a run: events that no hook reports, and its activity."""
        adapters, state = self.context.adapters, self.engine.state
        if not run.transcript or run.agent not in state.agents:
            return
        lines = self._tails.new(run, at)
        runtime = runtime_known(state.agents[run.agent], adapters.settings.runtimes)
        self._activities.take(run, runtime, lines)
        self._note_activity(run.id, at, before_a_failure=True)
        for fact in self._events.from_lines(lines, run, state, where, at):
            self._take(fact, "", where)
        self._note_activity(run.id, at)

    def _note_activity(self, run: str, at: float, *, before_a_failure: bool = False) -> None:
        """Record what a run does, if it matters: ahead of a failure only that its service answered until then."""
        state, limits = self.engine.state, self.context.adapters.settings.limits
        known = state.runs[run]
        seen, tally = self._activities.of(known), state.steps[known.step].tally
        matters = works_again(tally, known, seen) or not before_a_failure
        if known.live and matters and is_worth_journaling(tally, limits, known, seen, at):
            self.engine.feed(ActivitySeen(at, self.context.nonce(), run, seen))

    def _hand_in(self, run: str, text: str, where: TaskPaths) -> None:
        """Write the last words of a run into `handoffs/` if they are its report: it may not write files (H8)."""
        state = self.engine.state
        known, folder = state.runs[run], layout.handoffs(where.task)
        decides = known.step == state.consultation.step
        if known.order not in state.orders or (decides and state.consultation.decided):
            return
        at = self.context.clock.now()
        files, wanted = self.context.adapters.files, handoffs_of(state.brief)
        name = last_words(files, folder, known, text, at, handoff_format=wanted, decides=decides)
        if name:
            self.see_reports(name, NOBODY)

    def _environ(self, host: str) -> Mapping[str, str]:
        adapters = self.context.adapters
        return adapters.boxes.environ(host) if is_box(host) else adapters.environ

    def _used_by(self, run: str) -> Usage:
        state = self.engine.state
        known = state.runs[run]
        agent = state.agents.get(known.agent)
        if agent is None:
            return Usage()
        return self._meters.look(known, runtime_known(agent, self.context.adapters.settings.runtimes))

    def _feed_usage(self, run: str, usage: Usage) -> None:
        if usage.reported or usage.partial:
            self.engine.feed(UsageSeen(self.context.clock.now(), self.context.nonce(), run, usage))

    def _policy(self, state: PMState, run: Run) -> Policy:
        return policy_of(self.context.adapters.settings.permissions, state, run)


def policy_of(settings: Policy, state: PMState, run: Run) -> Policy:
    """Return the rules for a run's agent: task.md's for it, task.md's for all, that of its order, the settings'."""
    config = state.brief.config
    own = config.agents[run.agent].permissions if run.agent in config.agents else Permissions()
    return policy_for(settings, own, config.permissions, _status_script_rules(state, run))


def _status_script_rules(state: PMState, run: Run) -> Permissions:
    """Return the rule for the script that its order tells an agent to run; rules of the user that deny it hold."""
    script = status_script(state, run)
    if script is None:
        return Permissions()
    pattern = f"{quote(str(script))} *"
    return Permissions((PermissionRule(PermissionDecision.ALLOW, Act.RUN, pattern, "its order"),))
