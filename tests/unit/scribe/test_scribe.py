import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orchestrator.formats.handoff import handoff_name, render_report
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.handoff import Report, ReportStatus
from orchestrator.model.task import Phase, TaskState
from orchestrator.scribe.content import Milestone, PMView
from orchestrator.scribe.scribe import Scribe
from orchestrator.testing.memory_files import MemoryFiles
from orchestrator.testing.memory_tree import Kind

TASK = Path("/p/tasks/x")
PROGRESS = TASK / "progress.md"
START = 1764286200.0
NEW = "dev-20251127-233000.md"


def report(text: str) -> bytes:
    return render_report("dev", START, Report(ReportStatus.COMPLETE, completed=text)).encode()


def view(last_checkin: float | None = None, **more: Any) -> PMView:
    return PMView("x", Phase.DEVELOPING, TaskState.RUNNING, last_checkin=last_checkin, **more)


class World(MemoryFiles):
    """Files in memory with a clock, that count what is asked of them."""

    def __init__(self) -> None:
        self.time = START
        self.asked: list[tuple[object, ...]] = []
        super().__init__(now=lambda: self.time)
        self.make_folder(TASK)
        self.asked.clear()

    def read(self, path, limit=67_108_864, start=0):
        self.asked.append(("read", path))
        return super().read(path, limit, start)

    def write(self, path, data, mode=0o600, *, durable=True, mtime_ns=None):
        self.asked.append(("write", path, oct(mode)))
        super().write(path, data, mode, durable=durable, mtime_ns=mtime_ns)

    def entries(self, folder):
        self.asked.append(("entries", folder))
        return super().entries(folder)

    @property
    def progress(self):
        return super().read(PROGRESS).decode()

    def land(self, name, data=b"", later=1.0):
        self.time += later
        self.put(TASK / name, data)
        return self.time


@pytest.fixture
def world():
    return World()


@pytest.fixture
def scribe(world):
    return Scribe(world, TASK)


def section(text: str, title: str) -> list[str]:
    return text.partition(f"## {title}")[2].partition("\n")[2].partition("\n## ")[0].strip().split("\n")


def recent(world: World) -> list[str]:
    """Return what came since the last check-in."""
    lines = section(world.progress, "Recent Activity")
    return lines[: lines.index("")] if "" in lines else lines


def earlier(world: World) -> list[str]:
    """Return what came before the last check-in, as far as it is still shown."""
    lines = section(world.progress, "Recent Activity")
    return lines[lines.index("") + 2 :] if "" in lines else []


# What is found -----------------------------------------------------------------------------------


def test_a_folder_with_nothing_in_it_has_a_progress(world, scribe):
    assert scribe.rescan(view(), START)
    assert recent(world) == ["Nothing new."]


def test_a_rescan_finds_handoffs_and_artifacts_the_newest_first(world, scribe):
    world.land("handoffs/explore-20251127-093000.md", report("Found 3 modules."))
    world.land("artifacts/analysis/deep/er/a.md")
    world.land(f"handoffs/{NEW}", report("It parses."))
    scribe.rescan(view(), world.time)
    assert recent(world) == [
        f"- {NEW}: dev COMPLETE: It parses.",
        "- New artifact: artifacts/analysis/deep/er/a.md",
        "- explore-20251127-093000.md: explore COMPLETE: Found 3 modules.",
    ]
    assert section(world.progress, "Artifacts Generated") == [
        "- artifacts/analysis/deep/er/a.md (2025-11-27 23:30:02 UTC)"
    ]


def test_only_what_came_since_the_last_check_in_is_recent(world, scribe):
    world.land("handoffs/plan-20251127-093000.md", report("Planned."))
    checked = world.time + 0.5
    world.land(f"handoffs/{NEW}", report("It parses."))
    scribe.rescan(view(checked), world.time)
    assert recent(world) == [f"- {NEW}: dev COMPLETE: It parses."]
    scribe.rescan(view(world.time + 1), world.time)
    assert recent(world) == ["Nothing new."]


def test_a_check_in_takes_nothing_out_of_the_story(world, scribe):
    """What came earlier is still shown: some of it while the task runs, all that is remembered once it has ended."""
    for number in range(30):
        world.land(f"handoffs/dev-20251127-09{number:02}00.md", report(f"Part {number} is done."))
    scribe.rescan(view(world.time + 1), world.time)
    assert recent(world) == ["Nothing new."]
    assert len(earlier(world)) == 10
    scribe.update(replace(view(world.time + 1), ended=True), world.time)
    assert len(earlier(world)) == 30


