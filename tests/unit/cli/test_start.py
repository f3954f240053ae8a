import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from orchestrator.cli import daemon_startup
from orchestrator.cli.box import BoxReport
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.precheck import Case
from orchestrator.cli.remote import boxes_wanted
from orchestrator.formats.settings import load_settings
from orchestrator.formats.task_file import read_brief
from orchestrator.model.errors import Refused
from orchestrator.ports.box_link import State

FILLED = """\
# Task: Rename it

## Goal
The old name is gone.

## Success Criteria
- No test fails
"""

AGENTS = ("explore", "plan", "dev", "test", "review")
COMMANDED = FILLED + "\n## Agent Config\n" + "".join(f"{agent}.command: true\n" for agent in AGENTS)
"""A task whose agents are the program `true`."""


@pytest.fixture(autouse=True)
def ready(house, monkeypatch):
    """A project with a commit to begin from, and an agent CLI that is logged in."""
    git_of(house.project, "init", "-q")
    git_of(house.project, "commit", "-q", "--allow-empty", "-m", "Begin")
    folder = house.root / "clis"
    folder.mkdir()
    (folder / "claude").write_text("#!/bin/sh\necho 2.1.328\n")
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    # The daemon of these tests lives in their own process, whose environment was fixed before they began.
    monkeypatch.setattr("orchestrator.cli.precheck.environment_of", lambda _: None)


def git_of(project, *words):
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(project), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def brief(house):
    """A task.md that was filled in."""
    folder = house.project / "tasks" / "tidy"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text(FILLED)
    return folder / "task.md"


@pytest.fixture
def running(house, daemon):
    """A daemon that takes every start up."""

    def reply(home, request):
        assert request["verb"] == "start"
        house.task(home.name, task=request["arguments"]["name"], project=request["arguments"]["project"])
        return True, f"{request['arguments']['name']} runs"

    daemon.reply = reply
    return daemon


@pytest.fixture
def start(task, house):
    """Start the task in its project."""
    return lambda *words: task("start", "tidy", "--project", str(house.project), *words)


def test_the_folder_is_made_and_the_daemon_asked(start, house, running, brief):
    said = start()
    assert (said.code, said.err) == (0, "")
    folder = brief.parent
    made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir()}
    kinds = {f"artifacts/{kind}" for kind in ("analysis", "design", "code", "tests", "reviews")}
    assert made == {"handoffs", "scratchpad", "artifacts"} | kinds
    (request,) = running.heard
    assert request["arguments"] == {"project": str(house.project), "name": "tidy"}
    for part in (
        "tidy runs",
        str(folder),
        "task status tidy",
        "task attach tidy",
        "progress.md",
        "task questions",
    ):
        assert part in said.out


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_slow_daemon_gets_the_request_all_the_same(start, house, brief, monkeypatch):
    """It read as if nothing would come of it, and the task began a moment later."""
    sleeps = (sys.executable, "-c", "import signal; signal.alarm(5); signal.pause()")
    monkeypatch.setattr(daemon_startup, "COMMAND", sleeps)
    monkeypatch.setattr(daemon_startup, "START_PATIENCE", 0.2)
    said = start()
    assert said.code == 6
    assert "tidy begins as soon as" in said.err
    assert list((house.state / "tasks").glob("*/requests/*.json"))


def test_the_id_is_the_name_and_a_random_part_and_stays(start, house, running, brief):
    start()
    start()
    (home,) = (house.state / "tasks").iterdir()
    assert home.name.startswith("tidy-")
    assert len(home.name) == len("tidy-00000000")
    assert home.stat().st_mode & 0o777 == 0o700


def test_the_same_name_in_another_project_is_another_task(start, house, task, running, brief):
    other = house.root / "other"
    (other / "tasks" / "tidy").mkdir(parents=True)
    (other / "tasks" / "tidy" / "task.md").write_text(FILLED)
    git_of(other, "init", "-q")
    git_of(other, "commit", "-q", "--allow-empty", "-m", "Begin")
    start()
    task("start", "tidy", "--project", str(other))
    assert len(list((house.state / "tasks").iterdir())) == 2
    assert len({request["arguments"]["project"] for request in running.heard}) == 2


def test_without_project_it_is_the_current_folder(house, task, running, brief, monkeypatch):
    monkeypatch.chdir(house.project)
    assert task("start", "tidy").code == 0
    assert running.heard[0]["arguments"]["project"] == str(house.project)


