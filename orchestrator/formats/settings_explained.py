"""Every setting with its value and where the value comes from, as `task config` shows them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orchestrator.formats.durations import render_duration
from orchestrator.formats.prices import price_said, prices_in_force
from orchestrator.formats.setting_kinds import AMOUNTS, PROFILED, all_keys
from orchestrator.formats.setting_values import Value, read_values
from orchestrator.formats.settings import POOLS, PRICES, PROGRAMS, settings_of
from orchestrator.model.budget import Measure
from orchestrator.model.pools import CAP

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Explained:
    """One setting, for `task config`: `where` is `default`, `FILE:LINE`, or the name of a variable."""

    key: str
    value: str
    where: str


def explained(path: Path, environ: Mapping[str, str]) -> list[Explained]:
    """Return every setting with its value and where the value comes from, in the order of the sections.

    Raises:
        BadFile: as `load_settings`.

    """
    found = read_values(path, environ)
    settings = settings_of(path, found)
    shown = []
    for each in all_keys():
        source = found.get(each.section, {}).get(each.key)
        where = source.where(path) if source else "default"
        value = getattr(getattr(settings, each.section), each.field)
        shown.append(Explained(f"{each.section}.{each.key}", _text(each.key, value), where))
    for section, values in found.items():
        kind = section.partition(".")[0]
        if kind in {PROGRAMS, POOLS} or (kind in PROFILED and kind != section):
            rows = ((key, _shown(key, value), value.line) for key, value in values.items() if key)
            shown += [Explained(f"{section}.{key}", text, f"{path}:{line}") for key, text, line in rows]
        if kind == POOLS and "cap" not in values:
            shown.append(Explained(f"{section}.cap", str(CAP), "default"))
    for price in prices_in_force(settings.prices):
        section = f"{PRICES}.{price.name}"
        where = f"{path}:{found[section][''].line}" if section in found else "default"
        shown.append(Explained(section, price_said(price), where))
    return shown


def _shown(key: str, value: Value) -> str:
    """Return a program's value as in the file; of its environment only the names, as the values may be secrets."""
    if key == "environment" and isinstance(value.found, dict):
        return json.dumps(sorted(value.found), ensure_ascii=False)
    return value.found if isinstance(value.found, str) else json.dumps(value.found, ensure_ascii=False)


def _text(key: str, value: object) -> str:
    match value:
        case None:
            return "none"
        case int() | float() if AMOUNTS.get(key) in {Measure.TOKENS, Measure.COST}:
            return f"${value:g}" if AMOUNTS[key] == Measure.COST else f"{value:.0f} tokens"
        case bool():
            return str(value).lower()
        case float():
            return render_duration(value)
        case tuple():
            return json.dumps([str(each) for each in value], ensure_ascii=False)
        case _:
            return str(value)