def test_the_report_is_named_once_the_task_is_over(world, scribe):
    ended = replace(view(START), ended=True, outcome=(("Outcome", "complete"),))
    scribe.rescan(ended, START)
    assert "report.html" not in world.progress
    world.land("report.html")
    scribe.rescan(replace(ended, ended=False), START)
    assert "report.html" not in world.progress
    scribe.rescan(ended, START)
    assert "- **Report:** report.html, beside this page (written 20" in world.progress
    assert "the task went on since" not in world.progress
    scribe.rescan(replace(ended, moved_at=START + 1e9), START)  # it is of an earlier end
    assert "; the task went on since)" in world.progress


def test_late_file_with_an_old_time_is_recent(world, scribe):
    scribe.rescan(view(START), START)
    now = START + 100
    world.time = START - 5000  # as the clock of another machine had it
    world.land(f"handoffs/{NEW}", report("From afar."))
    world.land("artifacts/code/a.py")
    scribe.rescan(view(START), now)
    assert len(recent(world)) == 2
    scribe.rescan(view(now + 1), now + 2)
    assert recent(world) == ["Nothing new."]


def test_a_file_from_the_future_is_no_error(world, scribe):
    world.time = 1e19
    world.land("artifacts/a.py")
    scribe.rescan(view(), START)
    assert section(world.progress, "Artifacts Generated") == ["- artifacts/a.py (unknown time)"]


def test_a_changed_handoff_is_read_again(world, scribe):
    world.land(f"handoffs/{NEW}", report("Half."))
    scribe.rescan(view(), world.time)
    world.land(f"handoffs/{NEW}", report("Whole."))
    scribe.rescan(view(), world.time)
    assert recent(world) == [f"- {NEW}: dev COMPLETE: Whole."]
    world.land(f"handoffs/{NEW}", report("Again."))
    scribe.notice([NEW], view(), world.time)
    assert recent(world) == [f"- {NEW}: dev COMPLETE: Again."]


def test_file_with_another_inode_is_read_again(world, scribe):
    """Even if size and time are the same."""
    world.land(f"handoffs/{NEW}", report("AAA."))
    scribe.rescan(view(), world.time)
    world.remove(TASK / "handoffs" / NEW)
    world.land(f"handoffs/{NEW}", report("BBB."), later=0)
    scribe.rescan(view(), world.time)
    assert recent(world) == [f"- {NEW}: dev COMPLETE: BBB."]


def test_removed_file_is_no_longer_listed(world, scribe):
    world.land("artifacts/a.py")
    world.land(f"handoffs/{NEW}", report("x"))
    scribe.rescan(view(), world.time)
    world.remove(TASK / "artifacts/a.py")
    world.remove(TASK / "handoffs" / NEW)
    scribe.notice([NEW, "artifacts/a.py", "artifacts/never-was.py"], view(), world.time)
    assert recent(world) == ["Nothing new."]
    assert section(world.progress, "Artifacts Generated") == ["None"]


def test_renamed_temporary_file_is_no_longer_listed(world, scribe):
    scribe.rescan(view(), world.time)
    aside = f"{NEW}.tmp.4711.9d"
    world.land(f"handoffs/{aside}", report("x"))
    scribe.notice([aside], view(), world.time)
    world.rename(TASK / "handoffs" / aside, TASK / "handoffs" / NEW)
    scribe.notice([NEW], view(), world.time)
    assert recent(world) == [f"- {NEW}: dev COMPLETE: x"]


def test_unreadable_file_is_listed_with_its_reason(world):
    scribe = Scribe(world, TASK, handoff_bytes=1000)
    world.put(TASK / "handoffs/a-20251127-000001.md", b"/etc/passwd", Kind.LINK)
    world.put(TASK / "handoffs/a-20251127-000002.md", kind=Kind.PIPE)
    world.put(TASK / "handoffs/a-20251127-000003.md", kind=Kind.FOLDER)
    world.put(TASK / "handoffs/a-20251127-000004.md", b"x" * 1001)
    world.put(TASK / "handoffs/a-20251127-000005.md", b"\xff\xfe")
    world.put(TASK / "handoffs/notes.txt", b"x")
    world.put(TASK / "handoffs/.hidden.swp", b"x")
    scribe.rescan(view(), world.time)
    lines = {line.partition(": ")[0]: line.partition(": ")[2] for line in recent(world)}
    assert len(lines) == 6
    assert all(line.startswith("unreadable: ") for line in lines.values())
    assert (
        lines["- a-20251127-000001.md"]
        == "unreadable: a-20251127-000001.md is not a plain file: move it away"
    )
    assert "larger than 1000 bytes" in lines["- a-20251127-000004.md"]
    assert "is UTF-16" in lines["- a-20251127-000005.md"]
    assert "not of the form" in lines["- notes.txt"]


