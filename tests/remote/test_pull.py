"""Pulls from a real box by a real rsync: whole files, hostile names, cuts, and a box that was emptied."""

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.marks import MARK, Emptied, check_marks
from orchestrator.hosts.ssh.pull import Mirror, Took
from orchestrator.hosts.ssh.remote_paths import RemotePaths, make_folders
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import Cut, Unreachable, Way
from tests.polling import wait_until
from tests.remote.boxes import Box, Boxes

TASK = "build-0123abcd"
NAMES = [
    "two\nlines.md",
    'it\'s "so".md',
    "-rf.md",
    "--delete",
    "a:b.md",
    "$(touch x).md",
    "`id`",
    "*.md",
    "ü \\ .md",
    "b\\#012.md",
    os.fsdecode(b"bad \xff.md"),
]


@pytest.fixture
def box(boxes: Boxes) -> Box:
    made = boxes.add("alpha")
    for folder in ("handoffs", "artifacts/deep"):
        (made.home / "task" / folder).mkdir(parents=True)
    (made.home / "task" / MARK).write_text(f"{TASK}\n")
    return made


@pytest.fixture
def link(boxes: Boxes, box: Box) -> Iterator[Link]:
    made = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield made
    made.close()


def bring(link: Link, box: Box, mirror: Path, **more: Any) -> Took:
    check_marks(link, [str(box.home / "task")], TASK)
    sources = [f"{box.home}/task/./{folder}" for folder in ("handoffs", "artifacts")]
    return Mirror(link, mirror, os.environ).bring(sources, **more)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_every_name_arrives_whole_and_nothing_of_it_is_obeyed(link: Link, box: Box, tmp_path: Path) -> None:
    for name in NAMES:
        (box.home / "task/handoffs" / name).write_bytes(os.fsencode(name))
    (box.home / "task/artifacts/deep/a").write_bytes(b"\0" * 100_000)
    assert bring(link, box, tmp_path / "m").said == ""
    expected = {f"handoffs/{name}": os.fsencode(name) for name in NAMES} | {
        "artifacts/deep/a": b"\0" * 100_000
    }
    assert contents(tmp_path / "m") == expected
    assert (tmp_path / "m/handoffs").stat().st_mode & 0o777 == 0o700
    assert box.logins() == 1


def test_pull_deletes_nothing_and_follows_no_links_out(link: Link, box: Box, tmp_path: Path) -> None:
    """Nothing is ever deleted here and what leads elsewhere is not brought."""
    handoffs = box.home / "task/handoffs"
    (handoffs / "a.md").write_text("a")
    bring(link, box, tmp_path / "m")
    (handoffs / "a.md").unlink()
    (handoffs / "out.md").symlink_to("/etc/passwd")
    os.mkfifo(handoffs / "pipe.md")
    took = bring(link, box, tmp_path / "m")
    why = "it is a link, a pipe or a device"
    assert sorted(took.left) == [("handoffs/out.md", why), ("handoffs/pipe.md", why)]
    assert contents(tmp_path / "m") == {"handoffs/a.md": b"a"}
    assert [path.name for path in (tmp_path / "m/handoffs").iterdir()] == ["a.md"]


def test_what_is_written_again_in_the_same_second_is_brought(link: Link, box: Box, tmp_path: Path) -> None:
    report = box.home / "task/handoffs/a.md"
    for content, at in [(b"old", 1_000_000_000_100_000_000), (b"new", 1_000_000_000_900_000_000)]:
        report.write_bytes(content)
        os.utime(report, ns=(at, at))
        bring(link, box, tmp_path / "m")
        assert contents(tmp_path / "m") == {"handoffs/a.md": content}


def test_an_emptied_box_stops_the_pull_and_says_so(link: Link, box: Box, tmp_path: Path) -> None:
    (box.home / "task/handoffs/a.md").write_text("a")
    bring(link, box, tmp_path / "m")
    shutil.move(box.home / "task", box.home / "away")
    (box.home / "task").mkdir()
    with pytest.raises(Emptied, match="lacks the file"):
        bring(link, box, tmp_path / "m")
    assert contents(tmp_path / "m") == {"handoffs/a.md": b"a"}