def test_beneath_its_project_it_is_the_task_that_is_there(house, task, running, brief, monkeypatch):
    """As for all other verbs: `task status tidy` means it there, too."""
    (house.project / "src").mkdir()
    monkeypatch.chdir(house.project / "src")
    assert task("start", "tidy").code == 0
    assert running.heard[0]["arguments"]["project"] == str(house.project)
    assert not (house.project / "src" / "tasks").exists()


def test_outside_its_project_no_second_one_begins_unsaid(house, task, daemon):
    """The user wanted to go on with it, and stood elsewhere: a new, empty task of its name was laid down there."""
    house.task()
    said = task("start", "tidy")
    assert said.code == 2
    here = house.root / "elsewhere"
    assert f"task start tidy --project {house.project}" in said.err
    assert f"task start tidy --project {here}" in said.err
    assert not (here / "tasks").exists()
    assert not daemon.heard


def test_a_task_whose_folder_is_missing_is_no_other_projects(house, task, monkeypatch):
    """ "another project has" it, with two commands that were the same one."""
    house.task()
    monkeypatch.chdir(house.project)
    said = task("start", "tidy")
    assert said.code == 1
    assert f"{house.project}/tasks/tidy is missing" in said.err
    assert "another project" not in said.err


def test_a_template_or_a_project_says_that_another_is_meant(house, task):
    house.task()
    here = house.root / "elsewhere"
    assert "not started: write in" in task("start", "tidy", "--project", str(here)).err
    assert (here / "tasks" / "tidy" / "task.md").exists()


def test_a_task_is_gone_on_with_by_its_id(house, task, running, brief):
    house.task()
    assert task("start", "tidy-0a1b2c3d").code == 0
    arguments = running.heard[0]["arguments"]
    assert (arguments["name"], arguments["project"]) == ("tidy", str(house.project))


def test_a_blank_task_is_laid_down_but_not_started(start, house, daemon):
    said = start()
    path = house.project / "tasks" / "tidy" / "task.md"
    assert said.code == 2
    assert str(path) in said.err
    assert "## Goal" in path.read_text()
    assert daemon.heard == []
    assert start().code == 2


def test_a_blank_task_is_opened_in_the_editor_on_a_terminal(house, running):
    editor = house.root / "my editor"
    editor.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1], 'w').write({COMMANDED!r})\n")
    editor.chmod(0o755)
    leader, follower = os.openpty()
    command = [sys.executable, "-m", "orchestrator.cli", "start", "tidy", "--project", str(house.project)]
    environment = {**os.environ, "EDITOR": f"'{editor}' --wait", "TERM": "xterm"}
    done = subprocess.run(command, stdin=follower, stdout=follower, env=environment, check=False)
    os.close(follower)
    os.close(leader)
    assert done.returncode == 0
    assert running.heard


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no task\n", "task.md"),
        (FILLED + "\n## Agent Config\nrubbish: yes\n", "task.md, line 10: "),
        (FILLED + "\n## Agent Config\ndev.cwd: -oProxyCommand=x:/srv\n", "names no host that we accept"),
        (FILLED + "\n## Agent Config\ntest.cwd: user@box:/srv\n", "task.md, line 10: "),
    ],
)
def test_a_task_that_does_not_read_is_not_started(start, house, daemon, brief, text, why):
    brief.write_text(text)
    said = start()
    assert said.code == 2
    assert why in said.err
    assert daemon.heard == []


def test_bad_names_and_places_are_refused(start, house, task):
    assert task("start", "../x").code == 2
    said = task("start", "tidy", "--project", "/nowhere")
    assert (said.code, said.err) == (
        2,
        "task: /nowhere is not a folder: give the project's folder by --project PATH\n",
    )
    (house.project / "tasks").symlink_to(house.root)
    said = start()
    assert said.code == 2
    assert "leads elsewhere by a symbolic link" in said.err
    assert not (house.root / "tidy").exists()


def test_what_the_daemon_refuses_can_be_mended_and_started_again(start, house, task, daemon, brief):
    daemon.reply = lambda _home, _request: (False, f"{house.project} has no commit yet: make one")
    said = start()
    assert (said.code, said.err) == (1, f"task: {house.project} has no commit yet: make one\n")
    daemon.reply = lambda home, _request: (bool(house.task(home.name)), "tidy runs")
    assert start().code == 0
    assert len(list((house.state / "tasks").iterdir())) == 1


