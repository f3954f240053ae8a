"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

from errors import ArtifactError


def write_bytes(path: Path, data: bytes) -> None:
    """Put `data` at `path`, making its folders; a reader sees the old file or the new one, never a part.

    Raises:
        OSError: there is no room, or no right to write.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Put `text` at `path` as UTF-8, whole; what UTF-8 cannot hold is written as an escape."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: Path, value: object) -> None:
    """Put `value` at `path` as JSON that a person can read."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def read_json(path: Path) -> dict[str, object]:
    """The JSON object at `path`.

    Raises:
        ArtifactError: it is missing, not JSON, or not an object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing: the step that writes it has not run.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{path} cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise ArtifactError(f"{path} should hold a JSON object and holds a {type(value).__name__}.")
    return value
