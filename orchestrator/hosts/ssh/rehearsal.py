"""A rehearsed launch on a box: everything that a launch needs is tried there once, on a small scale, and undone.

What a box says of itself [box.py] does not show whether a launch would succeed: a shell that prints a greeting before
each command spoils rsync, a login that starts tmux never ends, a full disk takes half a file. So a command, a login,
SFTP, rsync both ways and a window of tmux are tried, each for `STEP` seconds at most, and each with advice of its own.
"""

from __future__ import annotations

import re
import secrets
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from orchestrator.hosts.ssh.box import BoxFinding
from orchestrator.hosts.ssh.child import Late, run_child
from orchestrator.hosts.ssh.login import login_environment
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.hosts.ssh.push import push
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.hosts.ssh.sftp import opened, spoken
from orchestrator.model.errors import OrchestratorError, Unavailable
from orchestrator.ports.box_link import MOST, BoxLink, Cut, NoSubsystem, NotLetIn, Unreachable

STEP: Final = 10.0
"""Seconds that each step may take: a person waits for it."""

ALL_WENT_WELL: Final = (
    "a launch was rehearsed: login, room on its disks, SFTP, rsync both ways, a window of tmux"
)

_WRITTEN: Final = 1_048_576
_DATA: Final = b"a launch is rehearsed\n" * 10
_NAME: Final = "rehearsal"
_OURS: Final = re.compile(rf"/(\.orchestrator-)?{_NAME}-[0-9a-f]+")
_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded")
_UNMADE: Final = re.compile(r"^mkdir: [^/]*(/[\w./~ -]*[\w/])")

_LIBRARY: Final = r"""
umask 077
LC_ALL=C
export LC_ALL
root=$HOME/$1 folder=$HOME/$1/$2
"""

# Tries to write where a run's folder would be and where agents work; prints the home and the first folder that had to
# be made. Also removes leftovers of an earlier rehearsal that was killed.
_BEGIN: Final = (
    _LIBRARY
    + r"""
cwd=$3 bytes=$4 made= up=$root
while [ ! -d "$up" ]; do made=$up up=${up%/*}; done
mkdir -p -- "$folder" || exit
find "$root" -maxdepth 1 -name 'rehearsal-*' -mmin +60 -exec rm -rf {} + 2>/dev/null
file=
trap 'rm -f -- "$file"' EXIT
for each in "$folder" ${cwd:+"$cwd"}; do
    file=$each/.orchestrator-$2
    if ! said=$(dd if=/dev/zero of="$file" bs="$bytes" count=1 2>&1); then
        printf '%s: %s\n' "$each" "$said" >&2
        rm -f -- "$file"
        printf '\n%s\n%s\n' "$HOME" "$made"
        exit 4
    fi
    rm -f -- "$file"
done
printf '\n%s\n%s\n' "$HOME" "$made"
"""
)

_END: Final = (
    _LIBRARY
    + r"""
rm -rf -- "$folder"
if [ -z "$3" ]; then exit 0; fi
each=$root
while rmdir -- "$each" 2>/dev/null && [ "$each" != "$3" ]; do each=${each%/*}; done
exit 0
"""
)

_WINDOW: Final = (
    _LIBRARY
    + r"""
unset TMUX
tmux_of=orchestrator-$2
socket=${TMUX_TMPDIR:-/tmp}/tmux-$(id -u)/$tmux_of
trap 'tmux -L "$tmux_of" kill-server 2>/dev/null; rm -f -- "$socket"' EXIT
run=': >"$0/window"; sleep 60'
tmux -u -f /dev/null -L "$tmux_of" new-session -d -s rehearsal -x 80 -y 24 /bin/sh -c "$run" "$folder" || exit
looks=0
while [ ! -e "$folder/window" ]; do
    looks=$((looks + 1))
    if [ "$looks" -gt 50 ]; then echo 'its window ran nothing within 5 s' >&2; exit 1; fi
    sleep 0.1
done
"""
)


def rehearse(link: BoxLink, cwd: str, environ: Mapping[str, str]) -> list[BoxFinding]:
    """Rehearse a launch on a box that has tmux and rsync, and return what is wrong; nothing if all went well.

    `cwd` is the folder in which agents are to work there; empty: none was named. `environ` is that of ssh and rsync.
    Nothing is left behind, there or here.

    Raises:
        Unreachable, NotLetIn: as `Link.run` does.

    """
    name = f"{_NAME}-{secrets.token_hex(8)}"
    found = [*_tried(_plain(link, environ)), *_tried(_login(link))]
    with _stage(link, name, cwd) as (home, problems):
        found += problems
        if problems:
            return found
        folder = f"{home}/{ROOT}/{name}"
        found += _tried(_put(link, folder))
        if not any(each.what.startswith(_UNCLEAN) for each in found):
            found += _tried(_rsync(link, folder, environ))
        found += _tried(_window(link, name))
    return found


_UNCLEAN: Final = "its shell prints"


def _tried(step: Iterator[BoxFinding]) -> list[BoxFinding]:
    """Return the findings of a step. An error that it does not know is a finding too."""
    found = list[BoxFinding]()
    try:
        found.extend(step)
    except Cut as problem:
        if not problem.stands:
            raise
        found.append(BoxFinding(str(problem), stops=True, advice="see on the box what it waits for"))
    except (Unreachable, NotLetIn):
        raise
    except (OrchestratorError, OSError) as problem:
        found.append(BoxFinding(str(problem), stops=True, advice="see above"))
    return found