def test_a_damaged_state_gets_no_second_id(start, house, daemon, brief):
    (house.home("tidy-00000001") / "state.json").write_text("{")
    said = start()
    assert said.code == 1
    assert "is damaged" in said.err
    assert daemon.heard == []


def test_the_folder_is_kept_out_of_commits_once(start, house, running, repository, brief):
    start()
    start()
    exclude = (repository / ".git" / "info" / "exclude").read_text()
    assert exclude.count("/tasks/tidy/\n") == 1
    assert _status(repository) == ""


def test_a_project_within_a_repository_is_kept_out_too(house, task, running, repository):
    project = repository / "a [b]*"
    (project / "tasks" / "tidy").mkdir(parents=True)
    (project / "tasks" / "tidy" / "task.md").write_text(FILLED)
    assert task("start", "tidy", "--project", str(project)).code == 0
    assert _status(repository) == ""


def test_what_the_user_tracks_is_not_kept_out(start, house, running, repository, brief):
    subprocess.run(["git", "-C", str(repository), "add", str(brief)], check=True)
    start()
    assert "tidy" not in (repository / ".git" / "info" / "exclude").read_text()


def test_a_worktree_is_kept_clean_too(house, task, running, repository):
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-C",
            str(repository),
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ],
        check=True,
    )
    tree = house.root / "tree"
    subprocess.run(["git", "-C", str(repository), "worktree", "add", "-q", str(tree)], check=True)
    (tree / "tasks" / "tidy").mkdir(parents=True)
    (tree / "tasks" / "tidy" / "task.md").write_text(FILLED)
    task("start", "tidy", "--project", str(tree))
    assert _status(tree) == ""


def _status(repository: Path) -> str:
    command = ["git", "-C", str(repository), "status", "--porcelain", "-uall"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# Boxes --------------------------------------------------------------------------------------------

AWAY = FILLED + "\n## Agent Config\ncwd: me@127.0.0.1:/srv/shop\n"


@pytest.fixture
def ssh(house, monkeypatch):
    """An ssh that gets through to nobody, and tells that it was called."""
    folder = house.root / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(
        f"#!/bin/sh\necho called >>{house.root}/called\necho 'no route' >&2\nexit 255\n"
    )
    (folder / "ssh").chmod(0o755)
    (folder / "rsync").write_text("#!/bin/sh\n")
    (folder / "rsync").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    # The path of a socket must be short.
    home = Path(tempfile.mkdtemp(prefix="start-", dir="/tmp"))
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(home))
    yield house.root / "called"
    shutil.rmtree(home)


def test_a_box_that_does_not_answer_keeps_a_task_from_starting(start, house, brief, ssh):
    brief.write_text(AWAY)
    said = start()
    assert said.code == 1
    assert "me@127.0.0.1:/srv/shop\nmissing  does not answer (no route)" in said.out
    assert "> ssh -l me -- 127.0.0.1 true\n" in said.out
    assert said.err.endswith(
        "task: tidy was not started: no connection to me@127.0.0.1 (to check again: `task doctor HOST`)\n"
    )
    assert not list(Path(os.environ["ORCHESTRATOR_HOME"]).rglob("requests"))


def test_a_task_without_boxes_calls_nobody(start, house, running, brief, monkeypatch):
    brief.write_text(FILLED + f"\n## Agent Config\ndev.cwd: {house.project}\n")
    monkeypatch.setitem(sys.modules, "orchestrator.cli.remote", None)
    assert start().code == 0


@pytest.mark.parametrize("state", ["running", "waiting"])
def test_start_leaves_boxes_of_a_working_task_alone(start, house, running, brief, monkeypatch, state):
    brief.write_text(AWAY)
    house.task("tidy-0a1b2c3d", state=state)
    monkeypatch.setitem(sys.modules, "orchestrator.cli.remote", None)
    assert start().code == 0
    assert running.heard


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ("cwd: me@a:/x\nruntime: claude", [("me@a:/x", ("claude",), ())]),
        ("cwd: a:/x\narchitect: yes\ndev.runtime: kiro\nruntime: codex", [("a:/x", ("kiro-cli", "codex"), ())]),
        ("cwd: me@a:/x\ndev.command: ./dev.sh --fast", [("me@a:/x", (), ("./dev.sh",))]),
        ("dev.cwd: ssh://me@[::1]:22/x\ndev.runtime: mine", [("ssh://me@[::1]:22/x", (), ("/opt/mine",))]),
        ("dev.cwd: a:/x\narchitect.cwd: b:/y\nruntime: gemini", [("a:/x", ("gemini",), ()), ("b:/y", ("gemini",), ())]),
        ("cwd: a:/x\ndev.cwd: /here\nruntime: claude", []),
    ],
)  # fmt: skip
def test_what_is_wanted_of_each_box(house, brief, config, wanted):
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[runtimes.mine]\ncommand = ["/opt/mine", "{prompt}"]\n')
    brief.write_text(f"{FILLED}\n## Agent Config\n{config}\n")
    found = wanted_boxes(house, brief)
    assert [(str(each), each.programs, each.commands) for (each,) in found] == wanted


