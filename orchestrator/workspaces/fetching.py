"""Commits of a repository on a box, brought into one here by git over the shared connection: nothing changes there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.link_state import Cut
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.workspaces.git_process import Git, GitFailed, GitLate

DEADLINE: Final = 300.0
"""Seconds that one fetch may take; what was brought until then git does not keep."""

_OPTIONS: Final = (
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
)
_REF: Final = re.compile(r"refs/tasks/[A-Za-z0-9/_-]{1,400}")
_REFUSES: Final = (
    "not a git repository",
    "couldn't find remote ref",
    "dubious ownership",
    "does not appear to be",
)


def fetch_head(
    link: Link, there: str, project: Path, ref: str, environ: Mapping[str, str], deadline: float = DEADLINE
) -> str:
    """Bring HEAD of the repository `there` into `ref` of the one at `project`; return its commit.

    No tags, no submodules, no hooks; objects are checked as they come. `deadline` is in seconds.

    Raises:
        Refused: there is no repository, or no commit in it.
        Cut: the connection ended in the middle: nothing was brought.
        Unreachable, NotLetIn: as `Link.run`.
        Unavailable: git failed here.

    """
    if not there.startswith("/") or not _REF.fullmatch(ref):
        raise Refused(f"{there[:80]!a} cannot be brought into {ref[:80]!a}")
    with link.shell() as words:
        own = {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}
        git = Git(project, deadline, environ, own)
        try:
            git.run("fetch", *_OPTIONS, "--", f"ssh://box{quote(there)}", f"+HEAD:{ref}")
        except GitLate as problem:
            raise Cut(f"{link.address}: {problem}") from None
        except GitFailed as problem:
            said = problem.said.strip()
            if any(each in said for each in _REFUSES):
                raise Refused(
                    f"{link.address}: {there} has no commit that could be brought ({said[-200:]!a})"
                ) from None
            raise Unavailable(f"{link.address}: git could not bring {there} ({said[-200:]!a})") from None
    return git.ask("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")