def _plain(link: BoxLink, environ: Mapping[str, str]) -> Iterator[BoxFinding]:
    """Try a command: it prints its output, and nothing comes before that."""
    command = shlex.join(["ssh", *link.address.words(), "true"])
    files = "what a shell reads that runs a command (~/.bashrc, ~/.zshenv)"
    try:
        with link.shell(STEP) as words:
            asked = [*words, "--", "box", "true"]
            ended = run_child(asked, stdin=b"", deadline=STEP, most=MOST, environ=environ)
    except Late:
        yield BoxFinding(
            f"`{command}` does not end within {STEP:.0f} s",
            stops=True,
            advice=f"find what waits in {files}",
        )
        return
    if ended.out:
        first = ended.out.decode(errors="replace").strip().split("\n")[0][:60]
        yield BoxFinding(
            f"{_UNCLEAN} before each command ({first!a}), which spoils rsync: `{command}` must print nothing",
            stops=True,
            advice=f"print it only in shells with a terminal, in {files}: case $- in *i*) … ;; esac",
        )


def _login(link: BoxLink) -> Iterator[BoxFinding]:
    """Try a login shell: it ends, and prints its environment."""
    files = "what a login shell reads there (~/.profile, ~/.bash_profile, ~/.zprofile)"
    advice = f"in {files} start tmux, `read` or `exec` only where there is a terminal: if [ -t 0 ]; then … fi"
    try:
        login_environment(link, deadline=STEP)
    except Cut as problem:
        if not problem.stands:
            raise
        yield BoxFinding(f"a login shell there does not end within {STEP:.0f} s", stops=True, advice=advice)
    except (Unreachable, NotLetIn):
        raise
    except Unavailable:
        yield BoxFinding("a login shell there ends before it has run a command", stops=True, advice=advice)


@contextmanager
def _stage(link: BoxLink, name: str, cwd: str) -> Iterator[tuple[str, list[BoxFinding]]]:
    """Yield the home there, with a folder of ours for the other steps; and what prevents files from being written."""
    ended = link.run(["sh", "-c", _BEGIN, "sh", ROOT, name, cwd, str(_WRITTEN)], deadline=STEP)
    lines = ended.out.decode(errors="replace").split("\n")
    home, made = (lines[-3], lines[-2]) if len(lines) >= 3 else ("", "")  # noqa: PLR2004 (a line for each, and the end)
    try:
        yield home, [] if not ended.status and home.startswith("/") else [_unwritable(ended.err)]
    finally:
        with suppress(Unavailable):
            link.run(["sh", "-c", _END, "sh", ROOT, name, made], deadline=STEP)


def _unwritable(said: bytes) -> BoxFinding:
    text = _OURS.sub("", " ".join(said.decode(errors="replace").split()))[:300]
    if _FULL.search(text):
        # Of a folder that could not be made, mkdir names itself first.
        unmade = _UNMADE.search(text)
        where = unmade[1] if unmade else text.partition(": ")[0]
        what = "no folder could be made" if unmade else "1 MB could not be written"
        return BoxFinding(f"the disk of {where} is full: {what}", stops=True, advice="make room there")
    return BoxFinding(
        f"no file can be written: {text}", stops=True, advice="give this user the right to write there"
    )


def _put(link: BoxLink, folder: str) -> Iterator[BoxFinding]:
    """Try to write a file there whole, by SFTP or, if a box has none, by a plain command."""
    try:
        with spoken(link, STEP) as there:
            there.put(f"{folder}/put", _DATA)
    except NoSubsystem:
        yield BoxFinding(
            "its sshd has no SFTP: files are written there by plain commands, which takes longer",
            stops=False,
            advice="to have it, in its sshd_config: Subsystem sftp internal-sftp",
        )
        with opened(link, STEP) as there:
            there.put(f"{folder}/put", _DATA)
    except Unreachable:
        raise
    except Unavailable as problem:
        yield BoxFinding(f"SFTP fails: {problem}", stops=True, advice="see its sshd's log")


def _rsync(link: BoxLink, folder: str, environ: Mapping[str, str]) -> Iterator[BoxFinding]:
    """Try to send a file there by rsync, and fetch it back unchanged."""
    with tempfile.TemporaryDirectory(prefix="orchestrator-") as here:
        sent = Path(here, "sent", "rsync")
        sent.mkdir(parents=True)
        (sent / "file").write_bytes(_DATA)
        try:
            push(link, sent.parent, [sent.name], folder, environ, deadline=STEP)
            Mirror(link, Path(here, "came"), environ).bring([f"{folder}/./rsync"], deadline=STEP)
        except Unreachable:
            raise
        except Unavailable as problem:
            command = shlex.join(["ssh", *link.address.words(), "rsync", "--version"])
            yield BoxFinding(
                f"rsync fails: {problem}", stops=True, advice=f"this must print its version: {command}"
            )
            return
        came = Path(here, "came", "rsync", "file")
        if not came.is_file() or came.read_bytes() != _DATA:
            yield BoxFinding(
                "rsync fetched a different file than was sent", stops=True, advice="see its rsync"
            )


def _window(link: BoxLink, name: str) -> Iterator[BoxFinding]:
    """Try to open a window of tmux that runs something, and close it, on a server of its own."""
    ended = link.run(["sh", "-c", _WINDOW, "sh", ROOT, name], deadline=STEP)
    if ended.status:
        message = " ".join(ended.err.decode(errors="replace").split())[-200:]
        command = f"tmux -L {_NAME} -f /dev/null new-session -d true"
        yield BoxFinding(
            f"tmux opens no window: {message}", stops=True, advice=f"this must print nothing there: {command}"
        )