def wanted_boxes(house, brief):
    settings = load_settings(house.root / "config/agent-orchestrator/config.toml", os.environ)
    return boxes_wanted(Case("demo", house.project, read_brief(brief.read_bytes()), settings, os.environ))


POOL = '[hosts.farm]\nboxes = ["me@a", "ssh://me@b:22"]\n'


@pytest.fixture
def farm(house):
    """Settings with a pool."""
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(POOL)


def test_of_a_pool_each_box_is_wanted(house, brief, farm):
    brief.write_text(f"{FILLED}\n## Agent Config\ncwd: farm:/x\narchitect.cwd: c:/y\nruntime: claude\n")
    found = wanted_boxes(house, brief)
    assert [[str(each) for each in alternatives] for alternatives in found] == [
        ["me@a:/x", "ssh://me@b:22/x"],
        ["c:/y"],
    ]
    assert {each.programs for alternatives in found for each in alternatives} == {("claude",)}


@pytest.fixture
def looked(monkeypatch):
    """Have boxes looked at by name: which can be worked on."""
    good = set[str]()

    def look_at(wanted, environ):
        finding = Finding("", Severity.OK if str(wanted) in good else Severity.MISSING, "so it is")
        return BoxReport(wanted, State(), (finding,))

    monkeypatch.setattr("orchestrator.cli.remote.look_at", look_at)
    return good


def test_one_usable_box_of_a_pool_is_enough(start, running, brief, farm, looked):
    """The daemon learns which others are not usable."""
    looked.add("ssh://me@b:22/x")
    brief.write_text(f"{FILLED}\n## Agent Config\ncwd: farm:/x\n")
    said = start()
    assert said.code == 0
    assert "me@a:/x\nmissing  so it is" in said.out
    assert "ssh://me@b:22/x\nok       so it is" in said.out
    (heard,) = running.heard
    assert heard["arguments"]["unfit"] == "me@a:/x"


def test_pool_without_a_usable_box_refuses_the_start(start, running, brief, farm, looked):
    brief.write_text(f"{FILLED}\n## Agent Config\ncwd: farm:/x\n")
    said = start()
    assert said.code == 1
    assert "tidy was not started: no connection to me@a, me@b:22" in said.err
    assert not running.heard


# Templates ----------------------------------------------------------------------------------------


@pytest.fixture
def template(house):
    """A template of the user's own, with a preflight."""
    folder = house.root / "config" / "agent-orchestrator" / "templates" / "mine"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text(f"{FILLED}\n## Agent Config\ntemplate: mine\n")
    (folder / "preflight.py").write_text("import sys; print('looked at', sys.argv[1])")
    return folder


def test_a_task_is_made_from_a_template(start, house, running, template):
    said = start("--template", "mine")
    assert said.code == 0
    assert f"looked at {house.project}\n" in said.out
    assert (house.project / "tasks" / "tidy" / "task.md").read_text() == (template / "task.md").read_text()
    assert start("--template", "mine").code == 0


def test_a_template_that_does_not_fit_leaves_nothing_behind(start, house, daemon, template):
    (template / "preflight.py").write_text("import sys; sys.exit('\\x1b[2Jno Python here')")
    said = start("--template", "mine")
    assert said.code == 1
    assert "the template mine does not fit this project: \ufffd[2Jno Python here" in said.err
    assert [path.name for path in house.project.iterdir()] == [".git"]


def test_a_task_stays_with_its_template(start, house, daemon, brief, template):
    said = start("--template", "mine")
    assert said.code == 2
    assert "exists already, made from no template" in said.err


def test_a_template_that_is_not_there(start, house):
    said = start("--template", "nowhere")
    assert said.code == 2
    assert "there is no template nowhere" in said.err
    assert [path.name for path in house.project.iterdir()] == [".git"]


