"""How agents' programs are started as jobs of Slurm, what is read of what Slurm says, and which settings are taken."""

from __future__ import annotations

import os
import signal
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator.formats.settings import load_settings
from orchestrator.hosts.engine_host import CurrentSection
from orchestrator.hosts.slurm import host as slurm_host
from orchestrator.hosts.slurm.command import arguments, ended_as, job_name, reason_of, state_of
from orchestrator.hosts.slurm.host import SlurmHost, SlurmKind, client_variables
from orchestrator.model.errors import BadFile, Refused, Unavailable
from orchestrator.model.run import Exit
from orchestrator.model.slurm_settings import SlurmSettings
from orchestrator.ports.host import LaunchSpec, Observation, Standing

FOLDER = Path("/state/tasks/t1-0123abcd/runs/r1")
SPEC = LaunchSpec("r1", FOLDER, ("claude", "-p", "an 'order'"), Path("/state/trees/dev"), "s", "w")


def words(partition: str = "long", **options: Any) -> tuple[str, ...]:
    return arguments(partition, SPEC, SlurmSettings(**options))


# The command line ---------------------------------------------------------------------------------


def test_program_and_its_arguments_stand_last_as_they_are() -> None:
    assert words()[-3:] == SPEC.argv


def test_job_is_found_again_by_its_run() -> None:
    said = words()
    assert said[said.index("--job-name") + 1] == job_name("r1", FOLDER)
    assert f"--comment={FOLDER}" in said
    assert job_name("r1", FOLDER) != job_name("r1", Path("/other/runs/r1"))


def test_job_asks_for_what_the_settings_say() -> None:
    said = words(time="4:00:00", memory="8G", cores=4, options=("--qos", "low"))
    wanted = ("--partition=long", "--time=4:00:00", "--mem=8G", "--cpus-per-task=4", "--qos", "low")
    assert set(wanted) < set(said)


@pytest.mark.parametrize("name", ["", "default"])
def test_default_partition_is_the_clusters(name) -> None:
    said = words(name, memory="")
    assert not [word for word in said if word.startswith(("--partition", "--time", "--mem"))]


@pytest.mark.parametrize("name", ["-x", "a b", "a;b", "x" * 200])
def test_what_is_no_partition_is_refused(name) -> None:
    with pytest.raises(Refused, match="no partition"):
        SlurmKind({}).host(name, cast("Any", None))


def test_job_of_the_daemon_itself_is_no_part_of_ours() -> None:
    """In the variables of a job `srun` would start a step of that job."""
    environ = {"SLURM_JOB_ID": "7", "SLURM_CONF": "/etc/slurm.conf", "PATH": "/bin"}
    assert client_variables(environ) == {"SLURM_CONF": "/etc/slurm.conf", "PATH": "/bin"}


# What Slurm says ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [("Resources\n", "Resources"), ("(Priority)\n", "Priority"), ("", "Submitted"), ("a\x1bb", "a?b")],
)
def test_reason_of_a_pending_job(said, reason) -> None:
    assert reason_of(said) == reason


def test_an_old_reason_of_a_silent_slurm_is_said_to_be_old() -> None:
    said = reason_of("PartitionDown\n", 1_764_254_100.0)
    assert said.startswith("Slurm does not answer since Thu 27 Nov 2025 ")
    assert said.endswith("; PartitionDown before that")


def test_state_of_a_job() -> None:
    assert (state_of(""), state_of("RUNNING\n"), state_of("FAILED\nTIMEOUT\n")) == ("", "RUNNING", "TIMEOUT")


@pytest.mark.parametrize(
    ("state", "said", "lost"),
    [
        ("TIMEOUT", "ended: its job was ended by Slurm at its time limit", False),
        ("OUT_OF_MEMORY", "ended: its job used more memory than it may, and was ended by Slurm", False),
        ("PREEMPTED", "ended: its job was preempted by another one in Slurm", True),
        ("NODE_FAIL", "ended: the node on which its job ran failed", True),
        ("CANCELLED", "ended: its job was cancelled in Slurm", False),
        ("FAILED", "exited 3", False),
        ("", "exited 3", False),
    ],
)
def test_outcome_is_said_as_the_cause(state, said, lost) -> None:
    """What is no fault of the agent's counts as lost, and is repeated as such."""
    how = ended_as(Exit(code=3), state)
    assert (str(how), how.lost) == (said, lost)
    assert how.out_of_memory == (state == "OUT_OF_MEMORY")


def test_program_that_ended_well_was_not_ended_by_slurm() -> None:
    assert ended_as(Exit(code=0), "TIMEOUT") == Exit(code=0)


# The host -----------------------------------------------------------------------------------------


class Local:
    """This machine, on which a run stands as the test says."""

    def __init__(self, seen: Observation) -> None:
        self.seen = seen
        self.ended: list[bool] = []

    def observe(self, folder: Path) -> Observation:
        return self.seen

    def end(self, folder: Path, *, kill: bool) -> None:
        self.ended.append(kill)


ALIVE = Observation(Standing.ALIVE, 7, "%1", start="s")
GONE = Observation(Standing.GONE, 7, exit=Exit(signal=signal.SIGKILL))


