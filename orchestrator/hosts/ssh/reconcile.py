"""Deciding what to do with files in a mirror: pure, three-sided, and never a deletion (law 11).

A name in the mirror has one of a few kinds, or must not come from a box. The kinds are in the order in which their
files
are written on a box; they are published here in that order, so that nothing is seen before what it refers to. Within a
kind the time of writing there decides: the names of two events of one second say nothing of their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from orchestrator.formats.handoff_format import suffixes

PM: Final = "pm-"
NOT_PLAIN: Final = ""
"""Stands for the digest of a local file that is no plain file, or is too large to be read."""

_EVENT: Final = re.compile(r"([a-z0-9][a-z0-9_-]{0,63})\.[0-9]{1,20}\.[0-9]{1,10}(?:\.waits)?\.json")
_LONGEST: Final = 255  # bytes of a name, on all file systems that matter
_ENDING: Final = 32  # bytes; a longer text after the last dot is no ending


class Deed(StrEnum):
    """What to do here about one name."""

    NOTHING = "nothing"
    BRING = "bring"
    KEEP_AND_BRING = "keep_and_bring"  # the local file is moved to another name first, and that is reported
    REFUSE = "refuse"  # the local file stays, and that is reported


class Kind(IntEnum):
    """The kind of a name, in the order of publishing."""

    RUN = 1  # a launcher's `claimed` and `pid`
    LOG = 2
    ARTIFACT = 3
    HANDOFF = 4
    EVENT = 5
    EXIT = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One name of the mirror, and what to do about it; `why` it is refused."""

    name: str
    kind: Kind
    deed: Deed
    why: str = ""


def kind_of(name: str, runs: Collection[str]) -> Kind | None:
    """Return the kind of a name of the mirror; None if no file of that name may come from a box.

    `runs` are the runs on this box: it may report for no other. Of a run's folder only the launcher's files may come
    from the box; order, answers and scripts are the daemon's.
    """
    match name.split("/"):
        case ["handoffs", file] if file.endswith(suffixes()) and not file.startswith("."):
            return Kind.HANDOFF
        case ["artifacts", *rest] if rest and all(part not in {"", ".", ".."} for part in rest):
            return Kind.ARTIFACT if "\0" not in name else None
        case ["scratchpad", instance, *rest] if rest and all(
            part not in {"", ".", ".."} for part in (instance, *rest)
        ):
            return Kind.ARTIFACT if "\0" not in name else None
        case ["requests", "events", file]:
            found = _EVENT.fullmatch(file)
            return Kind.EVENT if found and found[1] in runs else None
        case ["runs", run, "claimed" | "pid"] if run in runs:
            return Kind.RUN
        case ["runs", run, "pane.log"] if run in runs:
            return Kind.LOG
        case ["runs", run, "exit"] if run in runs:
            return Kind.EXIT
        case _:
            return None


def deed(base: str | None, here: str | None, there: str | None) -> Deed:
    """Return what to do about a name on which both sides work, by digests; None for a missing file.

    `base` is what was fetched last, `here` the file in the task's folder, `there` the box's file now.
    """
    if there is None or there in {base, here}:
        # Missing or unchanged there, or the same here: the local file stays, or stays away.
        return Deed.NOTHING
    if here is None or here == base:
        return Deed.BRING
    return Deed.KEEP_AND_BRING


def steps(
    there: Mapping[str, str], base: Mapping[str, str], here: Mapping[str, str], runs: Collection[str]
) -> list[Step]:
    """Return what to do about each changed name of the mirror, in the order in which to do it.

    All three map names to digests: of the mirror, in the order in which it was written there, of what was fetched last,
    of the local files (NOT_PLAIN for what cannot be read). `runs` are those on this box.
    """
    found = []
    for name in there:
        kind = kind_of(name, runs)
        if kind is not None:
            done, why = _judged(name, kind, base.get(name), here.get(name), there[name])
            found.append(Step(name, kind, done, why))
    return sorted(found, key=lambda step: step.kind)


def _judged(name: str, kind: Kind, base: str | None, here: str | None, there: str) -> tuple[Deed, str]:
    usual = deed(base, here, there)
    if usual is Deed.NOTHING:
        return usual, ""
    if here == NOT_PLAIN:
        return Deed.REFUSE, "the local file of this name is not a plain file, or too large to be compared"
    match kind:
        case Kind.LOG:
            return Deed.BRING, ""
        case Kind.ARTIFACT:
            return usual, ""
        case Kind.HANDOFF if name.startswith(f"handoffs/{PM}"):
            return Deed.REFUSE, "only the PM writes pm-….md, and this is not what it wrote"
        case Kind.HANDOFF:
            return usual, ""
        case Kind.RUN | Kind.EVENT | Kind.EXIT:
            if usual is Deed.BRING:
                return usual, ""
            return Deed.REFUSE, "another file of this name exists here already"


def kept_name(name: str, number: int) -> str:
    """Return the name for keeping a local file when the box has a different one: `a.md` becomes `a.kept-1.md`."""
    stem, dot, ending = name.rpartition(".")
    if not stem or len(_raw(ending)) > _ENDING:
        stem, dot, ending = name, "", ""
    tail = f".kept-{number}{dot}{ending}"
    return _raw(stem)[: _LONGEST - len(_raw(tail))].decode(errors="surrogateescape") + tail


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
