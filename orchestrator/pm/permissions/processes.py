"""Ending and watching processes: a run may end what the same command line started, and nothing else."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import OWN_PROCESS
from orchestrator.pm.permissions.finding import Finding

_SIGNAL: Final = re.compile(r"-(?:[0-9]{1,2}|(?:SIG)?[A-Z]{3,6}[0-9+-]*|[a-z]{3,6})")
_JOB: Final = re.compile(r"%(?:[0-9]{1,3}|[%+-])?")
_ENDS: Final = (
    "ends what this command line did not start: end a job of it by `kill %1`, or by `kill $!` where it began"
)
_READS_ENVIRONMENT: Final = re.compile(r"-?[A-Za-z]*e[A-Za-z]*")


def ending(call: Call) -> Finding:
    """Return the finding on `kill`."""
    texts, at = call.texts, 0
    if texts[:1] in (("-l",), ("-L",), ("--list",)):
        return call.allow("only lists signals")
    checks = False
    while at < len(texts) and texts[at].startswith("-") and texts[at] != "--":
        checks = checks or texts[at] == "-0"
        if texts[at] in {"-s", "-n", "--signal"}:
            at += 1
        elif not _SIGNAL.fullmatch(texts[at]):
            return call.deny(_ENDS)
        at += 1
    targets = [text for text in texts[at:] if text != "--"]
    if checks:
        return call.allow("only asks whether a process lives")
    if targets and all(_JOB.fullmatch(text) or text == OWN_PROCESS for text in targets):
        return call.allow("ends what this command line started")
    return call.deny(_ENDS)


def listing(call: Call) -> Finding:
    """Return the finding on `ps`, which may show the environment of other processes."""
    shows = [text for text in call.texts[:1] if not text.startswith("-")] + [
        text for text in call.texts if text in {"e", "eww", "-E", "environ"}
    ]
    if any(_READS_ENVIRONMENT.fullmatch(text) for text in shows if "e" in text):
        return call.doubt("shows the environment of processes")
    return call.allow("only reads")
