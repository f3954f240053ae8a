"""`task memory`: from plain files to what is shown."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "memory-write.sh"


@pytest.fixture
def write(house, monkeypatch):
    """Write a memory by the script, in a project, and stand in it."""

    def write(content, kind="semantic", importance="0.5", tags='["tests"]', project=house.project):
        monkeypatch.chdir(project)
        done = subprocess.run(
            [SCRIPT, content, kind, importance, tags], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return write


def test_what_the_script_wrote_is_found(task, write):
    """Tags may hold shell words: they are text."""
    made = write("Run the suite serially", "procedural", "0.8", '["`rm -rf /`", "$(true)"]')
    write("Else")
    said = task("memory", "search", "suites")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{made}  procedural  0.8  ")
    assert "`rm -rf /`, $(true)" in said.out
    (found,) = task("memory", "search", "suites", "--json").json["memories"]
    assert (found["id"], found["relevance"], found["tags"]) == (made, 1.0, ["`rm -rf /`", "$(true)"])


def test_a_secret_is_neither_added_nor_shown(task, write, house):
    key = "sk-ant-abcdefghijklmnopqrstuvwxyz"
    old = write(f"The key is {key}")
    said = task("memory", "add", f"Use {key} for it", "--tag", "keys")
    assert "was masked" in said.err
    assert key not in (house.project / "data" / "memories" / f"{said.out.strip()}.json").read_text()
    for words in (["search"], ["search", "--json"], ["show", old], ["export"], ["export", "--json"]):
        assert key not in task("memory", *words).out


def test_other_projects_are_shown_only_when_asked(task, write, house):
    other = house.root / "other"
    other.mkdir()
    write("Theirs", project=other)
    house.task(project=str(other))
    write("Ours")
    assert [each["content"] for each in task("memory", "search", "--json").json["memories"]] == ["Ours"]
    found = task("memory", "search", "--all-projects", "--json").json["memories"]
    assert {(each["content"], each["project"]) for each in found} == {
        ("Ours", str(house.project)),
        ("Theirs", str(other)),
    }


def test_an_agent_may_look_but_not_put_away(task, write, monkeypatch):
    made = write("Run the suite serially")
    monkeypatch.setenv("ORCHESTRATOR_RUN", "r-1")
    assert task("memory", "search", "suite").code == 0
    for words in (["forget", made], ["mark", made, "misled"], ["search", "--all-projects"]):
        assert task("memory", *words).code == 2


def test_one_that_misled_sinks_and_comes_up_again(task, write):
    first = write("Run the suite serially", importance="0.9")
    second = write("Run the suite at once", importance="0.1")

    def order():
        return [each["id"] for each in task("memory", "search", "suite", "--json").json["memories"]]

    assert order() == [first, second]
    assert task("memory", "mark", first, "misled", "--json").json["misled"]
    assert order() == [second, first]
    assert "MISLED" in task("memory", "search").out
    task("memory", "mark", first, "sound")
    assert order() == [first, second]


def test_forgetting_is_undone(task, write):
    made = write("Run the suite serially")
    assert task("memory", "forget", made, "--json").json["forgotten"]
    assert task("memory", "search").out == "there are no memories\n"
    assert "forgotten: `task memory forget" in task("memory", "show", made).out
    assert not task("memory", "forget", made, "--undo", "--json").json["forgotten"]
    assert task("memory", "show", made, "--json").json["memory"]["content"] == "Run the suite serially"


def test_handoffs_that_name_a_memory_are_shown(task, write, house):
    made = write("Run the suite serially")
    folder = house.project / "data" / "handoffs" / "2025-12-11"
    folder.mkdir(parents=True)
    (folder / "handoff_1702311000000_a1b2c3d4.json").write_text(
        '{"handoff": {"from": "PLANNER", "to": "IMPLEMENTER", "timestamp": "2025-12-11T14:30:00Z", '
        '"type": "ready_for_implementation"}, "context": {"taskId": "t"}, '
        f'"memory": {{"created": ["{made}"], "referenced": []}}}}'
    )
    assert "written for handoff_1702311000000_a1b2c3d4" in task("memory", "show", made).out
    assert task("memory", "show", made, "--json").json["memory"]["referenced_by"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "../../etc/passwd"],
        ["add", "   ", "--tag", "x"],
        ["add", "x"],
        ["add", "x", "--tag", "a\tb"],
        ["add", "x", "--tag", "x", "--importance", "2"],
        ["add", "\x1b[2J" + "x" * 70_000, "--tag", "x"],
        ["mark", "mem_1700000001_abc"],
        ["search", "--undo"],
        ["search", "--limit", "0"],
        ["search", "--project", "/nowhere"],
    ],
    ids=" ".join,
)
def test_wrong_use_is_refused_in_one_line(task, house, words):
    said = task("memory", *words)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert not (house.project / "data").exists()
