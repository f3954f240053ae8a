"""What users ask for while a task runs: stop, start again, answer, spawn; wisely, twice, or with odd words."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.daemon.world import World, environ_of, names

HOLD = {"hold": "on"}


def test_stop_leaves_nothing_alive_and_start_continues(world: World) -> None:
    """A stop in the middle leaves nothing alive and a start goes on."""
    world.begin({"dev:greet": [{"ignore_term": True, "hold": "never", "leave": True}]})
    world.until_works("dev:greet")
    agent = world.agent("dev:greet")["pid"]
    said = world.task("stop", "t1")
    assert said.code == 0, said
    assert "ended: dev" in said.out
    world.check_nobody_is_left()
    assert not environ_of(agent)
    assert (world.stands(), world.steps()["dev:greet"]) == ("stopped", "pending")
    assert world.story().facts("run_gone")[-1]["exit"]["signal"] == signal.SIGKILL

    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 2
    assert world.lives_of("explore") == 1
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_requests.py has both sentences")
def test_a_second_start_says_that_it_runs_already(world: World) -> None:
    world.begin({"explore": [HOLD]})
    again = world.task("start", "t1", "--project", str(world.project))
    assert (again.code, "t1 runs already" in again.out) == (0, True)
    world.go("on")
    world.until_is("complete")
    done = world.task("start", "t1", "--project", str(world.project))
    assert "complete already" in done.out
    assert len(world.lives) == 6


@pytest.mark.thorough(reason="unit/pm/test_requests.py plans anew and keeps finished work")
def test_a_goal_that_changed_lets_a_complete_task_go_on(world: World) -> None:
    world.begin()
    world.until_is("complete")
    world.let({"plan": [{}, {"subtasks": ["- [part] Say goodbye (agent: dev)"]}]})
    world.brief(goal="A greeting, and a farewell.")
    assert world.task("start", "t1", "--project", str(world.project)).code == 0
    world.until(lambda: world.stands() == "complete" and world.steps().get("review:part") == "passed")
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["pkg/greet.py", "pkg/part.py"]
    world.check_once()


@pytest.mark.thorough(reason="unit/pm/test_requests.py: from the next order on; an edited check is below")
def test_an_edit_of_task_md_reaches_the_next_order(world: World) -> None:
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    world.brief(goal="A greeting in Welsh.")
    world.until(lambda: world.story().facts("brief_changed"))
    world.go("on")
    world.until_is("complete")
    handoffs = (world.project / "tasks" / "t1" / "handoffs").glob("pm-*.md")
    assert any("Goal: A greeting in Welsh." in path.read_text() for path in handoffs)


@pytest.mark.thorough(reason="unit/daemon/test_brief_edits.py, unit/cli/test_status.py: fault and words")
def test_an_edit_that_does_not_read_is_said_until_it_is_mended(world: World) -> None:
    """It stood in the PM's log alone: whoever had edited task.md believed the edit to be in force."""
    folder = world.begin({"explore": [HOLD]})
    world.until_works("explore")
    brief = folder / "task.md"
    good = brief.read_text()
    brief.write_text(good + "dev.modle: opus\n")
    world.until(lambda: "dev.modle" in world.state_shown()["brief_fault"])
    assert "the last good one is in force" in " ".join(world.task("status", "t1").out.split())
    brief.write_text(good)
    world.until(lambda: not world.state_shown()["brief_fault"])
    world.go("on")
    world.until_is("complete")


def test_criteria_added_after_the_end_count_with_an_order(world: World) -> None:
    """The task was complete again by the criteria of before: "1 of 1", where task.md asked for two."""
    world.begin()
    world.until_is("complete")
    world.brief(criteria=("There is a greeting.", "There is a farewell."))
    assert world.task("order", "t1", "dev", "Say farewell.").code == 0
    assert world.state_shown()["counts"]["criteria"] == 2
    world.until_is("complete")
    assert world.lives_of("accept") == 2
    assert "2 of 2 success criteria met" in " ".join(world.task("status", "t1").out.split())
    world.check_once()


def test_an_edited_check_counts_once_a_person_confirmed_it(world: World) -> None:
    """What an agent writes into task.md must not be run, outside its sandbox, because the user starts it again."""
    world.begin({"explore": [HOLD]}, config=["test.check: 'true'"])
    world.until_works("explore")
    trace = world.project.parent / "was-run"
    world.brief("t1", f"test.check: touch {trace}")
    world.until(lambda: world.state_shown()["edited"])
    assert "test.check" in world.task("status", "t1").out
    start = ("start", "t1", "--project", str(world.project))
    said = world.task(*start)
    assert (said.code, f"touch {trace}" in said.err) == (1, True)
    assert f"task start t1 --project {world.project} --yes" in said.err  # it was not typed in the project
    assert world.task("stop", "t1").code == 0
    assert world.task(*start).code == 1
    assert world.stands() == "stopped"
    assert not trace.exists()
    world.go("on")
    assert world.task(*start, "--yes").code == 0
    world.until_is("complete")
    assert trace.exists()
    assert not world.state_shown()["edited"]


