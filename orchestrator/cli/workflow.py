"""`task workflow`: designs a workflow of several agents, checks, approves and shows it, and edits a running one."""

from __future__ import annotations

from orchestrator.cli.caller import forbid_inside_run

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """task workflow new add_users
  task workflow check add_users
  task workflow show add_users --format mermaid
  task workflow approve add_users
  task start add_users
  task workflow adapt add_users edits.json --why 'the driver is slow'"""
HOW = """\
A workflow is a plan of agents that need each other's work, each judged by a
verifier. It is a folder of plain files, tasks/NAME/orchestration/: the plan
(workflow_coordination_plan.md, prose with one block of YAML), a summary of
what was agreed on, and the instructions of each agent. Begin with `new`, edit
the files, `check` them until nothing is missing, then `approve` them.

An approval signs the plan, the instructions and the definitions of its
agents, not the contents of programs that these name. Bounds, groups,
max_parallel and prose may change; when anything else does, the approval is
void, and `check` says so. `task start`
carries out what is approved (`family: workflow` in task.md), and nothing else.

While it runs, `adapt` edits the plan: all edits of a file or none, and only
what they name changes. What is verified stays verified, unless it is itself
instructed anew; an agent at work is ended and goes on in its tree with what is
new. `adapt` without a file shows how one looks.\
"""
FORMATS = ("text", "mermaid", "dot")
_READ_ONLY = frozenset({"check", "show"})


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task workflow`."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "action",
        choices=("new", "design", "check", "approve", "show", "adapt", "archive"),
        help="new: write a first design of three agents, to be edited; design: begin the conversation that comes "
        "next, with a persona in an agent CLI; check: say what is wrong with a design, with "
        "file, line and correction, exit 1 if it must not or cannot be run; approve: check it, sign it, and create the "
        "agents' folders and shared_status.json; show: draw it, with the status of each agent; adapt: edit the plan "
        "while it runs; archive: put the agents' sessions away, under names of their own",
    )
    parser.add_argument("name", metavar="NAME", help="the task")
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        default="",
        help="adapt: the edits, in JSON; `-` reads standard input",
    )
    parser.add_argument("--why", metavar="TEXT", default="", help="adapt: the reason, for the record")
    parser.add_argument(
        "--base", metavar="HASH", default="", help="adapt: refuse the edits if the plan is another one by now"
    )
    parser.add_argument(
        "--persona",
        metavar="PERSONA",
        choices=("plan-developer", "workflow-designer", "risk-assessment", "design-verifier"),
        help="design: whom to talk to (plan-developer, workflow-designer, risk-assessment, design-verifier); "
        "by default whoever comes next",
    )
    parser.add_argument(
        "--cli",
        metavar="CLI",
        choices=("claude", "gemini", "opencode"),
        help="design: in which agent CLI (claude, gemini, opencode); by default the first found",
    )
    parser.add_argument("--project", metavar="PATH", help="the project's folder, if you are not in it")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="show: as text (the default), as a Mermaid flowchart, or in Graphviz's language",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Carry out the given action."""
    if options.action not in _READ_ONLY:
        forbid_inside_run(f"workflow {options.action}")
    if options.format is not None and (options.action != "show" or options.json):
        from orchestrator.cli.exits import CommandError, Exit

        raise CommandError(Exit.USAGE, "--format only belongs to `task workflow show` without --json")
    _refuse_strays(options)
    if options.action == "design":
        from orchestrator.cli.workflow_designing import design

        return design(options)
    if options.action in {"adapt", "archive"}:
        from orchestrator.cli import workflow_running

        return (
            workflow_running.adapt(options)
            if options.action == "adapt"
            else workflow_running.archive(options)
        )
    from orchestrator.cli import workflow_design

    match options.action:
        case "new":
            return workflow_design.new(options)
        case "check":
            return workflow_design.check(options)
        case "approve":
            return workflow_design.approve(options)
        case _:
            return workflow_design.show(options)


_BELONGS = {"file": "adapt", "why": "adapt", "base": "adapt", "persona": "design", "cli": "design"}
"""Which action an option belongs to."""


def _refuse_strays(options: Namespace) -> None:
    for word, action in _BELONGS.items():
        if getattr(options, word) and options.action != action:
            from orchestrator.cli.exits import CommandError, Exit

            given = "FILE" if word == "file" else f"--{word}"
            raise CommandError(Exit.USAGE, f"{given} only belongs to `task workflow {action}`")
