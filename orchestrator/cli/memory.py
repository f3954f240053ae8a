"""`task memory`: searches what was learned in a project, shows it, adds to it, and puts it away."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = """task memory search flaky tests
  task memory show mem_1702311000_abc123
  task memory add 'Run the suite with -n 0' --tag tests
  task memory mark mem_1702311000_abc123 misled
  task memory forget mem_1702311000_abc123   (undo it: --undo)"""
HOW = """\
Memories are plain files, data/memories/ID.json in the project, as
scripts/memory-write.sh writes them; ORCHESTRATOR_DATA names another folder
than data. The nearest folder upwards that has memories is the project.

Found is what has any of the words, by relevance, importance and age; one that
misled sinks. Secrets are masked in all that is shown, added and exported.\
"""
ACTIONS = ("search", "show", "add", "forget", "mark", "export")
_CHANGING = frozenset({"forget", "mark"})


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task memory`."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "action",
        choices=ACTIONS,
        help="search: what has any of the WORDs, all without one; show: one, by its id, with the handoffs that name "
        "it; add: one with this content; forget: move one away, or back with --undo; mark: ID and `misled` "
        "or `sound`; export: all of them as Markdown, or JSON",
    )
    parser.add_argument("words", metavar="WORD", nargs="*", help="what to look for, an id, or a content")
    parser.add_argument(
        "--type",
        choices=("episodic", "procedural", "semantic"),
        help="episodic: what happened; procedural: how to do something; semantic: what holds (add: the default)",
    )
    parser.add_argument(
        "--importance", metavar="NUMBER", help="from 0 to 1; search, export: the least; add: 0.5 without it"
    )
    parser.add_argument(
        "--tag", metavar="TAG", action="append", default=[], help="may be repeated; search: all of them"
    )
    parser.add_argument("--limit", metavar="N", default="20", help="search: how many are shown (20)")
    parser.add_argument("--undo", action="store_true", help="forget: move a forgotten memory back")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--project", metavar="PATH", help="the project, if it is not where you are")
    where.add_argument(
        "--all-projects", action="store_true", help="search, export: in the projects of all tasks"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")


def run(options: Namespace) -> int:
    """Carry out the given action."""
    if options.action in _CHANGING or options.all_projects:
        from orchestrator.cli.caller import forbid_inside_run

        forbid_inside_run(f"memory {options.action}{' --all-projects' if options.all_projects else ''}")
    from orchestrator.cli.memories import run as run_command

    return run_command(options)
