from __future__ import annotations

import errno
import gzip
import json
import zlib
from pathlib import Path

import pytest

from orchestrator.cli.journal import newest_first
from orchestrator.daemon.journal import segments as segments_module
from orchestrator.daemon.journal import store as journal_module
from orchestrator.daemon.journal.segments import compress_closed, unpacked
from orchestrator.daemon.journal.segments import segments as chosen_of
from orchestrator.daemon.journal.store import Journal, sealed, unsealed
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import Damaged, JournalFailed, Refused
from orchestrator.model.facts import CheckedIn, Intruded, StopAsked, TaskStarted
from orchestrator.model.limits import Limits
from orchestrator.model.task import Brief, TaskState
from orchestrator.pm.decide import decide
from orchestrator.testing.memory_files import MemoryFiles, MemoryLog
from orchestrator.testing.memory_tree import Kind

FOLDER = Path("/state/tasks/t-1/journal")
LIMITS = Limits()


@pytest.fixture
def files():
    disk = MemoryFiles()
    disk.make_folder(FOLDER.parent)
    return disk


def begun(files):
    journal = Journal(files, FOLDER)
    brief = Brief(title="T", goal="G", criteria=("c",))
    fed(journal, TaskStarted(1.0, "n1", "req-1", "t-1", "t", "/p", brief, base="b"))
    return journal


def fed(journal, fact):
    return journal.append(fact, decide(journal.state, fact, LIMITS))


def segments(files):
    return sorted(e.name for e in files.entries(FOLDER))


def test_a_new_journal_opens_again_as_it_was_left(files):
    journal = begun(files)
    fed(journal, StopAsked(2.0, "req-2"))
    again = Journal(files, FOLDER)
    assert again.state == journal.state
    assert again.state.state is TaskState.STOPPED
    assert again.lines == 2
    assert again.damage is None


def test_lines_are_numbered_and_checksummed_json(files):
    begun(files)
    lines = files.read(FOLDER / "0000000001.jsonl").decode().splitlines()
    snapshot, first = (json.loads(line) for line in lines)
    assert snapshot["n"] == 0
    assert (first["n"], first["fact"]["kind"]) == (1, "task_started")
    assert first["crc"] == f"{zlib.crc32(lines[1][18:].encode()):08x}"


def test_a_torn_last_line_is_cut_off_and_kept_beside(files):
    journal = begun(files)
    path = FOLDER / "0000000001.jsonl"
    whole = files.read(path)
    files.put(path, whole + b'{"crc":"00000000","n":2,"at":')
    again = Journal(files, FOLDER)
    assert again.state == journal.state
    assert again.damage is None
    assert files.read(path) == whole
    assert any(".torn-" in name for name in segments(files))
    fed(again, StopAsked(2.0, "req-2"))
    assert Journal(files, FOLDER).lines == 2


def test_line_without_its_newline_is_whole(files):
    journal = begun(files)
    path = FOLDER / "0000000001.jsonl"
    whole = files.read(path)
    files.put(path, whole[:-1])
    again = Journal(files, FOLDER)
    assert (again.state, again.lines) == (journal.state, 1)
    fed(again, StopAsked(2.0, "req-2"))
    assert Journal(files, FOLDER).lines == 2


class KilledError(BaseException):
    """The daemon was killed."""


def test_unsynced_line_is_synced_before_it_is_used(files):
    journal = begun(files)

    def before(step, path):
        if step == "fsync":
            raise KilledError

    files.before = before
    with pytest.raises(KilledError):
        fed(journal, StopAsked(2.0, "req-2"))
    files.before = None
    files.crash()
    assert Journal(files, FOLDER).lines == 2
    files.crash(power=True)
    assert Journal(files, FOLDER).lines == 2


@pytest.mark.parametrize("position", [5, 30, -40])
def test_flipped_byte_is_damage_and_earlier_lines_stay(files, position):
    journal = begun(files)
    fed(journal, StopAsked(2.0, "req-2"))
    path = FOLDER / "0000000001.jsonl"
    lines = files.read(path).split(b"\n")
    broken = bytearray(lines[1])
    broken[position] ^= 0x55
    files.put(path, b"\n".join([lines[0], bytes(broken), *lines[2:]]))
    again = Journal(files, FOLDER)
    assert again.lines == 0
    assert again.damage is not None
    assert again.damage.kept == 0
    assert any(".damaged-" in name for name in segments(files))


