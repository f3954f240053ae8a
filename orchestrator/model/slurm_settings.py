"""What the jobs of agents on a cluster ask for: the section `[slurm]` of the user's settings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """`[slurm]`: what the job of an agent asks for (`host: slurm:PARTITION` in task.md)."""

    time: str = ""
    """How long a job may last, as `srun --time` takes it, such as `4:00:00`; empty: as the partition says."""

    memory: str = "4G"
    """How much memory a job gets on its node, as `srun --mem` takes it; empty: as the cluster says."""

    cores: int = 2
    """How many processors a job gets."""

    options: tuple[str, ...] = ()
    """More options of `srun`, word by word."""
