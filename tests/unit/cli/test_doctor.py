import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from orchestrator.cli import agent_environment, program_probe
from orchestrator.cli.box import named_box
from orchestrator.cli.host_kind_check import named_kind
from orchestrator.runtimes.cli_inventory import AGENT_CLIS
from orchestrator.runtimes.registry import RUNTIMES


@pytest.fixture
def programs(house, monkeypatch):
    """A PATH of our own, with tmux and git; what is put there says what it is told to. All CLIs have a bare runtime."""
    for module in (program_probe, agent_environment):
        monkeypatch.setattr(module, "RUNTIMES", {cli.name: None for cli in AGENT_CLIS})
    folder = house.root / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    put("tmux", "echo tmux 3.6")
    (folder / "git").symlink_to(shutil.which("git", path="/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"))
    return put


def _of(said, topic):
    return [each for each in said.json["findings"] if each["topic"] == topic]


def _cli(said, name):
    return next(each for each in said.json["clis"] if each["name"] == name)


def test_what_is_there_is_shown_with_its_version_and_login(house, task, programs):
    programs("claude", "echo '2.1.328 (Claude Code)'")
    programs("codex", "echo 'WARNING: 1.2 of 3.4' >&2; echo codex-cli 0.169.0")
    (house.root / ".codex").mkdir()
    (house.root / ".codex" / "auth.json").write_text("{}")
    said = task("doctor", "--project", str(house.project))
    assert said.code == 0
    assert "claude     2.1.328  hooks" in said.out
    assert "~/.codex/auth.json" in said.out
    assert "warn     claude: no login is seen" in said.out
    assert "npm install -g @google/gemini-cli" in said.out
    assert said.out.endswith("a task could run here\n")
    shown = task("doctor", "--json", "--project", str(house.project))
    assert _cli(shown, "codex")["version"] == "0.169.0"
    assert _cli(shown, "codex")["logins"] == ["~/.codex/auth.json"]
    assert _cli(shown, "gemini")["path"] is None
    assert shown.json["can_run"] is True


def test_without_tmux_it_ends_with_1(house, task, programs):
    (house.root / "bin" / "tmux").unlink()
    said = task("doctor", "--project", str(house.project))
    assert said.code == 1
    assert "missing  tmux: is not installed" in said.out
    assert said.out.endswith("no task could run here: provide what is missing\n")


def test_a_key_counts_only_if_the_settings_let_it_through(house, task, programs, monkeypatch):
    programs("claude", "echo 2.1.328")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    before = task("doctor", "--json", "--project", str(house.project))
    assert _cli(before, "claude")["logins"] == []
    assert _cli(before, "claude")["held_back"] == ["ANTHROPIC_API_KEY"]
    line = _of(before, "agents")[0]["fix"].split("\n")[1]
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[environment]\n{line}\n")
    after = task("doctor", "--json", "--project", str(house.project))
    assert _cli(after, "claude")["logins"] == ["ANTHROPIC_API_KEY"]
    assert _of(after, "agents") == []
    assert "sk-secret" not in before.out + after.out


def test_variables_of_a_runtime_need_no_setting(house, task, programs, monkeypatch):
    programs("claude", "echo 2.1.328")
    programs("codex", "echo 0.169.0")
    for module in (program_probe, agent_environment):
        monkeypatch.setattr(module, "RUNTIMES", {"claude": RUNTIMES["claude"]})
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    said = task("doctor", "--json", "--project", str(house.project))
    assert _cli(said, "claude")["logins"] == ["ANTHROPIC_API_KEY"]
    assert _of(said, "agents") == _of(said, "claude") == []
    assert _cli(said, "codex")["signals"] is None
    assert "no runtime for it" in _of(said, "codex")[0]["text"]