def test_mark_without_end_is_not_read_to_its_end(link: Link, box: Box) -> None:
    """The shell there read it byte by byte, for hours; here the box did not answer, and each look left one more."""
    with (box.home / "task" / MARK).open("wb") as mark:
        mark.truncate(10_000_000_000)
    with pytest.raises(Emptied, match="lacks the file"):
        check_marks(link, [str(box.home / "task")], TASK)
    shutil.copytree(box.home / "task", box.home / "tasks/t", ignore=shutil.ignore_patterns(MARK))
    (box.home / "task" / MARK).rename(box.home / "tasks/t" / MARK)
    with pytest.raises(Refused, match="another task"):
        make_folders(link, RemotePaths(TASK, "t", str(box.home), f"{box.home}/own"), ["handoffs"])


@pytest.mark.parametrize("phase", ["begun", "half"])
def test_cut_pull_leaves_whole_files_and_is_caught_up(
    link: Link, box: Box, tmp_path: Path, phase: str
) -> None:
    """A cut in the middle leaves whole files only and is caught up."""
    whole = {f"handoffs/{number:03}.md": os.urandom(2_000_000) for number in range(30)}
    for name, content in whole.items():
        (box.home / "task" / name).write_bytes(content)
    link.run(["true"])
    mirror = tmp_path / "m"
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(bring, link, box, mirror)
        incoming = tmp_path / "m.incoming"
        reached = (tmp_path / "m.stage").exists if phase == "begun" else lambda: len(contents(incoming)) > 5
        wait_until(reached, every=0.001)
        box.kill_sessions()
        with pytest.raises((Cut, Unreachable)):
            run.result(timeout=60)
    brought = contents(mirror)
    assert len(brought) < len(whole)
    assert brought.items() <= whole.items()
    wait_until(lambda: link.state().way is Way.UNREACHABLE)
    link.again()
    assert bring(link, box, mirror).said == ""
    assert contents(mirror) == whole
    assert not list((tmp_path / "m.stage").iterdir())


def test_listing_gives_names_and_sizes_and_brings_nothing(link: Link, box: Box, tmp_path: Path) -> None:
    """What is there is listed by its name and size and nothing is brought."""
    for name in NAMES:
        (box.home / "task/handoffs" / name).write_bytes(os.fsencode(name))
    (box.home / "task/artifacts/large").write_bytes(bytes(1001))
    took = bring(link, box, tmp_path / "m", only_list=True, largest=1000)
    assert sorted(took.files) == sorted((f"handoffs/{name}", len(os.fsencode(name))) for name in NAMES)
    assert [name for name, _ in took.left] == ["artifacts/large"]
    assert "larger than" in took.left[0][1]
    assert took.whole
    assert not contents(tmp_path / "m")


def test_what_is_named_comes_alone_and_a_folder_empty(link: Link, box: Box, tmp_path: Path) -> None:
    for name in NAMES:
        (box.home / "task/artifacts/deep" / name).write_bytes(b"a")
    names = [f"{box.home}/task/./artifacts/deep/{name}".lstrip("/") for name in [*NAMES[:3], "missing"]]
    mirror = Mirror(link, tmp_path / "m", os.environ)
    assert "missing" in mirror.bring(["/"], names=names).said
    assert contents(tmp_path / "m") == {f"artifacts/deep/{name}": b"a" for name in NAMES[:3]}
    mirror = Mirror(link, tmp_path / "n", os.environ)
    mirror.bring(["/"], names=[f"{box.home}/task/./artifacts/deep".lstrip("/")])
    assert [str(path.relative_to(tmp_path)) for path in (tmp_path / "n").rglob("*")] == [
        "n/artifacts",
        "n/artifacts/deep",
    ]


def test_unreadable_file_is_reported_and_delays_nothing(link: Link, box: Box, tmp_path: Path) -> None:
    """What cannot be read there is told and holds up nothing else."""
    (box.home / "task/handoffs/a.md").write_text("a")
    shutil.rmtree(box.home / "task/artifacts")
    assert "artifacts" in bring(link, box, tmp_path / "m").said
    assert contents(tmp_path / "m") == {"handoffs/a.md": b"a"}