def test_templates_are_listed_with_their_goal(house, task, template):
    said = task("templates")
    assert "mine" in said.out
    assert "The old name is gone." in said.out
    shape = task("templates", "--json").json["templates"]
    assert {each["name"] for each in shape} >= {"mine", "tidy"}
    assert set(shape[0]) <= set(task("help", "json").out.split())


# Following ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "code"), [("complete", 0), ("partial", 7), ("failed", 1), ("waiting", 3), ("stopped", 5)]
)
def test_following_shows_the_log_and_ends_as_the_task_does(start, house, task, daemon, brief, state, code):
    def reply(home, _request):
        with (home / "pm.log").open("a") as log:
            log.write("12:00:00 tidy was started\n         phase EXPLORING\n\x1b[2J\n")
        house.task(home.name, state=state, updated=4_000_000_000.0, questions=[house.question()])
        return True, "tidy runs"

    daemon.reply = reply
    said = start("--follow", "--verbose")
    assert said.code == code
    assert "12:00:00 tidy was started\n         phase EXPLORING\n\n" in said.out
    shown = {"partial": "complete in part", "waiting": "waiting  DEVELOPING"}.get(state, state)
    assert f"tidy  {shown}\n" in said.out
    assert "artifacts  " in said.out
    assert ("next      task merge tidy" in said.out) == (state != "waiting")


def test_following_shows_each_step_that_ended_and_no_run(start, house, task, daemon, brief):
    def reply(home, _request):
        (home / "pm.log").write_text("12:00:00 run r-1234 lives\n")
        steps = [house.step(id="explore", agent="explore", title="Explore", status="passed")]
        house.task(home.name, state="complete", updated=4_000_000_000.0, steps=steps)
        return True, "tidy runs"

    daemon.reply = reply
    said = start("--follow")
    assert said.code == 0
    (line,) = [line for line in said.out.splitlines() if line.startswith("  1  ")]
    assert line.split()[:3] == ["1", "explore", "Explore"]
    assert line.endswith("passed")
    assert "r-1234" not in said.out


def test_how_an_earlier_start_ended_is_not_taken_for_the_end(start, house, task, daemon, brief):
    looked = []

    def reply(home, _request):
        house.task(home.name, state="failed", updated=1.0)
        return True, "tidy goes on"

    def look(old=daemon.look):
        old()
        looked.append(daemon.heard)
        if daemon.heard and len(looked) > 30:
            (home,) = (house.state / "tasks").iterdir()
            house.task(home.name, state="complete", updated=4_000_000_000.0)

    daemon.reply, daemon.look = reply, look
    assert start("--follow").code == 0