def test_a_segment_of_which_nothing_reads_leaves_the_one_before(files, monkeypatch):
    monkeypatch.setattr(journal_module, "SEGMENT_LINES_AT_MOST", 1)
    journal = begun(files)
    before = journal.state
    fed(journal, StopAsked(2.0, "req-2"))
    last = segments(files)[-1]
    files.put(FOLDER / last, b"rubbish\nrubbish\n")
    again = Journal(files, FOLDER)
    assert again.state == before
    assert again.damage is not None
    assert again.damage.kept == 0 or again.lines == 1


def test_segments_begin_with_a_snapshot(files, monkeypatch):
    """Only the last one is read."""
    monkeypatch.setattr(journal_module, "SEGMENT_LINES_AT_MOST", 2)
    journal = begun(files)
    for n in range(2, 7):
        fact = TaskStarted(float(n), f"n{n}", f"req-{n}", "t-1", "t", "/p", journal.state.brief)
        fed(journal, fact)
    names = segments(files)
    assert names == ["0000000001.jsonl", "0000000003.jsonl", "0000000005.jsonl"]
    files.put(FOLDER / names[0], b"the past is not read")
    again = Journal(files, FOLDER)
    assert (again.state, again.lines) == (journal.state, 6)


def test_a_line_that_skips_a_number_is_damage(files):
    journal = begun(files)
    line = fed(journal, StopAsked(2.0, "req-2"))
    content = unsealed(line.encode())
    content["n"] = 9
    path = FOLDER / "0000000001.jsonl"
    files.put(path, files.read(path) + sealed(content).encode() + b"\n")
    again = Journal(files, FOLDER)
    assert again.lines == 2
    assert again.damage is not None


def test_a_full_disk_writes_nothing_and_may_be_tried_again(files):
    journal = begun(files)
    before = journal.state
    files.fail_next("append", OSError(errno.ENOSPC, "full"))
    with pytest.raises(OSError, match="full"):
        fed(journal, StopAsked(2.0, "req-2"))
    assert (journal.state, journal.lines) == (before, 1)
    fed(journal, StopAsked(2.0, "req-2"))
    assert Journal(files, FOLDER).state.state is TaskState.STOPPED


def test_a_failed_fsync_ends_it(files):
    journal = begun(files)
    files.fail_next("fsync", OSError(errno.EIO, "broken disk"))
    with pytest.raises(JournalFailed, match="broken disk"):
        fed(journal, StopAsked(2.0, "req-2"))


def test_a_fact_of_which_nothing_comes_is_an_empty_decision(files):
    journal = begun(files)
    assert decide(journal.state, CheckedIn(2.0, "n2"), LIMITS).empty


# Segments --------------------------------------------------------------------------------------------


def grown(files, lines):
    """Return a journal with so many lines, and the state after each."""
    journal = begun(files)
    states = [journal.state]
    while journal.lines < lines:
        fact = Intruded(float(journal.lines), f"name-{journal.lines}", "digest", "a stranger wrote it")
        fed(journal, fact)
        states.append(journal.state)
    return journal, states


@pytest.fixture
def _two_lines(monkeypatch):
    monkeypatch.setattr(journal_module, "SEGMENT_LINES_AT_MOST", 2)


def test_segment_size_follows_its_snapshot_and_line_bound(files, monkeypatch):
    monkeypatch.setattr(journal_module, "SEGMENT_LINES", 3)
    monkeypatch.setattr(journal_module, "SEGMENT_LINES_AT_MOST", 40)
    grown(files, 300)
    *closed, _ = segments(files)
    assert len(closed) > 5
    shares, counts = [], []
    for name in closed:
        snapshot, *lines = files.read(FOLDER / name).splitlines(keepends=True)
        shares.append(sum(map(len, lines)) / (len(snapshot) - 1))
        counts.append(len(lines))
    assert min(counts) >= 3
    assert max(counts) == 40
    assert all(share >= 2 or count == 40 for share, count in zip(shares, counts, strict=True))
    assert min(shares) < 2.5


@pytest.mark.usefixtures("_two_lines")
def test_closed_segments_are_compressed_without_loss(files):
    journal, _ = grown(files, 7)
    plain = b"".join(files.read(FOLDER / name) for name in segments(files))
    compress_closed(files, FOLDER)
    assert segments(files) == [
        "0000000001.jsonl.gz",
        "0000000003.jsonl.gz",
        "0000000005.jsonl.gz",
        "0000000007.jsonl",
    ]
    assert b"".join(unpacked(name, files.read(FOLDER / name)) for name in segments(files)) == plain
    assert Journal(files, FOLDER).state == journal.state


