"""The host kind, by the suite that the Agent Orchestrator publishes: `pip install .`, then `pytest`."""

from __future__ import annotations

from pathlib import Path

from private_root import PrivateRoot

from orchestrator.extensions import load_all
from orchestrator.testing.contracts.hosts import HostKindContract


def test_it_is_found() -> None:
    assert ("hosts", "private", "") in {(each.door, each.name, each.fault) for each in load_all()}


def test_folder_that_is_missing_is_named() -> None:
    assert "/nowhere" in PrivateRoot().lacks("/nowhere")


class TestPrivate(HostKindContract):
    kind = "private"

    def name(self, folder: Path) -> str:
        return str(folder)

    def test_it_cannot_write_elsewhere(self) -> None:
        with self.bench() as bench:
            other = bench.root / "other"
            other.mkdir()
            folder = bench.run("r1", f"echo x >{other}/file; echo $? >code; exit 0")
            bench.until_gone(folder)
            assert (bench.tree / "code").read_text() != "0\n"
            assert not (other / "file").exists()
