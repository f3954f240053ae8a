"""Commits of a repository on a box, brought into one here by git over the shared connection: nothing changes there.

They come into a repository of their own first, which shares the objects that are here. So what is too much, or is cut
off, leaves nothing behind in the user's repository; git itself keeps what it had received.
"""

from __future__ import annotations

import re
import shlex
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from orchestrator.hosts.ssh.login_shell import line_of
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import BoxLink
from orchestrator.workspaces.git_process import Git, GitFailed, GitLate, GitTooLoud

DEADLINE: Final = 300.0
"""Seconds that one fetch may take; what was brought until then is not kept."""

LARGEST: Final = 1_073_741_824
"""The maximum number of bytes that one fetch may bring, as git packs them."""

PRINTED: Final = 1_048_576
"""The maximum number of bytes that git may print meanwhile, with what the box says by its sideband."""

TREE: Final = 8_589_934_592
FILES: Final = 1_000_000
"""The maximum number of bytes and of files of a commit that is brought: packed, they may be a thousandth of that."""

MEMORY: Final = 2_147_483_648
"""The maximum number of bytes of memory for each git that talks with one on a box, which may name refs without end."""

_OPTIONS: Final = (
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
)
_BROUGHT: Final = "refs/heads/brought"
_SETTINGS: Final = "[fetch]\n\tunpackLimit = 1\n"  # one file, whose size is limited
_UPLOAD: Final = 'exec git-upload-pack "$1"'
_PIECE: Final = 1_048_576
_PAGE: Final = 4096  # bytes that a file may lack of its limit when its writer was ended by it
_ENDS: Final = 5.0  # seconds
_REF: Final = re.compile(r"refs/tasks/[A-Za-z0-9/_-]{1,400}")
_SIZE: Final = re.compile(rb"[0-7]{6} [a-z]+ [0-9a-f]+ +([0-9]+|-)\t")
_NO_MEMORY: Final = ("ut of memory", "annot allocate memory", "mmap failed")
_REFUSES: Final = (
    "not a git repository",
    "couldn't find remote ref",
    "dubious ownership",
    "does not appear to be",
)


def fetch_head(  # noqa: PLR0913, PLR0917 (from where, to where, and how much)
    link: BoxLink,
    there: str,
    project: Path,
    ref: str,
    environ: Mapping[str, str],
    quarantine: Path,
    deadline: float = DEADLINE,
    largest: int = LARGEST,
    tree: int = TREE,
    memory: int = MEMORY,
) -> str:
    """Bring HEAD of the repository `there` into `ref` of the one at `project`; return its commit.

    No tags, no submodules, no hooks; objects are checked as they come. `quarantine` is a folder for them until then.
    `deadline` is in seconds for each step, `largest`, `tree` and `memory` are in bytes.

    Raises:
        Refused: there is no repository, or no commit in it, or it is too much.
        Cut: the connection ended in the middle: nothing was brought.
        Unreachable, NotLetIn: as `Link.run`.
        Unavailable: git failed here.

    """
    if not there.startswith("/") or not _REF.fullmatch(ref):
        raise Refused(f"{there[:80]!a} cannot be brought into {ref[:80]!a}")
    quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
    here = Git(project, deadline, environ)
    with TemporaryDirectory(dir=quarantine, prefix="fetch-") as made:
        apart = Path(made)
        borrow_objects(here, Git(apart, deadline, environ), apart)
        _receive(
            link, there, apart, Git(apart, deadline, environ, {"GIT_DIR": made}, largest, PRINTED, memory)
        )
        _check(link, there, Git(apart, deadline, environ, {"GIT_DIR": made}), tree)
        here.run("fetch", *_OPTIONS, "--", made, f"+{_BROUGHT}:{ref}")
    return here.ask("rev-parse", "--verify", "--end-of-options", f"{ref}^{{commit}}")


def too_loud(link: BoxLink, there: str) -> str:
    """Return why an exchange of commits with a box was ended whose git prints without end."""
    return f"{link.address}: git of {there} printed more than {PRINTED:,} bytes, and was ended"


def is_out_of_memory(said: str) -> bool:
    """Return whether git ended because it was granted no more memory."""
    return any(each in said for each in _NO_MEMORY)


