"""`task observe`: from archive and journals to a page."""

import io
import json
import tarfile
from dataclasses import replace

import pytest

from orchestrator.cli.archived_records import unpacked_records
from orchestrator.cli.extras import OF_OBSERVER
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import HandoffStatus, Transition
from orchestrator.model.errors import Refused
from orchestrator.records.archive import open_archive
from tests.unit.records.pipelines import BEGAN, PIPELINE, handed_on
from tests.unit.records.test_observer import journal, view


@pytest.fixture
def archived(house):
    archive = open_archive(DiskFiles(), house.project / "data" / "handoffs")
    for each in PIPELINE:
        archive.take(each, started=BEGAN)
    return house.project


@pytest.fixture
def worked(house):
    shown = {key: value for key, value in view().items() if key not in {"task", "id", "project"}}
    home = house.task(**shown, agents=[], base="", updated=BEGAN + 9000)
    (home / "journal").mkdir()
    (home / "journal" / "0000000001.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in journal()))


def test_a_day_is_reported_in_the_form_of_the_document(task, archived):
    said = task("observe", "--date", "2025-12-11", "--project", str(archived))
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("# Handoff Pipeline Report - 2025-12-11\n\n## Summary\n- Total handoffs: 4\n")
    assert "\n## Transitions\n" not in said.out


def test_several_days_and_details(task, archived, monkeypatch):
    monkeypatch.chdir(archived)
    said = task("observe", "--date", "2025-12-12", "--days", "3", "--details")
    assert said.out.startswith("# Handoff Pipeline Report - 2025-12-10 to 2025-12-12\n")
    assert "- PLANNER→IMPLEMENTER: 1; 1 of 1 of use\n" in said.out
    assert task("observe", "--date", "2025-12-11", "--json").json["handoffs"] == 4


def test_journals_of_tasks_count(task, worked, house, monkeypatch):
    monkeypatch.chdir(house.project)
    document = task("observe", "--date", "2025-11-27", "--json").json
    assert (document["handoffs"], document["completed_chains"]) == (3, 1)
    assert document["questions"]["answered"]["mean"] == 7200.0
    assert [each["role"] for each in document["usage"]] == ["dev", "test"]


def test_other_projects_count_only_when_asked(task, worked, house):
    """Standing elsewhere, nothing is seen of them."""
    assert task("observe", "--date", "2025-11-27", "--json").json["handoffs"] == 0
    assert task("observe", "--date", "2025-11-27", "--all-projects", "--json").json["handoffs"] == 3


def test_it_changes_nothing(task, archived, worked, house, monkeypatch):
    monkeypatch.chdir(archived)

    def all_files():
        return {path: path.stat().st_mtime_ns for path in house.root.rglob("*") if path.is_file()}

    before = all_files()
    task("observe", "--date", "2025-12-11", "--details")
    assert all_files() == before


def test_what_is_no_record_is_named(task, archived):
    (archived / "data" / "handoffs" / "2025-12-11" / "notes.txt").write_text("x")
    said = task("observe", "--date", "2025-12-11", "--project", str(archived))
    assert "notes.txt is not counted: is neither a handoff nor a chain by its name" in said.err


@pytest.mark.parametrize(
    "words",
    [["--date", "yesterday"], ["--date", "2025-13-01"], ["--days", "0"], ["--days", "x"]],
    ids=" ".join,
)
def test_an_odd_period_is_refused_in_one_line(task, words):
    said = task("observe", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)


# What is read ---------------------------------------------------------------------------------------

TIDY = "tidy-0a1b2c3d"
DAY = ("--date", "2025-12-11", "--json")


def file_handoffs(root, task, *handoffs):
    archive = open_archive(DiskFiles(), root)
    for each in handoffs or PIPELINE:
        archive.take(replace(each, context=replace(each.context, task=task)), started=BEGAN)


def seen_on(task, *words):
    """Return how many handoffs were counted, and each source that was read by its kind."""
    document = task("observe", *words).json
    return document["handoffs"], {each["kind"]: each for each in document["read"]}, document["unread"]


def test_the_archive_of_a_daemon_is_read(task, house, monkeypatch):
    """Of the tasks of this project, and with --all-projects of all, unknown ones too."""
    root = house.root / "all-handoffs"
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__ARCHIVE", str(root))
    monkeypatch.chdir(house.project)
    house.task(TIDY, state="complete")
    house.task("other-0a1b2c3d", state="complete", project=str(house.root / "elsewhere"))
    file_handoffs(root, TIDY)
    file_handoffs(root, "other-0a1b2c3d", handed_on(5, Transition.IMPLEMENT, 10))
    file_handoffs(root, "forgotten-0a1b2c3d", handed_on(6, Transition.IMPLEMENT, 20))
    count, read, unread = seen_on(task, *DAY)
    assert (count, read["daemon"]["handoffs"], read["daemon"]["left_out"], unread) == (4, 4, 2, [])
    assert seen_on(task, *DAY, "--all-projects")[0] == 6


def test_the_archive_in_the_folder_of_a_task_is_read_once(task, house, monkeypatch):
    """Also where a daemon has an archive with the same handoffs."""
    monkeypatch.setenv("ORCHESTRATOR_DAEMON__ARCHIVE", str(house.root / "all-handoffs"))
    monkeypatch.chdir(house.project)
    house.task(TIDY, state="running")
    file_handoffs(house.root / "all-handoffs", TIDY)
    file_handoffs(house.project / "tasks" / "tidy" / "data" / "handoffs", TIDY)
    count, read, _ = seen_on(task, *DAY)
    assert (count, read["tasks"]["handoffs"], read["daemon"]["handoffs"]) == (4, 4, 0)


def test_what_was_handed_on_in_a_task_at_rest_waits_for_nobody(task, house, monkeypatch):
    monkeypatch.chdir(house.project)
    file_handoffs(house.project / "tasks" / "tidy" / "data" / "handoffs", TIDY, PIPELINE[0])
    for state, waiting in (("running", 1), ("stopped", 0)):
        house.task(TIDY, state=state, updated=BEGAN + 9000)
        assert task("observe", *DAY).json["active"] == waiting
        document = task("observe", "--days", "3", "--date", "2025-12-13", "--json").json
        assert (document["handoffs"], len(document["stuck"])) == (1, waiting)


def test_figures_of_a_task_stay_when_it_is_archived(task, worked, house, monkeypatch):
    monkeypatch.chdir(house.project)
    file_handoffs(house.project / "tasks" / "tidy" / "data" / "handoffs", TIDY)
    before = [figures(task, day) for day in ("2025-11-27", "2025-12-11")]
    assert task("archive", "tidy", "--yes").code == 0
    assert [figures(task, day) for day in ("2025-11-27", "2025-12-11")] == before
    assert [each["handoffs"] for each in before] == [3, 4]
    _, read, unread = seen_on(task, "--date", "2025-11-27", "--json")
    assert (read["archived"]["tasks"], read["tasks"]["tasks"], unread) == (1, 0, [])
    said = task("observe", "--date", "2025-11-27", "--details")
    assert f"- {house.state / 'archive'}: 1 task, " in said.out


def figures(task, day):
    document = task("observe", "--date", day, "--json").json
    assert document["unread"] == []
    return {key: document[key] for key in document.keys() - {"made_at", "read"}}


def test_archived_tasks_of_earlier_days_are_not_unpacked(task, worked, house, monkeypatch):
    monkeypatch.chdir(house.project)
    assert task("archive", "tidy", "--yes").code == 0
    _, read, _ = seen_on(task, "--date", "2099-01-01", "--json")
    assert (read["archived"]["tasks"], read["archived"]["left_out"]) == (0, 1)


def test_what_could_not_be_read_is_named_and_the_rest_counts(task, archived, house, monkeypatch):
    """A damaged archive, one that is cut off, a damaged state, a folder that is a link, settings that do not read."""
    monkeypatch.chdir(archived)
    house.task("cut-0a1b2c3d", state="complete", agents=[], base="")
    assert task("archive", "cut", "--yes").code == 0
    whole = house.state / "archive" / "cut-0a1b2c3d.tar.gz"
    whole.write_bytes(whole.read_bytes()[:-40])
    (house.state / "archive" / "odd-0a1b2c3d.tar.gz").write_bytes(b"no archive")
    (house.home("torn-0a1b2c3d") / "state.json").write_text("{")
    house.task(TIDY)
    (archived / "tasks" / "tidy").mkdir(parents=True)
    (archived / "tasks" / "tidy" / "data").symlink_to("/etc")
    (house.root / "config" / "agent-orchestrator").mkdir(parents=True)
    (house.root / "config" / "agent-orchestrator" / "config.toml").write_text("daemon.archive = 3\n")
    count, _, unread = seen_on(task, *DAY)
    reasons = {each["path"].rsplit("/", 1)[-1]: each["reason"] for each in unread}
    assert count == len(PIPELINE)
    assert sorted(reasons) == [
        "config.toml",
        "cut-0a1b2c3d.tar.gz",
        "handoffs",
        "odd-0a1b2c3d.tar.gz",
        "torn-0a1b2c3d",
    ]
    assert "is a link or a file" in reasons["handoffs"]
    assert "cannot be read as an archive" in reasons["cut-0a1b2c3d.tar.gz"]
    assert f"{len(unread)} files could not be read" in task("observe", *DAY[:2], "--details").out


def test_a_task_speaks_for_itself_alone(task, house, monkeypatch):
    """Its agents can write into its folder: what they file there of another task is named, and not counted."""
    monkeypatch.chdir(house.project)
    house.task(TIDY)
    file_handoffs(house.project / "tasks" / "tidy" / "data" / "handoffs", "other-0a1b2c3d")
    count, _, (unread,) = seen_on(task, *DAY)
    assert (count, unread["reason"]) == (0, "has 4 handoffs that name another task")


def test_of_an_archived_task_only_plain_records_are_unpacked(tmp_path):
    """No link, no name that leads out, nothing of what its agents made."""
    names = ("home/journal/../../../out", "home/journal//x", "folder/artifacts/a", "home/journal/1.jsonl")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as packed:
        for name in names:
            packed.addfile(part := tarfile.TarInfo(name), io.BytesIO(b"x" * part.size))
        link = tarfile.TarInfo("home/journal/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    (tmp_path / "a.tar.gz").chmod(0o600)
    with unpacked_records(tmp_path / "a.tar.gz") as (home, folder):
        stage = folder.parent
        assert home == str(stage / "home")
        found = [str(path.relative_to(stage)) for path in stage.rglob("*") if not path.is_dir()]
    assert (found, stage.exists()) == (["home/journal/1.jsonl"], False)


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("orchestrator.cli.archived_records._MOST", 100)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as packed:
        for number in range(3):
            part = tarfile.TarInfo(f"home/journal/{number}.jsonl")
            part.size = 50
            packed.addfile(part, io.BytesIO(b"x" * 50))
    (tmp_path / "a.tar.gz").chmod(0o600)
    with pytest.raises(Refused, match="holds more than 100 bytes"), unpacked_records(tmp_path / "a.tar.gz"):
        raise AssertionError


# A page --------------------------------------------------------------------------------------------


def test_a_page_is_printed_or_written(task, archived, house, tmp_path):
    """A link in the place of the file is replaced, not followed."""
    words = ("observe", "--date", "2025-12-11", "--project", str(archived), "--html")
    printed = task(*words)
    assert (printed.code, printed.err) == (0, "")
    assert printed.out.startswith("<!doctype html>")
    (tmp_path / "kept").write_text("kept")
    (tmp_path / "page.html").symlink_to(tmp_path / "kept")
    written = task(*words, str(tmp_path / "page.html"))
    assert (written.code, written.out) == (0, f"{tmp_path / 'page.html'}\n")
    page = (tmp_path / "page.html").read_text()
    assert "<dt>Handed on</dt><dd>4</dd>" in page
    assert ((tmp_path / "kept").read_text(), (tmp_path / "page.html").is_symlink()) == ("kept", False)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o600


def test_no_file_is_made_in_a_folder_that_is_not_there(task, archived, tmp_path):
    for name in (tmp_path / "none" / "page.html", tmp_path):
        said = task("observe", "--project", str(archived), "--html", str(name))
        assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)


def test_metrics_are_for_an_exporter_of_another_user(task, archived, tmp_path):
    words = ("observe", "--date", "2025-12-11", "--project", str(archived), "--prometheus")
    path = tmp_path / "orchestrator.prom"
    assert task(*words, str(path)).out == f"{path}\n"
    assert path.stat().st_mode & 0o777 == 0o644
    printed = task(*words).out
    assert "agent_orchestrator_handoffs 4.0\n" in printed
    same = [line for line in path.read_text().splitlines() if "observed_timestamp" not in line]
    assert same == [line for line in printed.splitlines() if "observed_timestamp" not in line]


@pytest.mark.parametrize(
    ("status", "state", "complete"),
    [
        ("rejected", "running", 0),
        ("pending", "running", 1),
        ("pending", "partial", 0),
        ("accepted", "failed", 0),
        ("completed", "partial", 1),
    ],
)
def test_what_nobody_took_is_not_complete(task, house, monkeypatch, status, state, complete):
    """The cleaner said `complete`; the task was left before the orchestrator had closed it."""
    house.task("shop-0a1b2c3d", state=state, updated=BEGAN)
    monkeypatch.chdir(house.project)
    archive = open_archive(DiskFiles(), house.project / "data" / "handoffs")
    for each in PIPELINE:
        head = replace(each.head, status=HandoffStatus(status)) if each is PIPELINE[-1] else each.head
        context = replace(each.context, task="shop-0a1b2c3d") if each.context else each.context
        archive.take(replace(each, head=head, context=context), started=BEGAN)
    assert task("observe", "--date", "2025-12-11", "--json").json["completed_chains"] == complete


def test_without_the_client_it_says_how_to_install_it(task, archived, monkeypatch):
    monkeypatch.setitem(OF_OBSERVER, "metrics", "no_client")
    said = task("observe", "--project", str(archived), "--prometheus")
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert "'.[metrics]'" in said.err
