"""One task on a real box, its files sent there and brought here by a real rsync: order, refusals, conflicts, cuts."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from orchestrator.daemon.ingest.events import EventIngest
from orchestrator.hosts.ssh import rsync as transferring
from orchestrator.hosts.ssh.bounds import Bounds
from orchestrator.hosts.ssh.child import run_child
from orchestrator.hosts.ssh.link import Link
from orchestrator.hosts.ssh.marks import MARK, Emptied
from orchestrator.hosts.ssh.named_artifacts import HELD
from orchestrator.hosts.ssh.publish import Pulled
from orchestrator.hosts.ssh.pull import Mirror
from orchestrator.hosts.ssh.push import push
from orchestrator.hosts.ssh.sync import TaskSync
from orchestrator.model.boxes import Address
from orchestrator.model.errors import BadName, Refused
from orchestrator.model.permission import Policy
from orchestrator.ports.box_link import Ended, Unreachable, Way
from tests.polling import wait_until
from tests.remote.boxes import Boxes
from tests.remote.pulling import pull
from tests.remote.synced import REPORT, RUN, TASK, World, mirrored, put, report

ODD = [
    "two\nlines",
    'it\'s "so"',
    "-rf",
    "a:b",
    "$(touch x)",
    "*",
    "ü \\ é",
    "b\\#012",
    os.fsdecode(b"bad \xff"),
]


@pytest.fixture
def world(boxes: Boxes, tmp_path: Path) -> Iterator[World]:
    box = boxes.add("alpha")
    link = Link(Address("alpha"), boxes.folder / "s", os.environ, config=boxes.config, connect=60)
    yield World(box, link, tmp_path)
    link.close()


# Its folders ----------------------------------------------------------------------------------------


def test_folders_there_are_private_and_not_committed(world: World) -> None:
    """Its folders are made there for nobody else and kept out of commits."""
    subprocess.run(["git", "init", "-q", str(world.repo)], check=True)
    for _ in range(2):
        world.sync().prepare()
    for folder in (world.shared, world.own):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / MARK).read_text() == f"{TASK}\n"
    assert all((world.shared / name).is_dir() for name in ("handoffs", "artifacts/code", "scratchpad"))
    assert (world.own / "requests/events").is_dir()
    excluded = (world.repo / ".git/info/exclude").read_text().splitlines()
    assert excluded.count("/tasks/build/") == 1
    status = ["git", "-C", str(world.repo), "status", "--porcelain"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""


def test_foreign_folders_and_old_handoffs_are_refused(world: World) -> None:
    """Folders of another task and handoffs of before are refused."""
    put(world.shared / "handoffs/old.md")
    with pytest.raises(Refused, match="handoffs"):
        world.sync().prepare()
    shutil.rmtree(world.shared)
    put(world.shared / MARK, b"other-0123abcd\n")
    with pytest.raises(Refused, match="another task"):
        world.sync().prepare()
    shutil.rmtree(world.repo)
    with pytest.raises(Refused, match="is not a folder there"):
        world.sync().prepare()


def test_box_that_is_this_machine_is_named_as_such(world: World) -> None:
    """Its folder is the task's own here: the user was told to remove the handoffs in it."""
    put(world.shared / "handoffs" / REPORT)
    put(world.shared / "progress.md")
    with pytest.raises(Refused, match="this machine") as caught:
        world.sync().prepare()
    assert "remove" not in str(caught.value)
    assert not (world.shared / MARK).exists()