def test_a_program_is_asked_in_the_environment_of_an_agent(house, task, programs, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    programs("claude", 'echo "${ANTHROPIC_API_KEY-2.2.2}"')
    assert _cli(task("doctor", "--json"), "claude")["version"] == "2.2.2"


def test_hanging_program_is_ended_and_reported(house, task, programs, monkeypatch):
    monkeypatch.setattr(program_probe, "DEADLINE", 0.2)
    mark = house.root / "pid"
    programs("gemini", f"echo $$ > {mark}; while :; do :; done")
    said = task("doctor", "--json", "--project", str(house.project))
    assert "did not print its version within" in _of(said, "gemini")[0]["text"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def test_failing_program_is_reported(house, task, programs):
    programs("gemini", "echo broken >&2; exit 3")
    (house.root / "bin" / "codex").write_text("#!/no/such/interpreter\n")
    (house.root / "bin" / "codex").chmod(0o755)
    said = task("doctor", "--json", "--project", str(house.project))
    assert "exits with 3 when asked for its version" in _of(said, "gemini")[0]["text"]
    assert "does not start: No such file" in _of(said, "codex")[0]["text"]
    assert said.code == 0


def test_what_a_program_says_does_nothing_to_a_terminal(house, task, programs):
    programs("tmux", r"printf 'tmux 3.6\033[2J\n'")
    said = task("doctor", "--project", str(house.project))
    assert "\x1b" not in said.out
    assert "\x1b" not in task("doctor", "--json").out


def test_settings_that_do_not_read_are_a_finding(house, task, programs):
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[tmux]\nsokcet = 'x'\n")
    said = task("doctor", "--json", "--project", str(house.project))
    assert said.code == 1
    assert f"{settings}, line 2: " in _of(said, "settings")[0]["text"]


def test_a_state_folder_that_others_can_write_is_a_finding(house, task, programs):
    house.state.chmod(0o777)
    said = task("doctor", "--json", "--project", str(house.project))
    house.state.chmod(stat.S_IRWXU)
    assert said.code == 1
    assert "can be written by others" in _of(said, "state")[0]["text"]


def test_a_project_that_is_none(house, task, programs):
    said = task("doctor", "--json", "--project", "/nowhere")
    assert said.code == 1
    assert "is not a folder" in _of(said, "project")[0]["text"]


def test_a_project_with_a_commit(task, programs, repository):
    assert (
        "git repository" in _of(task("doctor", "--json", "--project", str(repository)), "project")[1]["text"]
    )
    committed = [
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    ]
    subprocess.run(committed, cwd=repository, check=True)
    assert len(_of(task("doctor", "--json", "--project", str(repository)), "project")) == 1


def test_a_daemon_that_beats(house, task, programs, daemon):
    (shown,) = _of(task("doctor", "--json"), "daemon")
    assert shown["severity"] in {"ok", "note"}
    assert "is not running" not in shown["text"]


def test_nothing_is_made(house, task, programs):
    before = sorted(house.root.rglob("*"))
    task("doctor", "--project", str(house.project))
    assert sorted(house.root.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "address", "cwd"),
    [
        ("box", "box", ""),
        ("me@box", "me@box", ""),
        ("me@box:/srv/shop", "me@box", "/srv/shop"),
        ("ssh://me@box:2222", "me@box:2222", ""),
        ("ssh://me@box:2222/srv", "me@box:2222", "/srv"),
        ("me@[::1]", "me@[::1]", ""),
        ("[fe80::1%eth0]:/srv", "[fe80::1%eth0]", "/srv"),
        ("ssh://[::1]:22/", "[::1]:22", "/"),
    ],
)
def test_a_box_is_named_with_a_folder_or_without(text, address, cwd):
    found, folder = named_box(text)
    assert (str(found), folder) == (address, cwd)


@pytest.mark.parametrize(
    "text", ["-oProxyCommand=x", "/srv", "~", "a b", "me@", "http://x/", "box:srv", "$(id)", "ssh://", ""]
)
def test_what_is_no_box_is_refused(house, task, text):
    said = task("doctor", "--", text)
    assert (said.code, said.out) == (2, "")
    assert not (house.state / "boxes").exists()


@pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="only Linux shows a process's environment"
)
def test_key_missing_from_the_daemons_start_is_reported(house, task, programs, daemon, monkeypatch):
    programs("claude", "echo 2.1.328")
    # The daemon here is this process: what was set since it began is not in its environment.
    monkeypatch.setenv("ORCHESTRATOR_ENVIRONMENT__PASS", "HOME,PATH,ANTHROPIC_AUTH_TOKEN")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "sk-secret")
    monkeypatch.setattr(program_probe, "program_on", lambda _path, name: str(house.root / "bin" / name))
    said = task("doctor", "--json", "--project", str(house.project))
    (shown,) = _of(said, "agents")
    assert shown["text"].endswith("the daemon was started without it: ANTHROPIC_AUTH_TOKEN")
    assert shown["fix"] == "task daemon stop && task daemon start"


