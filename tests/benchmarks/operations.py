"""Carrying out file operations: `python -m tests.benchmarks.operations`, beside plain writes of the same, synced."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.file_operations import FileOperation, FileOperations, FullContent, OperationKind
from orchestrator.workspaces.operations.plan import Policy, planned
from orchestrator.workspaces.operations.transaction import apply

COUNT: Final = 1000
TEXT: Final = "x" * 99 + "\n"
CONTENT: Final = TEXT * 100
"""10 kB."""
ROUNDS: Final = 5


def carried_out(folder: Path) -> float:
    """Return the seconds that it takes to plan and carry out so many operations, each verified."""
    root, files = folder / "tree", DiskFiles()
    root.mkdir()
    asked = FileOperations(
        tuple(
            FileOperation(OperationKind.CREATE, f"{root}/{number}.txt", "as asked", FullContent(CONTENT))
            for number in range(COUNT)
        )
    )
    began = time.perf_counter()
    apply(files, folder / "transaction", planned(asked, Policy((root,))))
    return time.perf_counter() - began


def written(folder: Path) -> float:
    """Return the seconds that it takes to write as many files plainly, each synced."""
    root = folder / "plain"
    root.mkdir()
    began = time.perf_counter()
    for number in range(COUNT):
        with (root / f"{number}.txt").open("w") as file:
            file.write(CONTENT)
            file.flush()
            os.fsync(file.fileno())
    return time.perf_counter() - began


def main() -> None:
    """Print the medians of some rounds in turn, and their ratio."""
    ours, plain = list[float](), list[float]()
    for _ in range(ROUNDS):
        folder = Path(tempfile.mkdtemp(prefix="operations-"))
        try:
            plain.append(written(folder))
            ours.append(carried_out(folder))
        finally:
            shutil.rmtree(folder)
    mine, floor = statistics.median(ours), statistics.median(plain)
    said = f"{COUNT} operations of 10 kB: {mine:.2f} s; written and synced plainly: {floor:.2f} s"
    sys.stdout.write(f"{said}; {mine / floor:.2f} x\n")


if __name__ == "__main__":
    main()
