"""The script ahead of a tool call that its program may let pass: only an answer that allows lets it go on."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestrator.model.event import Reply, Say
from orchestrator.runtimes.hooks import DENIAL_FILES, DENIALS, hook_answer

_BLOCKS = 2
"""The exit by which Claude Code and Codex hold a tool call back."""


def answered(folder: Path, relay: str) -> subprocess.CompletedProcess[str]:
    (folder / DENIALS).write_bytes(DENIAL_FILES[DENIALS])
    (folder / "relay.sh").write_text(relay)
    (folder / "said").touch()
    words = ["sh", str(folder / DENIALS)]
    return subprocess.run(words, input="{}", capture_output=True, text=True, timeout=20, check=False)


def says(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "said").write_text(text)
    return answered(folder, 'cat "${0%/*}/said"')


def test_an_allowance_lets_it_go_on_and_prints_nothing(tmp_path: Path) -> None:
    found = says(tmp_path, hook_answer(Reply(Say.ALLOW)))
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_a_denial_blocks_with_its_reason(tmp_path: Path) -> None:
    found = says(tmp_path, hook_answer(Reply(Say.DENY, 'the rule `deny run "x"`')))
    assert (found.returncode, found.stdout) == (_BLOCKS, "")
    assert found.stderr == 'the rule `deny run "x"`\n'


@pytest.mark.parametrize(
    "text", ["", "{}", "gibberish", hook_answer(Reply(Say.GO_ON, "x")), '{"behavior": "allow"} x']
)
def test_any_other_answer_blocks(tmp_path: Path, text: str) -> None:
    assert says(tmp_path, text).returncode == _BLOCKS


def test_a_reason_that_looks_like_an_allowance_blocks(tmp_path: Path) -> None:
    forged = hook_answer(Reply(Say.ALLOW))
    assert says(tmp_path, hook_answer(Reply(Say.DENY, forged))).returncode == _BLOCKS


def test_a_relay_that_fails_or_is_killed_blocks(tmp_path: Path) -> None:
    assert answered(tmp_path, "exit 1").returncode == _BLOCKS
    assert answered(tmp_path, "kill -9 $$").returncode == _BLOCKS
