"""`task skill`: lists composite skills, and carries one out step by step, from inside a session of an agent CLI."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """task skill list
  task skill show develop-project --json
  task skill run develop-project 'Add an export as CSV'
  task skill run 'Build a parser for our log files'   (finds the skill)
  task skill entry --state FILE                       (goes on)
  task skill run --daemon develop-project 'Add an export as CSV'
  task skill run --daemon --state FILE                (the daemon goes on)
  task skill run --state FILE                         (commands go on)"""
HOW = """\
A composite skill is a list of phases, each the work of one agent, in a file:
protocols/skill/composite/NAME/config.yaml in the project, NAME/config.yaml in
`skills` beside the settings, or one that ships. `run` begins a session and
prints a directive: the command that comes next. Each command does one step,
saves the session in its state file, and prints the next directive, for an
agent CLI to follow.

A phase ends when its agent's memory file exists and is complete: it says whose
it is, its sections Summary and Output hold text, and its last line is
`**Status:** COMPLETE`. There is no way round it.

With `run --daemon` the session is a task: the daemon spawns the agent of each
phase in a pane, as in all tasks, and writes the state file. With --state and
no request it takes over a session at the step where it stands. Once that task
is at rest (stopped, complete in part), `run --state FILE` takes the session
back: commands drive it again, and the task is over.

A session that was interrupted goes on by `entry`, at the same step. Commands
that the protocol names (dispatcher, entry, step_1_generate_task_id, …,
advance_phase, complete) also lie in scripts/skill-orchestration.\
"""
ACTIONS = (
    "list",
    "show",
    "run",
    "dispatcher",
    "entry",
    "step_1_generate_task_id",
    "step_2_classify_domain",
    "step_3_read_skill",
    "step_4_create_memory",
    "step_5_trigger_agents",
    "step_6_complete_workflow",
    "advance_phase",
    "complete",
)


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task skill`."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "action",
        metavar="ACTION",
        choices=ACTIONS,
        help="list: all composite skills; show: one, by its name; run: begin a session, with the name of a skill and "
        "a request, or with a request alone; dispatcher: the same, and the directive for `entry` only; entry: the "
        "directive of the step that comes next; step_1_generate_task_id to step_6_complete_workflow: do that step; "
        "advance_phase: end the phase at work; complete: end the session",
    )
    parser.add_argument("words", metavar="WORD", nargs="*", help="the name of a skill, a request")
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="the session's state file; run, dispatcher: where to keep it, by default "
        "skill-orchestration/state/skill-orchestration-SESSION.json in the project",
    )
    parser.add_argument(
        "--route", metavar="PROTOCOL", choices=("skill-orchestration",), help="dispatcher: the protocol"
    )
    parser.add_argument(
        "--domain",
        metavar="DOMAIN",
        choices=("technical", "personal", "creative", "professional"),
        help="step_2_classify_domain: technical, personal, creative or professional, if the rules are not to say",
    )
    parser.add_argument(
        "--daemon",
        action="store_true",
        help="run: have the daemon drive the session, as a task; with --state and no request: that session, from the "
        "step at which it stands",
    )
    parser.add_argument("--project", metavar="PATH", help="the project's folder, if you are not in it")
    parser.add_argument(
        "--json", action="store_true", help="list, show: one JSON document (`task help json`)"
    )


def run(options: Namespace) -> int:
    """Carry out the given action. Only a session of its own is an agent's to drive: it has no agents spawned."""
    if options.daemon:
        from orchestrator.cli.caller import forbid_inside_run

        forbid_inside_run("skill run --daemon")
    from orchestrator.cli.skill_commands import run as run_command

    return run_command(options)