def cluster(folder: Path, squeue: str, scancel: str = "exit 0") -> dict[str, str]:
    """Lay down programs that stand in for Slurm's, and return the variables by which they are found."""
    for name, script in (("squeue", squeue), ("scancel", scancel), ("srun", "exit 0")):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    settings = folder / "config.toml"
    settings.touch(0o600)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "ORCHESTRATOR_CONFIG": str(settings)}


def host(local: Local, environ: dict[str, str]) -> SlurmHost:
    return SlurmHost(cast("Any", local), "", environ, CurrentSection("slurm", environ))


def test_pending_run_has_a_reason_and_no_pid(tmp_path) -> None:
    it = host(Local(ALIVE), {})
    assert it.observe(tmp_path).queued == "Submitted"
    (tmp_path / "queue").write_text("Priority\n")
    assert it.observe(tmp_path) == Observation(Standing.ALIVE, None, "%1", queued="Priority")
    (tmp_path / "placed").write_text("12 n1 boot\n")
    assert it.observe(tmp_path) == ALIVE


def test_script_notes_since_when_slurm_is_silent(tmp_path) -> None:
    """The controller says once why the job is pending, and is never heard again."""
    environ = cluster(
        tmp_path, f'[ ! -e "{tmp_path}/dead" ] || exit 1; : >"{tmp_path}/dead"; echo PartitionDown'
    )
    srun = tmp_path / "srun"
    srun.write_text(f'#!/bin/sh\nuntil [ -e "{tmp_path}/silent" ]; do sleep 0.02; done\n')
    srun.chmod(0o700)
    script = tmp_path / "slurm.sh"
    script.write_text((files("orchestrator.hosts.slurm") / "slurm.sh").read_text())
    subprocess.run(
        ["sh", script, "job-1", "0.02", "0.02", "true"],
        env=environ,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=True,
    )
    (tmp_path / "placed").unlink()
    assert host(Local(ALIVE), {}).observe(tmp_path).queued.endswith("; PartitionDown before that")
    (tmp_path / "silent").unlink()
    assert host(Local(ALIVE), {}).observe(tmp_path).queued == "PartitionDown"


def test_run_whose_job_may_live_is_not_gone(tmp_path) -> None:
    it = host(Local(GONE), {})
    (tmp_path / "job").touch()
    (tmp_path / "placed").write_text("12 n1 boot\n")
    seen = it.observe(tmp_path)
    assert seen.standing is Standing.LEFT
    assert str(seen.left[0]).endswith("(12 on n1)")


def test_job_that_is_not_listed_is_no_evidence(tmp_path) -> None:
    """It began on another machine, and the controller may have forgotten it."""
    it = host(Local(GONE), cluster(tmp_path, "exit 0"))
    (tmp_path / "job").touch()
    (tmp_path / "placed").write_text("12 n9 another-boot\n")
    with pytest.raises(Unavailable, match="proves nothing: end what it runs on n9"):
        it.end(tmp_path, kill=False)
    assert it.observe(tmp_path).standing is Standing.LEFT
    (tmp_path / "over").write_text("0\n")
    it.end(tmp_path, kill=False)
    assert it.observe(tmp_path).standing is Standing.GONE


def test_forgotten_job_of_this_machine_is_known_by_its_marks(tmp_path) -> None:
    it = host(Local(GONE), cluster(tmp_path, "exit 0"))
    (tmp_path / "job").touch()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    (tmp_path / "placed").write_text(f"12 n1 {boot}")
    it.end(tmp_path, kill=False)
    assert it.observe(tmp_path) == GONE


def test_job_that_did_not_begin_never_does(tmp_path) -> None:
    """Whoever gives it up takes its place, whatever Slurm still does with it."""
    it = host(Local(GONE), cluster(tmp_path, "exit 0"))
    (tmp_path / "job").touch()
    it.end(tmp_path, kill=False)
    assert (tmp_path / "placed").read_text() == "given up\n"
    assert it.observe(tmp_path).pid is None


def test_job_that_does_not_end_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(slurm_host, "LOOK", 0)
    it = host(Local(GONE), cluster(tmp_path, "echo COMPLETING"))
    (tmp_path / "job").touch()
    (tmp_path / "placed").write_text("12 n1 boot\n")
    with pytest.raises(Unavailable, match="COMPLETING"):
        it.end(tmp_path, kill=False)
    assert (tmp_path / "job").exists()


def test_cancelled_job_says_so(tmp_path) -> None:
    it = host(Local(GONE), cluster(tmp_path, "echo CANCELLED"))
    (tmp_path / "job").touch()
    (tmp_path / "placed").write_text("12 n9 boot\n")
    it.end(tmp_path, kill=False)
    assert it.observe(tmp_path).exit == Exit(signal=signal.SIGKILL, cause="its job was cancelled in Slurm")


