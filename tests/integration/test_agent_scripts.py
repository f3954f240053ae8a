"""scripts/status-update.sh and scripts/memory-write.sh: safe, whole, and many at once (C4, C5)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.formats.coordination.handoff import read_handoff
from orchestrator.formats.coordination.status import read_role_status, render_role_status
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import AgentActivity, PipelineRole, WaitingFor
from orchestrator.records.archive import open_archive
from tests.json_schemas import faults
from tests.unit.formats.coordination.documents import BLOCKS
from tests.unit.records.pipelines import BEGAN, PIPELINE

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
STATUS, MEMORY = SCRIPTS / "status-update.sh", SCRIPTS / "memory-write.sh"
SHELLS = [each for each in ("dash", "bash", "busybox", "ksh") if shutil.which(each)]
AGENT = "agent-impl-001"
needs_jq = pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")


def run(
    folder: Path, script: Path, *words: str, shell: str = "", **environ: str
) -> subprocess.CompletedProcess[str]:
    start = [shell, *(["sh"] if shell == "busybox" else [])] if shell else []
    env = {"PATH": os.environ["PATH"], **environ}
    return subprocess.run(
        [*start, script, *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def update(folder: Path, *words: str, **environ: str) -> None:
    done = run(folder, STATUS, AGENT, *words, **environ)
    assert (done.returncode, done.stderr) == (0, "")


def status_file(folder: Path) -> Path:
    return folder / "data" / "agent-status" / f"{AGENT}.json"


def status(folder: Path):
    """Return the status, which must lie there as the program itself would write it."""
    data = status_file(folder).read_bytes()
    found = read_role_status(data, f"{AGENT}.json")
    assert render_role_status(found) == data
    assert faults("agent-status", json.loads(data)) == []
    return found


def without_flock(folder: Path) -> str:
    """Return a PATH on which everything is that the scripts need, and no flock."""
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in [
        "awk",
        "bash",
        "cat",
        "date",
        "iconv",
        "ln",
        "mkdir",
        "mv",
        "readlink",
        "rm",
        "rmdir",
        "sh",
        "sleep",
    ]:
        if not (tools / name).exists():
            (tools / name).symlink_to(shutil.which(name) or "/nowhere")
    return str(tools)


@pytest.mark.parametrize("shell", SHELLS)
def test_each_key_is_written(tmp_path, shell):
    for key, value in (
        ("status", "active"),
        ("role", "AUDITOR"),
        ("currentTask", "Auditing"),
        ("progress", "0.5"),
        ("findings", "One"),
        ("findings", 'Two "quoted" \\ with $(id) and `id`,\nin two lines, ünïcode'),
        ("handoffId", "handoff_1702311000000_a1b2c3d4"),
        ("nextRole", "CLEANER"),
        ("waitingFor", "approval"),
        ("blockedBy", "A reason"),
    ):
        done = run(tmp_path, STATUS, AGENT, key, value, shell=shell)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = status(tmp_path)
    assert (found.role, found.activity, found.progress) == (PipelineRole.AUDITOR, AgentActivity.ACTIVE, "0.5")
    assert found.findings == ("One", 'Two "quoted" \\ with $(id) and `id`,\nin two lines, ünïcode')
    assert (found.next_role, found.waiting_for, found.blocked_by) == (
        PipelineRole.CLEANER,
        WaitingFor.APPROVAL,
        ("A reason",),
    )
    assert found.handoff == "handoff_1702311000000_a1b2c3d4"
    for key in ("handoffId", "nextRole", "waitingFor", "blockedBy", "findings", "progress"):
        assert run(tmp_path, STATUS, AGENT, key, "", shell=shell).returncode == 0
    found = status(tmp_path)
    assert (found.handoff, found.next_role, found.waiting_for, found.progress) == (None,) * 4
    assert (found.findings, found.blocked_by) == ((), ())
    assert found.current_task == "Auditing"


@pytest.mark.parametrize(
    ("agent", "role"),
    [
        ("agent-planner-001", PipelineRole.PLANNER),
        ("agent-impl-001", PipelineRole.IMPLEMENTER),
        ("auditor", PipelineRole.AUDITOR),
        ("cleaner-2", PipelineRole.CLEANER),
        ("orchestrator", PipelineRole.ORCHESTRATOR),
        ("dev", None),
    ],
)
def test_role_of_a_new_agent_is_that_of_its_name(tmp_path, agent, role):
    assert run(tmp_path, STATUS, agent, "status", "idle").returncode == 0
    data = (tmp_path / "data" / "agent-status" / f"{agent}.json").read_bytes()
    assert read_role_status(data, f"{agent}.json").role is role


def test_status_of_the_document_is_changed_in_place(tmp_path):
    """Also as one line, with fields that nobody knows: they stay."""
    for text in (
        BLOCKS["agent status"],
        json.dumps({**json.loads(BLOCKS["agent status"]), "x": {"y": [1, "}"]}}),
    ):
        path = tmp_path / "data" / "agent-status" / "agent-implementer-001.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        assert run(tmp_path, STATUS, "agent-implementer-001", "findings", "More").returncode == 0
        changed, was = json.loads(path.read_bytes()), json.loads(text)
        assert changed.pop("lastUpdate") != was.pop("lastUpdate")
        was["findings"].append("More")
        assert changed == was


@pytest.mark.parametrize("flock", [True, False])
def test_hundred_writers_at_once_lose_nothing(tmp_path, flock):
    if flock and not shutil.which("flock"):
        pytest.skip("flock is not installed")
    env = {"PATH": os.environ["PATH"] if flock else without_flock(tmp_path)}
    many = 100 if flock else 30  # who has no flock asks again and again: what that costs grows by the square
    writers = [
        subprocess.Popen(
            ["sh", STATUS, AGENT, ("findings", "blockedBy")[number % 2], f"number {number}"],
            cwd=tmp_path,
            env=env,
            stderr=subprocess.PIPE,
        )
        for number in range(many)
    ]
    assert [writer.communicate(timeout=600)[1] for writer in writers] == [b""] * many
    found = status(tmp_path)
    assert sorted((*found.findings, *found.blocked_by)) == sorted(
        f"number {number}" for number in range(many)
    )
    assert len(found.findings) == many / 2
    assert [each.name for each in status_file(tmp_path).parent.iterdir()] == [f"{AGENT}.json"]


def test_killed_writers_spoil_nothing(tmp_path):
    """What the others wrote is there, the file is whole, and the next writer clears up."""
    env = {"PATH": os.environ["PATH"]}
    writers = [
        subprocess.Popen(["sh", STATUS, AGENT, "findings", f"number {number}"], cwd=tmp_path, env=env)
        for number in range(40)
    ]
    for writer in writers[1::2]:
        writer.kill()
    assert {writer.wait(timeout=600) for writer in writers[::2]} == {0}
    for writer in writers[1::2]:
        writer.wait(timeout=600)
    (status_file(tmp_path).parent / f".status-update-{AGENT}").write_text("half")
    update(tmp_path, "findings", "the last")
    assert {f"number {number}" for number in range(0, 40, 2)} <= set(status(tmp_path).findings)
    assert [each.name for each in status_file(tmp_path).parent.iterdir()] == [f"{AGENT}.json"]


def test_lock_of_a_writer_that_died_is_no_obstacle(tmp_path):
    update(tmp_path, "findings", "one")
    dead = subprocess.Popen(["true"])
    dead.wait()
    (status_file(tmp_path).parent / ".lock").symlink_to(str(dead.pid))
    update(tmp_path, "findings", "two", PATH=without_flock(tmp_path))
    assert status(tmp_path).findings == ("one", "two")


@pytest.mark.parametrize(
    "words",
    [
        (),
        (AGENT, "status"),
        (AGENT, "status", "active", "more"),
        (AGENT, "status", "busy"),
        (AGENT, "status", ""),
        (AGENT, "agentId", "other"),
        (AGENT, "lastUpdate", "now"),
        (AGENT, "nextRole", "BOSS"),
        (AGENT, "waitingFor", "lunch"),
        (AGENT, "progress", "75%"),
        (AGENT, "progress", "1.5"),
        (AGENT, "progress", "0.1234567"),
        (AGENT, "handoffId", "handoff_1_../../x"),
        (AGENT, "findings", "\x1b[2J"),
        (AGENT, "findings", b"\xff\xfe"),
        (AGENT, "findings", "x" * 65_537),
        ("../x", "status", "active"),
        ("-x", "status", "active"),
        ("a b", "status", "active"),
        ("A", "status", "active"),
        ("x" * 65, "status", "active"),
        ("", "status", "active"),
    ],
)
def test_each_misuse_has_its_line(tmp_path, words):
    done = run(tmp_path, STATUS, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("status-update.sh: ")
    assert not list(tmp_path.rglob("*.json"))
    assert not list(tmp_path.rglob(".status-update-*"))


def test_agent_writes_its_own_status_only(tmp_path):
    done = run(tmp_path, STATUS, "agent-planner-001", "status", "idle", ORCHESTRATOR_AGENT=AGENT)
    assert done.returncode == 2
    assert not list(tmp_path.rglob("*.json"))
    update(tmp_path, "status", "idle", ORCHESTRATOR_AGENT=AGENT)


def test_link_is_neither_followed_nor_replaced(tmp_path):
    target = tmp_path / "target"
    target.write_text("mine")
    status_file(tmp_path).parent.mkdir(parents=True)
    status_file(tmp_path).symlink_to(target)
    assert run(tmp_path, STATUS, AGENT, "status", "idle").stderr.endswith("is a link: remove it\n")
    assert target.read_text() == "mine"
    assert status_file(tmp_path).is_symlink()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"agentId": "another"}',
        '{"a": 1, "a": 2}',
        '{"findings": [1]}',
        '{"a": b}',
        '{"a": 1} more',
        "{,}",
        '{"a": "',
        '{"findings": ["a",]}',
    ],
)
def test_what_does_not_read_stays_as_it_is(tmp_path, text):
    status_file(tmp_path).parent.mkdir(parents=True)
    status_file(tmp_path).write_text(text)
    done = run(tmp_path, STATUS, AGENT, "findings", "x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert status_file(tmp_path).read_text() == text
    assert not list(tmp_path.rglob(".status-update-*"))


def test_megabyte_is_enough(tmp_path):
    status_file(tmp_path).parent.mkdir(parents=True)
    for text in ("x" * 10_000_000, json.dumps({"findings": ["x" * 60_000] * 17})):
        status_file(tmp_path).write_text(text)
        done = run(tmp_path, STATUS, AGENT, "findings", "y" * 40_000)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "1 MB" in done.stderr
        assert status_file(tmp_path).read_text() == text


def test_thousand_findings_are_enough(tmp_path):
    update(tmp_path, "findings", "x")
    path = status_file(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "findings": ["x"] * 1000}))
    assert run(tmp_path, STATUS, AGENT, "findings", "y").returncode == 2
    update(tmp_path, "findings", "")
    assert status(tmp_path).findings == ()


def test_folder_that_a_variable_names(tmp_path):
    update(tmp_path, "status", "idle", ORCHESTRATOR_DATA=str(tmp_path / "else where"))
    assert (tmp_path / "else where" / "agent-status" / f"{AGENT}.json").is_file()
    assert not (tmp_path / "data").exists()


# Memories -----------------------------------------------------------------------------------------


def memories(folder: Path) -> dict[str, dict[str, object]]:
    return {path.stem: json.loads(path.read_bytes()) for path in (folder / "data" / "memories").iterdir()}


@pytest.mark.parametrize("shell", SHELLS)
def test_memory_is_kept_as_it_was_said(tmp_path, shell):
    content = 'A "pattern" \\ with $(id),\nin two lines, ünïcode'
    done = run(tmp_path, MEMORY, content, "procedural", "0.8", '["pattern", "a; rm -rf /"]', shell=shell)
    assert (done.returncode, done.stderr) == (0, "")
    ((name, found),) = memories(tmp_path).items()
    assert done.stdout == f"{name}\n"
    assert found.pop("created")
    assert found == {
        "id": name,
        "content": content,
        "type": "procedural",
        "importance": 0.8,
        "tags": ["pattern", "a; rm -rf /"],
    }
    assert faults("memory", {**found, "created": "2025-12-11T14:30:00Z"}) == []


def test_hundred_memories_at_once_have_ids_of_their_own(tmp_path):
    writers = [
        subprocess.Popen(
            ["sh", MEMORY, f"number {number}", "episodic", "0", '["x"]'], cwd=tmp_path, stdout=subprocess.PIPE
        )
        for number in range(100)
    ]
    names = {writer.communicate(timeout=600)[0].decode().strip() for writer in writers}
    assert names == set(memories(tmp_path))
    assert {each["content"] for each in memories(tmp_path).values()} == {
        f"number {number}" for number in range(100)
    }


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("x", "episodic", "0.5"),
        (" \n", "episodic", "0.5", '["a"]'),
        ("x", "other", "0.5", '["a"]'),
        ("x", "episodic", "1.5", '["a"]'),
        ("x", "episodic", "high", '["a"]'),
        ("x", "episodic", "0.5", "a, b"),
        ("x", "episodic", "0.5", "[]"),
        ("x", "episodic", "0.5", "[1]"),
        ("x", "episodic", "0.5", '["a",]'),
        ("x", "episodic", "0.5", '["a"] x'),
        ("x", "episodic", "0.5", '["a'),
        ("x", "episodic", "0.5", '[""]'),
        ("x", "episodic", "0.5", '["a\\u0000"]'),
        ("\x1b[2J", "episodic", "0.5", '["a"]'),
        (b"\xff", "episodic", "0.5", '["a"]'),
        ("x" * 65_537, "episodic", "0.5", '["a"]'),
    ],
)
def test_each_misuse_of_memory_has_its_line(tmp_path, words):
    done = run(tmp_path, MEMORY, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


# The document's own commands ----------------------------------------------------------------------

USAGE = ("commands 2", "commands 4")
"""They say how the scripts are called, and are no commands."""


def in_project(folder: Path, commands: str) -> subprocess.CompletedProcess[str]:
    text = commands.replace("/path/to/project", str(folder))
    return subprocess.run(
        ["bash", "-ec", text], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the archive that the document shows, and the scripts."""
    (tmp_path / "scripts").mkdir()
    for script in (STATUS, MEMORY):
        shutil.copy(script, tmp_path / "scripts")
    day = tmp_path / "data" / "handoffs" / "2025-12-11"
    day.mkdir(parents=True)
    (tmp_path / "data" / "agent-status").mkdir()
    (day / "handoff_1702311000000_a1b2c3d4.json").write_text(BLOCKS["handoff"])
    (day / "chain_task_20251211_001.json").write_text(BLOCKS["chain"])
    (day.parent / "index.json").write_text(BLOCKS["index"])
    return tmp_path


