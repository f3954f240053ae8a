"""The pages about settings, from the models that read them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any, Final

from orchestrator.formats.durations import render_duration
from orchestrator.formats.former_settings import FORMER_KEYS
from orchestrator.formats.programs import KEYS as PROGRAM_KEYS
from orchestrator.formats.setting_kinds import AMOUNTS, SECTIONS, Key, bounds_of, class_of, keys_of
from orchestrator.model.budget import Measure
from orchestrator.model.notification import DEFAULT_CHANNELS
from orchestrator.model.pools import Pool
from orchestrator.model.prices import Price
from orchestrator.model.programs import PLACES, Program
from orchestrator.model.settings import Settings
from scripts.reference.markdown import code, page, table
from scripts.reference.sources import meanings, summary

_LIMITS: Final = "limits"
_ENGINES: Final = ("containers", "slurm", "kubernetes")
_HEADINGS: Final = ("key", "type", "unit", "default", "meaning")
_AMOUNTS: Final = {
    Measure.TOKENS: ("whole number", "tokens"),
    Measure.COST: ("number", "US dollars"),
    Measure.TIME: ("time", "seconds"),
}
_LISTS: Final = {
    "rules": "list of rules",
    "urgent": "list of rules",
    "channels": "list of addresses",
    "folders": "list of folders",
    "pass": "list of names",
    "mounts": "list of paths",
    "options": "list of words",
}
_INTRODUCTION: Final = """\
Settings live in one TOML file. `task config` names it (`$ORCHESTRATOR_CONFIG` chooses another), and shows each
setting with its value and where that comes from. A change takes effect within about a minute, at a quiet moment;
`task config` says when it did. A file with a fault changes nothing: the daemon goes on with the settings that it has,
and says which line is wrong.

- An environment variable `ORCHESTRATOR_SECTION__KEY` overrides a key: `ORCHESTRATOR_LIMITS__CHECK_IN_INTERVAL=5m`.
  Lists may be separated by commas. Tables of names of your own (`[runtimes.NAME]`, `[hosts.NAME]`, `[prices.NAME]`) are
  in the file only.
- A **time** is a number of seconds, or a text such as `"90 s"`, `"10 m"`, `"1.5 h"`, `"7 d"` (units: `ms`, `s`, `m`,
  `h`, `d`), at least 10 ms and at most 366 days.
- The file must belong to you (or root), and others must not be able to write it."""


def settings_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each page about settings."""
    others = [name for name in SECTIONS if name not in {_LIMITS, *_ENGINES}]
    yield (
        "settings.md",
        page(
            "Settings",
            _INTRODUCTION,
            f"The bounds of the PM (`[{_LIMITS}]`) have a [page of their own](settings-{_LIMITS}.md), and so have "
            f"[containers, jobs and pods](settings-engines.md) ({', '.join(f'`[{name}]`' for name in _ENGINES)}).",
            *(_section(name) for name in others),
            *_tables(),
        ),
    )
    yield (
        "settings-engines.md",
        page(
            "Settings: containers, jobs and pods",
            "Where agents run that do not run here or on a box. How values are written is told under "
            "[Settings](settings.md).",
            *(_section(name) for name in _ENGINES),
        ),
    )
    yield (
        f"settings-{_LIMITS}.md",
        page(
            f"Settings: [{_LIMITS}]",
            "How long, how often and how many: every bound of the PM. How values are written is told under "
            "[Settings](settings.md). A former name, from before 1.0, is still read.",
            _table(_LIMITS),
        ),
    )


def _section(name: str) -> str:
    title = summary(class_of(name)).partition(": ")[2]
    return f"## [{name}]\n\n{title[0].upper()}{title[1:]}\n\n{_table(name)}"


