"""Every bound of the PM, with its default (law 8). The settings file may change each by its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long, how often, how many. Times are seconds.

    `check_in` and `silence` are HUB 4.1 and 7.1, `rejections` HUB 7.1, `crashes` W7, `loops` W5. After `silence`
    without progress a run is looked at, then again each `look_again`; one that only computes, or cannot be looked
    at, is taken for hung after `looks`. `nudges` lines are typed to one that listens before it is ended. After
    `defaults` answers in a row that task.md gave, the next is a person's. Where the conversation of a step does not get
    on, `fresh` new ones go on with its tree before a person is asked.

    Of programs that tell of themselves: an order that is not taken after `receipt` is looked for. A turn that failed
    for a usage limit is tried again around the moment at which that ends; where none was shown, after `limit_pause`,
    and then after as long as it was waited for, up to `longest_limit_pause`. A person is asked when the service has
    refused `limits` times in a row and for longer than `limit_window`, the longest window that is known, or says that
    it will. For an overload it is tried again after `overload_pause` and longer, `overloads` times; with a full
    context `contexts` times.

    A program that keeps records and waits for the model is looked at after a third of `stall` without a record, an
    event or a token on its screen, and is ended after `stall`; its conversation goes on, `stalls` times in a row. After
    `repeats` calls in a row that brought back what they had often brought back before an agent is told so; after as
    many more it is ended. Where that does not help, `fresh` conversations go on, as for all else.

    A run that could not be launched on its box is tried again, `launches` times in a row, before a person is asked.

    A box that does not answer is waited for; after `unreachable` a person is asked whether to go on with that. So is
    one about a run that was told to end, and is not known to be gone after `unended`.

    Of an agent as PM: a consultation is set aside after `pm_patience`; what it does not order waits `pm_wait` for it at
    the most; after `pm_failures` consultations in a row of which nothing came the rules go on alone.

    `task_tokens`, `task_cost` (US dollars) and `task_time` are what a task may use whose task.md says nothing of it;
    None: as much as it takes. By default there is a limit of tokens only, against agents that run away: three times
    what somebody who works with such an agent all day was seen to use in a day (100 million, of which 97 in 100 come
    from a cache), and less than the most that was seen (430 million).
    """

    check_in: float = 600.0
    silence: float = 1800.0
    silences: int = 2
    look_again: float = 600.0
    looks: int = 6
    nudges: int = 1
    rejections: int = 3
    replans: int = 2
    blocks: int = 1
    loops: int = 3
    defaults: int = 3
    crashes: int = 3
    losses: int = 20
    launches: int = 5
    asks: int = 1
    fresh: int = 1
    receipt: float = 120.0
    stall: float = 450.0
    stalls: int = 3
    repeats: int = 12
    limits: int = 40
    limit_pause: float = 60.0
    longest_limit_pause: float = 1200.0
    limit_window: float = 604800.0
    overloads: int = 12
    overload_pause: float = 15.0
    contexts: int = 5
    unreachable: float = 3600.0
    unended: float = 1800.0
    longest_wait: float = 3600.0
    pm_patience: float = 600.0
    pm_wait: float = 600.0
    pm_failures: int = 3
    first_pause: float = 1.0
    longest_pause: float = 300.0
    linger: float = 20.0
    run_time: float = 14400.0
    start_time: float = 30.0
    end_grace: float = 10.0
    runs_at_once: int = 4
    subtasks: int = 1000
    settle: float = 2.0
    handoff_bytes: int = 1_048_576
    task_tokens: int | None = 300_000_000
    task_cost: float | None = None
    task_time: float | None = None