def test_links_among_the_artifacts_are_not_followed(world, scribe):
    world.put(TASK / "artifacts/etc", b"/etc", Kind.LINK)
    world.put(TASK / "artifacts/pipe", kind=Kind.PIPE)
    scribe.rescan(view(), world.time)
    assert recent(world) == ["Nothing new."]


def test_folder_that_is_none_is_reported(world, scribe):
    world.put(TASK / "handoffs", b"x")
    scribe.rescan(view(), world.time)
    assert recent(world) == ["- handoffs: unreadable: handoffs is not a folder: move it away"]


@pytest.mark.parametrize(
    "name",
    ["../secret", "artifacts/../../x", "artifacts//x", "/etc/x", "", ".", "handoffs/a/b", "scratchpad/x", "a\0"],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_passed_over(world, scribe, name):
    world.put(TASK.parent / "secret", b"x")
    world.put(TASK / "handoffs/a/b", b"x")
    world.put(TASK / "scratchpad/x", b"x")
    scribe.rescan(view(), START)
    reported = [line for line in recent(world) if "- a: unreadable" not in line]
    scribe.notice([name], view(), START)
    assert [line for line in recent(world) if "- a: unreadable" not in line] == reported


def test_secrets_do_not_reach_progress(world, scribe):
    world.land(f"handoffs/{NEW}", report("Used ghp_abcdefghijklmnopqrstuvwxyz0123456789 for it."))
    world.land("artifacts/password=hunter2")
    scribe.rescan(view(blockers=("needs token=abc",)), world.time)
    assert "ghp_" not in world.progress
    assert "hunter2" not in world.progress
    assert "abc\n" not in world.progress


# What it costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("old", [10, 10_000])
def test_one_new_handoff_costs_one_read_and_one_write(world, scribe, old):
    for number in range(old):
        world.put(TASK / "handoffs" / handoff_name("dev", START - number), report(f"Part {number}."))
    scribe.rescan(view(), START)
    assert sum(kind == "read" for kind, *_ in world.asked) <= 51
    world.asked.clear()
    name = handoff_name("test", START)
    world.land(f"handoffs/{name}", report("Tested."))
    assert scribe.notice([name], view(), world.time)
    assert world.asked == [("read", TASK / "handoffs" / name), ("write", PROGRESS, "0o644")]
    assert recent(world)[0] == f"- {name}: test COMPLETE: Tested."
    assert old == 10 or recent(world)[-1] == f"- … and {old + 1 - 50} more"


def test_lists_are_bounded(world, scribe):
    for number in range(300):
        world.land(f"artifacts/code/{number:03}.py", later=0.01)
    scribe.rescan(view(), world.time)
    assert len(recent(world)) == 51
    listed = section(world.progress, "Artifacts Generated")
    assert len(listed) == 201
    assert listed[0].startswith("- artifacts/code/299.py")
    assert listed[-1] == "- … and 100 more"


def test_nothing_new_writes_nothing(world, scribe):
    world.land(f"handoffs/{NEW}", report("x"))
    scribe.rescan(view(START), world.time)
    before = world.progress
    world.asked.clear()
    assert not scribe.rescan(view(START), world.time + 60)
    assert not scribe.notice([NEW], view(START), world.time + 60)
    assert not scribe.update(view(START + 0.5), world.time + 60)
    assert not any(kind == "write" for kind, *_ in world.asked)
    assert world.progress == before


def test_change_of_the_pm_state_is_written(world, scribe):
    scribe.rescan(view(), START)
    assert scribe.update(view(milestones=(Milestone("m", "done"),)), START)
    assert "| m | done |" in world.progress


def test_after_a_restart_nothing_is_written_if_nothing_is_new(world, scribe):
    world.land(f"handoffs/{NEW}", report("x"))
    scribe.rescan(view(START), world.time)
    assert not Scribe(world, TASK).rescan(view(START), world.time + 60)


def test_the_first_notice_looks_at_everything(world, scribe):
    world.land("handoffs/plan-20251127-093000.md", report("Planned."))
    world.land(f"handoffs/{NEW}", report("It parses."))
    scribe.notice([NEW], view(), world.time)
    assert len(recent(world)) == 2


# What goes wrong ---------------------------------------------------------------------------------


def test_changed_progress_is_restored_by_a_rescan(world, scribe):
    scribe.rescan(view(), START)
    whole = world.progress
    for forged in (b"all is well", b"\xff\xfe", b""):
        world.land("progress.md", forged)
        assert scribe.rescan(view(), START)
        assert world.progress == whole
    world.remove(PROGRESS)
    assert scribe.rescan(view(), START)
    assert world.progress == whole


def test_progress_that_is_a_link_is_replaced(tmp_path):
    (tmp_path / "task").mkdir()
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "task" / "progress.md").symlink_to(tmp_path / "precious")
    assert Scribe(DiskFiles(), tmp_path / "task").rescan(view(), START)
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "task" / "progress.md").read_text().startswith("# Task Progress: x")
    assert (tmp_path / "task" / "progress.md").stat().st_mode & 0o777 == 0o644


