"""A whole task whose agents live on boxes: a real daemon, real boxes, real cuts (H3, H4, H13, H8)."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from orchestrator.formats.ssh_words import fingerprint
from tests.integration.daemon.world import AGENT, Turns, World, a_world
from tests.remote.boxes import Box, Boxes
from tests.remote.furnished import COMMIT, ONE_EACH, cwd, furnished
from tests.tmux_server import looked_at

TIMES = re.compile(r"\d+:\d\d(:\d\d)?|\d{8}-\d{6}|\d{4}-\d\d-\d\d|[0-9a-f]{8,40}|\b\d+(\.\d+)? (s|min|h)\b")


@pytest.fixture
def world(boxes: Boxes, request: pytest.FixtureRequest) -> Iterator[World]:
    with a_world(**getattr(request, "param", {})) as made:
        made.environ["PATH"] = f"{boxes.front(made.root / 'bin')}:{made.environ['PATH']}"
        yield made


def progress(world: World) -> list[str]:
    """Return the scribe's page without what no two runs have in common: times, seconds, ids."""
    text = (world.project / "tasks/t1/progress.md").read_text()
    return [TIMES.sub("*", line) for line in text.splitlines()]


def by_architect_and_dev(boxes: Boxes, world: World) -> tuple[Box, Box, list[str]]:
    """Make two boxes; return the config of a task whose dev is on one and whose architect on the other."""
    alpha, beta = furnished(boxes, world, "alpha"), furnished(boxes, world, "beta")
    config = [cwd(alpha), "bring: branch", "architect: yes", f"architect.cwd: beta:{beta.home}/repo"]
    return alpha, beta, [*config, f"architect.command: {AGENT.format(script=world.script)}"]


