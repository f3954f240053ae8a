"""What a mutant cannot do."""

import os
import shutil
from pathlib import Path

import pytest

from tests.mutation import sandbox

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not there")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that holds one file, in the place of the checkout's."""
    copy = tmp_path / "tree"
    copy.mkdir()
    for name in (".venv", ".git"):
        (copy / name).mkdir() if (sandbox.ROOT / name).is_dir() else (copy / name).touch()
    (copy / "module.py").write_text("as it is\n")
    monkeypatch.setattr(sandbox, "TREE", copy)
    return copy


def test_a_file_is_replaced_in_the_sandbox_alone(tree: Path, tmp_path: Path):
    (tmp_path / "mutant.py").write_text("changed\n")
    ended = sandbox.run(["cat", "module.py"], seconds=30, replaced={"module.py": tmp_path / "mutant.py"})
    assert ended.printed == "changed\n"
    assert (tree / "module.py").read_text() == "as it is\n"


def test_nothing_outside_is_written(tree: Path, tmp_path: Path):
    elsewhere = tmp_path / "there"
    elsewhere.write_text("kept")
    ended = sandbox.run(
        ["bash", "-c", f"rm -f module.py; rm -f '{elsewhere}'; echo x > README.md"], seconds=30
    )
    assert ended.status != 0
    assert (tree / "module.py").exists()
    assert elsewhere.read_text() == "kept"


def test_every_signal_stays_inside(tree: Path):
    ended = sandbox.run(["bash", "-c", "kill -KILL -1; echo done"], seconds=30)
    assert ended.status is not None
    os.kill(os.getppid(), 0)


def test_what_takes_too_long_is_ended_with_all_it_started(tree: Path, tmp_path: Path):
    out = tmp_path / "out"
    out.mkdir()
    ended = sandbox.run(
        [
            "bash",
            "-c",
            f"setsid sleep 1000 & (while sleep 0.05; do date +%N > {sandbox.OUT}/beat; done) & wait",
        ],
        seconds=1,
        out=out,
    )
    assert ended.status is None
    last = (out / "beat").read_text()
    # The waiting is the test: what still lived would beat ten times in it.
    sandbox.run(["sleep", "0.5"], seconds=30)
    assert (out / "beat").read_text() == last
