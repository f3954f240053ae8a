"""Every bound of the PM, with its default (law 8). The settings file may change each by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, how often, how many. Times are seconds.

    `check_in_interval` and `inactivity_timeout` are HUB 4.1 and 7.1, `max_rejections` HUB 7.1, `max_crashes` W7, `max_repeated_questions` W5. After `inactivity_timeout`
    without progress a run is looked at, then again each `look_interval`; one that only computes, or cannot be looked
    at, is taken for hung after `max_looks`. `max_nudges` lines are typed to one that listens before it is ended. After
    `max_default_answers` answers in a row that task.md gave, the next is a person's. Where the conversation of a step does not get
    on, `max_fresh_starts` new ones go on with its tree before a person is asked.

    Of programs that tell of themselves: an order that is not taken after `receipt_timeout` is looked for. A turn that failed
    for a usage limit is tried again around the moment at which that ends; where none was shown, after `usage_limit_pause`,
    and then after as long as it was waited for, up to `max_usage_limit_pause`. A person is asked when the service has
    refused `max_usage_limits` times in a row and for longer than `usage_limit_window`, the longest window that is known, or says that
    it will. For an overload it is tried again after `overload_pause` and longer, `max_overloads` times; with a full
    context `max_context_overflows` times.

    A program that keeps records and waits for the model is looked at after a third of `stall_timeout` without a record, an
    event or a token on its screen, and is ended after `stall_timeout`; its conversation goes on, `max_stalls` times in a row. After
    `max_repeated_calls` calls in a row that brought back what they had often brought back before an agent is told so; after as
    many more it is ended. Where that does not help, `max_fresh_starts` conversations go on, as for all else.

    A run that could not be launched on its box is tried again, `max_failed_launches` times in a row, before a person is asked.

    A box that does not answer is waited for; after `unreachable_timeout` a person is asked whether to go on with that. So is
    one about a run that was told to end, and is not known to be gone after `termination_timeout`.

    Of an agent as PM: a consultation is set aside after `pm_timeout`; what it does not order waits `pm_hold_timeout` for it at
    the most; after `max_pm_failures` consultations in a row of which nothing came the rules go on alone.

    `max_task_tokens`, `max_task_cost` (US dollars) and `max_task_time` are what a task may use whose task.md says nothing of it;
    None: as much as it takes. By default there is a limit of tokens only, against agents that run away: three times
    what somebody who works with such an agent all day was seen to use in a day (100 million, of which 97 in 100 come
    from a cache), and less than the most that was seen (430 million).
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