def _table(section: str) -> str:
    said = meanings(class_of(section))
    default = class_of(section)()
    former = {new: old for (of, old), new in FORMER_KEYS.items() if of == section}
    rows = [
        (
            code(f"{section}.{each.key}"),
            *_kind(each),
            _default(each, getattr(default, each.field)),
            said[each.field],
            code(former.get(each.key, "")),
        )
        for each in keys_of(section)
    ]
    if not former:
        return table(_HEADINGS, [row[:-1] for row in rows])
    return table((*_HEADINGS, "former name"), rows)


def _kind(each: Key) -> tuple[str, str]:
    if each.key in AMOUNTS:
        kind, unit = _AMOUNTS[Measure(AMOUNTS[each.key])]
        return f"{kind}, or `none`", unit
    match each.kind:
        case "float":
            return "time", "seconds"
        case "bool":
            return "`true` or `false`", ""
        case "int":
            least, most = bounds_of(each.key)
            return f"whole number, {least:,} to {most:,}", ""
        case "int | None":
            least, most = bounds_of(each.key)
            return f"whole number, {least:,} to {most:,}, or `none`", ""
        case _ if each.kind.startswith("tuple"):
            return _LISTS[each.key], ""
        case _:
            return ("one of `allow`, `deny`, `ask`" if each.kind == "PermissionDecision" else "text"), ""


def _default(each: Key, value: object) -> str:
    match value:
        case None:
            return "`none`"
        case bool():
            return code(str(value).lower())
        case float() if each.key not in AMOUNTS:
            return code(render_duration(value))
        case int():
            return f"{value:,}"
        case tuple() if value == DEFAULT_CHANNELS:
            return ", ".join(code(channel.url) for channel in DEFAULT_CHANNELS)
        case tuple():
            return ", ".join(map(code, value)) or "none"
        case _:
            return code(value) or "none"


def _tables() -> Iterator[str]:
    yield _own("runtimes", Program, PROGRAM_KEYS) + (
        f"\n\nIn words of `command` and `resume`, {', '.join(code(f'{{{place}}}') for place in PLACES)} stand for the "
        "order, its file, the id of the conversation, the run's own folder, the folder to work in, the folders that "
        "the run may write (as a word of its own: one word for each), and the model."
    )
    yield _own("hosts", Pool)
    yield _own("prices", Price)


def _own(section: str, of: type, keys: tuple[str, ...] | None = None) -> str:
    said = meanings(of)
    rows = [
        (code(each.name), _typed(each), _needed(section, each), said[each.name])
        for each in fields(of)
        if each.name != "name" and (keys is None or each.name in keys)
    ]
    title = summary(of).partition(": ")[2]
    return (
        f"## [{section}.NAME]\n\n{title[0].upper()}{title[1:]} `NAME`: {said['name'][0].lower()}{said['name'][1:]}\n\n"
        + table(("key", "type", "default", "meaning"), rows)
    )


def _typed(each: Field[Any]) -> str:
    kind = str(each.type)
    if kind.startswith("tuple[tuple"):
        return "table of texts"
    return {"str": "text", "int": "whole number", "float": "number"}.get(kind, "list of texts")


_LEFT_OUT: Final = {
    ("prices", "models"): "the name of the table",
    ("prices", "cache_read"): "`input`",
    ("prices", "cache_write"): "`input`",
    ("prices", "cache_write_hour"): "`cache_write`",
}
"""Defaults that the readers of such tables put in."""


def _needed(section: str, each: Field[Any]) -> str:
    if (section, each.name) in _LEFT_OUT:
        return _LEFT_OUT[section, each.name]
    if each.default is MISSING:
        return "required"
    return code(each.default) if each.default not in ("", ()) else "none"


def undocumented() -> list[str]:
    """Return the settings that say nothing of themselves."""
    classes = {name: class_of(name) for name in SECTIONS} | {
        "runtimes": Program,
        "hosts": Pool,
        "prices": Price,
    }
    return [
        f"{section}.{each.name}"
        for section, of in classes.items()
        for each in fields(of)
        if each.name not in meanings(of)
    ] + [each.name for each in fields(Settings) if not inspect.getdoc(classes[each.name])]
