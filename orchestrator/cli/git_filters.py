"""What is said of the git filters that a project's files ask for: whether agents' trees have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.screen import typed
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.filters import WantedFilter, wanted_filters
from orchestrator.workspaces.repository import Repository

TOPIC: Final = "git filter"
_UNFILTERED: Final = "agents find files as git stores them, and what they write there is stored as it is"
_LFS: Final = "git lfs install"


def filters_at(repository: Repository, commit: str, path: str) -> tuple[WantedFilter, ...]:
    """Return the filters that a commit asks for; none if git cannot tell: other checks report that."""
    try:
        return wanted_filters(repository, commit, path)
    except (Refused, Unavailable):
        return ()


def of_filters(wanted: Iterable[WantedFilter], project: Path | str) -> Iterator[Finding]:
    """Yield a finding for each filter. No command that a repository names is offered for typing."""
    for each in wanted:
        topic, name = f"{TOPIC} {each.name}", f"^filter[.]{re.escape(each.name)}[.]"
        lfs = _LFS if each.name == "lfs" else ""
        if each.lacking:
            mend = "install git-lfs with your package manager" if lfs else ""
            yield Finding(topic, Severity.WARN, f"{each.lacking}, which it runs, is not on the PATH", mend)
        elif each.own:
            yield Finding(topic, Severity.OK, f"runs for agents' trees, as you set it: {each.own}")
        elif each.theirs:
            look = typed("git", "-C", project, "config", "--show-origin", "--get-regexp", name)
            text = "is set in this repository alone, where any agent could set it, and is not run: "
            yield Finding(
                topic,
                Severity.WARN,
                f"{text}{_UNFILTERED}; if you want it, set it with --global",
                lfs or look,
            )
        else:
            yield Finding(
                topic, Severity.WARN, f"is asked for by .gitattributes, and not set: {_UNFILTERED}", lfs
            )