def test_full_disk_leaves_the_last_good_progress(world, scribe):
    scribe.rescan(view(), START)
    before = world.progress
    world.land(f"handoffs/{NEW}", report("It parses."))
    world.fail_next("write", OSError(errno.ENOSPC, "full"), PROGRESS)
    with pytest.raises(OSError, match="full"):
        scribe.notice([NEW], view(), world.time)
    assert world.progress == before
    assert scribe.update(view(), world.time)
    assert "It parses." in world.progress


def test_after_a_write_whose_end_is_unknown_the_next_call_writes(world, scribe):
    scribe.rescan(view(), START)
    world.fail_next("fsync", OSError(errno.EIO, "lost"))
    with pytest.raises(OSError, match="lost"):
        scribe.update(view(blockers=("No key",)), START)
    assert "No key" in world.progress
    assert scribe.update(view(), START)
    assert "No key" not in world.progress


class KilledError(BaseException):
    pass


@pytest.mark.parametrize("number", range(1, 5))
def test_kill_leaves_the_old_or_the_new_progress(world, scribe, number):
    scribe.rescan(view(), START)
    old = world.progress
    world.land(f"handoffs/{NEW}", report("It parses."))
    steps = list[str]()

    def before(step, path):
        steps.append(step)
        if len(steps) == number:
            raise KilledError

    world.before = before
    killed = False
    try:
        scribe.notice([NEW], view(), world.time)
    except KilledError:
        killed = True
    world.before = None
    assert killed == (number < 4)
    assert world.progress == old or "It parses." in world.progress
    world.crash()
    Scribe(world, TASK).rescan(view(), world.time)
    assert "It parses." in world.progress


def test_handoffs_and_artifacts_are_left_as_they_are(tmp_path):
    files = {f"handoffs/{NEW}": report("x"), "handoffs/bad.md": b"\xff", "artifacts/code/a.py": b"1"}
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    before = {name: (tmp_path / name).stat() for name in files}
    scribe = Scribe(DiskFiles(), tmp_path)
    assert scribe.rescan(view(), START)
    scribe.notice([NEW, "artifacts/code/a.py"], view(START + 1), START + 2)
    for name, stat in before.items():
        after = (tmp_path / name).stat()
        assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (
            stat.st_ino,
            stat.st_mtime_ns,
            stat.st_mode,
        )
        assert (tmp_path / name).read_bytes() == files[name]


def test_a_name_that_is_no_utf8_is_shown(tmp_path):
    folder = tmp_path / "artifacts"
    folder.mkdir()
    (Path(str(folder)) / b"a\xff\x1b.py".decode("utf-8", "surrogateescape")).write_bytes(b"")
    Scribe(DiskFiles(), tmp_path).rescan(view(), START)
    assert "- New artifact: artifacts/a�␛.py\n" in (tmp_path / "progress.md").read_text()


def test_folder_in_place_of_progress_is_renamed(world):
    world.put(PROGRESS / "notes.txt", b"somebody's work")
    scribe = Scribe(world, TASK)
    assert scribe.rescan(view(), START)
    assert world.progress.startswith("# Task Progress: x\n")
    assert world.read(TASK / "progress.md.set-aside-1" / "notes.txt") == b"somebody's work"
    scribe.rescan(view(), START)
    assert "- progress.md.set-aside-1: stood in the place of progress.md; take it away\n" in world.progress


def test_later_folder_in_place_of_progress_is_renamed_too(world):
    scribe = Scribe(world, TASK)
    scribe.rescan(view(), START)
    for n in (1, 2):
        world.remove(PROGRESS)
        world.put(PROGRESS / f"{n}.txt", b"x")
        world.land("artifacts/code/new.py")
        assert scribe.rescan(view(runs=n), START)
        assert world.entry(TASK / f"progress.md.set-aside-{n}" / f"{n}.txt")
    assert world.progress.count("stood in the place of") == 1
