"""How a worktree is made ready before anybody works in it: a script of the run's own, from `prepare:` of task.md.

It runs once for each content of what it depends on: its words, the files that it copies, and its inputs. The stamp that
says so lies in the worktree, beside what the commands have made, so that whatever cleans the tree removes both.
"""

from __future__ import annotations

import shlex
from hashlib import sha256
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator.formats.text import one_line
from orchestrator.hosts.launcher import quoted
from orchestrator.runtimes import Launching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.model.task import Config

SCRIPT: Final = "prepare.sh"

_BODY: Final = package_files("orchestrator.runtimes").joinpath("laid", SCRIPT).read_bytes()


def preparing(
    config: Config, copied: Mapping[str, bytes], folder: Path, caches: Sequence[Path] | None = None
) -> Launching:
    """Return how a worktree is made ready: the script in the run's folder, and the files that it moves from there.

    Args:
        config: what task.md asks for.
        copied: the content of each file to be copied, by its path.
        folder: the run's folder, as the run sees it.
        caches: on a box, the folders of caches, which the run makes; it also asks git there what is ignored.

    """
    names = {path: f"copied-{number}" for number, path in enumerate(copied, 1)}
    lines = [
        _line("of", _word(config, copied)),
        *(_line("input", path) for path in config.prepare_inputs),
        *(_line("cache", str(path)) for path in caches or ()),
        *(_line("ignored", path) for path in copied if caches is not None),
        b"unless_done",
        *(_line("copy", name, path) for path, name in names.items()),
        *(_line("run", one_line(shlex.join(command)), *command) for command in config.prepare),
        b"done_with",
    ]
    laid = {name: copied[path] for path, name in names.items()}
    return Launching(("sh", str(folder / SCRIPT)), files=laid | {SCRIPT: _BODY + b"\n".join(lines) + b"\n"})


def _word(config: Config, copied: Mapping[str, bytes]) -> str:
    """Return a word for what is to be done: the same for the same commands, files and variables."""
    parts = [
        repr((config.prepare, config.prepare_inputs, config.prepare_caches, config.prepare_ports)).encode(),
        *(part for path, content in copied.items() for part in (path.encode(), content)),
    ]
    digest = sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _line(*words: str) -> bytes:
    return b" ".join([words[0].encode(), *map(quoted, words[1:])])
