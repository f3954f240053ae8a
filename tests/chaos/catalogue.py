"""Every fault that is known to happen, and the ways in which it is brought about here, or where else it is.

A way is a scene of this folder, or a test of `tests/integration` played in a world of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from tests.chaos.faults import agents, daemon, disk, handoffs, panes
from tests.chaos.kills import daemon_killed, daemon_killed_by_strace, everything_killed, tmux_killed
from tests.chaos.trial import Way, staged
from tests.integration.daemon import (
    test_disk,
    test_hostile_handoffs,
    test_restarts,
    test_silence,
    test_user,
    test_whole_task,
)

STEPS = ("plan", "dev:greet", "review:greet")
SIMULATED = "tests/simulation moves the clocks; unit tests of daemon/process/clock_drift.py and schedule.py"
REMOTE = "there are no remote hosts yet"
CLIS = "there is no runtime of a real agent CLI yet"
QUIET = {"limits__inactivity_timeout": "700 ms", "limits__look_interval": "500 ms"}
MISSING = ({"claims": ["artifacts/code/not-there.md"]}, "not on disk: artifacts/code/not-there.md")


@dataclass(frozen=True)
class Fault:
    """One row: its name for `--faults`, what it is in words, and its ways; or where it is looked after instead."""

    name: str
    row: str
    ways: Sequence[Way] = ()
    elsewhere: str = ""


FAULTS = (
    Fault(
        "killed-before-rename",
        "daemon killed between write and rename",
        [partial(daemon_killed_by_strace, "rename", n) for n in (2, 9, 17, 30)],
    ),
    Fault(
        "fsync-fails",
        "fsync fails: it ends, non-zero, and says so",
        [
            staged(test_disk.test_failed_fsync_of_the_journal_ends_all_deciding),
            *(staged(disk.fsync_fails, n, **disk.QUICK) for n in (3, 11, 19, 28, 40)),
        ],
    ),
    Fault(
        "disk-full",
        "no room where the PM writes, until there is",
        [staged(partial(disk.no_room, inodes=False), step, **disk.QUICK) for step in STEPS],
    ),
    Fault(
        "no-inodes",
        "no inodes where the PM writes, until there are",
        [staged(partial(disk.no_room, inodes=True), step, **disk.QUICK) for step in STEPS],
    ),
    Fault(
        "project-full",
        "no room where agents and PM meet",
        [staged(disk.project_without_room, step, **disk.QUICK) for step in STEPS],
    ),
    Fault(
        "read-only",
        "a disk that takes nothing more",
        [
            staged(disk.started_on_read_only),
            *(staged(disk.project_read_only, step, **disk.QUICK) for step in STEPS),
        ],
    ),
    Fault(
        "journal-cut",
        "the journal ends too early",
        [
            staged(test_restarts.test_a_torn_tail_is_cut_off_and_kept),
            *(staged(disk.journal_cut, cut) for cut in (1, 2, 9, 100, 700)),
        ],
    ),
    Fault(
        "journal-garbled",
        "bytes of the journal are others",
        [
            staged(test_restarts.test_damaged_journal_middle_is_set_aside_and_asked_about),
            staged(test_restarts.test_unreadable_journal_is_reported_and_begun_anew),
            staged(test_restarts.test_run_unknown_to_the_journal_ends_before_the_next),
            *(staged(disk.journal_garbled, seed) for seed in range(8)),
        ],
    ),
    Fault(
        "state-garbled",
        "what others read is garbled, or all is lost",
        [
            *(
                staged(disk.projections_garbled, junk)
                for junk in (b"", b"\xff\x00{[", b'{"state": "complete"}')
            ),
            staged(test_restarts.test_lost_state_folder_makes_handoffs_history),
            staged(disk.state_taken_away),
        ],
    ),
    Fault(
        "old-state", "state of an older version", elsewhere="tests/integration/daemon/test_old_journals.py"
    ),
    Fault(
        "two-daemons",
        "several daemons at once",
        [
            staged(test_restarts.test_a_second_daemon_refuses_and_names_the_first),
            *(staged(daemon.many_at_once, crowd) for crowd in (2, 5)),
        ],
    ),
    Fault(
        "term-twice",
        "TERM in the middle of a spawn, and a second",
        [
            staged(test_restarts.test_a_first_term_ends_it_in_order_and_a_second_at_once),
            *(staged(daemon.term_while_it_spawns, pause) for pause in (0.0, 0.3, 1.0)),
            *(partial(daemon_killed, n, by="TERM*2") for n in range(100, 1600, 250)),
        ],
    ),
    Fault("clock", "clock set, laptop asleep, daylight saving", elsewhere=SIMULATED),
    Fault("late-check-in", "a check-in takes longer than its interval", elsewhere=SIMULATED),
    Fault("one-task-raises", "handling of one task raises", [staged(daemon.one_task_raises)]),
    Fault(
        "watch",
        "inotify overflows, a watched folder is made anew",
        [
            staged(daemon.watch_overflows, **disk.QUICK),
            staged(test_disk.test_a_watched_folder_that_is_made_anew_is_found, daemon__rescan="500 ms"),
        ],
    ),
    Fault("no-descriptors", "too many open files", [staged(disk.no_descriptors, step) for step in STEPS]),
    Fault("no-processes", "fork refused", [staged(disk.no_processes, step, **disk.QUICK) for step in STEPS]),
    Fault(
        "log-full",
        "the log takes nothing",
        [
            staged(test_disk.test_a_log_that_takes_nothing_stops_nothing),
            staged(test_disk.test_what_could_not_be_shown_is_shown_when_it_can_be, daemon__rescan="500 ms"),
        ],
    ),
    Fault(
        "reboot",
        "daemon and tmux gone at once",
        [
            staged(test_restarts.test_after_a_reboot_the_work_goes_on),
            *(partial(everything_killed, n) for n in (1, 4, 7)),
        ],
    ),
    Fault(
        "tmux-dies",
        "tmux server dies",
        [
            staged(test_restarts.test_agents_of_a_dead_tmux_server_are_started_anew),
            *(partial(tmux_killed, n, n + 1) for n in (1, 4, 7)),
        ],
    ),
    Fault(
        "tmux-frozen",
        "tmux server stands still",
        [
            staged(test_restarts.test_a_frozen_tmux_server_stalls_no_answer),
            staged(panes.frozen_while_it_spawns),
        ],
    ),
    Fault(
        "agent-ends",
        "agents exit, are signalled, are killed for memory",
        [
            staged(agents.three_ends),
            staged(agents.out_of_memory),
            *(staged(agents.killed_at_work, step, number) for step in STEPS for number in (1, 9, 11, 15)),
        ],
    ),
    Fault(
        "agent-dies-again",
        "an agent dies at once, again and again",
        [
            *(
                staged(
                    agents.ends_at_once,
                    code,
                    0.25,
                    limits__retry_pause="300 ms",
                    limits__max_retry_pause="5 s",
                )
                for code in (1, 127)
            ),
            staged(test_whole_task.test_an_agent_that_crashes_is_started_again_up_to_its_bound),
        ],
    ),
    Fault(
        "agent-silent",
        "an agent shows no progress: each kind",
        [
            staged(scene, **QUIET | more)
            for scene, more in (
                (test_silence.test_a_dialog_becomes_a_question_and_only_the_user_types, {}),
                (test_silence.test_one_that_listens_is_nudged_once_and_by_one_line, {}),
                (test_silence.test_hung_run_is_ended_and_another_continues, {}),
                (test_silence.test_a_moving_spinner_is_no_progress, {}),
                (
                    test_silence.test_computing_run_gets_time_up_to_its_bound,
                    {"limits__max_looks": "3"},
                ),
                (test_silence.test_work_without_a_handoff_is_asked_for, {}),
                (test_silence.test_a_kill_in_the_middle_of_a_nudge_never_types_twice, {}),
            )
        ],
    ),
    Fault(
        "agent-ignores-term",
        "an agent ignores TERM",
        [
            staged(
                test_whole_task.test_silent_agent_that_ignores_term_is_killed,
                limits__inactivity_timeout="500 ms",
                limits__check_in_interval="100 ms",
            ),
            staged(test_user.test_stop_leaves_nothing_alive_and_start_continues),
        ],
    ),
    Fault(
        "agent-floods",
        "an agent floods its screen",
        [staged(test_whole_task.test_a_flood_on_the_screen_stays_bounded)],
    ),
    Fault(
        "pane",
        "a pane in copy mode, dead, closed, renamed",
        [
            staged(panes.copy_mode, **QUIET),
            staged(panes.dead_pane),
            staged(panes.pane_killed),
            staged(panes.all_renamed),
        ],
    ),
    Fault("cli-not-ready", "an agent CLI is not ready, Enter is swallowed", elsewhere=CLIS),
    Fault(
        "half-a-handoff",
        "half a handoff, slow writers, writers that die",
        [
            staged(test_hostile_handoffs.test_a_slow_writer_is_waited_for),
            staged(handoffs.writer_killed),
            *(staged(handoffs.half_written, share) for share in (0, 12, 40, 80)),
        ],
    ),
    Fault(
        "missing-files",
        "a report names files that are not there",
        [staged(test_whole_task.test_a_handoff_that_is_not_one_is_asked_for_again_once, *MISSING)],
    ),
    Fault(
        "no-handoff",
        "an agent ends without a handoff",
        [staged(test_whole_task.test_run_without_handoff_is_asked_then_counts_as_crash)],
    ),
    Fault(
        "many-files",
        "10,000 old handoffs, a burst of artifacts",
        [staged(handoffs.old_handoffs, 10_000), staged(handoffs.artifact_burst, 3_000)],
    ),
    Fault(
        "scribe-killed",
        "the scribe is killed at its writing",
        [staged(handoffs.scribe_killed, moment) for moment in range(30, 330, 20)],
    ),
    Fault(
        "duplicates",
        "one handoff again and again",
        [
            staged(test_hostile_handoffs.test_the_same_report_again_is_taken_once),
            staged(handoffs.many_duplicates, 300),
        ],
    ),
    Fault(
        "hostile-handoffs",
        "what is no handoff, forged ones, hostile names",
        [
            staged(test_hostile_handoffs.test_no_handoff_is_asked_for_again),
            staged(test_hostile_handoffs.test_nobody_speaks_for_another),
            staged(test_hostile_handoffs.test_no_word_of_an_agent_or_of_task_md_is_ever_run),
            staged(test_hostile_handoffs.test_artifacts_with_odd_names_do_not_stop_the_scribe),
            staged(test_user.test_names_that_are_none_are_refused),
            staged(test_user.test_hostile_requests_are_answered_and_stop_nothing),
        ],
    ),
    Fault("remote", "sshd, links and remote machines that fail", elsewhere=REMOTE),
    Fault("model-limits", "usage limits, overload, expired logins", elsewhere=CLIS),
)