def test_ctrl_c_leaves_the_task_running(house, running, brief, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_NOTIFY__CHANNELS", "tmux://")
    brief.write_text(COMMANDED)
    command = [
        sys.executable,
        "-m",
        "orchestrator.cli",
        "start",
        "tidy",
        "--follow",
        "-v",
        "--project",
        str(house.project),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "tidy runs\n"
        (home,) = (house.state / "tasks").iterdir()
        (home / "pm.log").write_text("12:00:00 check-in\n")
        assert process.stdout.readline() == "12:00:00 check-in\n"
        process.send_signal(2)
        rest = process.stdout.read()
    assert process.returncode == 4
    assert "tidy keeps running; to stop it: task stop tidy" in rest


def test_a_daemon_that_is_down_keeps_the_request(start, house, brief, monkeypatch):
    monkeypatch.setattr(
        "orchestrator.cli.daemon_startup.COMMAND", (sys.executable, "-c", "raise SystemExit('no tmux')")
    )
    said = start()
    assert said.code == 6
    assert "no tmux" in said.err
    start()
    (path,) = house.state.glob("tasks/*/requests/*.json")
    assert json.loads(path.read_text())["verb"] == "start"


# What can be known beforehand ---------------------------------------------------------------------


def flat(text):
    """Return a text on one line, however it was wrapped."""
    return " ".join(text.split())


def with_dev(command):
    return COMMANDED.replace("dev.command: true", f"dev.command: {command}")


def test_uncommitted_command_refuses_the_start(start, house, daemon, brief):
    """Agents work in trees of a commit, where it is not."""
    (house.project / "agents").mkdir()
    (house.project / "agents" / "dev.sh").write_text("#!/bin/sh\n")
    (house.project / "agents" / "dev.sh").chmod(0o755)
    brief.write_text(with_dev("./agents/dev.sh"))
    said = start()
    assert said.code == 1
    assert "missing  dev.command: ./agents/dev.sh: is not committed" in said.out
    assert f"> git -C {house.project} add --force -- agents/dev.sh" in said.out
    assert "tidy was not started" in said.err
    assert daemon.heard == []


@pytest.mark.parametrize(
    ("words", "severity", "said_of"),
    [
        ((), "warn", "not set"),
        (("--global", "filter.lfs.clean", "cat"), "ok", "cat"),
        (("--global", "filter.lfs.process", "no-such-program x"), "warn", "no-such-program"),
        (("filter.lfs.smudge", "evil"), "warn", "this repository alone"),
    ],
)
def test_filters_that_agents_trees_run_or_lack_are_named(task, house, brief, words, severity, said_of):
    """Agents worked on the pointers of git-lfs, and nothing had said so."""
    (house.project / "art").mkdir()
    (house.project / "art" / ".gitattributes").write_text(
        "# x filter=none\n*.png filter=lfs -text\n*.x -filter\n"
    )
    git_of(house.project, "add", "art")
    git_of(house.project, "commit", "-q", "-m", "Add art")
    if words:
        git_of(house.project, "config", *words)
    there = ("--project", str(house.project), "--json")
    for said in (task("start", "tidy", "--check", *there), task("doctor", *there)):
        (found,) = [each for each in said.json["findings"] if each["topic"].startswith("git filter")]
        assert (found["topic"], found["severity"]) == ("git filter lfs", severity)
        assert said_of in found["text"]
        assert "evil" not in found["fix"]


def test_submodules_that_agents_lack_are_named(task, house, brief):
    """Agents found empty folders where the project has code, and nothing had said so."""
    words = ("start", "tidy", "--check", "--project", str(house.project), "--json")
    assert not [each for each in task(*words).json["findings"] if each["topic"] == "submodules"]
    git_of(house.project, "config", "--file", ".gitmodules", "submodule.lib.path", "vendor/lib")
    git_of(house.project, "add", ".gitmodules")
    git_of(house.project, "commit", "-q", "-m", "Add lib")
    (found,) = [each for each in task(*words).json["findings"] if each["topic"] == "submodules"]
    assert found["severity"] == "warn"
    assert "vendor/lib are empty in agents' worktrees" in found["text"]


def test_filters_are_looked_for_on_the_branch_of_a_known_task(task, house, brief):
    git_of(house.project, "branch", "task/tidy")
    house.task("tidy-0a1b2c3d", state="stopped")
    (house.project / ".gitattributes").write_text("*.png filter=lfs\n")
    git_of(house.project, "add", ".gitattributes")
    git_of(house.project, "commit", "-q", "-m", "Add attributes")
    said = task("start", "tidy", "--check", "--project", str(house.project), "--json")
    assert [each for each in said.json["findings"] if each["topic"].startswith("git filter")] == []


def test_a_command_is_sought_on_the_branch_of_a_known_task(start, house, running, brief):
    """It was sought in HEAD, where it had been committed since: each launch failed."""
    git_of(house.project, "branch", "task/tidy")
    house.task("tidy-0a1b2c3d", state="stopped")
    script = house.project / "dev.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    git_of(house.project, "add", "dev.sh")
    git_of(house.project, "commit", "-q", "-m", "Add dev.sh")
    brief.write_text(with_dev("./dev.sh"))
    said = start()
    assert said.code == 1
    assert f"> task rebase tidy --project {house.project}" in said.out
    git_of(house.project, "branch", "-f", "task/tidy", "HEAD")
    assert start().code == 0


def test_the_remedy_that_is_shown_lets_it_start(start, house, running, brief):
    (house.project / "dev.sh").write_text("#!/bin/sh\n")
    brief.write_text(with_dev("./dev.sh"))
    lines = start().out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.lstrip().startswith("> chmod"))
    typed = "\n".join(line.strip().removeprefix("> ") for line in lines[first : first + 3])
    environ = os.environ | {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    environ |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    subprocess.run(["sh", "-e", "-c", typed], env=environ, check=True)
    assert start().code == 0


def test_what_agents_do_not_see_is_said_and_the_task_starts(start, house, running, brief):
    (house.project / "kept.py").write_text("1\n")
    git_of(house.project, "add", "kept.py")
    git_of(house.project, "commit", "-q", "-m", "Keep")
    (house.project / "kept.py").write_text("2\n")
    (house.project / "new.py").write_text("1\n")
    said = start()
    assert said.code == 0
    assert "warn base: changed here but not committed, so no agent sees it: kept.py, new.py" in flat(said.out)


@pytest.mark.parametrize(
    ("channels", "said"),
    [
        (
            None,
            "note channels: none is set: you are notified by a line in tmux while you are attached; this is no",
        ),
        ("[]", "warn channels: no notification is sent"),
        ("json://a", None),
        ("desktop://", "warn channels: you are notified by nothing: there is no desktop here"),
    ],
)
def test_start_says_how_the_user_is_notified(start, running, brief, monkeypatch, channels, said):
    """Without a terminal it promised its bell, and without a desktop a message there."""
    for asked in ("notifications.default_channels", "cli.channels"):
        monkeypatch.setattr(f"orchestrator.{asked}.desktop_program", lambda _environ: "")
    monkeypatch.setattr(os, "isatty", lambda _descriptor: False)
    if channels:
        monkeypatch.setenv("ORCHESTRATOR_NOTIFY__CHANNELS", channels)
    out = flat(start().out)
    assert said in out if said else "channels" not in out


def test_in_a_terminal_its_bell_is_promised(start, running, brief, monkeypatch):
    monkeypatch.setattr(os, "isatty", lambda _descriptor: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "you are notified by the bell of this terminal" in flat(start().out)


def test_without_an_agent_cli_it_says_how_to_get_one(start, daemon, brief, monkeypatch):
    monkeypatch.setenv("PATH", os.environ["PATH"].split(":", 1)[1])
    said = start()
    assert said.code == 1
    assert "missing dev: agent dev names no runtime and no command, and no agent CLI was found" in flat(
        said.out
    )


def test_a_cli_without_a_login_is_said_and_the_task_starts(start, running, brief, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    said = start()
    assert said.code == 0
    assert (
        "dev.runtime, explore.runtime, plan.runtime, review.runtime, test.runtime: no login of Claude"
        in flat(said.out)
    )


def test_a_task_at_work_is_not_looked_at(start, house, running, brief):
    brief.write_text(with_dev("./nowhere.sh"))
    house.task("tidy-0a1b2c3d", state="running")
    said = start()
    assert (said.code, "missing" in said.out) == (0, False)


def test_an_old_branch_of_that_name_is_said(start, house, running, brief):
    git_of(house.project, "branch", "task/tidy")
    git_of(house.project, "commit", "-q", "--allow-empty", "-m", "Later")
    said = start()
    assert (said.code, "a branch task/tidy exists already" in said.out) == (0, True)
    house.task("tidy-0a1b2c3d", state="stopped")
    assert "a branch task/tidy exists" not in start().out


def test_a_branch_in_the_way_keeps_a_task_from_starting(start, house, daemon, brief):
    git_of(house.project, "branch", "task")
    said = start()
    assert (said.code, "a branch `task` is in the way" in said.out) == (1, True)


# --check ------------------------------------------------------------------------------------------


def everything(house):
    return sorted(str(path) for path in house.root.rglob("*"))


def test_a_check_looks_at_all_and_starts_nothing(start, house, daemon, brief):
    before = everything(house)
    said = start("--check")
    assert (said.code, said.err) == (0, "")
    unwrapped = " ".join(said.out.split())
    for part in ("base: agents begin from", "tmux: ", "channels: ", "budget: ", "daemon: ", "state: "):
        assert part in unwrapped
    assert said.out.endswith("tidy could start; nothing was started\n")
    assert daemon.heard == []
    assert everything(house) == before


@pytest.mark.parametrize(
    ("state", "edited", "said"),
    [
        ("running", True, "is running already"),
        ("waiting", True, "is waiting already"),
        ("complete", False, "is complete already"),
        ("complete", True, "could start"),
        ("stopped", False, "could start"),
    ],
)
def test_a_check_knows_what_a_start_would_come_to(start, house, brief, state, edited, said):
    """A task at work, and one that is complete, "could start"."""
    house.task(state=state)
    if not edited:
        os.utime(brief, (0, 0))
    last = start("--check").out.splitlines()[-1]
    assert f"tidy {said}" in last


def test_a_check_prints_each_finding_once_known(start, brief, monkeypatch, capfd):
    """Nothing was shown until each program had answered, and each box."""
    shown = []

    def asks_programs(*_, **__):
        shown.append(capfd.readouterr().out)
        raise Refused("no program answers")

    monkeypatch.setattr("orchestrator.cli.machine_probe.examine", asks_programs)
    start("--check")
    assert [word in shown[0] for word in ("task.md: ", "budget: ", "base: ")] == [True] * 3


def test_a_check_that_finds_something_missing_ends_with_1(start, house, daemon, brief):
    brief.write_text(with_dev("./nowhere.sh"))
    said = start("--check", "--json")
    assert said.code == 1
    (found,) = [each for each in said.json["findings"] if each["severity"] == "missing"]
    assert found["topic"] == "dev.command: ./nowhere.sh"
    assert said.json["can_run"] is False


def test_what_keeps_worktrees_from_being_ready_is_said(start, house, brief):
    """It would be a question an hour later, of a task whose user has gone."""
    keys = "prepare: ./make-it && other\nprepare.copy: .env, local.toml, gone\n"
    brief.write_text(f"{FILLED}\n## Agent Config\n{keys}")
    (house.project / ".gitignore").write_text(".env\n")
    for name in (".env", "local.toml"):
        (house.project / name).write_text("x")
    said = start("--check", "--json")
    found = {each["topic"]: each["text"] for each in said.json["findings"] if each["severity"] == "missing"}
    assert set(found) == {"prepare: ./make-it", "prepare.copy"}
    texts = [each["text"] for each in said.json["findings"] if each["topic"] == "prepare.copy"]
    assert texts == [
        "local.toml is not ignored by git: commits of agents would hold it",
        f"gone is no file in {house.project}",
    ]
    assert start().code == 1


def test_a_check_speaks_only_of_the_clis_that_the_task_uses(start, brief):
    topics = {each["topic"] for each in start("--check", "--json").json["findings"]}
    assert not topics & {"codex", "gemini", "aider", "opencode", "kiro"}


def test_a_check_asks_no_cli_that_the_task_does_not_use(start, house, brief):
    """Each was asked for its version, which takes some of them a second of the processor."""
    asked = house.root / "asked"
    for name in ("claude", "codex"):
        program = house.root / "clis" / name
        program.write_text(f"#!/bin/sh\necho {name} >>'{asked}'\necho 2.1.328\n")
        program.chmod(0o755)
    assert start("--check").code == 0
    assert set(asked.read_text().split()) == {"claude"}


def test_a_check_of_a_template_makes_nothing(start, house, daemon, brief):
    brief.unlink()
    brief.parent.rmdir()
    before = everything(house)
    said = start("--check")
    assert (said.code, f"`task start tidy --project {house.project}`" in said.err) == (2, True)
    template = house.root / "config" / "agent-orchestrator" / "templates" / "mine"
    template.mkdir(parents=True)
    (template / "task.md").write_text(COMMANDED)
    assert start("--check", "--template", "mine").code == 0
    assert [path for path in everything(house) if path not in before and "config" not in path] == []


def test_check_shows_the_limits_of_the_task(start, brief):
    brief.write_text(COMMANDED + "limits: 2M tokens; $20\n")
    assert "it may use 2M tokens, $20" in start("--check").out


def test_a_check_looks_at_each_box(start, house, brief, ssh):
    brief.write_text(AWAY + "dev.command: true\n")
    said = start("--check")
    assert said.code == 1
    assert "missing  me@127.0.0.1:/srv/shop: does not answer (no route)" in said.out
    assert not list(Path(os.environ["ORCHESTRATOR_HOME"]).rglob("requests"))


def test_new_task_is_of_the_family_that_is_asked_for(start, house, daemon):
    """It is written into the blank task.md, which stays to be filled in."""
    said = start("--family", "roles")
    assert (said.code, daemon.heard) == (2, [])
    made = read_brief((house.project / "tasks" / "tidy" / "task.md").read_bytes())
    assert (made.config.family, made.unfilled) == ("roles", True)


def test_unknown_family_leaves_nothing_behind(start, house, daemon):
    """The message lists those that there are."""
    said = start("--family", "rolls")
    assert said.code != 0
    assert "roles" in said.err
    assert not (house.project / "tasks").exists()


def test_task_of_another_family_is_not_started(start, daemon, brief):
    """What task.md says is not changed by an option."""
    for more in ((), ("--check",)):
        said = start("--family", "roles", *more)
        assert said.code == 2
        assert "write `family: roles` there" in said.err
    assert daemon.heard == []