def too_much_memory(link: BoxLink, there: str, memory: int) -> str:
    """Return why an exchange of commits with a box was refused for which git needs too much memory."""
    return (
        f"{link.address}: git here would need more than {memory:,} bytes of memory for {there}: its refs or its "
        "commits are too many or too large"
    )


def borrow_objects(here: Git, git: Git, apart: Path) -> None:
    """Make a repository at `apart`, where `git` runs, that shares the objects of the one here. Raises Unavailable."""
    asked = (
        "--path-format=absolute",
        "--git-path",
        "objects",
        "--git-path",
        "shallow",
        "--show-object-format",
    )
    objects, shallow, kind = here.ask("rev-parse", *asked).splitlines()[-3:]
    git.run("init", "--bare", "--quiet", "--template=", f"--object-format={kind}", str(apart))
    try:
        info = apart / "objects/info"
        info.mkdir(exist_ok=True)
        (info / "alternates").write_text(f"{objects}\n", errors="surrogateescape")
        with (apart / "config").open("a") as config:
            config.write(_SETTINGS)
        if Path(shallow).exists():
            shutil.copyfile(shallow, apart / "shallow")
    except OSError as problem:
        raise Unavailable(f"commits cannot be exchanged with a box: {problem}") from problem


def _receive(link: BoxLink, there: str, apart: Path, git: Git) -> None:
    """Fetch HEAD of the repository there. Raises as `fetch_head`."""
    # git would quote the path for a POSIX shell, and an account may have another one. So it names no path, and the
    # command that it runs there has the path in it.
    upload = line_of(["sh", "-c", _UPLOAD, "sh", there])
    with link.shell() as words:
        ssh = {"GIT_SSH_COMMAND": shlex.join(words), "GIT_SSH_VARIANT": "ssh"}
        git = replace(git, variables={**git.variables, **ssh})
        try:
            git.run("fetch", *_OPTIONS, f"--upload-pack={upload}", "--", "ssh://box/", f"+HEAD:{_BROUGHT}")
        except GitLate as problem:
            raise link.cut_off(str(problem)) from None
        except GitTooLoud:
            raise Unavailable(too_loud(link, there)) from None
        except GitFailed as problem:
            said = problem.said.strip()
            if is_out_of_memory(said):
                raise Refused(too_much_memory(link, there, git.memory)) from None
            if any(path.stat().st_size >= git.largest - _PAGE for path in apart.glob("objects/pack/tmp_*")):
                much = f"more than {git.largest:,} bytes"
                raise Refused(
                    f"{link.address}: the commits of {there} are {much}: too much to be brought"
                ) from None
            if any(each in said for each in _REFUSES):
                raise Refused(
                    f"{link.address}: {there} has no commit that could be brought ({said[-200:]!a})"
                ) from None
            raise Unavailable(f"{link.address}: git could not bring {there} ({said[-200:]!a})") from None


def _check(link: BoxLink, there: str, git: Git, tree: int) -> None:
    """Look how large the files of the commit are, which may be packed to next to nothing. Raises Refused, GitLate."""
    size, files, rest, until = 0, 0, b"", time.monotonic() + git.deadline
    with git.stream("ls-tree", "-r", "-l", "-z", "--full-tree", _BROUGHT) as listing:
        assert listing.stdout is not None  # noqa: S101 - PIPE was asked for
        try:
            while piece := listing.stdout.read(_PIECE):
                *lines, rest = (rest + piece).split(b"\0")
                found = [_SIZE.match(line) for line in lines]
                files += len(lines)
                size += sum(int(each[1]) for each in found if each and each[1] != b"-")
                if size > tree or files > FILES:
                    raise Refused(
                        f"{link.address}: HEAD of {there} has more than {tree:,} bytes or {FILES:,} files: too much to "
                        "be brought"
                    )
                if time.monotonic() > until:
                    raise GitLate(
                        f"the files of HEAD of {there} could not be listed within {git.deadline:g} s"
                    )
            if listing.wait(_ENDS):
                raise Unavailable(f"{link.address}: the files of HEAD of {there} cannot be listed")
        finally:
            listing.kill()
