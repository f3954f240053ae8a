"""What a real box tells of itself."""

import os
import shutil
import subprocess
import time

from orchestrator.hosts.ssh.box import findings, question, read_box
from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from tests.remote.boxes import Boxes


def test_box_is_examined_in_one_round_trip(boxes: Boxes) -> None:
    """A box is asked in one round trip whatever its folder is called."""
    box = boxes.add("alpha")
    cwd = box.home / "-n $(touch x) 'q' \n two"
    cwd.mkdir()
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    programs = ["sh", "sed", "no-such-program"]
    asked = time.time()
    ended = link.run(question(str(cwd), programs))
    found = read_box(ended.out.decode(), programs, asked, time.time())
    link.close()
    assert (found.home, found.cwd, found.offset) == (str(box.home), "writable", 0)
    assert abs(found.disk - shutil.disk_usage(box.home).free) < 2**30
    assert found.tmux.startswith("tmux ")
    assert found.rsync.startswith("rsync ")
    assert found.git.startswith("git version ")
    assert found.programs["no-such-program"] is None
    assert "sed" in str(found.programs["sed"])
    assert [each.what for each in findings(found, "there") if each.stops] == [
        "no-such-program is not on the PATH of a login"
    ]
    assert list(box.home.iterdir()) == [cwd]


def test_a_clone_is_asked_whether_it_builds_on_a_commit(boxes: Boxes) -> None:
    box = boxes.add("alpha")
    clone, empty = box.home / "clone", box.home / "empty"
    hashes = []
    for folder in (clone, box.home / "other"):
        git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@localhost"]
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", folder.name], check=True)
        hashes.append(
            subprocess.run(
                [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
            ).stdout.strip()
        )
    empty.mkdir()
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    answers = []
    for cwd, base in ((clone, hashes[0]), (clone, hashes[1]), (empty, hashes[0]), (clone, "")):
        asked = time.time()
        ended = link.run(question(str(cwd), [], base=base))
        found = read_box(ended.out.decode(), [], asked, time.time())
        answers.append((found.head, found.apart))
    link.close()
    assert answers == [(hashes[0], False), (hashes[0], True), ("", True), ("", False)]


def test_command_is_looked_up_where_it_would_run(boxes: Boxes) -> None:
    """A command is looked for where it would work and never run."""
    box = boxes.add("alpha")
    cwd = box.home / "work"
    (cwd / "a b").mkdir(parents=True)
    for name in ("a b/run", "-n", "plain"):
        (cwd / name).write_text("#!/bin/sh\ntouch was-run\n")
        (cwd / name).chmod(0o755)
    (cwd / "plain").chmod(0o644)
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    commands = [
        "a b/run",
        "./-n",
        f"{cwd}/a b/run",
        "sh",
        "./plain",
        "a b/",
        "./gone",
        "run",
        "-n",
        "no-such-x",
    ]
    asked = time.time()
    ended = link.run(question(str(cwd), ["sed"], commands))
    found = read_box(ended.out.decode(), ["sed"], asked, time.time(), commands=commands)
    link.close()
    assert [name for name, there in found.commands.items() if there] == commands[:4]
    assert not list(box.home.rglob("was-run"))


def test_program_without_version_is_not_waited_for(boxes: Boxes) -> None:
    """A program that never tells its version is not waited for."""
    box = boxes.add("alpha")
    (box.home / "bin").mkdir()
    slow = box.home / "bin" / "slow-cli"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    words = ["env", f"PATH={box.home}/bin:{os.environ['PATH']}", *question("", ["slow-cli"])]
    ended = link.run(words, deadline=60)
    found = read_box(ended.out.decode(), ["slow-cli"], time.time(), time.time())
    link.close()
    assert found.programs == {"slow-cli": ""}