@needs_jq
@pytest.mark.skipif(shutil.which("xxd") is None, reason="xxd is not installed")
@pytest.mark.parametrize(
    "title",
    [title for title in BLOCKS if title.startswith("commands ") and title not in (*USAGE, "commands 6")],
)
def test_commands_of_the_document(project, title):
    """As they stand, but for its author's root: statuses and handoffs read afterwards, whoever wrote them."""
    before = """
        HANDOFF_ID=handoff_1702311000000_a1b2c3d4
        HANDOFF_FILE=data/handoffs/2025-12-11/$HANDOFF_ID.json
        mkdir -p "data/handoffs/$(date +%Y-%m-%d)"
    """
    done = in_project(project, before + BLOCKS[title])
    assert (done.returncode, done.stderr) == (0, "")
    statuses = list((project / "data" / "agent-status").glob("*.json"))
    for path in statuses:
        read_role_status(path.read_bytes(), path.name)
    handoff = project / "data" / "handoffs" / "2025-12-11" / "handoff_1702311000000_a1b2c3d4.json"
    read_handoff(handoff.read_bytes(), handoff.name)
    assert statuses or memories(project)


@needs_jq
def test_commands_by_which_the_observer_looks(project):
    """In the document's archive, and in one that the program wrote. No agent is pending: handoffs are."""
    looks = BLOCKS["commands 6"].replace("grep -r", "! grep -r")
    done = in_project(project, looks)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Avg duration: 150 min\n")
    shutil.rmtree(project / "data" / "handoffs")
    archive = open_archive(DiskFiles(), project / "data" / "handoffs")
    for each in PIPELINE:
        archive.take(each, started=BEGAN)
    done = in_project(project, looks)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Avg duration: 150 min\n")
    pending = in_project(project, """grep -rl '"status": "pending"' data/handoffs""")
    assert len(pending.stdout.splitlines()) == len(PIPELINE)
    for path in (project / "data" / "handoffs").glob("2*/*.json"):
        name = "coordination-chain" if path.name.startswith("chain_") else "coordination-handoff"
        assert faults(name, json.loads(path.read_bytes())) == []
    assert (
        faults("coordination-index", json.loads((project / "data" / "handoffs" / "index.json").read_bytes()))
        == []
    )
