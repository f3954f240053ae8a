"""Every bound of the PM, with its default (law 8). The settings file may change each by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, how often, how many. Times are seconds; each field is a key of the settings' `[limits]`.

    Attributes:
        check_in_interval: How often the PM looks at a task unasked (HUB 4.1).
        inactivity_timeout: A run without progress for so long is looked at (HUB 7.1).
        max_inactive_runs: So many inactive runs in a row of a step are replaced; then a person is asked.
        look_interval: The time between two looks at a run without progress.
        max_looks: After so many looks, a run that only computes, or cannot be looked at, counts as hung.
        max_nudges: How many lines are typed to an inactive run that listens, before it is ended.
        max_rejections: How often work is rejected before the step is planned anew or asked about (HUB 7.1).
        max_replans: How often a subtask is planned anew.
        max_blocks: How many BLOCKED reports of a step are answered by another try.
        max_repeated_questions: How often an agent may ask the same, or nearly the same, question (W5).
        max_default_answers: After so many answers in a row that task.md gave, a person answers the next one.
        max_crashes: How many crashes in a row are tried again (W7).
        max_losses: How many runs in a row may be lost with their terminal.
        max_failed_launches: How often a launch on a box is tried in a row before a person is asked.
        max_report_requests: How often a run that ended its turn without a report is asked for one.
        max_fresh_starts: How many fresh conversations go on with a step's tree before a person is asked.
        receipt_timeout: An order that its program does not acknowledge for so long is looked into.
        stall_timeout: A run that waits for its model without a record, an event or a token for so long has stalled.
            It is looked at after each third of this, then ended; its conversation goes on.
        max_stalls: How many stalls in a row are gone on with.
        max_repeated_calls: After so many tool calls in a row that brought back nothing new, the agent is told so;
            after as many more, its run is ended.
        max_usage_limits: How often in a row the service may refuse for a usage limit, and for longer than
            `usage_limit_window`, before a person is asked.
        usage_limit_pause: When no reset time is known, the first pause after a usage limit; it then doubles.
        max_usage_limit_pause: The longest such pause.
        usage_limit_window: The longest usage window that is known of any service.
        max_overloads: How often a turn that an overloaded service refused is tried again.
        overload_pause: The first pause after an overload; it then doubles.
        max_context_overflows: How many full contexts in a row are gone on with.
        unreachable_timeout: A box that does not answer for so long is asked about.
        termination_timeout: A run that was ended and is not known to be gone after so long is asked about.
        max_overload_pause: The longest pause after an overload.
        pm_timeout: A consultation of the agent as PM is set aside after so long.
        pm_hold_timeout: So long a step that the agent as PM did not order waits for it.
        max_pm_failures: After so many fruitless consultations in a row the rules go on alone.
        retry_pause: The first pause before a crashed run is tried again; it then doubles.
        max_retry_pause: The longest such pause.
        exit_timeout: A run that has reported may live so long before it is ended.
        max_run_time: The longest that one run may last.
        start_timeout: A launched run must have claimed its folder within this time.
        termination_grace: The time between asking a run to end and killing it.
        max_concurrent_runs: How many runs of a task live at once.
        max_subtasks: How many subtasks a plan may have.
        settle_time: A handoff whose writer is unknown must have been unchanged for so long.
        max_handoff_bytes: A larger handoff is refused.
        max_task_tokens: How many tokens a task may use if its task.md does not say; None: no limit. The default is a
            guard against agents that run away: three times what a person was seen to use in a day of steady work
            (100 million, 97 % of it from a cache), and less than the most that was seen (430 million).
        max_task_cost: How many US dollars a task may cost if its task.md does not say; None: no limit.
        max_task_time: How long a task may be at work if its task.md does not say; None: no limit.

    """

    check_in_interval: float = 600.0
    inactivity_timeout: float = 1800.0
    max_inactive_runs: int = 2
    look_interval: float = 600.0
    max_looks: int = 6
    max_nudges: int = 1
    max_rejections: int = 3
    max_replans: int = 2
    max_blocks: int = 1
    max_repeated_questions: int = 3
    max_default_answers: int = 3
    max_crashes: int = 3
    max_losses: int = 20
    max_failed_launches: int = 5
    max_report_requests: int = 1
    max_fresh_starts: int = 1
    receipt_timeout: float = 120.0
    stall_timeout: float = 450.0
    max_stalls: int = 3
    max_repeated_calls: int = 12
    max_usage_limits: int = 40
    usage_limit_pause: float = 60.0
    max_usage_limit_pause: float = 1200.0
    usage_limit_window: float = 604800.0
    max_overloads: int = 12
    overload_pause: float = 15.0
    max_context_overflows: int = 5
    unreachable_timeout: float = 3600.0
    termination_timeout: float = 1800.0
    max_overload_pause: float = 3600.0
    pm_timeout: float = 600.0
    pm_hold_timeout: float = 600.0
    max_pm_failures: int = 3
    retry_pause: float = 1.0
    max_retry_pause: float = 300.0
    exit_timeout: float = 20.0
    max_run_time: float = 14400.0
    start_timeout: float = 30.0
    termination_grace: float = 10.0
    max_concurrent_runs: int = 4
    max_subtasks: int = 1000
    settle_time: float = 2.0
    max_handoff_bytes: int = 1_048_576
    max_task_tokens: int | None = 300_000_000
    max_task_cost: float | None = None
    max_task_time: float | None = None
