"""A launch rehearsed on a real box: each thing that would keep one from coming to its end has words of its own."""

from __future__ import annotations

import os
import pwd
import re
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import rehearsal
from orchestrator.hosts.ssh.box import BoxFinding
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.rehearsal import rehearse
from orchestrator.hosts.ssh.runs import ROOT
from orchestrator.model.boxes import Address
from tests.remote.boxes import Box, Boxes, may_isolate

BASH = pwd.getpwuid(os.getuid()).pw_shell.endswith("/bash")


def rehearsed(link: Link, cwd: str = "") -> list[BoxFinding]:
    return rehearse(link, cwd, os.environ)


def lies_there(box: Box) -> set[str]:
    """Return all paths in a box's home, and the sockets of its tmux servers."""
    tmux = box.folder / "tmux"
    return {str(path) for folder in (box.home, tmux) for path in folder.rglob("*") if path != tmux}


def test_sound_box_leaves_nothing_to_say_and_nothing_behind(link: Link, box: Box) -> None:
    (box.home / "repo").mkdir()
    assert link.run(["true"]).status == 0
    before = lies_there(box)
    assert rehearsed(link, f"{box.home}/repo") == []
    left = {path for path in lies_there(box) - before if "/tmux/tmux-" not in path}
    assert not left
    assert not [path for path in (box.folder / "tmux").glob("tmux-*/*") if "rehearsal" in path.name]


def test_folder_that_was_there_before_stays(link: Link, box: Box) -> None:
    kept = box.home / ROOT / "tasks"
    kept.mkdir(parents=True)
    assert rehearsed(link) == []
    assert [path.name for path in (box.home / ROOT).iterdir()] == ["tasks"]


@pytest.mark.skipif(not BASH, reason="the login shell is not bash")
@pytest.mark.parametrize(
    ("file", "text", "what", "advice"),
    [
        (".bashrc", "echo Welcome to alpha\n", r"before each command.*Welcome to alpha", r"\$-"),
        (".bash_profile", "exec tmux\n", "login shell there ends before", r"\[ -t 0 \]"),
        (".profile", "exit 3\n", "login shell there ends before", "~/.profile"),
        (".profile", "sleep 60\n", "login shell there does not end", r"\[ -t 0 \]"),
        (".bashrc", "rsync() { return 127; }\n", "rsync did not start", "rsync --version"),
        (".bashrc", "PATH=$HOME/few\n", "tmux opens no window", "tmux"),
    ],
    ids=["banner", "tmux", "exit", "hangs", "no rsync", "no tmux"],
)
def test_fault_has_its_own_words_and_remedy(
    link: Link, box: Box, monkeypatch: pytest.MonkeyPatch, file: str, text: str, what: str, advice: str
) -> None:
    monkeypatch.setattr(rehearsal, "STEP", 4.0)
    few = box.home / "few"
    few.mkdir()
    for name in (
        "sh",
        "bash",
        "dd",
        "id",
        "mkdir",
        "rm",
        "rmdir",
        "find",
        "sleep",
        "readlink",
        "env",
        "rsync",
    ):
        found = next(path for folder in ("/usr/bin", "/bin") if (path := Path(folder, name)).exists())
        (few / name).symlink_to(found)
    (box.home / file).write_text(text)
    (found_there,) = rehearsed(link)
    assert re.search(what, found_there.what)
    assert re.search(advice, found_there.advice)
    assert found_there.stops
    assert not (box.home / ROOT).exists()


def test_profile_that_reads_its_input_is_no_fault(link: Link, box: Box) -> None:
    (box.home / ".profile").write_text("read -r answer\necho hello\n")
    assert rehearsed(link) == []


def test_box_without_sftp_is_said_to_lack_it(boxes: Boxes) -> None:
    box = boxes.add("beta", sftp=False)
    link = Link(Address(box.name), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    try:
        (found,) = rehearsed(link)
    finally:
        link.close()
    assert "SFTP" in found.what
    assert not found.stops, "files are put there all the same"
    assert "Subsystem sftp" in found.advice


@pytest.mark.skipif(not may_isolate(), reason="only root may mount a disk there")
@pytest.mark.parametrize(
    ("where", "kind"), [("root", "size=64k"), ("cwd", "size=64k"), ("root", "nr_inodes=1")], ids=str
)
def test_full_disk_is_said_with_its_place(link: Link, box: Box, where: str, kind: str) -> None:
    """Where it had no room for another folder, "the disk of mkdir" was said to be full."""
    folder = box.home / (ROOT if where == "root" else "repo")
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", kind, "none", str(folder)]
    assert link.run(words).status == 0
    try:
        (found,) = rehearsed(link, f"{box.home}/repo" if where == "cwd" else "")
        assert not link.run(["ls", "-A", str(folder)]).out
    finally:
        link.run(["umount", str(folder)])
    assert "is full" in found.what
    assert str(folder) in found.what
