"""`task observe`: how the pipeline does, by the archive of handoffs and the journals of all tasks.

It reads only, but with `--merge`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` costs a third of an interpreter's start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLE = "task observe   (of a week: task observe --days 7 --details)"
HOW = """\
It reads data/handoffs of the project, the archive that daemon.archive names,
and the journals of its tasks, of any family and archived ones too: a step that
passed or failed is a handoff from its agent to the next. Days are UTC. It
changes nothing.

With --merge it takes what another archive of handoffs has, that of another
daemon, into the project's data/handoffs, or with --all-projects into the one
that daemon.archive names. Merging again changes nothing. Where both have an id
and neither goes on from the other, both stay: one under a name that begins
with conflict_.\
"""

FORMS = {
    "--markdown": "the report, as it is printed",
    "--html": "a page for a browser",
    "--prometheus": "metrics, for the textfile collector of a node exporter",
}
"""Forms of the report that are meant for a file."""


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task observe`."""
    parser.description = f"{parser.description}\n\n{HOW}"
    parser.add_argument(
        "--date", metavar="DATE", help="the last day of the report, such as 2025-12-11; today without it"
    )
    parser.add_argument("--days", metavar="N", default="1", help="how many days, up to that one (1)")
    parser.add_argument(
        "--details",
        action="store_true",
        help="also percentiles, success, rework, severities by day, questions, dead time, tokens, cost, what is stuck",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--project", metavar="PATH", help="the project, if it is not where you are")
    where.add_argument("--all-projects", action="store_true", help="the projects of all tasks")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON document (`task help json`)")
    form.add_argument("--merge", metavar="FOLDER", help="no report: take what the archive in FOLDER has")
    for option, what in FORMS.items():
        form.add_argument(option, metavar="FILE", nargs="?", const="-", help=f"{what}: into FILE, or printed")
    form.add_argument(
        "--otlp",
        metavar="URL",
        nargs="?",
        const="",
        help="send the traces of what ended to OpenTelemetry's collector at URL, or where observer.traces says",
    )
    parser.add_argument(
        "--unsent",
        action="store_true",
        help="with --otlp and --all-projects: no days, but what has ended since this was last done",
    )


def run(options: Namespace) -> int:
    """Read archive and journals, and print the report."""
    if options.merge is not None:
        from orchestrator.cli.archive_merging import run as run_merge

        return run_merge(options)
    if options.otlp is not None or options.unsent:
        from orchestrator.cli.trace_sending import run as run_sending

        return run_sending(options)
    from orchestrator.cli.observing import run as run_command

    return run_command(options)