def test_no_program_of_the_repository_runs_there(world: World) -> None:
    """An agent named one that looks for changed files, and the folders of its next run were never made."""
    git = ["git", "-C", str(world.repo)]
    subprocess.run([*git, "init", "-q"], check=True)
    (world.repo / "a").touch()
    subprocess.run([*git, "add", "a"], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", f"touch {world.box.home}/ran"], check=True)
    exclude = world.repo / ".git/info/exclude"
    exclude.unlink()
    os.mkfifo(exclude)
    world.sync().prepare()
    assert not (world.box.home / "ran").exists()


@pytest.mark.parametrize("instead", ["link", "file"])
def test_handoffs_that_are_no_folder_stop_the_sync(world: World, instead: str) -> None:
    """An agent replaced them: its exit was known, what it had handed in was not, and it was begun anew."""
    sync = world.prepared()
    handoffs, away = world.shared / "handoffs", world.shared / "away"
    handoffs.rename(away)
    put(away / REPORT)
    put(world.own / "runs" / RUN / "exit", b"0\n")
    if instead == "link":
        handoffs.symlink_to(away)
    else:
        handoffs.touch()
    for _ in range(2):
        with pytest.raises(Emptied, match="handoffs is a link, or no folder"):
            pull(sync, [RUN])
    assert not world.arrived()
    handoffs.unlink()
    away.rename(handoffs)
    pull(sync, [RUN])
    assert {f"handoffs/{REPORT}", f"runs/{RUN}/exit"} <= world.arrived().keys()


@pytest.mark.parametrize("which", ["shared", "own"])
def test_missing_folders_stop_the_sync(world: World, which: str) -> None:
    """Folders that are gone stop the sync and are not made anew unasked."""
    sync = world.prepared()
    put(world.shared / "handoffs" / REPORT)
    pull(sync, [RUN])
    folder = getattr(world, which)
    shutil.move(folder, world.box.home / "away")
    folder.mkdir()
    before = world.arrived()
    for again in (sync, world.sync()):
        with pytest.raises(Emptied, match=f"{folder} lacks the file"):
            pull(again, [RUN])
        with pytest.raises(Emptied) as shown:
            again.prepare()
    assert world.arrived() == before
    _, _, advice = str(shown.value).partition("make it anew there: ")
    subprocess.run(["sh", "-c", advice], cwd="/", capture_output=True, timeout=10, check=True)
    world.sync().prepare()
    assert pull(world.sync(), [RUN]).ended == ""
    assert world.arrived() == before


def test_emptied_own_folder_holds_back_no_handoff(world: World) -> None:
    """The folder that is shared with the agents is the one we made, so what they hand in there is this task's."""
    sync = world.prepared()
    pull(sync, [RUN])
    shutil.move(world.own, world.box.home / "away")
    put(world.own / "runs" / RUN / "exit", b"0\n")
    put(world.shared / "artifacts/code/a.txt")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code/a.txt"))
    for again in (sync, world.sync()):
        assert str(world.own) in again.pull_control([RUN]).ended
    assert set(world.arrived()) >= {f"handoffs/{REPORT}", "artifacts/code/a.txt"}
    assert f"runs/{RUN}/exit" not in world.arrived()
    put(world.own / MARK, f"{TASK}\n".encode())
    assert not sync.pull_control([RUN]).ended
    assert f"runs/{RUN}/exit" in world.arrived()


def test_answers_go_there_and_no_name_leads_elsewhere(world: World) -> None:
    sync = world.prepared()
    sync.send_answer(RUN, f"{RUN}.1.2", b"allow")
    assert (world.own / "runs" / RUN / "answers" / f"{RUN}.1.2").read_bytes() == b"allow"
    for run, name in ((RUN, "../x"), (RUN, "-x"), (RUN, ".x"), (RUN, ""), ("../r", "x")):
        with pytest.raises(BadName):
            sync.send_answer(run, name, b"")


def test_sent_order_is_not_the_boxes_to_change(world: World) -> None:
    """An order that was sent comes back to nobody and is not the box s to change."""
    sync = world.prepared()
    order = "handoffs/pm-20251127-154500.md"
    put(world.here.folder / order, b"do it")
    assert push(world.link, world.here.folder, ["handoffs"], str(world.shared), os.environ) == ""
    assert (world.shared / order).read_bytes() == b"do it"
    assert pull(sync, [RUN]) == Pulled()
    put(world.shared / order, b"do something else")
    assert [name for name, _ in pull(sync, [RUN]).refused] == [order]
    assert world.arrived() == {order: b"do it"}


# What comes -----------------------------------------------------------------------------------------


def test_every_valid_name_arrives_and_no_other(world: World) -> None:
    """Every name arrives and what is not a box s to say does not."""
    sync = world.prepared()
    for name in ODD:
        put(world.shared / "handoffs" / f"{name}.md", os.fsencode(name))
        put(world.shared / "artifacts/deep" / name / name, os.fsencode(name))
    mine = {f"runs/{RUN}/{name}": b"there" for name in ("claimed", "pid", "exit", "pane.log")}
    mine[f"requests/events/{RUN}.1.2.waits.json"] = b"there"
    foreign = [
        f"runs/{RUN}/order.md",
        f"runs/{RUN}/launched",
        f"runs/{RUN}/answers/{RUN}.1.2",
        "runs/r-99/exit",
        "requests/events/r-99.1.2.json",
        "requests/stop.json",
    ]
    for name in [*mine, *foreign]:
        put(world.own / name)
    put(world.shared / "handoffs/deep/a.md")
    put(world.shared / "task.md")
    put(world.here.home / f"runs/{RUN}/order.md", b"mine")
    result = pull(sync, [RUN])
    expected = {f"handoffs/{name}.md": os.fsencode(name) for name in ODD}
    expected |= {f"artifacts/deep/{name}/{name}": os.fsencode(name) for name in ODD}
    assert set(result.brought) == {*expected, *mine}
    assert world.arrived() == expected | mine | {f"runs/{RUN}/order.md": b"mine"}
    assert result.ended == ""
    assert not result.more
    assert world.box.logins() == 1


def test_a_refusal_is_reported_once(world: World) -> None:
    sync = world.prepared()
    (world.shared / "handoffs/out.md").symlink_to("/etc/passwd")
    (world.shared / "artifacts/out").symlink_to("/etc")
    os.mkfifo(world.shared / "artifacts/pipe")
    put(world.shared / "handoffs/notes.txt")
    put(world.shared / "handoffs/pm-20251127-154500.md")
    put(world.shared / "handoffs/huge.md", bytes(5_000_000))
    refused = dict(pull(sync, [RUN]).refused)
    assert "max_artifact_bytes" not in refused["handoffs/huge.md"], "that is no limit of handoffs"
    assert sorted(refused) == [
        "artifacts/out",
        "artifacts/pipe",
        "handoffs/huge.md",
        "handoffs/notes.txt",
        "handoffs/out.md",
        "handoffs/pm-20251127-154500.md",
    ]
    for again in (sync, world.sync()):
        assert pull(again, [RUN]) == Pulled()
    assert not world.arrived()


@pytest.mark.parametrize("years", [-30, 30])
def test_no_clock_is_asked(world: World, years: int) -> None:
    sync = world.prepared()
    for number in range(3):
        path = world.shared / "handoffs" / REPORT
        put(path, b"%d" % number)
        at = path.stat().st_mtime_ns + (years - number) * 31_536_000 * 10**9
        os.utime(path, ns=(at, at))
        assert pull(sync, [RUN]).brought == (f"handoffs/{REPORT}",)
        assert world.arrived()[f"handoffs/{REPORT}"] == b"%d" % number


def test_nothing_that_exists_on_one_side_is_deleted_on_the_other(world: World) -> None:
    sync = world.prepared()
    put(world.shared / "artifacts/a")
    put(world.shared / "artifacts/b")
    pull(sync, [RUN])
    (world.shared / "artifacts/a").unlink()
    (world.here.folder / "artifacts/b").unlink()
    put(world.here.folder / "artifacts/c", b"here")
    assert pull(sync, [RUN]) == Pulled()
    assert pull(world.sync(), [RUN]) == Pulled()
    assert world.arrived() == {"artifacts/a": b"there", "artifacts/c": b"here"}
    assert sorted(path.name for path in (world.shared / "artifacts").iterdir() if path.is_file()) == ["b"]


def test_both_sides_of_a_conflict_are_kept(world: World) -> None:
    sync = world.prepared()
    put(world.shared / "artifacts/a.txt")
    pull(sync, [RUN])
    put(world.here.folder / "artifacts/a.txt", b"mine")
    put(world.shared / "artifacts/a.txt", b"theirs")
    assert pull(sync, [RUN]).kept == (("artifacts/a.txt", "artifacts/a.kept-1.txt"),)
    assert world.arrived() == {"artifacts/a.txt": b"theirs", "artifacts/a.kept-1.txt": b"mine"}


# In which order -------------------------------------------------------------------------------------


def test_the_artifacts_that_a_report_names_are_here_ahead_of_it(world: World) -> None:
    sync = world.prepared()
    put(world.shared / "artifacts/code/a.py")
    put(world.shared / "artifacts/code/more/b.py")
    put(world.shared / "artifacts/tests/c.py")
    put(
        world.shared / "handoffs" / REPORT,
        report("artifacts/code/a.py", f"{world.shared}/artifacts/code/more"),
    )
    ahead = ("artifacts/code/a.py", "artifacts/code/more/b.py")
    assert sync.pull_control([RUN]).brought == (*ahead, f"handoffs/{REPORT}")
    assert pull(sync, [RUN]).brought == ("artifacts/tests/c.py",)


def test_report_waits_for_all_files_of_a_folder_it_names(world: World) -> None:
    """So does the end of its run; what another task's pull may bring is no more at once than before."""
    world.prepared()
    sync = world.sync(Bounds(files=4))
    for number in range(10):
        put(world.shared / f"artifacts/code/deep/{number}", bytes(number + 1))
    put(world.shared / "handoffs" / REPORT, report("artifacts/code"))
    put(world.own / "runs" / RUN / "exit", b"0\n")
    first = sync.pull_control([RUN])
    assert (len(first.brought), first.waits, first.more) == (4, True, True)
    assert all(name.startswith("artifacts/code/deep/") for name in first.brought)
    assert sync.pull_control([RUN]).waits
    last = sync.pull_control([RUN])
    assert not last.waits
    assert last.brought[-2:] == (f"handoffs/{REPORT}", f"runs/{RUN}/exit")
    assert [len(world.arrived()[f"artifacts/code/deep/{number}"]) for number in range(10)] == [*range(1, 11)]


def test_report_waits_for_its_folder_no_longer_than_bound(world: World) -> None:
    """Its user is told which folder is not whole here."""
    world.prepared()
    now = [0.0]
    sync = TaskSync(
        world.link,
        world.files,
        world.there,
        world.here,
        os.environ,
        bounds=Bounds(files=1),
        steady=lambda: now[0],
    )
    for number in range(5):
        put(world.shared / f"artifacts/code/{number}")
    put(world.shared / "handoffs" / REPORT, report("artifacts/code"))
    assert sync.pull_control([RUN]).waits
    now[0] = HELD
    late = sync.pull_control([RUN])
    assert not late.waits
    assert f"handoffs/{REPORT}" in late.brought
    assert [name for name, _ in late.refused] == ["artifacts/code"]


AGENTS = """
for number in $(seq 400); do
    echo "report $number" >"$1/handoffs/.tmp-new" && mv "$1/handoffs/.tmp-new" "$1/handoffs/dev-$number.md"
    mkdir -p "$2/runs/r-$number"
    echo 0 >"$2/runs/r-$number/exit.new" && mv "$2/runs/r-$number/exit.new" "$2/runs/r-$number/exit"
done
"""
"""What agents do who hand in a report and exit at once, one after the other."""


def test_exit_never_comes_ahead_of_what_was_handed_in_before(world: World) -> None:
    """One call of rsync brings both: it looks for handoffs when it has seen all exits (law 5)."""
    sync = world.prepared()
    runs = [f"r-{number}" for number in range(1, 401)]
    pulls = 0
    with subprocess.Popen(["sh", "-c", AGENTS, "sh", str(world.shared), str(world.own)]) as agents:
        ended = False
        while not ended:
            ended = agents.poll() is not None
            sync.pull_control(runs)
            pulls += 1
            arrived = world.arrived()
            exits = [run for run in runs if f"runs/{run}/exit" in arrived]
            assert [run for run in exits if f"handoffs/dev-{run[2:]}.md" not in arrived] == []
    assert len(exits) == len(runs)
    assert pulls > 2


@pytest.mark.parametrize("others", [0, 40], ids=["a few", "many"])
def test_events_arrive_in_the_order_of_writing(world: World, others: int) -> None:
    """Those of a second bear the numbers of processes, which are longer at 10,000 and begin anew at 32,768."""
    sync = world.prepared()
    numbers = [*range(9_900, 9_900 + others), 9_999, 10_001, 32_767, 301]
    shown = [f"{RUN}.1764000000.{number}.json" for number in numbers]
    for at, name in enumerate(shown):
        put(world.own / "requests/events" / name)
        os.utime(world.own / "requests/events" / name, ns=(0, 1_764_000_000_000_000_000 + at))
    sync.pull_control([RUN])
    assert [name for name in world.files.written if name in shown] == shown
    events = EventIngest(world.files, world.here.home, lambda _: {}, lambda *_: Policy())
    assert [entry.name for entry in events.waiting()] == shown


def test_handoff_written_in_place_arrives_whole(world: World) -> None:
    """A handoff that is written in place is not here ahead of its end."""
    sync = world.prepared()
    path = world.shared / "handoffs" / REPORT
    whole = report("artifacts/code/a.py")
    with path.open("wb") as file:
        file.write(whole[:-20])
        file.flush()
        for _ in range(2):
            assert pull(sync, [RUN]) == Pulled()
        file.write(whole[-20:])
    assert pull(sync, [RUN]).brought == (f"handoffs/{REPORT}",)
    assert world.arrived()[f"handoffs/{REPORT}"] == whole
    # One that is open and not written any more when its run ends: its last words.
    with path.open("ab") as file:
        file.write(b"\nmore\n")
        file.flush()
        put(world.own / "runs" / RUN / "exit", b"code 0\n")
        assert pull(sync, [RUN]).brought == (f"handoffs/{REPORT}", f"runs/{RUN}/exit")


def test_a_handoff_that_changed_since_it_was_read_is_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = world.prepared()
    path = world.shared / "handoffs" / REPORT
    path.write_bytes(report()[:-20])
    bring = Mirror.bring

    def go_on(self: Mirror, *args, **options):
        took = bring(self, *args, **options)
        path.write_bytes(report())
        return took

    monkeypatch.setattr(Mirror, "bring", go_on)
    assert sync.pull_control([RUN]) == Pulled()
    monkeypatch.setattr(Mirror, "bring", bring)
    assert sync.pull_control([RUN]).brought == (f"handoffs/{REPORT}",)
    assert world.arrived()[f"handoffs/{REPORT}"] == report()


def test_endless_tree_delays_nothing_and_comes_in_parts(world: World) -> None:
    """A tree without end holds up nothing and comes bit by bit."""
    world.prepared()
    sync = world.sync(Bounds(files=4, size=1000, total=6000))
    for number in range(10):
        put(world.shared / f"artifacts/{number}", bytes(300))
    put(world.shared / "artifacts/large", bytes(20_000))
    first = pull(sync, [RUN])
    assert len(first.brought) == 3
    assert first.more
    assert [name for name, _ in first.refused] == ["artifacts"]
    put(world.shared / "handoffs" / REPORT, report())
    second = pull(sync, [RUN])
    assert second.brought[0] == f"handoffs/{REPORT}"
    assert len(second.brought) == 4
    while pull(sync, [RUN]).more:
        pass
    assert len(world.arrived()) == 11


def test_handoffs_without_end_are_bounded_and_the_exit_is_known(world: World) -> None:
    """Files with holes cost a box nothing: each pull ends, all of them do, and the end of a run comes all the same."""
    world.prepared()
    sync = world.sync(Bounds(control=3_000_000, control_total=9_000_000))
    put(world.shared / "handoffs" / REPORT, report())
    for number in range(40):
        path = world.shared / f"handoffs/dev-20251127-1546{number:02d}.md"
        put(path)
        os.truncate(path, 1_000_000)
    pulls = [sync.pull_control([RUN]) for _ in range(6)]
    assert [each.more for each in pulls] == [True, True, True, False, False, False]
    assert f"handoffs/{REPORT}" in pulls[3].brought
    assert [name for each in pulls for name, _ in each.refused if name == "handoffs"] == ["handoffs"]
    assert mirrored(world) <= 9_000_000
    put(world.own / "runs" / RUN / "exit", b"0\n")
    assert f"runs/{RUN}/exit" in sync.pull_control([RUN]).brought
    assert world.sync(Bounds(control_total=9_000_000)).pull_control([RUN]).brought == ()


def test_what_did_not_change_is_neither_read_nor_listed(world: World) -> None:
    sync = world.prepared()
    for number in range(100):
        put(world.shared / f"artifacts/{number}")
    pull(sync, [RUN])
    world.files.looked.clear()
    assert pull(sync, [RUN]) == Pulled()
    assert world.files.looked == []
    put(world.shared / "artifacts/new")
    pull(sync, [RUN])
    assert {path.name for path in world.files.looked} == {"new", "known"} - {"known"}
    again = world.sync()
    world.files.looked.clear()
    pull(again, [RUN])
    assert not [path for path in world.files.looked if path.is_file()]


# Cuts -----------------------------------------------------------------------------------------------


class Cutting:
    """Has one call of rsync cut: ahead of it, in its midst, or after it. `calls` counts those that were made."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.stage = world.here.mirror / "tree.stage"
        self._box = world.box
        self._patch = monkeypatch

    def at(self, call: int, moment: str) -> None:
        """Have this call cut, counted from now, and no other."""
        self.calls = 0
        self._patch.setattr(transferring, "run_child", partial(self._run, call, moment))

    def _run(self, call: int, moment: str, *args, **options) -> Ended:
        self.calls += 1
        if self.calls != call:
            return run_child(*args, **options)
        if moment == "ahead":
            self._box.kill_sessions()
        with ThreadPoolExecutor(1) as pool:
            going = pool.submit(run_child, *args, **options)
            if moment == "midst":
                wait_until(lambda: going.done() or any(self.stage.rglob("*")), every=0.0005)
                self._box.kill_sessions()
            ended = going.result(60)
        if moment == "after":
            self._box.kill_sessions()
        return ended


def laid_down(world: World, tag: str, number: int) -> dict[str, bytes]:
    """Lay down what each kind of transfer has something to bring of; return it by name."""
    new = {
        f"artifacts/{tag}/named": os.urandom(3_000_000),
        f"artifacts/{tag}/other": os.urandom(3_000_000),
        f"requests/events/{RUN}.{number}.1.json": os.urandom(3_000_000),
        f"handoffs/{tag}.md": report(f"artifacts/{tag}/named"),
        f"handoffs/{tag}-2.md": os.urandom(3_000_000),
    }
    for name, data in new.items():
        put((world.own if name.startswith("requests") else world.shared) / name, data)
    return new


@pytest.mark.thorough(reason="a dozen pulls: another test here takes the cable out once")
def test_sync_cut_anywhere_leaves_nothing_half(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The four calls of rsync of a pull, each cut ahead of it, in the middle and after it; then the box is back."""
    sync, cutting = world.prepared(), Cutting(world, monkeypatch)
    expected, cuts = dict[str, bytes](), 0
    for call, moment in product(range(1, 5), ("ahead", "midst", "after")):
        expected |= laid_down(world, f"{call}-{moment}", len(expected))
        cutting.at(call, moment)
        cut = False
        try:
            cut = bool(pull(sync, [RUN]).ended)
        except Unreachable:
            cut = True
        assert cutting.calls >= call
        cuts += cut
        assert world.arrived().items() <= expected.items()
        cutting.at(0, "never")
        wait_until(lambda: world.link.state().way is Way.UNREACHABLE)
        world.link.again()
        if moment == "midst":
            # The daemon was killed as well.
            sync = world.sync()
        assert not pull(sync, [RUN]).ended
        assert world.arrived() == expected
        assert not any(cutting.stage.iterdir())
    # After the last call nothing is left to be cut.
    assert cuts >= 9


def test_cable_out_is_noticed_and_files_come_later(world: World) -> None:
    """A cable that is out is noticed and what came meanwhile comes then."""
    sync = world.prepared()
    with world.box.cut():
        put(world.shared / "handoffs" / REPORT)
        with pytest.raises(Unreachable):
            pull(sync, [RUN])
        assert not world.arrived()
    world.link.again()
    assert pull(sync, [RUN]).brought == (f"handoffs/{REPORT}",)
