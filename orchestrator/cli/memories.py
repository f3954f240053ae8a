"""Carries out `task memory`."""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from orchestrator import layout, own_files
from orchestrator.cli.data_folder import data_folder, data_folders
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import ago, columns, harmless, stamp, wrapped
from orchestrator.formats.coordination.memory import masked
from orchestrator.formats.text import neutral_json
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.coordination import iso, moment
from orchestrator.model.memory import Memory, MemoryKind
from orchestrator.records.handoff_facts import memory_uses
from orchestrator.records.memory_folder import MemoryFolder, RefusedMemory
from orchestrator.records.memory_index import MemoryIndex
from orchestrator.records.memory_offers import index_file
from orchestrator.records.memory_ranking import Match, Wanted, ranked, score

_SHOWN: Final = 240
"""Characters of a memory that a search shows; `show` shows all."""

_HANDOFFS: Final = "handoffs"


def run(options: Namespace) -> int:
    """Carry out the given action; return 0."""
    _refuse_strays(options)
    actions = {
        "search": _search,
        "show": _show,
        "add": _add,
        "forget": _forget,
        "mark": _mark,
        "export": _export,
    }
    actions[options.action](options)
    return Exit.DONE


# Looking ------------------------------------------------------------------------------------------


def _search(options: Namespace) -> None:
    now, limit = time.time(), _whole(options.limit)
    found, refused = _found(options, " ".join(options.words), now)
    shown = found[:limit]
    if options.json:
        _print(
            {
                "memories": [_shape(each, now) for each in shown],
                "found": len(found),
                "refused": _refusals(refused),
            }
        )
        return
    for match in shown:
        _print_match(match, now, several=options.all_projects)
    if not found:
        print("no memory was found" if options.words else "there are no memories")
    elif len(found) > len(shown):
        print(f"{len(found) - len(shown)} more: --limit {len(found)} shows all")
    _print_refused(refused)


def _found(options: Namespace, text: str, now: float) -> tuple[list[Match], list[RefusedMemory]]:
    wanted = Wanted(
        MemoryKind(options.type) if options.type else None,
        tuple(options.tag),
        _fraction(options.importance, 0.0),
    )
    matches, refused = list[Match](), list[RefusedMemory]()
    for data in data_folders(options, (layout.MEMORIES,)):
        folder = MemoryFolder(DiskFiles(), data)
        with MemoryIndex(folder, _index_file(data)) as index:
            matches += [Match(each.memory, each.relevance, str(data)) for each in index.search(text, wanted)]
            refused += index.refused
    return ranked(matches, now), refused


def _index_file(data: Path) -> Path | None:
    """Return where the index of a folder lies; None if it cannot be kept."""
    state = layout.state_folder(os.environ)
    try:
        own_files.make_state_folder(state)
    except OSError:
        return None
    return index_file(state, data)


def _show(options: Namespace) -> None:
    identifier, now = _one(options, "ID"), time.time()
    data = data_folder(options.project, (layout.MEMORIES,))
    memory, forgotten = MemoryFolder(DiskFiles(), data).read(identifier)
    memory = masked(memory)
    created, referenced = memory_uses(DiskFiles(), data / _HANDOFFS, identifier)
    if options.json:
        document = _plain(memory) | {
            "forgotten": forgotten,
            "created_by": created,
            "referenced_by": referenced,
        }
        _print({"memory": document})
        return
    print(_heading(memory, now))
    print("\n".join(wrapped(memory.content, columns(), "  ")))
    if forgotten:
        print(f"  forgotten: `task memory forget {identifier} --undo` brings it back")
    for what, handoffs in (("written for", created), ("consulted for", referenced)):
        if handoffs:
            print("\n".join(wrapped(f"{what} {', '.join(handoffs)}", columns(), "  ")))


def _export(options: Namespace) -> None:
    if options.words:
        raise CommandError(
            Exit.USAGE, "`task memory export` takes no word: choose by --type, --tag, --importance"
        )
    now = time.time()
    found, refused = _found(options, "", now)
    if options.json:
        _print({"memories": [_shape(each, now) for each in found], "refused": _refusals(refused)})
        return
    print("# Memories")
    for kind in MemoryKind:
        of_kind = [each for each in found if each.memory.kind is kind]
        if of_kind:
            print(f"\n## {kind.capitalize()}\n")
        for match in of_kind:
            memory, first = match.memory, True
            for line in memory.content.splitlines():
                print(f"{'- ' if first else '  '}{harmless(line)}")
                first = False
            said = (
                f"importance {memory.importance:g}",
                ", ".join(memory.tags),
                memory.created,
                _misled(memory),
            )
            where = match.project if options.all_projects else ""
            print(f"  ({harmless('; '.join(filter(None, (memory.id, *said, where))))})")
    _print_refused(refused)


# Changing -----------------------------------------------------------------------------------------


