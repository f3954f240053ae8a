"""Every bound of the PM, with its default (law 8). The settings file may change each by its name."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, how often, how many. Times are seconds.

    The text under each field is also what `docs/reference/settings` says of it.
    """

    check_in_interval: float = 600.0
    """Interval between two check-ins of a task. A new handoff is acted on at once, whatever this says (H7)."""

    inactivity_timeout: float = 1800.0
    """How long a run may show no sign of progress before the PM looks at it (H9)."""

    max_inactive_runs: int = 2
    """How many silent runs in a row one step may have before a person is asked."""

    look_interval: float = 600.0
    """Interval between further looks at a run that is still silent."""

    max_looks: int = 6
    """After how many looks a run that only computes, or cannot be looked at, counts as hung."""

    max_nudges: int = 1
    """How many lines the PM types to a silent agent that listens, before it ends the run."""

    max_rejections: int = 3
    """How many rejections of one step it takes until `rejections:` of task.md decides (H9)."""

    max_conflicts: int = 3
    """How often the work of one step may conflict with what others merged meanwhile, before a person is asked."""

    max_replans: int = 2
    """How often a task may be planned anew because a subtask was rejected too often or a criterion is not met."""

    max_repeated_judgements: int = 1
    """How often a judge judges again because its tree, or the task's branch, was changed while it judged."""

    max_blocks: int = 1
    """How often a blocked step is tried again, by another approach, before a person is asked."""

    max_repeated_questions: int = 3
    """How often the same or a similar question may come up before it goes to a person with its history (W5)."""

    max_escalations: int = 20
    """How many escalations of an agent in a row other agents of its workflow may answer, whatever they ask; a person is
    asked about the next one, with all of them."""

    max_default_answers: int = 3
    """How many questions in a row `unanswered:` of task.md may answer. The next one waits for a person."""

    max_crashes: int = 3
    """How often a crashed agent is run again in one attempt of a step (W7)."""

    max_losses: int = 20
    """How often a run that vanished through no fault of its agent (its terminal or tree was lost) is repeated."""

    max_failed_launches: int = 5
    """How often in a row a launch on a box may fail before a person is asked."""

    max_report_requests: int = 1
    """How often an agent is asked again for a report that is missing or does not read."""

    max_operation_tries: int = 3
    """How often in a row an agent of `hands: operations` may hand in what cannot be carried out, before a person is
    asked."""

    max_fresh_starts: int = 1
    """How many fresh conversations go on with the tree of one that does not get on, before a person is asked."""

    receipt_timeout: float = 120.0
    """How long an agent CLI that reports its own events may take to accept its order, before the PM looks for it."""

    stall_timeout: float = 450.0
    """How long an agent may wait for its model without a record, an event or a new token; its run is then ended.

    The PM looks at it after a third of this time.
    """

    max_stalls: int = 3
    """How often in a row the conversation of a stalled run is resumed."""

    max_repeated_calls: int = 12
    """How many calls in a row may bring nothing new before the agent is warned; after as many more its run ends."""

    max_usage_limits: int = 40
    """How often in a row a service may refuse for a usage limit before a person is asked; see `usage_limit_window`."""

    usage_limit_pause: float = 90.0
    """Longest pause during the first 6 hours of a usage limit that does not say when it ends; the first is 30 s."""

    max_usage_limit_pause: float = 1200.0
    """Longest pause between two tries of a limited service, after those hours."""

    usage_limit_window: float = 604800.0
    """How long a service must have refused before a person is asked: the longest window of a usage limit."""

    max_overloads: int = 40
    """How often in a row a service may be overloaded before a person is asked; see `overload_window`."""

    overload_pause: float = 15.0
    """First pause after an overload. The next are as long as the overload has lasted, up to `max_overload_pause`."""

    overload_window: float = 86400.0
    """How long a service must have been overloaded before a person is asked: longer than any known outage."""

    max_context_overflows: int = 5
    """How often a conversation whose context is full is taken over by a fresh one."""

    unreachable_timeout: float = 3600.0
    """How long a box may not answer before a person is asked whether to go on waiting."""

    termination_timeout: float = 1800.0
    """How long a run that was asked to end may not be known to be gone, before a person is asked."""

    max_overload_pause: float = 90.0
    """Longest pause between two tries after an overload: what is lost at most once the service has recovered."""

    pm_timeout: float = 600.0
    """How long one turn of an agent as PM may take before it is set aside."""

    pm_hold_timeout: float = 600.0
    """How long steps that the PM agent has not ordered wait for its order."""

    max_pm_failures: int = 3
    """After how many fruitless turns in a row of the PM agent the built-in rules go on alone."""

    max_unplanned_orders: int = 12
    """How many orders outside the plan the PM agent may give before a person is asked to allow as many more."""

    retry_pause: float = 1.0
    """First pause before a crashed or lost run is repeated. It grows fourfold up to `max_retry_pause`."""

    max_retry_pause: float = 300.0
    """Longest pause before a crashed or lost run is repeated."""

    exit_timeout: float = 20.0
    """How long an agent that has reported may take to end by itself."""

    max_run_time: float = 14400.0
    """Longest time that one run may take."""

    max_check_time: float = 3600.0
    """Longest time that a check (`AGENT.check` of task.md) may take; `max_run_time`, if that is shorter."""

    max_prepare_time: float = 1800.0
    """Longest time that the preparation of a worktree (`prepare:` of task.md) may take; `max_run_time`, if shorter."""

    max_failed_preparations: int = 2
    """How often in a row the preparation of a step's worktree may fail before a person is asked."""

    start_timeout: float = 30.0
    """How long a new pane may take to start its program."""

    queue_timeout: float = 604800.0
    """How long an agent may be pending in the queue of a cluster before it is ended, and tried again."""

    termination_grace: float = 10.0
    """Time between the request to end (TERM) and the end by force (KILL)."""

    max_concurrent_runs: int = 4
    """How many runs of one task are open at the same time, whether they work or wait for a place."""

    max_local_runs: int | None = None
    """How many agents of all tasks run on this machine at the same time. `none`: no limit. Who waits takes no place."""

    max_runs_per_cli: int | None = None
    """How many agents of all tasks use the same agent CLI, and so its account, at the same time. `none`: no limit."""

    max_offered_memories: int = 5
    """How many memories of its project an order offers to its agent (`task memory`). 0: none (C5)."""

    max_subtasks: int = 1000
    """How many subtasks a plan may have."""

    settle_time: float = 2.0
    """How long a new handoff must not change before it is read, unless its writer has ended."""

    max_handoff_bytes: int = 1_048_576
    """Largest handoff that is read, in bytes."""

    max_artifact_bytes: int = 67_108_864
    """Largest file of artifacts, scratchpads or logs that is fetched from a box, in bytes."""

    max_task_tokens: int | None = 300_000_000
    """Tokens that a task may use whose `limits:` in task.md says nothing of them. `none`: no limit.

    The default is three times what somebody who works with such an agent all day was seen to use in a day (100
    million, of which 97 in 100 come from a cache), and less than the most that was seen (430 million).
    """

    max_task_cost: float | None = None
    """US dollars that a task may use whose `limits:` in task.md says nothing of them. `none`: no limit."""

    max_task_time: float | None = None
    """Time at work that a task may use whose `limits:` in task.md says nothing of it. `none`: no limit."""

    @property
    def check_time(self) -> float:
        """The longest time in seconds that a check may take, whichever limit says so."""
        return min(self.max_check_time, self.max_run_time)

    @property
    def check_bound(self) -> str:
        """The setting that says how long a check may take."""
        return f"limits.{'max_check_time' if self.max_check_time < self.max_run_time else 'max_run_time'}"

    @property
    def prepare_time(self) -> float:
        """The longest time in seconds that a preparation may take, whichever limit says so."""
        return min(self.max_prepare_time, self.max_run_time)

    @property
    def prepare_bound(self) -> str:
        """The setting that says how long a preparation may take."""
        return f"limits.{'max_prepare_time' if self.max_prepare_time < self.max_run_time else 'max_run_time'}"


def bounded(limits: Limits, bounds: tuple[tuple[str, int], ...]) -> Limits:
    """Return limits with some replaced by bounds of one step. A name that no limit has any more is passed over."""
    return _bounded(limits, bounds) if bounds else limits


@lru_cache(256)
def _bounded(limits: Limits, bounds: tuple[tuple[str, int], ...]) -> Limits:
    known = {each.name for each in fields(Limits)}
    own = {name: most for name, most in bounds if name in known}
    return replace(limits, **own)
