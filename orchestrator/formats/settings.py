"""The settings file, `config.toml`, and the environment variables that override it.

`ORCHESTRATOR_<SECTION>__<KEY>` overrides a key; `setting_kinds` lists the keys. Tables `[runtimes.NAME]` (`programs`),
`[hosts.NAME]` (`pools`) and `[prices.NAME]` (`prices`) exist in the file only.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from orchestrator.formats.setting_kinds import (
    FORMER_KEYS,
    PROFILED,
    SECTIONS,
    TABLES,
    check_of,
    class_of,
    keys_of,
)
from orchestrator.formats.suggestions import nearest
from orchestrator.layout import CONFIG_VARIABLE
from orchestrator.model.errors import BadFile, Fault

if TYPE_CHECKING:
    from pathlib import Path

    from orchestrator.model.pools import Pool
    from orchestrator.model.prices import Price
    from orchestrator.model.programs import Program
    from orchestrator.model.settings import Settings

PROGRAMS, POOLS, PRICES = TABLES
_LARGEST: Final = 1_048_576
_PREFIX: Final = "ORCHESTRATOR_"


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it was found: the line of the file, or the variable. `former`: the former key it used."""

    found: object
    line: int = 0
    variable: str = ""
    former: str = ""

    def where(self, path: Path) -> str:
        """Return where it was found, as `task config` shows it."""
        place = self.variable or f"{path}:{self.line}"
        return f"{place} as {self.former}" if self.former else place


Values = dict[str, dict[str, Value]]
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


# Reading ------------------------------------------------------------------------------------------


def read_values(path: Path, environ: Mapping[str, str]) -> Values:
    """Return the file's values, overridden by the variables' values."""
    data = _trusted_bytes(path)
    if data is None and environ.get(CONFIG_VARIABLE):
        raise BadFile(str(path), [Fault(0, f"does not exist: correct or unset {CONFIG_VARIABLE}")])
    found = _from_file(path, data or b"")
    for section, key, value in _from_environment(environ):
        found.setdefault(section, {})[key] = value
    return found


def _trusted_bytes(path: Path) -> bytes | None:
    """Return the bytes of a plain file that nobody else can write; None if there is none.

    A symbolic link of the user's own is fine (many keep such files in a repository): the opened file is checked.
    """
    try:
        link = path.lstat()
        if stat.S_ISLNK(link.st_mode) and link.st_uid not in {os.getuid(), 0}:
            raise BadFile(
                str(path), [Fault(0, f"is a symbolic link of user {link.st_uid}: make a file of your own")]
            )
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadFile(str(path), [Fault(0, f"cannot be read: {error.strerror}")]) from error
    try:
        if reason := _distrust(path, os.fstat(handle)):
            raise BadFile(str(path), [Fault(0, reason)])
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _distrust(path: Path, found: os.stat_result) -> str:
    """Return why an open file is not to be trusted; empty if it is."""
    if not stat.S_ISREG(found.st_mode):
        return "is not a plain file"
    if found.st_uid not in {os.getuid(), 0}:
        return f"belongs to user {found.st_uid}: make a file of your own"
    if found.st_mode & 0o022:
        return f"can be written by others: chmod go-w {path}"
    return f"is larger than {_LARGEST} bytes" if found.st_size > _LARGEST else ""


def _from_file(path: Path, data: bytes) -> Values:
    if not data:
        return {}
    import tomllib  # imported late: often there is no file

    from orchestrator.formats.toml_lines import key_lines

    try:
        text = data.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadFile(str(path), [Fault(line, "is not UTF-8")]) from error
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        line = int(at[1]) if at else len(text.splitlines())  # else: "at end of document"
        raise BadFile(str(path), [Fault(line, f"is not TOML: {error}")]) from error
    except RecursionError as error:
        raise BadFile(str(path), [Fault(0, "is nested too deeply")]) from error
    lines = key_lines(text)
    own = {
        section: keys
        for kind in TABLES
        for section, keys in _own_tables(path, kind, tables.pop(kind, {}), lines).items()
    } | _profiles(tables, lines)
    faults = [
        Fault(lines.get((section,), 0), f"{section} must be a section: [{section}]")
        if section in SECTIONS
        else Fault(
            lines.get((section,), 0), f"no section [{section}]{nearest(section, [*SECTIONS, *TABLES])}"
        )
        for section, table in tables.items()
        if section not in SECTIONS or not isinstance(table, dict)
    ]
    if faults:
        raise BadFile(str(path), faults)
    return own | {section: _section(path, section, table, lines) for section, table in tables.items()}


def _section(
    path: Path, section: str, table: Mapping[str, object], lines: Mapping[tuple[str, ...], int]
) -> dict[str, Value]:
    """Return the values of a section by their current keys. Raises BadFile if both names of a key are set."""
    found: dict[str, Value] = {}
    for key, value in table.items():
        line, new = lines.get((section, key), 0), FORMER_KEYS.get((section, key), key)
        if new != key and new in table:
            text = f"{section}.{key} is the former name of {section}.{new}, which is set too: remove it"
            raise BadFile(str(path), [Fault(line, text)])
        found[new] = Value(value, line, former=key if new != key else "")
    return found


def _own_tables(path: Path, kind: str, tables: object, lines: Mapping[tuple[str, ...], int]) -> Values:
    """Return each `[KIND.NAME]` as a section of that name; its empty key stands for the table itself."""
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        line = lines.get((kind,), 0)
        raise BadFile(str(path), [Fault(line, f"{kind} holds tables only: [{kind}.NAME]")])
    return {
        f"{kind}.{name}": {"": Value(None, lines.get((kind, name), 0))}
        | {key: Value(value, lines.get((kind, name, key), 0)) for key, value in table.items()}
        for name, table in tables.items()
    }


def _profiles(tables: dict[str, Any], lines: Mapping[tuple[str, ...], int]) -> Values:
    """Take the profiles out of the sections that may have some, and return each `[SECTION.NAME]` as a section."""
    found: Values = {}
    for section in PROFILED:
        table = tables.get(section)
        if not isinstance(table, dict):
            continue
        for name in [key for key, value in table.items() if isinstance(value, dict)]:
            found[f"{section}.{name}"] = {
                key: Value(value, lines.get((section, name, key), 0))
                for key, value in table.pop(name).items()
            }
    return found


def _from_environment(environ: Mapping[str, str]) -> Iterable[tuple[str, str, Value]]:
    """Yield section, key and value of each `ORCHESTRATOR_<SECTION>__<KEY>`."""
    faults = []
    for variable in sorted(environ):
        section, separator, key = variable.removeprefix(_PREFIX).lower().partition("__")
        if not (variable.startswith(_PREFIX) and separator):
            continue
        if section in SECTIONS:
            new = FORMER_KEYS.get((section, key), key)
            value = _plain(section, new, environ[variable])
            yield section, new, Value(value, variable=variable, former=key if new != key else "")
        else:
            faults.append(Fault(0, f"{variable}: no section [{section}]{nearest(section, SECTIONS)}"))
    if faults:
        raise BadFile("environment", faults)


def _plain(section: str, key: str, text: str) -> object:
    """Return a variable's text as the type of value that TOML would have given."""
    kind = next((each.kind for each in keys_of(section) if each.key == key), None)
    if kind in {"int", "int | None"} and re.fullmatch(r"-?[0-9]{1,18}", text.strip()):
        return int(text)
    if kind == "bool" and text.strip().lower() in {"true", "false"}:
        return text.strip().lower() == "true"
    if kind is not None and kind.startswith("tuple"):
        if text.startswith("["):
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return text
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


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
