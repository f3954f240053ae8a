"""What a hook of an agent program prints: written to where its relay looks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator import layout

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.ports.files import Files


def put_reply(files: Files, home: Path, run: str, name: str, text: str, *, far: bool = False) -> None:
    """Write what an event's hook prints to where its relay looks; the relay stops looking when the run is gone.

    A run on a box (`far`) survives a power cut here and goes on waiting, so its answer must survive that as well.
    """
    folder = layout.run_answers(layout.run_home(home, run))
    files.make_folder(folder)
    files.write(folder / name, text.encode("utf-8", "replace"), durable=far)
