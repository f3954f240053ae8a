"""Files put on a real box: whole or not at all, whatever they are called, and by a deadline."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator.hosts.ssh import sftp
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.ports.box_link import Cut, Unreachable, Way
from orchestrator.ports.files import TEMPORARY
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes, may_isolate

NAMES = [
    "two\nlines",
    'it\'s "so"',
    "-rf",
    "a:b",
    "$(touch x)",
    "`id`",
    "*",
    "%s %n",
    "ü \\ 漢",
    "\udcff not UTF-8",
    "x" * 255,
]


@pytest.fixture(params=[True, False], ids=["sftp", "plain"])
def box(request: pytest.FixtureRequest, boxes: Boxes) -> Box:
    """A box whose sshd speaks SFTP, and one whose does not: files are put there by a command."""
    return boxes.add("alpha", sftp=request.param)


def strays(folder: Path) -> list[Path]:
    return list(folder.glob(f"{TEMPORARY}*"))


def test_every_name_and_every_byte_arrives(link: Link, box: Box) -> None:
    data = {name: os.urandom(number * 40_000) for number, name in enumerate(NAMES)}
    with sftp.opened(link) as there:
        for name, content in data.items():
            there.put(f"{box.home}/{name}", content)
    assert {path.name: path.read_bytes() for path in box.home.iterdir()} == data
    assert {path.stat().st_mode & 0o7777 for path in box.home.iterdir()} == {0o600}
    assert box.logins() == 1


def test_a_file_is_put_over_another_and_over_a_link_itself(link: Link, box: Box) -> None:
    (box.home / "a").write_text("old")
    (box.home / "elsewhere").write_text("not yours")
    (box.home / "link").symlink_to("elsewhere")
    with sftp.opened(link) as there:
        there.put(f"{box.home}/a", b"new", 0o755)
        there.put(f"{box.home}/link", b"mine")
    assert (box.home / "a").read_text() == "new"
    assert (box.home / "a").stat().st_mode & 0o7777 == 0o755
    assert (box.home / "elsewhere").read_text() == "not yours"
    assert not (box.home / "link").is_symlink()


def test_folders_are_made_with_what_is_above_them(link: Link, box: Box) -> None:
    (box.folder / "disk").mkdir()
    (box.home / ".local").symlink_to(box.folder / "disk")
    with sftp.opened(link) as there:
        for _ in range(2):
            there.make_folder(f"{box.home}/.local/state/it's one")
    made = box.folder / "disk/state"
    assert [path.stat().st_mode & 0o7777 for path in (made, made / "it's one")] == [0o700, 0o700]


def test_what_the_box_refuses_is_reported_and_leaves_nothing(link: Link, box: Box) -> None:
    (box.home / "folder/full").mkdir(parents=True)
    (box.home / "file").touch()
    with sftp.opened(link) as there:
        with pytest.raises(Unavailable, match="could not write"):
            there.put(f"{box.home}/folder", b"over a folder")
        with pytest.raises(Unavailable, match="could not write"):
            there.put(f"{box.home}/missing/a", b"into none")
        with pytest.raises(Unavailable, match="could not make"):
            there.make_folder(f"{box.home}/file/a")
        for path in ("relative", "", "/a\0b", "/\ud800"):
            with pytest.raises(Refused):
                there.put(path, b"")
        there.put(f"{box.home}/after", b"goes on")
    assert strays(box.home) == []


def test_where_there_is_no_sftp_it_is_said(link: Link) -> None:
    with pytest.raises(Unavailable, match="has no `other`"), link.subsystem("other") as stream:
        stream.recv(1)
    assert link.state().way is Way.REACHABLE


@pytest.mark.parametrize("how", ["killed", "frozen"])
def test_a_cut_in_the_middle_leaves_what_was_there(link: Link, box: Box, how: str) -> None:
    (box.home / "a").write_text("old")
    data = os.urandom(8_000_000)

    def put() -> None:
        with sftp.opened(link, deadline=60 if how == "killed" else 3) as there:
            there.put(f"{box.home}/a", data)

    link.run(["true"])
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        run = pool.submit(put)
        wait_until(lambda: any(each.stat().st_size > 1_000_000 for each in strays(box.home)), every=0.001)
        if how == "killed":
            box.kill_sessions()
            with pytest.raises(Cut):
                run.result(timeout=60)
        else:
            with box.frozen(), pytest.raises(Cut):
                run.result(timeout=60)
            assert time.monotonic() - began < 20
    assert (box.home / "a").read_text() == "old"
    wait_until(lambda: link.state().way is Way.UNREACHABLE or how == "frozen")
    link.again()
    with sftp.opened(link) as there:
        there.put(f"{box.home}/a", data)
    assert (box.home / "a").read_bytes() == data


@pytest.mark.parametrize("spoils", ["exec /missing/sftp-server", "exec false", "echo hello"])
def test_spoilt_sftp_is_no_obstacle(boxes: Boxes, spoils: str) -> None:
    """What answers in its place says nothing, fails or prints what is no SFTP."""
    box = boxes.add("beta", sftp=False, server=f"Subsystem sftp {spoils}")
    link = Link(Address("beta"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    try:
        for number in range(2):
            with sftp.opened(link) as there:
                there.put(f"{box.home}/{number}", b"here")
        assert [path.read_bytes() for path in box.home.iterdir()] == [b"here"] * 2
    finally:
        link.close()


def test_programs_that_take_options_first_will_do(boxes: Boxes) -> None:
    """Those of BSD and macOS do, and those of GNU when told to: `chmod 700 -- FOLDER` failed, so no task began."""
    box = boxes.add("beta", server="SetEnv POSIXLY_CORRECT=1", sftp=False)
    link = Link(Address("beta"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    (box.home / "repo").mkdir()
    there = RemotePaths("t-0123abcd", "t", f"{box.home}/repo", f"{box.home}/own")
    try:
        make_folders(link, there, ["handoffs"])
        with sftp.opened(link) as puts:
            puts.put(f"{there.own}/launch.sh", b"here", 0o700)
    finally:
        link.close()
    assert (box.home / "repo/tasks/t").stat().st_mode & 0o777 == 0o700
    assert (Path(there.own) / "launch.sh").stat().st_mode & 0o777 == 0o700


def test_of_a_box_that_is_down_nothing_is_asked(link: Link, box: Box) -> None:
    box.stop()
    with pytest.raises(Unreachable), sftp.opened(link):
        raise AssertionError


@pytest.mark.skipif(not may_isolate(), reason="only root may mount a disk there")
def test_file_that_a_full_disk_cuts_short_is_not_put(link: Link, box: Box) -> None:
    folder = box.home / "small"
    folder.mkdir()
    assert link.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]).status == 0
    try:
        with sftp.opened(link) as there, pytest.raises(Unavailable, match=r"full|No space left"):
            there.put(f"{folder}/launch.sh", b"x" * 200_000)
        assert not link.run(["ls", "-A", str(folder)]).out
    finally:
        link.run(["umount", str(folder)])