def test_tasks_of_one_project_and_namesakes_run_together(world: World) -> None:
    """Tasks of one project and namesakes in two run side by side."""
    other = world.repository("other")
    world.let({})
    for name, project in (("t1", world.project), ("t2", world.project), ("t1", other)):
        world.brief(name, project=project)
        assert world.task("start", name, "--project", str(project)).code == 0

    def states() -> list[str]:
        return [
            json.loads((home / "state.json").read_text())["state"]
            for home in (world.state / "tasks").iterdir()
        ]

    world.until(lambda: states() == ["complete"] * 3)
    assert world.task("status", "t1", "--project", str(other)).code == 0
    assert world.task("status", "t1").code == 2
    assert names((world.project / "tasks").iterdir()) == ["t1", "t2"]
    for branch, project in (("task/t1", world.project), ("task/t2", world.project), ("task/t1", other)):
        assert world.git("diff", "--name-only", "main", branch, project=project) == "pkg/greet.py"
    assert max(map(world.lives.count, world.lives)) == 1


def cpu_of(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("world", [{"limits__start_timeout": "500 ms"}], indirect=True)
def test_tasks_in_the_users_tree_take_turns(world: World) -> None:
    """Two tasks in the users own tree take turns and who waits spends nothing."""
    world.let({"explore": [HOLD]})
    for name in ("t1", "t2"):
        world.brief(name, "workspace: shared")
        assert world.task("start", name, "--project", str(world.project)).code == 0
    world.until_works("explore")
    before = cpu_of(world.pid)
    time.sleep(2)  # a span to measure over, beyond the time in which a launcher must come
    assert cpu_of(world.pid) - before < 0.2
    assert world.lives_of("explore") == 1
    world.go("on")
    world.until_is("complete", "t1")
    world.until_is("complete", "t2")
    assert [step for _, step in world.lives].count("dev:greet") == 2
    assert (world.project / "pkg" / "greet.py").exists()


def test_a_spawned_agent_works_beside_the_plan(world: World) -> None:
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    said = world.task("spawn", "t1", "dev", "--instructions", "Mend the typo.\nIn the README.")
    assert said.code == 0, said
    world.go("on")
    world.until_is("complete")
    assert world.story().orders("dev-1") == ["Mend the typo.\nIn the README."]
    world.check_once()


def test_a_spawned_agent_that_cannot_be_launched_is_refused_at_once(world: World) -> None:
    """What a start checks of the agents of its plan is checked of one that is asked for later."""
    config = ["guard.command: true", "guard.permissions: deny run git push"]
    world.begin({"explore": [HOLD]}, config=config)
    world.until_works("explore")
    said = world.task("spawn", "t1", "guard", "--instructions", "Look.")
    assert said.code != 0
    assert "deny run git push" in said.err
    assert "guard" not in {change["step"]["agent"] for change in world.story().changes("step_added")}


def test_observer_reads_the_journal_of_a_real_task(world: World) -> None:
    """One handoff for each of the six steps: explore, plan, dev, test, review, and the judgement of the whole."""
    world.begin()
    world.until_is("complete")
    said = world.task("observe", "--days", "2", "--details", cwd=world.project)  # it may be midnight
    assert said.code == 0, said
    assert "Total handoffs: 6" in said.out
    assert "Success rate: 100 % (6 of 6)" in said.out
    assert "dev→test: 1; 1 of 1 of use" in said.out


NAMES = [
    "../x",
    "/etc/x",
    "",
    ".",
    "..",
    "-R",
    "--",
    "a\nb",
    "a" * 65,
    "A",
    "a b",
    "a:b",
    "a.b",
    "%1",
    "\uff41",
]
VERBS = ("start", "stop", "status", "logs", "why", "attach", "checkin")


def test_names_that_are_none_are_refused(world: World) -> None:
    ask = f"""
from orchestrator.cli.main import main
for verb in {VERBS!r}:
    for name in {NAMES!r}:
        assert main([verb, name]) == 2, (verb, name)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", ask],
        env=world.environ,
        cwd=world.project,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not world.state.exists()
    assert names(world.project.iterdir()) == [".git", "notes.txt", "pkg"]


def test_hostile_requests_are_answered_and_stop_nothing(world: World) -> None:
    """Words that are no utf 8 and hostile requests are answered and stop nothing, nor do odd names among the tasks."""
    world.begin({"explore": [HOLD]})
    world.until_works("explore")
    for odd in ("-R", "a\nb", "..x", os.fsdecode(b"\xff")):
        (world.state / "tasks" / odd).mkdir()
    (world.state / "tasks" / "file").write_text("")
    said = world.task("spawn", "t1", "dev", "--instructions", b"half a \xff character")
    assert said.code != 0, said
    requests = world.home() / "requests"
    pid = world.pid

    hostile: dict[str, bytes] = {
        "garbage": b"\xff\xfe{",
        "deep": b"[" * 200_000,
        "list": b"[]",
        "other-id": b'{"id": "x", "verb": "stop", "arguments": {}}',
        "verb": b'{"id": "verb", "verb": "stop --now", "arguments": {}}',
        "number": b'{"id": "number", "verb": "answer", "arguments": {"question": 1}}',
        "nul": b'{"id": "nul", "verb": "start", "arguments": {"project": "/tmp/\\u0000x", "name": "t1"}}',
        "half": b'{"id": "half", "verb": "answer", "arguments": {"question": "q1", "text": "\\ud800"}}',
        "half-verb": b'{"id": "half-verb", "verb": "\\ud800", "arguments": {}}',
        "agent": b'{"id": "agent", "verb": "spawn", "arguments": {"agent": "../dev", "instructions": "x"}}',
        "elsewhere": b'{"id": "elsewhere", "verb": "start", "arguments": {"project": "/etc", "name": "../x"}}',
        "relative": b'{"id": "relative", "verb": "start", "arguments": {"project": "x", "name": "t1"}}',
        "huge": b" " * 1_100_000,
    }
    for name, data in hostile.items():
        (requests / f".{name}").write_bytes(data)
        (requests / f".{name}").rename(requests / f"{name}.json")
    (requests / "pipe.json").symlink_to("/dev/zero")
    os.mkfifo(requests / "fifo.json")
    (requests / "folder.json").mkdir()
    (requests / os.fsdecode(b"\xff.json")).write_bytes(b"{}")

    def replies() -> list[str]:
        return sorted(path.name.removesuffix(".reply.json") for path in requests.glob("*.reply.json"))

    world.until(lambda: set(replies()) >= set(hostile), within=15)
    for name in hostile:
        assert not json.loads((requests / f"{name}.reply.json").read_text())["ok"], name
    assert world.pid == pid
    assert "Traceback" not in world.log
    world.go("on")
    world.until_is("complete")
    assert world.pid == pid
    world.kill_daemon()
    world.daemon()


CHANGING = [
    ["start", "t2", "--project", "."],
    ["stop", "t1"],
    ["answer", "t1", "q1", "yes"],
    ["spawn", "t1", "dev", "--instructions", "x"],
    ["order", "t1", "dev", "x"],
    ["checkin", "t1"],
    ["merge", "t1", "--anyway"],
    ["merge", "t1", "--undo"],
    ["rebase", "t1"],
    ["undo", "t1", "dev:greet"],
    ["delete", "t1", "--yes", "--unmerged"],
    ["archive", "t1", "--yes"],
    ["archive", "t1", "--restore"],
    ["setup-agents"],
    ["daemon", "stop"],
    ["daemon", "start"],
    ["daemon", "run"],
]
LOOKING = [
    ["status", "t1"],
    ["status"],
    ["list"],
    ["list", "--archived"],
    ["logs", "t1"],
    ["why", "t1"],
    ["diff", "t1"],
    ["questions"],
    ["config"],
    ["daemon", "status"],
]


def test_inside_a_run_an_agent_may_look_and_change_nothing(world: World, tmp_path: Path) -> None:
    task = "import sys; from orchestrator.cli.main import main\n"
    probe = task + (
        "import json, os\n"
        f"for words in {CHANGING + LOOKING!r}:\n"
        "    if not os.fork():\n"
        "        sys.exit(main(words))\n"
        "    print('##', json.dumps(words), os.waitstatus_to_exitcode(os.wait()[1]), flush=True)\n"
    )
    (tmp_path / "probe.py").write_text(probe)
    world.begin({"explore": [{"run": [sys.executable, "-P", str(tmp_path / "probe.py")]}]})
    world.until_is("complete")
    shown = (world.project / "tasks/t1/artifacts/analysis/explore.md").read_text()
    reported = dict(line[3:].rsplit(" ", 1) for line in shown.splitlines() if line.startswith("## "))
    assert {words: reported.get(json.dumps(words)) for words in map(tuple, CHANGING)} == dict.fromkeys(
        map(tuple, CHANGING), "2"
    ), shown
    assert {words: reported.get(json.dumps(words)) for words in map(tuple, LOOKING)} == dict.fromkeys(
        map(tuple, LOOKING), "0"
    ), shown
    assert len(world.lives) == 6