def _add(options: Namespace) -> None:
    content, now = _one(options, "CONTENT"), time.time()
    memory = Memory(
        "",
        content,
        MemoryKind(options.type or MemoryKind.SEMANTIC),
        _fraction(options.importance, 0.5),
        tuple(options.tag),
        iso(now),
    )
    folder = MemoryFolder(DiskFiles(), data_folder(options.project, (layout.MEMORIES,)))
    written, hidden = folder.add(memory, lambda: f"mem_{int(now)}_{secrets.token_hex(4)}")
    path = folder.path / f"{written.id}.json"
    if options.json:
        _print({"id": written.id, "path": str(path), "masked": hidden})
        return
    print(written.id)
    if hidden:
        print("task: what looked like a secret, or could not be seen, was masked", file=sys.stderr)


def _forget(options: Namespace) -> None:
    identifier = _one(options, "ID")
    folder = MemoryFolder(DiskFiles(), data_folder(options.project, (layout.MEMORIES,)))
    path = folder.recall(identifier) if options.undo else folder.forget(identifier)
    if options.json:
        _print({"id": identifier, "path": str(path), "forgotten": not options.undo})
    elif options.undo:
        print(f"{identifier} is back: {harmless(path)}")
    else:
        print(f"{identifier} is forgotten; it lies in {harmless(path)}")
        print(f"to undo this: `task memory forget {identifier} --undo`")


def _mark(options: Namespace) -> None:
    if len(options.words) != 2 or options.words[1] not in {"misled", "sound"}:  # noqa: PLR2004 (ID and verdict)
        raise CommandError(Exit.USAGE, "write `task memory mark ID misled`, or `sound` to take that back")
    identifier, verdict = options.words
    folder = MemoryFolder(DiskFiles(), data_folder(options.project, (layout.MEMORIES,)))
    memory = folder.mark(identifier, time.time() if verdict == "misled" else None)
    if options.json:
        _print({"id": identifier, "misled": memory.misled})
    elif memory.misled:
        print(f"{identifier} is marked as misleading: searches show it after its like")
    else:
        print(f"{identifier} is not marked any more")


# Words --------------------------------------------------------------------------------------------


def _one(options: Namespace, what: str) -> str:
    if len(options.words) != 1:
        raise CommandError(
            Exit.USAGE, f"`task memory {options.action}` takes one {what}; quote it if it has spaces"
        )
    return str(options.words[0])


_BELONGS: Final = {
    "undo": ("forget",),
    "all_projects": ("search", "export"),
    "type": ("search", "export", "add"),
    "importance": ("search", "export", "add"),
    "tag": ("search", "export", "add"),
}
"""To which actions an option belongs."""


def _refuse_strays(options: Namespace) -> None:
    for option, actions in _BELONGS.items():
        if getattr(options, option) and options.action not in actions:
            raise CommandError(
                Exit.USAGE,
                f"--{option.replace('_', '-')} only belongs to `task memory {' or '.join(actions)}`",
            )


def _fraction(text: str | None, usual: float) -> float:
    try:
        value = usual if text is None else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CommandError(Exit.USAGE, f"--importance is {text!a}: give a number from 0 to 1, such as 0.8")
    return value


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:7]) > 0 and len(text) <= 6):  # noqa: PLR2004
        raise CommandError(Exit.USAGE, f"--limit is {text[:20]!a}: give a number from 1 on")
    return int(text)


# Showing ------------------------------------------------------------------------------------------


def _print_match(match: Match, now: float, *, several: bool) -> None:
    print(_heading(match.memory, now))
    if several:
        print(f"  {harmless(match.project)}")
    content = match.memory.content
    short = content if len(content) <= _SHOWN else f"{content[: _SHOWN - 1]}…"
    print("\n".join(wrapped(short, columns(), "  ")))


def _heading(memory: Memory, now: float) -> str:
    parts = [
        memory.id,
        memory.kind,
        f"{memory.importance:g}",
        ago(moment(memory.created), now),
        ", ".join(memory.tags),
        _misled(memory),
    ]
    return harmless("  ".join(filter(None, parts)))


def _misled(memory: Memory) -> str:
    return "MISLED" if memory.misled else ""


def _print_refused(refused: Sequence[RefusedMemory]) -> None:
    for each in refused:
        print(f"task: {harmless(each.path)} is left out: {harmless(each.reason)}", file=sys.stderr)


def _plain(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "content": memory.content,
        "type": memory.kind.value,
        "importance": memory.importance,
        "tags": list(memory.tags),
        "created": stamp(moment(memory.created)),
        "misled": stamp(moment(memory.misled or "")),
    }


def _shape(match: Match, now: float) -> dict[str, Any]:
    return _plain(match.memory) | {
        "project": str(Path(match.project).parent),
        "relevance": round(match.relevance, 4),
        "score": round(score(match, now), 4),
    }


def _refusals(refused: Sequence[RefusedMemory]) -> list[dict[str, str]]:
    return [{"path": str(each.path), "reason": each.reason} for each in refused]


def _print(document: dict[str, Any]) -> None:
    print(neutral_json(json.dumps(document)))