def test_what_nobody_has_tried_says_so(house, task, programs):
    programs("kiro-cli", "echo 1.2.3")
    programs("claude", "echo 2.1.328")
    said = task("doctor", "--project", str(house.project))
    assert "kiro       1.2.3    hooks (untested)" in said.out
    shown = task("doctor", "--json", "--project", str(house.project))
    assert "untested" in _of(shown, "kiro")[0]["text"]
    assert (_cli(shown, "kiro")["tested"], _cli(shown, "claude")["tested"]) == (False, True)
    assert not any("untested" in each["text"] for each in _of(shown, "claude"))


def test_own_runtimes_are_listed_with_their_path(house, task, programs):
    mark = house.root / "asked"
    programs("qwen", f"touch {mark}")
    (house.project / "bin").mkdir()
    (house.project / "bin" / "near").write_text("#!/bin/sh\n")
    (house.project / "bin" / "near").chmod(0o755)
    (house.root / "away").mkdir()
    (house.root / "bin" / "qwen").rename(house.root / "away" / "qwen")
    settings = house.root / "config" / "agent-orchestrator" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        f"[runtimes.qwen]\ncommand = ['qwen', '{{prompt}}']\nenvironment = {{PATH = '{house.root}/away'}}\n"
        "[runtimes.near]\ncommand = ['bin/near', '{order}']\nevents = 'claude'\n"
        "[runtimes.laid]\ncommand = ['{folder}/x', '{order}']\n"
        "[runtimes.gone]\ncommand = ['not-there', '{prompt}']\n"
    )
    shown = task("doctor", "--json", "--project", str(house.project))
    assert [(each["name"], each["path"], each["signals"]) for each in shown.json["runtimes"]] == [
        ("qwen", f"{house.root}/away/qwen", "exit"),
        ("near", f"{house.project}/bin/near", "hooks of claude"),
        ("laid", None, "exit"),
        ("gone", None, "exit"),
    ]
    assert shown.json["can_run"] is True
    assert [_of(shown, name) for name in ("qwen", "near", "laid")] == [[], [], []]
    (gone,) = _of(shown, "gone")
    assert "no program not-there" in gone["text"]
    assert "[runtimes.gone] of " in gone["fix"]
    assert _of(shown, "agents") == []  # there is something that agents could run with
    said = task("doctor", "--project", str(house.project))
    assert "qwen" in said.out.split("agent CLIs that are not installed")[0]
    assert not mark.exists()


@pytest.mark.parametrize(
    ("script", "code", "reported"),
    [
        ("exit 0", 0, "ok       host podman: agents can be run by podman:agents:1"),
        ("echo 'no such image' >&2; exit 1", 1, "`podman pull agents:1`"),
    ],
)
def test_host_of_a_kind_is_checked_by_its_name(task, programs, script, code, reported):
    programs("podman", script)
    said = task("doctor", "podman:agents:1")
    assert said.code == code
    assert reported in said.out
    shown = task("doctor", "podman:agents:1", "--json")
    assert shown.json["can_run"] is (code == 0)


def test_box_is_no_host_of_a_kind():
    assert named_kind("me@podman:/srv/shop") == named_kind("gpu:/srv/shop") == ("", "")
    assert named_kind("podman:agents:1") == ("podman", "agents:1")
