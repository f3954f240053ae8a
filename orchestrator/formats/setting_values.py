"""The values of settings as they are found: in the settings file, `config.toml`, and in environment variables."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from orchestrator.formats.former_settings import FORMER_KEYS
from orchestrator.formats.setting_kinds import PROFILED, SECTIONS, TABLES, keys_of
from orchestrator.formats.suggestions import nearest
from orchestrator.layout import CONFIG_VARIABLE
from orchestrator.model.errors import BadFile, Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

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
