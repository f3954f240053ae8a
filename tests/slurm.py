"""A Slurm of its own for tests: one node that is this machine, on loopback, with folder, key and sockets of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.polling import wait_until

DAEMONS: Final = ("munged", "slurmctld", "slurmd")
PATIENCE: Final = 10
MISSING: Final = "as root, where scripts/setup --boxes could install Slurm"

_CONF: Final = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge.sock
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=100000 State=UNKNOWN
PartitionName=all Nodes=n1 Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:100
PartitionName=closed Nodes=n1 State=DOWN
"""


@dataclass
class Slurm:
    """The daemons, by name, and how to call the programs."""

    root: Path
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def variables(self) -> dict[str, str]:
        """The variables by which Slurm's programs find it."""
        return {"SLURM_CONF": str(self.root / "slurm.conf")}

    def start(self, name: str, *words: str) -> None:
        """Start a daemon in the foreground."""
        with (self.root / f"{name}.err").open("ab") as said:
            self.daemons[name] = subprocess.Popen(
                [program(name), *words],
                env=os.environ | self.variables,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def start_controller(self) -> None:
        self.start("slurmctld", "-D")

    def start_node(self) -> None:
        self.start("slurmd", "-D", "-N", "n1")

    def kill(self, name: str) -> None:
        """Kill a daemon, and wait for its end."""
        daemon = self.daemons.pop(name)
        daemon.kill()
        daemon.wait(PATIENCE)

    def call(self, *words: str) -> str:
        done = subprocess.run(
            words,
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self) -> list[str]:
        """Return the names of the jobs that have not ended."""
        return self.call("squeue", "--noheader", "--format", "%j").split()

    def is_ready(self) -> bool:
        done = subprocess.run(
            ["sinfo", "--noheader", "--partition", "all", "--format", "%T"],
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout.strip() in {"idle", "mixed"}


@contextmanager
def own_slurm(root: Path) -> Iterator[Slurm]:
    """Yield a Slurm in a folder; nothing of it is left."""
    made = Slurm(root)
    for name in ("state", "spool"):
        (root / name).mkdir()
    (root / "munge.key").write_bytes(os.urandom(1024))
    (root / "munge.key").chmod(0o400)
    root.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = one.getsockname()[1], other.getsockname()[1]
    host = socket.gethostname().partition(".")[0]
    user = os.environ.get("USER") or "root"
    text = _CONF.format(root=root, host=host, control=ports[0], node=ports[1], user=user)
    (root / "slurm.conf").write_text(text)
    try:
        files = [f"--{word}-file={root}/munge.{word}" for word in ("key", "pid", "log", "seed")]
        made.start("munged", "--foreground", "--force", f"--socket={root}/munge.sock", *files)
        wait_until((root / "munge.sock").exists)
        made.start_controller()
        made.start_node()
        wait_until(made.is_ready)
        yield made
    finally:
        with suppress(AssertionError, subprocess.TimeoutExpired):
            made.call("scancel", "--me")
        for name in list(made.daemons):
            made.kill(name)
        _kill_steps(root)
        shutil.rmtree(root, ignore_errors=True)


def _kill_steps(root: Path) -> None:
    """Kill the processes that stand by jobs of this Slurm: one whose job was forgotten stays for ever."""
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            stands_by = (path / "comm").read_text().strip() == "slurmstepd"
            if stands_by and str(root).encode() in (path / "environ").read_bytes():
                os.kill(int(path.name), signal.SIGKILL)


def program(name: str) -> str:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or ""


def slurm_is_missing() -> bool:
    return os.geteuid() != 0 or not all(map(program, (*DAEMONS, "srun", "squeue", "scancel")))
