"""The settings file, `config.toml`, and the environment variables that override it.

`ORCHESTRATOR_<SECTION>__<KEY>` overrides a key; `setting_kinds` lists the keys. Tables `[runtimes.NAME]` (`programs`),
`[hosts.NAME]` (`pools`) and `[prices.NAME]` (`prices`) exist in the file only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from orchestrator.formats.setting_kinds import PROFILED, SECTIONS, TABLES, check_of, class_of, keys_of
from orchestrator.formats.setting_values import Value, Values, read_values
from orchestrator.formats.suggestions import nearest
from orchestrator.model.errors import BadFile, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from orchestrator.model.pools import Pool
    from orchestrator.model.prices import Price
    from orchestrator.model.programs import Program
    from orchestrator.model.settings import Settings

PROGRAMS, POOLS, PRICES = TABLES
T = TypeVar("T")
_Read = tuple[T | None, list[tuple[str, str]]]


def load_settings(path: Path, environ: Mapping[str, str]) -> Settings:
    """Return the settings: defaults, overridden by the file at `path` (may be missing), overridden by `environ`.

    Raises:
        BadFile: every fault of the file, or else of the variables, with key, line and allowed values; or the
            file may not be trusted (another user's, writable by others); or the file named by
            `$ORCHESTRATOR_CONFIG` does not exist.

    """
    found = read_values(path, environ)
    return settings_of(path, found)


def load_section(path: Path, environ: Mapping[str, str], section: str, profile: str = "") -> Any:  # noqa: ANN401 (see `class_of`)
    """Return one section of the settings, for a command that needs no other: faults of others are not its business.

    What `[SECTION.PROFILE]` says goes before what the section says.

    Raises:
        BadFile: as `load_settings`, for what is wrong with the file as a whole, or with this section; or it has
            no such profile.

    """
    found, named = read_values(path, environ), f"{section}.{profile}"
    if profile and named not in found:
        there = sorted(each.partition(".")[2] for each in found if each.startswith(f"{section}."))
        raise BadFile(str(path), [Fault(0, f"has no [{named}]{nearest(profile, there)}")])
    checked = _checked(path, found, (section, named) if profile else (section,))
    return class_of(section)(**checked[section] | checked.get(named, {}))


# Checking -----------------------------------------------------------------------------------------


def _checked(path: Path, found: Values, wanted: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the checked values of sections, by field of the model, or raise every fault at once."""
    sections: dict[str, dict[str, Any]] = {section: {} for section in wanted}
    of_file, of_environment = [], []
    for section, said in sections.items():
        for key, value in found.get(section, {}).items():
            try:
                field, made = _made(section, key, value)
                said[field] = made
            except ValueError as reason:
                if value.variable:
                    of_environment.append(Fault(0, f"{value.variable}: {reason}"))
                else:
                    of_file.append(Fault(value.line, str(reason)))
    if of_file:
        raise BadFile(str(path), sorted(of_file, key=lambda fault: fault.line))
    if of_environment:
        raise BadFile("environment", of_environment)
    return sections


def _made(section: str, key: str, value: Value) -> tuple[str, object]:
    """Return the model's field that a key sets, and its value. Raises ValueError with the reason."""
    allowed = {each.key: each for each in keys_of(section)}
    if key not in allowed:
        raise ValueError(f"[{section}] has no key {key!a}{nearest(key, allowed)}")
    try:
        return allowed[key].field, check_of(allowed[key])(value.found)
    except ValueError as reason:
        raise ValueError(f"{section}.{key} {reason}") from None


def _tables(path: Path, found: Values, kind: str, read: Callable[..., _Read[T]]) -> tuple[T, ...]:
    """Return what the file defines as `[KIND.NAME]`, or raise every fault at once."""
    made, faults = list[T](), []
    for section, values in found.items():
        if not section.startswith(f"{kind}."):
            continue
        table = {key: value.found for key, value in values.items() if key}
        one, wrong = read(section.removeprefix(f"{kind}."), table)
        made += [one] if one else []
        faults += [Fault(values[key].line, f"[{section}] {reason}") for key, reason in wrong]
    if faults:
        raise BadFile(str(path), sorted(faults, key=lambda fault: fault.line))
    return tuple(made)


def _has(found: Values, kind: str) -> bool:
    """Return whether the file defines any `[KIND.NAME]`; only then its reader is imported."""
    return any(section.startswith(f"{kind}.") for section in found)


def _programs(path: Path, found: Values) -> tuple[Program, ...]:
    if not _has(found, PROGRAMS):
        return ()
    from orchestrator.formats.programs import read_program

    return _tables(path, found, PROGRAMS, read_program)


def _pools(path: Path, found: Values) -> tuple[Pool, ...]:
    if not _has(found, POOLS):
        return ()
    from orchestrator.formats.pools import clashes, read_pool

    pools = _tables(path, found, POOLS, read_pool)
    faults = [
        Fault(found[f"{POOLS}.{name}"][key].line, f"[{POOLS}.{name}] {reason}")
        for name, key, reason in clashes(pools)
    ]
    if faults:
        raise BadFile(str(path), faults)
    return pools


def _prices(path: Path, found: Values) -> tuple[Price, ...]:
    if not _has(found, PRICES):
        return ()
    from orchestrator.formats.prices import read_price

    return _tables(path, found, PRICES, read_price)


def settings_of(path: Path, found: Values) -> Settings:
    """Return the settings from all values. Raises BadFile with every fault of the first faulty part."""
    from orchestrator.model.settings import Settings

    profiles = [each for each in found if each.partition(".")[0] in PROFILED and "." in each]
    checked = _checked(path, found, (*SECTIONS, *profiles))
    made = {section: class_of(section)(**checked[section]) for section in SECTIONS}
    return Settings(
        **made,
        runtimes=_programs(path, found),
        hosts=_pools(path, found),
        prices=_prices(path, found),
    )
