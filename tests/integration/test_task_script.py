"""scripts/task: the thin front. Python is a stand-in that tells how it was called."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TASK = Path(__file__).resolve().parents[2] / "scripts" / "task"
TELL = """#!/usr/bin/env bash
printf '%s\\n' "$PWD" "$@"
"""
SETUP = """#!/usr/bin/env bash
echo setting up
cd "${BASH_SOURCE[0]%/*}/.." && mkdir -p .venv/bin && cp tell .venv/bin/python && touch .venv/.set-up
"""


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def said(*command: str | Path, cwd: Path, path: str = "/usr/bin:/bin") -> list[str]:
    done = subprocess.run(
        command, cwd=cwd, env={"PATH": path}, capture_output=True, text=True, check=True, timeout=20
    )
    return done.stdout.splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "check out"
    script(root / "scripts" / "setup", SETUP)
    script(root / "scripts" / "task", TASK.read_text())
    script(root / "tell", TELL)
    script(root / ".venv" / "bin" / "python", TELL)
    (root / ".venv" / ".set-up").touch()
    return root


def test_passes_all_on_and_stays_where_the_user_stands(checkout: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    where, safe, file, *arguments = said(checkout / "scripts" / "task", "start", "a b", "", cwd=project)
    assert where == str(project)
    assert safe == "-P"
    assert Path(file).resolve() == checkout / "orchestrator" / "cli" / "__main__.py"
    assert arguments == ["start", "a b", ""]


def test_sets_up_once(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    assert said(checkout / "scripts" / "task", cwd=checkout)[0] == "setting up"
    assert said(checkout / "scripts" / "task", cwd=checkout)[0] == str(checkout)


def test_is_found_through_a_link_and_from_its_own_folder(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "task").symlink_to(checkout / "scripts" / "task")
    assert said(tmp_path / "task", "list", cwd=tmp_path)[-1] == "list"
    assert said("bash", "task", "list", cwd=checkout / "scripts")[-1] == "list"


def test_outside_of_a_checkout_it_is_the_one_installed(tmp_path: Path) -> None:
    script(tmp_path / "skill" / "scripts" / "task", TASK.read_text())
    script(tmp_path / "bin" / "agent-orchestrator", TELL)
    front = tmp_path / "skill" / "scripts" / "task"
    assert said(front, "list", cwd=tmp_path, path=f"{tmp_path}/bin:/usr/bin:/bin") == [str(tmp_path), "list"]