def test_commits_of_a_box_are_judged_and_merged_here(boxes: Boxes, world: World) -> None:
    """A developer on a box does its work there and its commits are judged and merged here."""
    box = furnished(boxes, world, "alpha")
    folder = world.begin({"dev:greet": [COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    assert [step for _, step in world.lives] == ONE_EACH
    world.check_once()
    there = subprocess.run(
        ["git", "-C", box.home / "repo", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    assert world.git("rev-parse", "task/t1") == there.stdout.strip()
    assert world.git("show", "task/t1:pkg/greet.py").startswith("NAME = 'greet'")
    assert (folder / "artifacts/code/dev-greet.md").read_text().startswith("exit 0")
    far = {run["step"] for run in world.story().runs.values() if run.get("host") == "alpha"}
    assert far == {"dev:greet"}


def test_subtasks_on_one_box_build_on_each_other(boxes: Boxes, world: World) -> None:
    """Agents there share a folder, and so work one after the other; each commit there builds on the one before."""
    box = furnished(boxes, world, "alpha")
    ids = ("one", "two")
    plan: Turns = {"plan": [{"subtasks": [f"- [{each}] Do {each} (agent: dev)" for each in ids]}]}
    turns: Turns = {f"dev:{each}": [{"write": {f"pkg/{each}.py": each}, **COMMIT}] for each in ids}
    world.begin(plan | turns, config=[cwd(box), "bring: branch"])
    world.until(lambda: world.stands() == "complete", within=60)
    names = world.git("diff", "--name-only", "main", "task/t1").split()
    assert names == ["pkg/one.py", "pkg/two.py"]
    assert [world.lives_of(f"dev:{each}") for each in ids] == [1, 1]
    world.check_once()


def test_a_clone_on_a_box_is_made_ready(boxes: Boxes, world: World) -> None:
    """What `prepare:` names is done there, once for both subtasks, with a file of the project here."""
    box = furnished(boxes, world, "alpha")
    clone = box.home / "repo"
    for repository in (clone, world.project):
        (repository / ".git/info/exclude").write_text(".env\nbuilt\n")
    (world.project / ".env").write_text("KEY=1\n")
    ready = (
        'cd "$ORCHESTRATOR_WORKSPACE" && test -e built && test "$(cat .env)" = KEY=1 && test -d "$CACHE" && '
    )
    adds = {"run": ["sh", "-c", f'{ready} git add -A && git commit -qm "$ORCHESTRATOR_STEP"']}
    ids = ("one", "two")
    plan: Turns = {"plan": [{"subtasks": [f"- [{each}] Do {each} (agent: dev)" for each in ids]}]}
    turns: Turns = {f"dev:{each}": [{"write": {f"pkg/{each}.py": each}, **adds}] for each in ids}
    prepare = ["prepare: sh -c 'echo done >> built'", "prepare.copy: .env", "prepare.caches: CACHE"]
    world.begin(plan | turns, config=[cwd(box), "bring: branch", *prepare])
    world.until(lambda: world.stands() == "complete", within=60)
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["pkg/one.py", "pkg/two.py"]
    assert (clone / "built").read_text() == "done\n"
    assert [world.lives_of(f"dev:{each}") for each in ids] == [1, 1]


@pytest.mark.thorough(
    reason="a whole task: test_sending.py has what comes to a box, unit/daemon what is done ahead of a run"
)
def test_work_here_and_on_a_box_builds_on_each_other(boxes: Boxes, world: World) -> None:
    """One subtask is done here and merged, the next on a box: its agent begins with what was merged.

    The branch was never sent there, and a person was asked, as the commit made there did not build on it.
    """
    box = furnished(boxes, world, "alpha")
    subtasks = ["- [one] Do one (agent: helper)", "- [two] Do two (agent: dev; needs: one)"]
    adds = {
        "run": [
            "sh",
            "-c",
            'cd "$ORCHESTRATOR_WORKSPACE" && test -e pkg/one.py && git add -A && git commit -qm two',
        ]
    }
    turns: Turns = {
        "plan": [{"subtasks": subtasks}],
        "dev:one": [{"write": {"pkg/one.py": "one"}}],
        "dev:two": [{"write": {"pkg/two.py": "two"}, **adds}],
    }
    helper = f"helper.command: {AGENT.format(script=world.script)}"
    world.begin(turns, config=[cwd(box), "bring: branch", helper])
    world.until_is("complete")
    assert world.git("diff", "--name-only", "main", "task/t1").split() == ["pkg/one.py", "pkg/two.py"]
    assert [world.lives_of(f"dev:{each}") for each in ("one", "two")] == [1, 1]
    assert not world.story().facts("launch_failed")
    world.check_once()


@pytest.mark.thorough(
    reason="a whole task: test_uncommitted.py has what a box tells, unit/pm what is decided"
)
def test_uncommitted_work_on_a_box_is_asked_to_be_committed(boxes: Boxes, world: World) -> None:
    """A developer that leaves its work uncommitted on its box is told so and commits it."""
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{}, COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    assert [step for _, step in world.lives] == [*ONE_EACH[:2], *["dev:greet"] * 2, *ONE_EACH[3:]]
    left = f"alpha:{box.home}/repo"
    assert [fact.get("left", "") for fact in world.story().facts("work_committed")] == [left, ""]
    assert f"work lies uncommitted in {left}: commit what is yours" in world.story().orders("dev:greet")[1]
    assert world.git("show", "task/t1:pkg/greet.py").startswith("NAME = 'greet'")
    assert world.git("log", "--format=%s", "main..task/t1") == "work"


@pytest.mark.thorough(
    reason="a whole task: test_uncommitted.py has what a box tells, unit/pm what is decided"
)
def test_uncommitted_mend_is_not_judged_as_the_old_commit(boxes: Boxes, world: World) -> None:
    """What mends a rejected commit and is left uncommitted is not judged as that commit again."""
    box = furnished(boxes, world, "alpha")
    mends = {"write": {"pkg/greet.py": "NAME = 'mended'\n"}}
    turns: Turns = {
        "dev:greet": [COMMIT, mends, {**mends, **COMMIT}],
        "review:greet": [{"verdict": "REJECTED"}],
    }
    world.begin(turns, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    assert world.lives_of("dev:greet") == 3
    assert world.lives_of("review:greet") == 2
    left = f"alpha:{box.home}/repo"
    assert [fact.get("left", "") for fact in world.story().facts("work_committed")] == ["", left, ""]
    assert world.git("show", "task/t1:pkg/greet.py") == "NAME = 'mended'"


@pytest.mark.parametrize("world", [{"daemon__rescan": "2 s"}], indirect=True)
def test_a_file_that_stays_on_its_box_is_evidence(boxes: Boxes, world: World) -> None:
    """One that lies elsewhere there is none, and while the box is lost nothing is said to be missing.

    What was put off is tried again at each rescan.
    """
    box = furnished(boxes, world, "alpha")
    criterion = "- [x] There is a greeting. (evidence: {})"
    turns: Turns = {
        "accept": [
            {"marks": [criterion.format("/etc/passwd")]},
            {"hold": "a", "marks": [criterion.format(f"`pkg/greet.py:1`, {box.home}/repo/pkg")]},
        ]
    }
    world.begin(turns, config=[cwd(box)])
    world.until(lambda: world.lives_of("accept") == 2)
    with box.cut():
        world.go("a")
        world.until(lambda: "resolve_evidence of accept is put off" in world.log)
    world.until_is("complete")
    assert world.lives_of("accept") == 2
    place = f"alpha:{box.home}/repo"
    first, second = world.story().facts("evidence_resolved")
    assert [each["exists"] for each in first["found"]] == [False]
    assert f"is not beneath {place}" in first["found"][0]["detail"]
    assert [each["detail"] for each in second["found"]] == [f"1 line on {place}", f"a folder on {place}"]
    page = world.project / "tasks/t1/progress.md"
    world.until(lambda: f"pkg/greet.py:1: 1 line on {place}" in page.read_text())
    world.check_once()


@pytest.mark.thorough(reason="chaos/test_far.py kills a daemon and sessions on the way to a box")
def test_cuts_of_two_boxes_and_a_killed_daemon_change_nothing(boxes: Boxes, world: World) -> None:
    """Two boxes whose links are cut twice and a daemon that is killed change nothing."""
    alpha, beta, config = by_architect_and_dev(boxes, world)
    turns: Turns = {"architect": [{"hold": "a"}], "dev:greet": [{"hold": "d", **COMMIT}]}
    world.begin(turns, config=config)
    world.until_works("architect")
    with beta.cut():
        world.until(lambda: world.lives_of("architect") == 1 and world.believed("architect") == "unreachable")
        world.go("a")
        world.kill_daemon()
        world.daemon()
    world.until_works("dev:greet")
    for _ in range(2):
        with alpha.cut():
            world.until(lambda: world.believed("dev:greet") == "unreachable")
        world.until(lambda: world.believed("dev:greet") == "alive")
    with alpha.cut():
        world.go("d")
        world.until(lambda: world.believed("dev:greet") == "unreachable")
    world.until_is("complete")
    assert [step for _, step in world.lives] == ["explore", "architect", *ONE_EACH[1:]]
    world.check_once()
    world.until(lambda: "## Result" in progress(world))
    shaken = progress(world)

    with a_world() as other:
        other.environ["PATH"] = world.environ["PATH"]
        for box in (alpha, beta):
            shutil.rmtree(box.home / "repo")
            other.git("clone", "-q", str(other.project), str(box.home / "repo"))
        config[-1] = f"architect.command: {AGENT.format(script=other.script)}"
        other.begin({"dev:greet": [COMMIT]}, config=config)
        other.until_is("complete")
        world.until(lambda: progress(other) == shaken)


@pytest.mark.thorough(reason="test_window.py holds the same of a box without a task")
def test_window_shows_the_agent_there_or_since_when_not(boxes: Boxes, world: World) -> None:
    """Its window here shows the agent there and says since when it cannot."""
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "d", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until_works("dev:greet")

    def shown() -> str:
        """Return what the one window of the box shows."""
        panes = world.tmux.tmux("list-panes", "-a", "-F", "#{pane_id} #{@box}").splitlines()
        (pane,) = [line.split()[0] for line in panes if line.endswith(" alpha")]
        return world.tmux.tmux("capture-pane", "-p", "-t", pane)

    with looked_at(world.tmux, f"={world.home().name}:box-alpha"):
        world.until(lambda: "dev works on dev:greet" in shown())
        with box.cut():
            world.until(lambda: "alpha: unreachable since" in shown())
            assert re.search(r"dev:greet +unreachable .* alpha ", world.task("status", "t1").out)
            assert "alpha is unreachable since" in world.task("why", "t1").out
        world.until(lambda: "alpha: unreachable since" not in shown() and "dev works on dev:greet" in shown())
    world.go("d")
    world.until_is("complete")


def test_changed_key_is_one_question_and_its_answer_resumes(boxes: Boxes, world: World) -> None:
    """A box that shows another key is one question with both and goes on when it is answered."""
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hold": "d", **COMMIT}]}, config=[cwd(box), "bring: branch"])
    world.until_works("dev:greet")
    box.stop()
    box.start("other")
    (question,) = world.until(lambda: world.state_shown()["questions"])
    for key in ("host", "other"):
        assert fingerprint(box.known_line(key)) in question["text"]
    world.go("d")
    boxes.know(box, "other")
    assert world.task("answer", "t1", question["id"], "continue").code == 0
    world.until_is("complete")
    world.check_once()


def test_a_task_is_stopped_there_too(boxes: Boxes, world: World) -> None:
    box = furnished(boxes, world, "alpha")
    world.begin({"dev:greet": [{"hang": True, "leave": True}]}, config=[cwd(box)])
    world.until_works("dev:greet")
    assert world.task("stop", "t1").code == 0
    world.until_is("stopped")
    world.until(lambda: not world.state_shown()["agents"] or world.believed("dev:greet") == "gone")
    world.check_nobody_is_left()


@pytest.mark.thorough(reason="tests/contract/test_host.py ends them on a box")
def test_leftovers_on_a_box_end_before_the_next_run(boxes: Boxes, world: World) -> None:
    """It ignores TERM and goes on writing where its agent worked, which failed."""
    box = furnished(boxes, world, "alpha")
    script = "trap '' TERM HUP; while :; do date >late.txt; sleep 0.05; done"
    first = {"first_of_all": script, "report": False, "exit": 7}
    world.begin({"dev:greet": [first, COMMIT]}, config=[cwd(box), "bring: branch"])
    world.until_is("complete")
    world.check_once()
    world.check_nobody_is_left()
    (left,) = {fact["run"] for fact in world.story().facts("run_left")}
    assert left == world.lives_at("dev:greet")[0]
    kinds = [
        line["fact"]["kind"]
        for line in world.story().lines
        if line["fact"].get("run") == left
        or any(
            change["kind"] == "run_opened" and change["run"]["step"] == "dev:greet"
            for change in line["changes"]
        )
    ]
    assert kinds.index("run_gone") < len(kinds) - 1, "the next life was opened behind its end"


def pooled(boxes: Boxes, world: World, cap: int) -> tuple[Box, Box]:
    """Make two boxes that are a pool of the user's settings."""
    settings = world.root / "config.toml"
    settings.write_text(f'[hosts.farm]\nboxes = ["alpha", "beta"]\ncap = {cap}\n')
    settings.chmod(0o600)
    world.environ["ORCHESTRATOR_CONFIG"] = str(settings)
    return furnished(boxes, world, "alpha"), furnished(boxes, world, "beta")


def hosts_of(world: World, step: str, name: str = "t1") -> list[str]:
    """Return the hosts of a step's runs, in order."""
    return [run.get("host", "local") for run in world.story(name).runs.values() if run["step"] == step]


@pytest.mark.thorough(reason="tests/unit/pm/test_pools.py holds the choice of the box")
def test_task_keeps_the_available_box_of_its_pool(boxes: Boxes, world: World) -> None:
    """A task is given the box of a pool that can be had and keeps it."""
    alpha, _ = pooled(boxes, world, 4)
    (boxes.folder / "repo").mkdir()
    world.git("clone", "-q", str(world.project), str(boxes.folder / "repo"))
    config = [f"cwd: farm:{boxes.folder}/repo", "bring: branch"]
    boxes.know(alpha, "other")
    world.begin({"dev:greet": [{"hold": "d"}, COMMIT]}, config=config)
    assert (
        "is on beta (0 of 4 agents at work) rather than on alpha (cannot"
        in (world.home() / "pm.log").read_text()
    )
    world.until_works("dev:greet")
    said = world.task("hosts").out
    assert re.search(r"^alpha +farm .* 0 of 4 ", said, re.MULTILINE)
    assert re.search(r"^beta +farm +reachable .* 1 of 4 ", said, re.MULTILINE)
    assert world.task("stop", "t1").code == 0
    world.until(lambda: world.believed("dev:greet") in {"", "gone"})
    boxes.know(alpha)
    again = world.task("start", "t1", "--project", str(world.project))
    assert (again.code, f"farm:{boxes.folder}/repo stays on beta" in again.out) == (0, True), again
    world.until_is("complete")
    assert hosts_of(world, "dev:greet") == ["beta", "beta"]
    assert alpha.logins() == 1, "only `task start` called it, when it was mended"
    world.check_once()


@pytest.mark.thorough(reason="tests/unit/pm/test_pools.py holds the choice of the box")
def test_pool_spreads_tasks_and_one_too_many_waits(boxes: Boxes, world: World) -> None:
    """Tasks are spread over a pool and one that is too many waits."""
    pooled(boxes, world, 1)
    turns: Turns = {"dev:greet": [{"hold": "d", **COMMIT}, {"hold": "d", **COMMIT}, COMMIT]}

    def begin(name: str) -> None:
        world.git("clone", "-q", str(world.project), str(boxes.folder / name))
        world.begin(turns, name, [f"cwd: farm:{boxes.folder}/{name}", "bring: branch"])

    begin("t1")
    begin("t2")
    world.until(lambda: world.lives_of("dev:greet") == 2)
    begin("t3")
    world.until(
        lambda: re.search(
            r"^alpha +farm .* 1 of 1, 1 waiting +t1, t3 ", world.task("hosts").out, re.MULTILINE
        )
    )
    world.go("d")
    for name in ("t1", "t2", "t3"):
        world.until_is("complete", name)
    assert [hosts_of(world, "dev:greet", name) for name in ("t1", "t2", "t3")] == [
        ["alpha"],
        ["beta"],
        ["alpha"],
    ]
    (left,) = [
        fact["at"] for fact in world.story("t1").facts("run_gone") if fact["run"] in far_runs(world, "t1")
    ]
    (came,) = [
        fact["at"] for fact in world.story("t3").facts("run_started") if fact["run"] in far_runs(world, "t3")
    ]
    assert left <= came


def far_runs(world: World, name: str) -> list[str]:
    """Return the runs of a task that are on boxes."""
    return [run["id"] for run in world.story(name).runs.values() if run.get("host", "local") != "local"]
