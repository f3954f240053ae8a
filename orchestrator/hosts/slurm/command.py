"""The command line by which a run's program is started as a job of Slurm, and what Slurm says of a job. Pure."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.formats.timestamps import moment_said
from orchestrator.model.run import Exit

if TYPE_CHECKING:
    from orchestrator.model.slurm_settings import SlurmSettings
    from orchestrator.ports.host import LaunchSpec

SCRIPT: Final = "slurm.sh"
"""The script in the run's folder that submits the job and waits for it; it names the files beside it."""

MARKER: Final = "job"
QUEUE: Final = "queue"
SILENT: Final = "silent"
PLACED: Final = "placed"
OVER: Final = "over"
OUTCOME: Final = "outcome"

FIRST_LOOK: Final = 1
LONGEST_LOOK: Final = 30
"""Seconds until Slurm is asked why a job is pending, and between two such questions: each is a call of `squeue`."""

SUBMITTED: Final = "Submitted"
"""What is said of a job of which Slurm has not said yet why it is pending."""

DEFAULT: Final = "default"
"""What names the cluster's default partition, as an empty name does."""

ENDED: Final = frozenset(
    (
        *(
            "BOOT_FAIL",
            "CANCELLED",
            "COMPLETED",
            "DEADLINE",
            "FAILED",
            "NODE_FAIL",
            "OUT_OF_MEMORY",
            "PREEMPTED",
        ),
        *("REVOKED", "TIMEOUT"),
    )
)
"""The states in which a job has ended, by squeue(1). That a job is not listed is no such evidence."""

_CAUSES: Final = {
    "TIMEOUT": "its job was ended by Slurm at its time limit",
    "DEADLINE": "its job was ended by Slurm at its deadline",
    "OUT_OF_MEMORY": "its job used more memory than it may, and was ended by Slurm",
    "PREEMPTED": "its job was preempted by another one in Slurm",
    "NODE_FAIL": "the node on which its job ran failed",
    "BOOT_FAIL": "the node for its job did not boot",
    "CANCELLED": "its job was cancelled in Slurm",
    "REVOKED": "its job was revoked in Slurm",
}
_NOT_ITS_FAULT: Final = frozenset({"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED"})
_NAMED: Final = 40
_WORD: Final = 60

SHIELD: Final = """\
trap : INT QUIT TERM
folder=$1
shift
read -r boot </proc/sys/kernel/random/boot_id
if ! (umask 077 && set -C && echo "$SLURM_JOB_ID $SLURMD_NODENAME $boot" >"$folder/placed") 2>/dev/null; then
    echo 'This job begins nothing: its run was given up, or began before.'
    exit 125
fi
"$@"
status=$?
(umask 077 && echo "$status" >"$folder/over")
exit "$status"
"""
"""What runs the program within the job. A job that comes late, or that Slurm starts a second time, begins nothing."""


def job_name(run: str, folder: Path) -> str:
    """Return the name of a run's job. Ids of runs may coincide, in the folders of two users."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return f"orchestrator-{run[:_NAMED]}-{digest}"


def arguments(partition: str, spec: LaunchSpec, options: SlurmSettings) -> tuple[str, ...]:
    """Return the program of a run as it starts as a job: `slurm.sh` with its arguments."""
    name, folder = job_name(spec.run, spec.folder), spec.folder
    return (
        *("sh", str(folder / SCRIPT), name, str(FIRST_LOOK), str(LONGEST_LOOK)),
        *("--job-name", name, f"--comment={folder}", f"--chdir={spec.cwd}", "--export=ALL"),
        *allocation(partition, options),
        *("sh", "-c", SHIELD, "sh", str(folder), *spec.argv),
    )


def allocation(partition: str, options: SlurmSettings) -> tuple[str, ...]:
    """Return the options by which a job gets its place: one task, in a partition, within its limits."""
    return (
        *("--nodes=1", "--ntasks=1", "--quiet"),
        *((f"--partition={partition}",) if partition not in {"", DEFAULT} else ()),
        *((f"--time={options.time}",) if options.time else ()),
        *((f"--mem={options.memory}",) if options.memory else ()),
        f"--cpus-per-task={options.cores}",
        *options.options,
    )


def state_of(listed: str) -> str:
    """Return the state that `squeue --format %T` tells of a job; empty if it lists none. The newest job comes last."""
    lines = listed.split()
    return lines[-1][:_WORD] if lines else ""


def reason_of(text: str, silent_since: float = 0.0) -> str:
    """Return why a job is pending, from what `squeue --format %r` said last: one printable line.

    `silent_since` is when Slurm ceased to answer, in seconds since the epoch; 0 if it answers.
    """
    said = text.strip().partition("\n")[0][:_WORD].strip("()")
    reason = "".join(sign if sign.isprintable() else "?" for sign in said) or SUBMITTED
    if not silent_since:
        return reason
    return f"Slurm does not answer since {moment_said(silent_since)}; {reason} before that"


def ended_as(how: Exit, state: str) -> Exit:
    """Return how a run ended, with what Slurm says of its job; its own words stay if Slurm did not end it."""
    if state not in _CAUSES or how.clean:
        return how
    cause = _CAUSES[state]
    if state in _NOT_ITS_FAULT:
        return Exit(lost=True, cause=cause)
    return replace(how, cause=cause, out_of_memory=how.out_of_memory or state == "OUT_OF_MEMORY")
