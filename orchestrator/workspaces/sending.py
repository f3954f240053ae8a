"""A commit of a repository here, sent by git into a ref of ours in one on a box, over the shared connection.

Only what that repository lacks is sent. Nothing is checked out there, and no branch of its user's is moved. It is sent
from a repository of our own, which shares the objects that are here: no setting of the user's repository counts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import BoxLink
from orchestrator.workspaces.fetching import (
    DEADLINE,
    LARGEST,
    MEMORY,
    PRINTED,
    borrow_objects,
    is_out_of_memory,
    too_loud,
    too_much_memory,
)
from orchestrator.workspaces.git_process import Git, GitFailed, GitLate, GitTooLoud
from orchestrator.workspaces.repository import checked_commit

REF: Final = re.compile(r"refs/orchestrator/[A-Za-z0-9/_-]{1,400}")
"""The refs on a box that are ours to write."""

_OPTIONS: Final = (
    "--quiet",
    "--force",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    "--recurse-submodules=no",
)
# No hook of that repository runs, and its git counts what comes and looks at each object.
_RECEIVE: Final = (
    'exec git -c core.hooksPath=/dev/null -c receive.maxInputSize="$2" -c receive.fsckObjects=true '
    '-c receive.autoGC=false -c gc.auto=0 -c maintenance.auto=false receive-pack "$1"'
)
_TOO_MUCH: Final = "exceeds maximum allowed size"
_REFUSES: Final = ("not a git repository", "dubious ownership", "does not appear to be", "not found")


def send_commit(  # noqa: PLR0913, PLR0917 (from where, to where, and how much)
    link: BoxLink,
    there: str,
    project: Path,
    commit: str,
    ref: str,
    environ: Mapping[str, str],
    quarantine: Path,
    deadline: float = DEADLINE,
    largest: int = LARGEST,
    memory: int = MEMORY,
) -> None:
    """Let `ref` of the repository `there` be at a commit of the repository at `project`.

    It may be repeated: what is there is not sent again. Cut off, git there drops what had come. `quarantine` is a
    folder for files of ours, `deadline` is in seconds for each step, `largest` in bytes as git packs them, `memory` in
    bytes.

    Raises:
        Refused: there is no repository, or it is too much.
        Cut: the connection ended in the middle, or it took too long.
        Unreachable, NotLetIn: as `Link.run`.
        Unavailable: git failed, here or there.

    """
    if not there.startswith("/") or not REF.fullmatch(ref):
        raise Refused(f"no commit can be sent to {ref[:80]!a} of {there[:80]!a}")
    quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=quarantine, prefix="send-") as made:
        apart = Path(made)
        borrow_objects(Git(project, deadline, environ), Git(apart, deadline, environ), apart)
        # git would quote the path for a POSIX shell: see `fetching`.
        receive = line_of(["sh", "-c", _RECEIVE, "sh", there, str(largest)])
        with link.shell() as words:
            ssh = {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}
            git = Git(apart, deadline, environ, {"GIT_DIR": made, **ssh}, prints=PRINTED, memory=memory)
            to = f"{checked_commit(commit)}:{ref}"
            try:
                git.run("push", *_OPTIONS, f"--receive-pack={receive}", "--", "ssh://box/", to)
            except GitLate as problem:
                raise link.cut_off(str(problem)) from None
            except GitTooLoud:
                raise Unavailable(too_loud(link, there)) from None
            except GitFailed as problem:
                if is_out_of_memory(problem.said):
                    raise Refused(too_much_memory(link, there, memory)) from None
                raise _failed(link, there, commit, problem.said.strip(), largest) from None


def _failed(link: BoxLink, there: str, commit: str, said: str, largest: int) -> Refused | Unavailable:
    """Return the error for a push that failed; what git or the box `said` is data."""
    what = f"{link.address}: commit {commit[:12]} could not be sent to {there}"
    if _TOO_MUCH in said:
        return Refused(f"{what}: what it lacks is more than {largest:,} bytes")
    if any(each in said for each in _REFUSES):
        return Refused(f"{what}: there is no repository that takes it ({said[-200:]!a})")
    return Unavailable(f"{what} ({said[-200:]!a})")
