"""Which memories of a project an order offers to its agent (C5)."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from orchestrator import layout
from orchestrator.formats.text import names
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.errors import OrchestratorError
from orchestrator.records.memory_folder import MemoryFolder
from orchestrator.records.memory_index import MemoryIndex
from orchestrator.records.memory_ranking import Wanted, ranked

if TYPE_CHECKING:
    from orchestrator.model.memory import Memory

log = logging.getLogger(__name__)

_SHORTEST: Final = 4
"""Letters of a word that is searched for. Shorter ones are in every text, or begin any word."""

_WORD: Final = re.compile(r"\w+")
_COMMON: Final = names(
    "about also among been before being between both could does done each else ever every file files from further have "
    "having here into just like make many more most must need needs only other over same shall should some such task "
    "than that their them then there these they this those through under until very want well were what when where "
    "whether which while will with without work would your"
)
"""Words that say nothing of what a text is about."""


def offered_memories(state: str, data: Path, text: str, now: float, most: int) -> list[Memory]:
    """Return the memories that a text has words in common with, the best first, their secrets masked.

    A folder of data that is damaged, or that no index can be made of, offers nothing: a line in the log says why.

    Args:
        state: The program's own folder, where the index is kept.
        data: The project's folder of data.
        text: What the order is about.
        now: Seconds since the epoch.
        most: How many at most.

    """
    words = telling_words(text)
    if not words or most < 1:
        return []
    return _best(state, data, " ".join(words), Wanted(), now, most)


def tagged_memories(state: str, data: Path, tag: str, now: float, most: int) -> list[Memory]:
    """Return the memories that have a tag, the best first; arguments and silence as of `offered_memories`."""
    return _best(state, data, "", Wanted(tags=(tag,)), now, most)


def _best(state: str, data: Path, text: str, wanted: Wanted, now: float, most: int) -> list[Memory]:
    folder = MemoryFolder(DiskFiles(), data)
    try:
        if not folder.path.is_dir():
            return []
        with MemoryIndex(folder, index_file(state, data)) as index:
            matches = index.search(text, wanted)
    except (OrchestratorError, OSError, sqlite3.Error) as error:
        log.warning("no memory of %s is offered: %s", folder.path, error)
        return []
    return [each.memory for each in ranked(matches, now)[:most]]


def telling_words(text: str) -> list[str]:
    """Return the words by which memories are searched for a text, in order, each once."""
    words = dict.fromkeys(_WORD.findall(text.casefold()))
    return [each for each in words if len(each) >= _SHORTEST and each not in _COMMON]


def index_file(state: str, data: Path) -> Path | None:
    """Return where the index of a folder of data lies: in the program's own folder, where no agent writes.

    Returns None if its folder cannot be made. The index is then made in memory.
    """
    name = sha256(os.fsencode(os.path.realpath(data))).hexdigest()[:32]
    path = Path(layout.memory_index(state, name))
    try:
        DiskFiles(Path(state)).make_folder(path.parent)
    except OSError:
        return None
    return path
