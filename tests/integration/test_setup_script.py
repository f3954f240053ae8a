"""scripts/setup on machines that lack this or that. Python, pip and apt-get are stand-ins on our own PATH."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / "scripts" / "setup"
BORROWED = ("bash", "cat", "chmod", "cksum", "cp", "dirname", "env", "mkdir", "mv", "rm", "sleep")
DEADLINE = 20.0

PYTHON = f"""#!/usr/bin/env bash
case "$1 $2" in
"-V "*) echo Python 3.11.0 ;;
"-c "*fcntl*) exec {sys.executable} "$@" ;;
"-c "*_base_executable*) echo "$0" ;;
"-c "*ensurepip*) [[ ! -e $STAGE/no-venv ]] ;;
"-c "*%d.%d*) echo 3.11 ;;
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
"-m pip")
    echo "$@" >>"$STAGE/pip.log"
    while [[ -e $STAGE/pip-hangs ]]; do sleep 0.01; done
    [[ ! -e $STAGE/pip-fails ]]
    ;;
esac
"""

APT_GET = """#!/usr/bin/env bash
echo "${@: -1}" >>"$STAGE/apt.log"
case "${@: -1}" in
update) echo >"$STAGE/lists" ;;
*-venv) [[ -e $STAGE/lists ]] && rm "$STAGE/no-venv" ;;
*) [[ -e $STAGE/lists ]] && cp "$STAGE/bin/git" "$STAGE/bin/${@: -1}" ;;
esac
"""

OLD_PYTHON = """#!/usr/bin/env bash
exit 1
"""


class Machine:
    """A checkout, and the only programs there are."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.checkout = root / "checkout"
        self.lock = self.checkout / "requirements" / "dev.lock"
        self.stamp = self.checkout / ".venv" / ".set-up"
        self.bin.mkdir()
        self.lock.parent.mkdir(parents=True)
        (self.checkout / "scripts").mkdir()
        shutil.copy(SETUP, self.checkout / "scripts" / "setup")
        self.lock.write_text("pydantic==2\n")
        (self.checkout / "pyproject.toml").write_text("[project]\n")
        for name in BORROWED:
            (self.bin / name).symlink_to(shutil.which(name) or "")
        self.program("python3", PYTHON)
        self.program("git", "#!/usr/bin/env bash\n")
        self.program("tmux", "#!/usr/bin/env bash\n")

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.checkout / "scripts" / "setup"],
            env={"PATH": str(self.bin), "STAGE": str(self.root)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def set_up(self, *, code: int = 0) -> str:
        process = self.start()
        said = process.communicate(timeout=DEADLINE)[1]
        assert process.returncode == code, said
        return said

    def log(self, name: str) -> list[str]:
        path = self.root / name
        return path.read_text().splitlines() if path.exists() else []

    def wait_for_pip(self) -> None:
        end = time.monotonic() + DEADLINE
        while not self.log("pip.log"):
            assert time.monotonic() < end, "pip was not started"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_second_time_does_nothing(machine: Machine) -> None:
    said = machine.set_up()
    assert "making .venv with Python 3.11.0" in said
    locked, itself = machine.log("pip.log")
    assert "--require-hashes" in locked
    assert "--no-build-isolation" in itself
    assert machine.set_up() == ""
    assert len(machine.log("pip.log")) == 2


def test_a_changed_lock_updates_in_place(machine: Machine) -> None:
    machine.set_up()
    kept = machine.checkout / ".venv" / "kept"
    kept.touch()
    machine.lock.write_text("pydantic==3\n")
    assert "updating .venv" in machine.set_up()
    assert kept.exists()
    assert machine.set_up() == ""


def test_a_failed_set_up_is_shown_and_made_anew(machine: Machine) -> None:
    (machine.root / "pip-fails").touch()
    assert "pip could not install the locked packages" in machine.set_up(code=1)
    half = machine.checkout / ".venv" / "half"
    half.touch()
    (machine.root / "pip-fails").unlink()
    assert "making .venv" in machine.set_up()
    assert not half.exists()


@pytest.mark.parametrize("updating", [False, True])
def test_a_killed_set_up_is_made_anew(machine: Machine, *, updating: bool) -> None:
    if updating:
        machine.set_up()
        machine.lock.write_text("pydantic==3\n")
        (machine.root / "pip.log").unlink()
    (machine.root / "pip-hangs").touch()
    process = machine.start()
    machine.wait_for_pip()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE)
    assert not machine.stamp.exists()
    (machine.root / "pip-hangs").unlink()
    assert "making .venv" in machine.set_up()


def test_a_moved_checkout_is_made_anew(machine: Machine) -> None:
    machine.set_up()
    machine.checkout = machine.checkout.rename(machine.root / "moved")
    assert "making .venv" in machine.set_up()


def test_two_at_once_make_one(machine: Machine) -> None:
    (machine.root / "pip-hangs").touch()
    first = machine.start()
    machine.wait_for_pip()
    second = machine.start()
    assert second.stderr is not None
    waiting = second.stderr.readline()
    (machine.root / "pip-hangs").unlink()
    first.communicate(timeout=DEADLINE)
    second.communicate(timeout=DEADLINE)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "waiting for it" in waiting
    assert len(machine.log("pip.log")) == 2


def test_a_python_that_does_not_work_or_is_old_is_passed_over(machine: Machine) -> None:
    machine.program("python3", OLD_PYTHON)
    machine.program("python3.12", PYTHON)
    assert "making .venv" in machine.set_up()


def test_without_a_python_it_says_what_to_do(machine: Machine) -> None:
    machine.program("python3", OLD_PYTHON)
    assert "no Python 3.11 or newer among python3 python3.14" in machine.set_up(code=1)


def test_missing_tmux_is_installed_after_a_refresh_of_the_lists(machine: Machine) -> None:
    machine.program("apt-get", APT_GET)
    (machine.bin / "tmux").unlink()
    assert "installing tmux with apt-get" in machine.set_up()
    assert machine.log("apt.log") == ["tmux", "update", "tmux"]


def test_missing_venv_is_installed(machine: Machine) -> None:
    machine.program("apt-get", APT_GET)
    (machine.root / "no-venv").touch()
    assert "installing python3.11-venv with apt-get" in machine.set_up()


def test_without_a_package_manager_it_says_what_is_missing(machine: Machine) -> None:
    (machine.bin / "tmux").unlink()
    assert "tmux is missing: install it" in machine.set_up(code=1)
