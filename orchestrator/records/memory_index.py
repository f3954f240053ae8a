"""An index of memories with full-text search, in SQLite (FTS5). It is made from the files, and made again when lost.

What it holds is masked, so that no secret lies in it. Before each search it is brought up to what lies on disk: files
that are new or changed are read, those that are gone are dropped. If it is missing, damaged, or of another version, it
is made anew; where it cannot be written, it is made in memory.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

from orchestrator import __version__
from orchestrator.formats.coordination.memory import masked
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.model.memory import Memory, MemoryKind
from orchestrator.records.memory_folder import MemoryFolder, RefusedMemory
from orchestrator.records.memory_ranking import Match, Wanted, query_of, relevances

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from orchestrator.ports.files import Entry

IN_MEMORY: Final = ":memory:"
_TAG_WEIGHT: Final = 4.0
"""How much more a word counts in the tags than in the content."""

_PATIENCE: Final = 10.0
_SCHEMA: Final = """
CREATE TABLE about (version TEXT NOT NULL, folder TEXT NOT NULL);
CREATE TABLE files (name TEXT PRIMARY KEY, inode INTEGER, mtime INTEGER, size INTEGER, fault TEXT NOT NULL);
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT, kind TEXT, importance REAL, tags TEXT, created TEXT, misled TEXT
);
CREATE VIRTUAL TABLE words USING fts5 (id UNINDEXED, content, tags, tokenize = 'porter unicode61 remove_diacritics 2');
"""


class MemoryIndex:
    """The index of one folder of memories. Use it in a `with`; it is up to date when that begins.

    Args:
        folder: The memories.
        path: The file of the index; None keeps it in memory.

    Raises:
        Refused: this Python's SQLite has no FTS5, or the folder is none.
        OSError: the disk fails.

    """

    def __init__(self, folder: MemoryFolder, path: Path | None) -> None:
        self._folder = folder
        self._database = self._opened(path)

    def __enter__(self) -> Self:
        """Return the index."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._database.close()

    def search(self, text: str, wanted: Wanted) -> list[Match]:
        """Return the memories that match any word of a text, all where it has none; in no order."""
        ranks = self._ranks(query_of(text)) if text.strip() else None
        shares = relevances(ranks or {})
        found = (each for each in self._memories() if ranks is None or each.id in ranks)
        return [Match(each, shares.get(each.id, 1.0)) for each in found if wanted.takes(each)]

    @property
    def refused(self) -> list[RefusedMemory]:
        """The files that are no memories, with the reason of each."""
        rows = self._database.execute("SELECT name, fault FROM files WHERE fault != '' ORDER BY name")
        return [RefusedMemory(self._folder.path / name, fault) for name, fault in rows]

    # Parts --------------------------------------------------------------------------------------------

    def _ranks(self, query: str) -> dict[str, float]:
        if not query:
            return {}
        rows = self._database.execute(
            "SELECT id, bm25(words, 0.0, 1.0, ?) FROM words WHERE words MATCH ?", (_TAG_WEIGHT, query)
        )
        return dict(rows)

    def _memories(self) -> Iterator[Memory]:
        for row in self._database.execute("SELECT * FROM memories ORDER BY id"):
            identifier, content, kind, importance, tags, created, misled = row
            yield Memory(
                identifier, content, MemoryKind(kind), importance, tuple(json.loads(tags)), created, misled
            )

    def _opened(self, path: Path | None) -> sqlite3.Connection:
        """Return the database, up to date: the one on disk, a new one in its place, or one in memory."""
        if path is not None:
            for _ in range(2):
                with suppress(sqlite3.Error, ValueError):
                    return self._current(str(path))
                if path.is_symlink() or not path.is_file():
                    break
                with suppress(OSError):
                    path.unlink()
        return self._current(IN_MEMORY)

    def _current(self, where: str) -> sqlite3.Connection:
        """Return an index brought up to date. Raises sqlite3.Error or ValueError if it cannot be used."""
        database = sqlite3.connect(where, timeout=_PATIENCE, isolation_level=None)
        try:
            database.execute("BEGIN IMMEDIATE")
            _check(database)
            self._prepare(database)
            self._update(database)
            database.execute("COMMIT")
        except BaseException:
            database.close()
            raise
        return database

    def _prepare(self, database: sqlite3.Connection) -> None:
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        about = (__version__, str(self._folder.path))
        if tables:
            if database.execute("SELECT version, folder FROM about").fetchall() != [about]:
                raise ValueError("of another version or folder")
            return
        try:
            for statement in filter(None, map(str.strip, _SCHEMA.split(";"))):
                database.execute(statement)
        except sqlite3.OperationalError as error:
            if "fts5" in str(error):
                raise Refused(
                    "the SQLite of this Python has no FTS5: install a Python whose sqlite3 has it"
                ) from error
            raise
        database.execute("INSERT INTO about VALUES (?, ?)", about)

    def _update(self, database: sqlite3.Connection) -> None:
        """Read what is new or changed, and drop what is gone."""
        known = {
            name: (inode, mtime, size)
            for name, inode, mtime, size in database.execute("SELECT name, inode, mtime, size FROM files")
        }
        there = {each.name: each for each in self._folder.entries()}
        for name in known.keys() - there.keys():
            _drop(database, name)
        for name, entry in there.items():
            if known.get(name) != (entry.inode, entry.mtime_ns, entry.size):
                _drop(database, name)
                self._take(database, entry)

    def _take(self, database: sqlite3.Connection, entry: Entry) -> None:
        fault = ""
        try:
            memory = masked(self._folder.load(entry))
        except OrchestratorError as problem:
            said = str(problem).removeprefix(f"{self._folder.path / entry.name} ")
            fault = said.removeprefix(f"{entry.name}, ") or "does not read"
        else:
            database.execute(
                "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    memory.id,
                    memory.content,
                    memory.kind,
                    memory.importance,
                    json.dumps(memory.tags),
                    memory.created,
                    memory.misled,
                ),
            )
            database.execute(
                "INSERT INTO words VALUES (?, ?, ?)", (memory.id, memory.content, " ".join(memory.tags))
            )
        database.execute(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?)",
            (entry.name, entry.inode, entry.mtime_ns, entry.size, fault),
        )


def _check(database: sqlite3.Connection) -> None:
    """Raise sqlite3.Error or ValueError if a page of the database or its full-text index is damaged."""
    if database.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise ValueError("damaged")
    if database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'words'").fetchone()[0]:
        database.execute("INSERT INTO words (words) VALUES ('integrity-check')")


def _drop(database: sqlite3.Connection, name: str) -> None:
    identifier = name.removesuffix(".json")
    database.execute("DELETE FROM files WHERE name = ?", (name,))
    database.execute("DELETE FROM memories WHERE id = ?", (identifier,))
    database.execute("DELETE FROM words WHERE id = ?", (identifier,))
