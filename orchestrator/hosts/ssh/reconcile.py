"""What is to be done with what lies in a mirror: pure, three-sided, and never a deletion (law 11).

A name of the mirror is one of few kinds, or nothing that a box may bring. The kinds stand in the order in which their
files come to be on a box; in that order they are published here, so that nothing is seen ahead of what it speaks of.
Of one kind they go by when they were written there: the names of two events of a second say nothing of their order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from orchestrator.formats.handoff_format import suffixes

PM: Final = "pm-"
COUNTED: Final = ("artifacts/", "scratchpad/")
"""The folders of which so many bytes come at all."""

NOT_PLAIN: Final = ""
"""Stands for the digest of what lies here and is no plain file, or is too large to be looked at."""

_EVENT: Final = re.compile(r"([a-z0-9][a-z0-9_-]{0,63})\.[0-9]{1,20}\.[0-9]{1,10}(?:\.waits)?\.json")
_LONGEST: Final = 255  # bytes of a name, on all file systems that matter
_ENDING: Final = 32  # bytes; what is longer behind the last dot is no ending


class Deed(StrEnum):
    """What is done here about one name."""

    NOTHING = "nothing"
    BRING = "bring"
    KEEP_AND_BRING = "keep_and_bring"  # what lies here is put under another name first, and that is told
    REFUSE = "refuse"  # what lies here stays, and that is told


class Kind(IntEnum):
    """What a name is, in the order of publishing."""

    RUN = 1  # a launcher's `claimed` and `pid`
    LOG = 2
    ARTIFACT = 3
    HANDOFF = 4
    EVENT = 5
    EXIT = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One name of the mirror, and what is done about it; `why` it is refused."""

    name: str
    kind: Kind
    deed: Deed
    why: str = ""


def kind_of(name: str, runs: Collection[str]) -> Kind | None:
    """Return what a name of the mirror is; None if nothing of that name may come from a box.

    `runs` are the runs that are on this box: it may speak for no other. Of a run's folder only what its launcher
    writes is the box's to say; order, answers and scripts are the daemon's.
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
    """Return what is done about a name on which both sides work, by digests; None where there is no such file.

    `base` is what was brought last, `here` what lies in the task's folder, `there` what the box has now.
    """
    if there is None or there in {base, here}:
        # Gone there, no news from there, or the same already: what lies here stays, or stays away.
        return Deed.NOTHING
    if here is None or here == base:
        return Deed.BRING
    return Deed.KEEP_AND_BRING


def steps(
    there: Mapping[str, str], base: Mapping[str, str], here: Mapping[str, str], runs: Collection[str]
) -> list[Step]:
    """Return what is done about each name of the mirror that has news, in the order in which it is to be done.

    All three map names to digests: of the mirror, in the order in which it was written there, of what was brought last,
    of what lies here (NOT_PLAIN for what cannot be looked at). `runs` are those that are on this box.
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
        return Deed.REFUSE, "what bears this name here is no plain file, or too large to be compared"
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
            return Deed.REFUSE, "another file of this name lies here already"


def kept_name(name: str, number: int) -> str:
    """Return the name under which a file here is kept when the box has another: `a.md` becomes `a.kept-1.md`."""
    stem, dot, ending = name.rpartition(".")
    if not stem or len(_raw(ending)) > _ENDING:
        stem, dot, ending = name, "", ""
    tail = f".kept-{number}{dot}{ending}"
    return _raw(stem)[: _LONGEST - len(_raw(tail))].decode(errors="surrogateescape") + tail


def _raw(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


# What is fetched ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a task comes from one box; in bytes.

    `files` and `size` are what one pull brings of artifacts, scratchpads and logs, `total` what
    comes at all but of logs.
    `steering` is what one call brings of handoffs and events, `steering_total` what comes of them at all.
    """

    files: int = 1_000
    size: int = 268_435_456
    total: int = 4_294_967_296
    control: int = 67_108_864
    control_total: int = 268_435_456


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a listing is fetched now; `later`: there is more for the next pull; `over`: names beyond the total."""

    now: tuple[str, ...] = ()
    later: bool = False
    over: int = 0


def choice(listed: Iterable[tuple[str, int]], had: int, bounds: Bounds) -> Choice:
    """Return which of the files that changed, with their sizes, are fetched now: the smallest first.

    So one tree of many gigabytes does not hold up what is small, and each pull ends. `had` is how many bytes of
    artifacts were brought before.
    """
    now, size, later, over = list[str](), 0, False, 0
    for each, large in sorted(listed, key=lambda file: (file[1], file[0])):
        if each.startswith(COUNTED) and had + large > bounds.total:
            over += 1
        elif len(now) >= bounds.files or (now and size + large > bounds.size):
            later = True
        else:
            now.append(each)
            size += large
            had += large if each.startswith(COUNTED) else 0
    return Choice(tuple(now), later, over)