@pytest.mark.usefixtures("_two_lines")
def test_journal_reads_after_a_kill_during_compression(files):
    journal, _ = grown(files, 5)
    plain = b"".join(files.read(FOLDER / name) for name in segments(files))
    for number in range(20):
        left = iter(range(number))

        def before(step, path, left=left):
            if next(left, None) is None:
                raise KilledError

        files.before = before
        try:
            compress_closed(files, FOLDER)
        except KilledError:
            files.crash(power=True)
        files.before = None
        names = chosen_of(segments(files))
        assert b"".join(unpacked(name, files.read(FOLDER / name)) for name in names) == plain
        assert Journal(files, FOLDER).state == journal.state
    assert segments(files)[0].endswith(".gz")


@pytest.mark.usefixtures("_two_lines")
def test_where_the_newest_does_not_read_a_compressed_one_goes_on(files):
    _, states = grown(files, 5)
    compress_closed(files, FOLDER)
    files.put(FOLDER / "0000000005.jsonl", b"rubbish\nrubbish\n")
    again = Journal(files, FOLDER)
    assert again.damage is not None
    assert (again.lines, again.state) == (4, states[3])
    fed(again, StopAsked(9.0, "req-9"))
    assert Journal(files, FOLDER).lines == 5


@pytest.mark.usefixtures("_two_lines")
@pytest.mark.parametrize("position", [3, 40, -3])
def test_unreadable_compressed_segment_is_set_aside(files, position):
    _, states = grown(files, 5)
    compress_closed(files, FOLDER)
    files.remove(FOLDER / "0000000005.jsonl")
    broken = bytearray(files.read(FOLDER / "0000000003.jsonl.gz"))
    broken[position] ^= 0x55
    files.put(FOLDER / "0000000003.jsonl.gz", bytes(broken))
    again = Journal(files, FOLDER)
    assert (again.lines, again.state) == (2, states[1])
    assert again.damage is not None
    assert files.read(FOLDER / again.damage.where) == bytes(broken)


@pytest.mark.parametrize("kind", [Kind.LINK, Kind.PIPE, Kind.FOLDER])
def test_a_segment_that_is_no_plain_file_is_not_passed_over(files, kind):
    """What stood in it would be missing from the task's life, and nobody would know."""
    begun(files).close()
    files.put(FOLDER / "0000000002.jsonl", b"", kind)
    with pytest.raises(Refused, match=r"0000000002.jsonl is not a plain file: remove it"):
        Journal(files, FOLDER)


# Segments that others replace ---------------------------------------------------------------------


def replaced(files, data):
    """Put another file in the place of the only segment."""
    files.remove(FOLDER / "0000000001.jsonl")
    files.put(FOLDER / "0000000001.jsonl", data)


def test_what_follows_a_replaced_segment_is_not_lost(files):
    """A copy lay in its place, and lines went on into the old file, which no next daemon would ever read."""
    journal = begun(files)
    replaced(files, files.read(FOLDER / "0000000001.jsonl"))
    fed(journal, StopAsked(2.0, "req-2"))
    assert journal.replaced == "0000000001.jsonl"
    again = Journal(files, FOLDER)
    assert (again.lines, again.state) == (2, journal.state)
    fed(journal, CheckedIn(3.0, "n3", {}))
    assert Journal(files, FOLDER).state == journal.state


def test_an_older_copy_takes_nothing_back(files):
    journal = begun(files)
    old = files.read(FOLDER / "0000000001.jsonl")
    fed(journal, StopAsked(2.0, "req-2"))
    replaced(files, old)
    journal.keep()
    assert Journal(files, FOLDER).state.state is TaskState.STOPPED


def test_what_others_write_into_a_segment_is_not_followed(files):
    journal = begun(files)
    fed(journal, StopAsked(2.0, "req-2"))
    segment = FOLDER / "0000000001.jsonl"
    files.put(segment, files.read(segment)[:-40])
    journal.keep()
    assert Journal(files, FOLDER).state == journal.state


def test_a_segment_without_lines_that_is_replaced_is_kept(files, monkeypatch):
    """The next one has its name: it was begun when a full disk took no line."""
    journal = begun(files)
    monkeypatch.setattr(journal_module, "SEGMENT_LINES", 1)
    monkeypatch.setattr(journal_module, "PER_SNAPSHOT", 0)
    files.fail_next("append", OSError(errno.ENOSPC, "full"))
    with pytest.raises(OSError, match="full"):
        fed(journal, StopAsked(2.0, "req-2"))
    monkeypatch.undo()
    files.remove(FOLDER / "0000000002.jsonl")
    files.put(FOLDER / "0000000002.jsonl", b"something else")
    fed(journal, StopAsked(2.0, "req-2"))
    assert files.read(FOLDER / "0000000002.jsonl.replaced") == b"something else"
    assert Journal(files, FOLDER).state == journal.state


