"""`deploy/prepare-box`: says what a box lacks, and changes nothing unless it is told to."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from orchestrator.shipped import shipped
from tests.remote.boxes import Boxes

SCRIPT = shipped("deploy") / "prepare-box"
BASE = ("sh", "sed", "id", "uname", "mkdir", "cat", "env")
GOOD = {"tmux": "tmux 3.4", "rsync": "rsync  version 3.2.7", "git": "git version 2.45.1"}


class Bare:
    """A machine with few programs: those of `BASE`, and what is put there. `called` has what was run with words."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.home, self.log = folder / "bin", folder / "home", folder / "called"
        self.bin.mkdir()
        self.home.mkdir()
        for name in BASE:
            found = shutil.which(name)
            assert found
            (self.bin / name).symlink_to(found)

    def put(self, name: str, script: str) -> None:
        path = self.bin / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.log}\n{script}\n')
        path.chmod(0o755)

    def tools(self, **versions: str) -> None:
        for name, version in {**GOOD, **versions}.items():
            self.put(name, f"echo '{version}'")

    def called(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.bin / "sh", "-s", "--", *words],
            input=SCRIPT.read_text(),
            env={"PATH": str(self.bin), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )


@pytest.fixture
def bare(tmp_path: Path) -> Bare:
    return Bare(tmp_path)


def test_real_box_is_examined_and_left_unchanged(boxes: Boxes) -> None:
    """A real box is looked at as the page says and left as it is."""
    box = boxes.add("alpha")
    command = ["ssh", "-F", str(boxes.config), "-o", "BatchMode=yes", "--", "alpha", "sh -s"]
    done = subprocess.run(
        command, input=SCRIPT.read_text(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ok       tmux 3." in done.stdout
    assert f"home {box.home}\n" in done.stdout
    assert list(box.home.iterdir()) == []


def test_what_is_missing_is_said_and_nothing_is_changed(bare: Bare) -> None:
    bare.put("apt-get", "exit 1")
    bare.put("git", "echo git version 2.45.1")
    done = bare.run()
    assert (done.returncode, done.stderr) == (1, "")
    assert "missing  tmux: agents live in it\n" in done.stdout
    assert "missing  rsync: " in done.stdout
    assert "apt-get install -y --no-install-recommends tmux rsync" in done.stdout
    assert "apt-get" not in bare.called()
    assert list(bare.home.iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "version", "enough"),
    [
        ("tmux", "tmux 2.9a", False),
        ("tmux", "tmux 3.0", True),
        ("tmux", "tmux next-3.5", True),
        ("tmux", "tmux master", True),
        ("tmux", "tmux 10.0", True),
        ("rsync", "openrsync: protocol version 29, rsync version 2.6.9 compatible", False),
        ("rsync", "rsync  version 3.0.9  protocol version 30", False),
        ("rsync", "rsync  version 3.10.0  protocol version 31", True),
    ],
)
def test_versions_are_compared_by_number(bare: Bare, tool: str, version: str, *, enough: bool) -> None:
    bare.tools(**{tool: version})
    done = bare.run()
    assert done.returncode == (0 if enough else 1), done.stdout
    assert (f"missing  {version} is too old" in done.stdout) is not enough


def test_with_apply_the_folder_is_made_for_its_user_alone(bare: Bare) -> None:
    bare.tools()
    assert bare.run("--apply").returncode == 0
    folder = bare.home / ".local" / "state" / "agent-orchestrator-box"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("allowed", [True, False])
def test_lingering_is_turned_on_where_its_user_may(bare: Bare, tmp_path: Path, *, allowed: bool) -> None:
    bare.tools()
    mark = tmp_path / "lingers"
    enable = f"enable-linger) : >{mark} ;;" if allowed else "enable-linger) exit 1 ;;"
    lingers = f"show-user) if [ -e {mark} ]; then echo yes; else echo no; fi ;;"
    bare.put("loginctl", f"case $1 in {enable} {lingers} esac")
    looked = bare.run()
    assert looked.returncode == 0
    assert "warn     a logout may end tmux" in looked.stdout
    assert "enable-linger" not in bare.called()
    done = bare.run("--apply")
    assert done.returncode == 0
    assert ("lingering is on" in done.stdout) is allowed
    assert ("sudo loginctl enable-linger" in done.stdout) is not allowed


@pytest.mark.skipif(os.geteuid() != 0, reason="packages are installed where it is root")
def test_root_installs_what_is_missing_on_request(bare: Bare) -> None:
    bare.tools()
    (bare.bin / "rsync").unlink()
    made = f"printf '#!/bin/sh\\necho rsync version 3.2.7\\n' >{bare.bin}/rsync; chmod 755 {bare.bin}/rsync"
    chmod = shutil.which("chmod")
    assert chmod
    (bare.bin / "chmod").symlink_to(chmod)
    bare.put("apk", made)
    assert bare.run().returncode == 1
    done = bare.run("--apply")
    assert done.returncode == 0, done.stdout
    assert "doing    apk add rsync\n" in done.stdout


def test_a_cli_that_no_login_finds_is_named(bare: Bare) -> None:
    bare.tools()
    place = bare.home / ".local" / "bin"
    place.mkdir(parents=True)
    (place / "claude").write_text("#!/bin/sh\n")
    (place / "claude").chmod(0o755)
    done = bare.run()
    assert f"warn     claude is in {place}, which is not on the PATH of a login" in done.stdout


def test_half_a_script_does_nothing(bare: Bare) -> None:
    bare.tools()
    text = SCRIPT.read_text()
    done = subprocess.run(
        [bare.bin / "sh", "-s", "--", "--apply"],
        input=text[: text.rindex("main")],
        env={"PATH": str(bare.bin), "HOME": str(bare.home)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == ""
    assert list(bare.home.iterdir()) == []


def test_other_words_are_refused(bare: Bare) -> None:
    done = bare.run("--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert "only --apply" in done.stderr
