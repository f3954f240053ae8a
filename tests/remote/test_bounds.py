"""What a box holds beyond its share does not come here: not named, not grown meanwhile, not in files without a byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchestrator import layout
from orchestrator.daemon.boxes.remote_transcripts import RemoteTranscripts
from orchestrator.hosts.disk import DiskFiles
from orchestrator.hosts.ssh import rsync as rsyncing
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from tests.remote.boxes import Boxes
from tests.remote.synced import REPORT, RUN, World, mirrored, put, report

TOTAL = 1_000_000


@pytest.fixture
def world(boxes: Boxes, tmp_path: Path) -> Iterator[World]:
    box = boxes.add("alpha")
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    made = World(box, link, tmp_path)
    made.prepared()
    yield made
    link.close()


def refused(*pulls: object) -> list[str]:
    return [name for each in pulls for name, _ in each.refused]  # type: ignore[attr-defined]


@pytest.mark.parametrize("named", ["files", "folder"])
def test_named_artifacts_stop_at_the_total(world: World, named: str) -> None:
    sync = world.sync(Bounds(total=TOTAL, size=600_000))
    names = [f"artifacts/code/{number}" for number in range(5)]
    for name in names:
        put(world.shared / name, os.urandom(400_000))
    put(world.shared / "handoffs" / REPORT, report(*(names if named == "files" else ["artifacts/code"])))
    pulls = [sync.pull_control([RUN]) for _ in range(4)]
    assert f"handoffs/{REPORT}" in [name for each in pulls for name in each.brought]
    assert not pulls[-1].more
    arrived = [name for name in world.arrived() if name.startswith("artifacts/")]
    assert len(arrived) == 2
    assert "artifacts" in refused(*pulls)
    assert mirrored(world) <= TOTAL + len(report(*names))
    assert sync.pull_bulk([RUN]).brought == ()
    assert mirrored(world) <= TOTAL + len(report(*names))


def test_files_that_grow_once_they_are_listed_are_bounded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = world.sync(Bounds(total=TOTAL, size=600_000))
    bring = Mirror.bring
    paths = [world.shared / f"artifacts/{number}" for number in range(8)]

    def grow(self: Mirror, *args, **options):
        took = bring(self, *args, **options)
        if options.get("only_list"):
            for path in paths:
                path.write_bytes(os.urandom(500_000))
        return took

    for path in paths:
        put(path, b"small")
    monkeypatch.setattr(Mirror, "bring", grow)
    for _ in range(5):
        sync.pull_bulk([RUN])
        assert mirrored(world) <= TOTAL
    assert sum(map(len, world.arrived().values())) <= TOTAL


def test_empty_handoffs_are_counted_and_the_exit_is_known(world: World) -> None:
    sync = world.sync(Bounds(control_files=20, control_total_files=50))
    for number in range(100):
        put(world.shared / f"handoffs/dev-20251127-{number:06d}.md", b"")
    pulls = [sync.pull_control([RUN]) for _ in range(5)]
    assert [each.more for each in pulls] == [True, True, True, False, False]
    assert refused(*pulls).count("handoffs") == 1
    assert len(list((world.here.mirror / "tree/handoffs").iterdir())) == 50
    put(world.own / "runs" / RUN / "exit", b"0\n")
    assert f"runs/{RUN}/exit" in sync.pull_control([RUN]).brought


def test_empty_artifacts_are_counted_with_their_folders(world: World) -> None:
    sync = world.sync(Bounds(entries=60))
    for number in range(20):
        put(world.shared / f"artifacts/deep/{number}/of/many/file", b"")
    pulls = [sync.pull_bulk([RUN]) for _ in range(3)]
    assert len(world.arrived()) == 10
    assert refused(*pulls) == ["artifacts"]
    assert len(list((world.here.mirror / "tree").rglob("*"))) <= 60


def test_logs_have_a_total_of_their_own(world: World) -> None:
    sync = world.sync(Bounds(logs=1_000_000))
    runs = [f"r-{number}" for number in range(3)]
    for run in runs:
        put(world.own / "runs" / run / "pane.log", os.urandom(400_000))
    put(world.shared / "artifacts/code/a")
    pulled = sync.pull_bulk(runs)
    assert len([name for name in pulled.brought if name.endswith("pane.log")]) == 2
    assert "artifacts/code/a" in pulled.brought
    assert refused(pulled) == ["logs"]
    # What was removed here, as it is old, makes room.
    (world.here.home / "runs/r-0/pane.log").unlink()
    (world.here.home / "runs/r-1/pane.log").unlink()
    put(world.own / "runs/r-0/pane.log", os.urandom(400_001))
    assert sync.pull_bulk(runs).brought


def test_links_without_end_are_a_failure_with_its_remedy(world: World) -> None:
    """rsync tells of each that it leaves it, and comes to no handoff in what is read of that."""
    sync = world.sync()
    for number in range(6_000):
        (world.shared / "handoffs" / f"{'x' * 150}-{number:04d}.md").symlink_to("/etc/passwd")
    put(world.shared / "handoffs" / f"{'x' * 151}.md", report())
    with pytest.raises(Unavailable, match="remove it there"):
        sync.pull_control([RUN])


def test_transcripts_of_a_task_have_a_total(world: World) -> None:
    runs = [world.here.home / "runs" / f"r-{number}" for number in range(3)]
    for folder in runs:
        there = world.box.home / f"{folder.name}.jsonl"
        there.write_bytes(b"x" * 4_000)
        folder.mkdir(parents=True)
        layout.run_transcript_there(folder).write_text(str(there))
    for _ in range(2):
        transcripts = RemoteTranscripts(world.link, DiskFiles(), total=10_000)
        for _ in range(2):
            transcripts.copy(runs)
        copies = [layout.run_transcript(folder) for folder in runs]
        assert [path.stat().st_size for path in copies if path.exists()] == [4_000, 4_000]
        partial = [layout.run_transcript_partial(folder).exists() for folder in runs]
        assert partial == [not path.exists() for path in copies]
    (world.box.home / "r-0.jsonl").write_bytes(b"x" * 7_000)  # there is no room for that
    transcripts.copy(runs)
    assert not layout.run_transcript_partial(runs[1]).exists()
    (world.box.home / "r-1.jsonl").write_bytes(b"x" * 4_001)
    transcripts.copy(runs)
    assert all(layout.run_transcript_partial(folder).exists() for folder in runs)
    assert [path.stat().st_size for path in copies if path.exists()] == [4_000, 4_000]


def test_links_that_hide_all_other_files_are_a_failure(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rsyncing, "_SAID", 10_000)
    (world.shared / "artifacts/a").mkdir()
    for number in range(300):
        (world.shared / f"artifacts/a/{number}").symlink_to("nowhere")
    put(world.shared / "artifacts/z")
    pulled = world.sync().pull_bulk([RUN])
    assert "cannot be fetched" in pulled.ended
    assert world.arrived() == {}
