import tomllib
from pathlib import Path

import pytest

from orchestrator.runtimes.cli_inventory import AGENT_CLIS, first_installed, program_on
from orchestrator.runtimes.logins import login_files, login_variables, shortened

CLIS = {each.name: each for each in AGENT_CLIS}
PINNED = Path(__file__).parents[2] / "clis" / "pinned.toml"


@pytest.fixture
def put(tmp_path):
    """Put an executable of that name into a folder, and return the folder."""

    def put(folder, name, mode=0o755):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\nexit 9\n")
        path.chmod(mode)
        return str(path.parent)

    return put


def test_first_installed_cli_is_taken_in_our_order(put):
    path = ":".join([put("a", "aider"), put("b", "opencode"), put("c", "gemini")])
    assert first_installed(path) == "gemini"


def test_what_nobody_has_tried_is_taken_last(put):
    path = ":".join([put("a", "kiro-cli"), put("b", "aider")])
    assert first_installed(path) == "aider"
    tried = [bool(cli.tried) for cli in AGENT_CLIS]
    assert tried == sorted(tried, reverse=True)


@pytest.mark.parametrize("cli", AGENT_CLIS, ids=lambda each: each.name)
def test_each_is_found_by_its_program(put, cli):
    assert first_installed(put("bin", cli.program)) == cli.name


def test_what_is_no_program_is_passed_over(put, tmp_path):
    folder = put("bin", "claude", 0o644)
    (tmp_path / "bin" / "codex").mkdir()
    assert first_installed(folder) is None


@pytest.mark.parametrize("path", ["", ":", ".", "bin:", "no/such/folder"])
def test_relative_folder_of_the_path_does_not_count(put, tmp_path, monkeypatch, path):
    put("bin", "claude")
    put(".", "claude")
    monkeypatch.chdir(tmp_path)
    assert first_installed(path) is None
    assert program_on(path, "claude") is None


def test_oldest_tested_version_is_one_that_the_bench_drives():
    pinned = tomllib.loads(PINNED.read_text())
    for cli in AGENT_CLIS:
        versions = [each["version"] for name, each in pinned.items() if name.partition("-")[0] == cli.name]
        oldest = min((tuple(map(int, version.split("."))) for version in versions), default=())
        assert oldest[: len(cli.tried)] == cli.tried


@pytest.mark.parametrize(
    ("cli", "file", "text"),
    [
        ("claude", ".claude/.credentials.json", '{"claudeAiOauth": {}}'),
        ("claude", ".claude/settings.json", '{"apiKeyHelper": "/bin/key"}'),
        ("claude", ".claude.json", '{"primaryApiKey": "k"}'),
        ("codex", ".codex/auth.json", "{}"),
        ("codex", ".codex/config.toml", 'env_key = "OPENAI_API_KEY"'),
        ("gemini", ".gemini/oauth_creds.json", "{}"),
        ("gemini", ".gemini/.env", "GEMINI_API_KEY=k"),
        ("opencode", ".local/share/opencode/auth.json", '{"anthropic": {"type": "api"}}'),
        ("kiro", ".local/share/kiro-cli/data.sqlite3", "x"),
        ("aider", ".aider.conf.yml", "openai-api-key: k"),
    ],
)
def test_a_login_is_seen_by_its_file(tmp_path, cli, file, text):
    environ = {"HOME": str(tmp_path)}
    assert login_files(CLIS[cli], environ) == ()
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    assert login_files(CLIS[cli], environ) == ()
    path.write_text(text)
    assert login_files(CLIS[cli], environ) == (str(path),)
    assert login_files(CLIS[cli], {}) == ()


def test_a_file_that_says_nothing_of_a_login_is_none(tmp_path):
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"model": "opus"}')
    assert login_files(CLIS["claude"], {"HOME": str(tmp_path)}) == ()


def test_a_folder_that_a_variable_names_is_looked_into_instead(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".credentials.json").write_text("{}")
    environ = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "other")}
    assert login_files(CLIS["claude"], environ) == (f"{tmp_path}/other/.credentials.json",)


def test_a_pipe_in_place_of_a_login_does_not_hang(tmp_path):
    import os

    (tmp_path / ".codex").mkdir()
    os.mkfifo(tmp_path / ".codex" / "auth.json")
    assert login_files(CLIS["codex"], {"HOME": str(tmp_path)}) == ()


def test_an_empty_variable_is_no_login():
    assert login_variables(CLIS["gemini"], {"GEMINI_API_KEY": "", "GOOGLE_API_KEY": "k"}) == (
        "GOOGLE_API_KEY",
    )


def test_a_path_is_shown_from_home():
    assert shortened("/home/me/.codex/auth.json", "/home/me") == "~/.codex/auth.json"
    assert shortened("/home/me/.codex/auth.json", "/home/me/") == "~/.codex/auth.json"
    assert shortened("/home/meme/x", "/home/me") == "/home/meme/x"
    assert shortened("/x", "") == "/x"
