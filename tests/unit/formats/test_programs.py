"""`[runtimes.NAME]`: what reads, and what is wrong with the line where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.formats.settings import load_settings
from orchestrator.formats.settings_explained import explained
from orchestrator.model.errors import BadFile
from orchestrator.model.programs import Program

WHOLE = """\
[limits]
max_blocks = 2

[runtimes.qwen]
command = ["qwen", "-i", "{prompt}"]
resume = ["qwen", "--resume", "{session}", "-i", "{prompt}"]
environment = { QWEN_HOME = "/srv/qwen", SECRET = "s3cret" }
variables = ["QWEN_*"]
events = "claude"
screens = "~/qwen.toml"

[runtimes.tiny]
command = ["tiny", "{order}"]
"""


def settings(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_each_table_is_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/user")
    assert load_settings(settings(tmp_path, WHOLE), {}).runtimes == (
        Program(
            "qwen",
            ("qwen", "-i", "{prompt}"),
            ("qwen", "--resume", "{session}", "-i", "{prompt}"),
            (("QWEN_HOME", "/srv/qwen"), ("SECRET", "s3cret")),
            ("QWEN_*",),
            "claude",
            "/home/user/qwen.toml",
        ),
        Program("tiny", ("tiny", "{order}")),
    )


def test_programs_are_shown_with_lines_and_without_keys(tmp_path):
    path = settings(tmp_path, WHOLE)
    shown = {each.key: each for each in explained(path, {}) if each.key.startswith("runtimes.")}
    assert shown["runtimes.tiny.command"].value == '["tiny", "{order}"]'
    assert shown["runtimes.tiny.command"].where == f"{path}:13"
    assert shown["runtimes.qwen.environment"].value == '["QWEN_HOME", "SECRET"]'
    assert "s3cret" not in str(shown)
    assert len(shown) == 7


IN_A_TABLE = {
    'command = ["qwen", "{promt}"]': "2: [runtimes.x] command asks for {promt}: did you mean prompt?",
    'command = ["qwen"]': "2: [runtimes.x] command has neither {prompt} nor {order}",
    'command = "qwen {prompt}"': "2: [runtimes.x] command is 'qwen {prompt}': give a list",
    "variables = []": "1: [runtimes.x] has no command",
}
BESIDE_A_COMMAND = {
    "comand = 1": "3: [runtimes.x] there is no key 'comand': did you mean command?",
    'events = "auto"': "3: [runtimes.x] events is 'auto': give one of claude",
    'events = "claude"\nresume = ["x", "{prompt}"]': "4: [runtimes.x] resume has no {session}",
    'resume = ["x", "{session}", "{prompt}"]': "3: [runtimes.x] resume needs events",
    "environment = { A = 1 }": "3: [runtimes.x] environment is not valid",
    'environment = { "A B" = "1" }': "3: [runtimes.x] environment holds 'A B'",
    'variables = ["*A"]': "3: [runtimes.x] variables holds '*A'",
    'variables = ["LD_PRELOAD"]': "3: [runtimes.x] variables holds LD_PRELOAD",
    'screens = "x.toml"': "3: [runtimes.x] screens is 'x.toml': give the absolute path",
}
COMMAND = 'command = ["x", "{prompt}"]'
ELSEWHERE = {
    f"[runtimes.claude]\n{COMMAND}": "1: [runtimes.claude] claude is the name of a shipped runtime",
    f'[runtimes."../x"]\n{COMMAND}': "../x",
    "runtimes = 3": "1: runtimes holds tables only: [runtimes.NAME]",
    "[runtimes]\nqwen = 3": "1: runtimes holds tables only: [runtimes.NAME]",
}
WRONG = (
    ELSEWHERE
    | {f"[runtimes.x]\n{text}": said for text, said in IN_A_TABLE.items()}
    | {f"[runtimes.x]\n{COMMAND}\n{text}": said for text, said in BESIDE_A_COMMAND.items()}
)


@pytest.mark.parametrize("text", WRONG)
def test_fault_is_reported_with_its_line(tmp_path, text):
    with pytest.raises(BadFile) as refused:
        load_settings(settings(tmp_path, text + "\n"), {})
    assert WRONG[text] in str(refused.value)


def test_all_faults_are_reported_at_once(tmp_path):
    with pytest.raises(BadFile) as refused:
        load_settings(settings(tmp_path, "[runtimes.a]\n[runtimes.b]\ncommand = []\n"), {})
    assert "1: [runtimes.a] has no command" in str(refused.value)
    assert "3: [runtimes.b] command is []" in str(refused.value)


def test_a_variable_defines_none(tmp_path):
    with pytest.raises(BadFile, match=r"no section \[runtimes\]"):
        load_settings(settings(tmp_path, ""), {"ORCHESTRATOR_RUNTIMES__QWEN": "qwen"})