def test_cluster_that_does_not_answer_leaves_the_job(tmp_path) -> None:
    it = host(Local(GONE), cluster(tmp_path, "echo 'slurm_load_jobs error: cannot connect' >&2; exit 1"))
    (tmp_path / "job").touch()
    with pytest.raises(Unavailable, match="cannot connect"):
        it.end(tmp_path, kill=False)
    assert (tmp_path / "job").exists()


def running(folder: Path) -> Path:
    """Lay down what a run has whose job began."""
    (folder / "job").touch()
    (folder / "placed").write_text("12 n9 another-boot\n")
    return folder


def test_term_goes_to_the_program_of_the_job_once(tmp_path) -> None:
    """`srun` would end its job at once if it heard TERM; so nothing here gets it, and the program gets it once."""
    local = Local(ALIVE)
    it = host(local, cluster(tmp_path, "echo CANCELLED", f'echo "$@" >>{tmp_path}/called'))
    for _ in range(2):
        it.end(running(tmp_path), kill=False)
    assert local.ended == []
    (said,) = (tmp_path / "called").read_text().splitlines()
    assert said.split()[-2:] == ["--signal=TERM", "12"]
    it.end(tmp_path, kill=True)
    assert local.ended == [True]


@pytest.mark.parametrize("case", ["refused", "pending", "over", "nobody waits"])
def test_term_goes_here_where_slurm_does_not_send_it(tmp_path, case) -> None:
    """Slurm refuses, or there is no program of the job, or none that anybody waits for."""
    local = Local(Observation(Standing.LEFT, 7, exit=Exit(signal=9)) if case == "nobody waits" else ALIVE)
    it = host(local, cluster(tmp_path, "exit 0", "exit 1" if case == "refused" else "exit 0"))
    running(tmp_path)
    if case == "pending":
        (tmp_path / "placed").unlink()
    if case == "over":
        (tmp_path / "over").write_text("0\n")
    it.end(tmp_path, kill=False)
    assert local.ended == [False]


# What is missing ----------------------------------------------------------------------------------


def test_missing_programs_are_named() -> None:
    assert SlurmKind({"PATH": "/nowhere"}).lacks("").startswith("srun is not installed")


@pytest.mark.parametrize(
    ("srun", "said"),
    [
        ('case $1 in --test-only) echo "srun: error: invalid partition" >&2; exit 1 ;; esac', "invalid part"),
        ("case $1 in --immediate*) exit 78 ;; esac", "must be on a file system that they share"),
        ("case $1 in --immediate*) exit 1 ;; esac", ""),
        ("exit 0", ""),
    ],
)
def test_what_keeps_jobs_from_running_is_said(tmp_path, srun, said) -> None:
    """That no place is free just now does not."""
    environ = cluster(tmp_path, "exit 0")
    (tmp_path / "srun").write_text(f"#!/bin/sh\n{srun}\n")
    lacks = SlurmKind(environ | {"HOME": str(tmp_path)}).lacks("long")
    assert said in lacks if said else lacks == ""


def test_state_folder_that_is_not_made_yet_is_no_fault(tmp_path) -> None:
    """Before the first task there is none: the nodes must see the folder in which it will be made."""
    environ = cluster(tmp_path, "exit 0")
    runs_here = 'case $1 in --test-only) exit ;; esac\nwhile [ "$1" != sh ]; do shift; done\nexec "$@"'
    (tmp_path / "srun").write_text(f"#!/bin/sh\n{runs_here}\n")
    assert SlurmKind(environ | {"ORCHESTRATOR_HOME": str(tmp_path / "not" / "yet")}).lacks("long") == ""


# Settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    ['time = "soon"', "time = 90", 'memory = "much"', "cores = 0", 'options = "--x"', 'options = [""]'],
)
def test_setting_with_a_fault_is_refused(tmp_path, line) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f"[slurm]\n{line}\n")
    path.chmod(0o600)
    with pytest.raises(BadFile, match=r"slurm\."):
        load_settings(path, {})


def test_settings_are_taken(tmp_path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[slurm]\ntime = "1-12:00:00"\nmemory = "512M"\ncores = 8\noptions = ["--qos", "low"]\n')
    path.chmod(0o600)
    taken = load_settings(path, {}).slurm
    assert taken == SlurmSettings("1-12:00:00", "512M", 8, ("--qos", "low"))


def test_srun_that_outlasts_its_job_is_ended(tmp_path) -> None:
    """Where the controller was killed and forgot the job, srun may wait for ever; the job's own word counts then."""
    programs, run = tmp_path / "bin", tmp_path / "run"
    for folder in (programs, run):
        folder.mkdir()
    script = files("orchestrator.hosts.slurm").joinpath("slurm.sh").read_text()
    (run / "slurm.sh").write_text(script.replace("sleep 5", "sleep 0.1"))
    for name, text in {
        "srun": f"touch {run}/placed\necho 4 >{run}/over\nwhile :; do sleep 0.1; done\n",
        "squeue": "",
        "scancel": "",
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}")
        (programs / name).chmod(0o755)
    done = subprocess.run(
        ["sh", str(run / "slurm.sh"), "name", "0.1", "1"],
        env={"PATH": f"{programs}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    assert done.returncode == 4
    assert not (run / "job").exists()
