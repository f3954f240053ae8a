from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from orchestrator.daemon.core.worker_pool import InlineExecutor
from orchestrator.daemon.process import upgrade
from orchestrator.daemon.process.upgrade import PATIENCE, Upgrade, named, version_of
from orchestrator.formats.settings_stamp import settings_stamp
from orchestrator.model.errors import Unavailable


@dataclass
class Installed:
    """A package on disk, what it says when it is tried, and a clock."""

    folder: Path
    says: str = "2"
    at: float = 1000.0
    trials: list[float] = field(default_factory=list)

    def put(self, version):
        (self.folder / "__init__.py").write_text(f'"""A package."""\n\n__version__ = "{version}"\n')

    def tried(self):
        self.trials.append(self.at)
        if not self.says:
            raise Unavailable("it does not import")
        return self.says if " " in self.says else f"{self.says} none"

    def now(self):
        raise AssertionError("the wall clock may be set")

    def monotonic(self):
        return self.at

    def sleep(self, seconds):
        raise AssertionError


@pytest.fixture
def disk(tmp_path):
    made = Installed(tmp_path)
    made.put("1")
    return made


@pytest.fixture
def watched(disk):
    return Upgrade(
        "1 none",
        partial(named, disk.folder, disk.folder / "config.toml"),
        InlineExecutor(),
        disk,
        30.0,
        disk.tried,
    )


def looked(watched, disk, times=2):
    for _ in range(times):
        disk.at += 30
        watched.look()
    return watched


def test_own_version_is_no_upgrade(watched, disk):
    looked(watched, disk, 5)
    assert not watched.due(quiet=True)
    assert disk.trials == []


def test_new_version_is_tried_when_seen_twice(watched, disk):
    """It waits for a quiet moment."""
    looked(watched, disk)
    disk.put("2")
    looked(watched, disk, 1)
    assert (disk.trials, watched.due(quiet=True)) == ([], False)
    looked(watched, disk, 1)
    assert len(disk.trials) == 1
    assert not watched.due(quiet=False)
    assert watched.due(quiet=True)
    looked(watched, disk, 3)
    assert len(disk.trials) == 1, "what was proven is not tried again"


def test_a_moment_that_is_never_quiet_is_not_waited_for_for_ever(watched, disk):
    disk.put("2")
    looked(watched, disk)
    disk.at += PATIENCE - 1
    assert not watched.due(quiet=False)
    disk.at += 1
    assert watched.due(quiet=False)


@pytest.mark.parametrize("says", ["", "3"], ids=["does not import", "is not what would be started"])
def test_unusable_version_is_retried_with_growing_pauses(watched, disk, says, caplog):
    disk.put("2")
    disk.says = says
    looked(watched, disk, 300)
    assert not watched.due(quiet=True)
    pauses = [after - before for before, after in zip(disk.trials, disk.trials[1:], strict=False)]
    assert pauses[:4] == [60, 120, 240, 480]
    assert max(pauses) == upgrade.LONGEST_PAUSE
    assert len(caplog.records) == len(disk.trials)
    assert "version 2 with no settings file" in caplog.text

    disk.put("4")
    disk.says = "4"
    looked(watched, disk)
    assert watched.due(quiet=True)


class Busy:
    """Hands that have not come to what they were given yet."""

    def __init__(self):
        self.waiting = []

    def do(self, _, work):
        self.waiting.append(work)

    def close(self):
        raise AssertionError


def test_one_trial_runs_at_a_time_however_long_it_takes(disk):
    """On a busy machine a trial takes longer than the first pauses: more than one would only queue."""
    executor = Busy()
    watched = Upgrade("1", partial(version_of, disk.folder), executor, disk, 30.0, disk.tried)
    disk.put("2")
    looked(watched, disk, 100)
    assert len(executor.waiting) == 1
    disk.says = ""
    executor.waiting.pop()()
    looked(watched, disk, 1)
    assert len(executor.waiting) == 1


def test_version_changed_after_its_trial_does_not_take_over(watched, disk):
    disk.put("2")
    looked(watched, disk)
    assert watched.due(quiet=True)
    disk.put("3")
    assert not watched.due(quiet=True)
    (disk.folder / "__init__.py").unlink()
    looked(watched, disk, 3)
    assert not watched.due(quiet=True)
    disk.put("1")
    looked(watched, disk, 3)
    assert not watched.due(quiet=True)
    assert len(disk.trials) == 1


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (b'__version__ = "0.2.0"\n', "0.2.0"),
        (b'"""Words."""\n\n__version__ = "1.0rc1"\nmore = 1\n', "1.0rc1"),
        (b"", ""),
        (b'__version__ = "0.2', ""),
        (b"\xff\xfe", ""),
    ],
)
def test_the_version_is_read_and_not_run(tmp_path, text, version):
    (tmp_path / "__init__.py").write_bytes(text)
    assert version_of(tmp_path) == version


def test_settings_that_changed_are_taken_over_like_a_version(disk, tmp_path):
    """What names the program on disk names its settings too: an edit of the file is another one."""
    config = tmp_path / "config.toml"
    watched = Upgrade("1 none", partial(named, disk.folder, config), InlineExecutor(), disk, 30.0, disk.tried)
    looked(watched, disk)
    assert disk.trials == []
    config.write_text("[limits]\ncheck_in_interval = '5 m'\n")
    disk.says = f"1 {settings_stamp(config)}"
    looked(watched, disk)
    assert watched.due(quiet=True)


def test_settings_that_do_not_read_are_said_and_not_taken_over(disk, tmp_path):
    config = tmp_path / "config.toml"
    watched = Upgrade("1 none", partial(named, disk.folder, config), InlineExecutor(), disk, 30.0, disk.tried)
    config.write_text("[limits\n")
    disk.says = ""
    looked(watched, disk)
    assert not watched.due(quiet=True)
    assert "does not import" in watched.fault
    config.unlink()
    looked(watched, disk, 1)
    assert watched.fault == ""


def test_a_package_that_is_not_there_has_no_version(tmp_path):
    assert version_of(tmp_path / "gone") == ""


def test_trial_starts_the_program_without_side_effects(tmp_path, monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert upgrade.trial() == "0.1.0 none"
    assert not (tmp_path / "state").exists()
    monkeypatch.setenv("ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL", "never")
    with pytest.raises(Unavailable, match=r"exit 1: .*limits.check_in_interval is 'never'"):
        upgrade.trial()
    monkeypatch.setattr(upgrade, "COMMAND", (str(tmp_path / "python"),))
    with pytest.raises(Unavailable, match="No such file"):
        upgrade.trial()
    monkeypatch.setattr(upgrade, "COMMAND", ("sh", "-c", "exec sleep 60"))
    monkeypatch.setattr(upgrade, "TRIAL", 0.05)
    with pytest.raises(Unavailable, match="timed out"):
        upgrade.trial()