@pytest.mark.parametrize("change", ["missing", "doubled"])
def test_line_out_of_turn_is_damage(files, change):
    """Each line bears a sound checksum, and yet the story is not what was written."""
    journal = begun(files)
    for number in range(3):
        fed(journal, CheckedIn(2.0 + number, f"n{number}", {f"file{number}": 1.0 + number}))
    assert journal.lines == 4
    segment = FOLDER / "0000000001.jsonl"
    lines = files.read(segment).splitlines(keepends=True)
    lines[3:4] = [] if change == "missing" else [lines[3], lines[3]]
    files.put(segment, b"".join(lines))
    again = Journal(files, FOLDER)
    assert again.damage is not None
    assert again.damage.kept == again.lines == (2 if change == "missing" else 3)


def test_full_segment_is_closed(files, monkeypatch):
    """Each that stays open costs a descriptor for as long as the daemon lives."""
    monkeypatch.setattr(journal_module, "SEGMENT_LINES_AT_MOST", 1)
    closed = []

    def noted(log):
        closed.append(log)

    monkeypatch.setattr(MemoryLog, "close", noted)
    journal = begun(files)
    fed(journal, StopAsked(2.0, "req-2"))
    assert segments(files) == ["0000000001.jsonl", "0000000002.jsonl"]
    assert len(closed) == 1


def test_a_journal_that_nobody_touched_is_left_alone(files):
    journal = begun(files)
    journal.keep()
    assert segments(files) == ["0000000001.jsonl"]
    assert not journal.replaced


def test_a_journal_that_was_taken_away_is_written_anew(files):
    journal = begun(files)
    files.delete(FOLDER.parent.parent)
    with pytest.raises(Damaged):
        fed(journal, StopAsked(2.0, "req-2"))
    journal.keep()
    fed(journal, StopAsked(2.0, "req-2"))
    again = Journal(files, FOLDER)
    assert (again.lines, again.state) == (2, journal.state)


def test_journal_that_is_taken_away_twice_is_written_anew_twice(files):
    """Nothing need be journaled between the two."""
    journal = begun(files)
    for _ in range(2):
        files.delete(FOLDER.parent.parent)
        journal.keep()
        assert Journal(files, FOLDER).state == journal.state


def test_nothing_is_written_anew_where_the_whole_state_is_gone(files):
    journal = begun(files)
    files.delete(FOLDER.parents[2])
    journal.keep()
    assert files.entry(FOLDER) is None


def test_a_packed_segment_without_end_is_not_unpacked(monkeypatch):
    """A thousandth of it on the disk would fill the memory."""
    monkeypatch.setattr(segments_module, "MOST", 1000)
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        unpacked("00000001.jsonl.gz", gzip.compress(b"x" * 1_000_000))


class FailedLog:
    """A log whose write leaves the whole line, fails all the same, and cannot be taken back."""

    def __init__(self, path):
        self.path = path

    def append(self, line, *, durable=True):
        with self.path.open("ab") as file:
            file.write(line)
        raise OSError(errno.ENOSPC, "no room")

    def close(self):
        pass


def test_what_a_failed_write_left_is_not_the_tasks_story(tmp_path):
    """Nothing was done of what such a line says: the next segment replaces it, and nobody changed it."""
    folder = tmp_path / "journal"
    journal = Journal(DiskFiles(), folder)
    brief = Brief(title="T", goal="G", criteria=("c",))
    fed(journal, TaskStarted(1.0, "n1", "req-1", "t-1", "t", "/p", brief, base="b"))
    journal._log = FailedLog(folder / "0000000001.jsonl")
    with pytest.raises(OSError, match="no room"):
        fed(journal, StopAsked(2.0, "req-2"))
    journal.keep()
    assert (journal.replaced, journal.failed) == ("0000000001.jsonl", True)
    assert journal.state.state is not TaskState.STOPPED
    fed(journal, StopAsked(3.0, "req-3"))
    reported = [(line["n"], line["fact"].get("request")) for line in newest_first(folder)]
    assert reported == [(2, "req-3"), (1, "req-1")]
    assert Journal(DiskFiles(), folder).lines == 2


def test_a_segment_that_others_changed_is_said_to_be_changed(files):
    journal = begun(files)
    files.put(FOLDER / "0000000001.jsonl", b"rubbish\n")
    journal.keep()
    assert (journal.replaced, journal.failed) == ("0000000001.jsonl", False)
