"""The seal of a state file: a keyed hash of all that it says and of where it lies, so that an edit shows (S3).

A file that was edited, or taken from another session, is otherwise as good as one that the machine wrote: it may name
fewer phases, or the task id of a session whose memory files are complete. How the JSON is laid out does not matter.
"""

from __future__ import annotations

import hmac
import json
from typing import Any, Final

FIELD: Final = "seal"


def sealed(data: bytes, key: bytes, path: str) -> bytes:
    """Return a state file with its seal. `path` is where it lies, links followed."""
    document = json.loads(data)
    whole = {**document, FIELD: _seal(document, key, path)}
    return (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode()


def is_sealed(data: bytes, key: bytes, path: str) -> bool:
    """Return whether a state file, which is JSON, is as it was sealed for this place."""
    document = json.loads(data)
    seal = document.pop(FIELD, None)
    return isinstance(seal, str) and hmac.compare_digest(seal.encode(), _seal(document, key, path).encode())


def _seal(document: dict[str, Any], key: bytes, path: str) -> str:
    said = json.dumps([path, document], sort_keys=True, separators=(",", ":"))
    return hmac.new(key, said.encode("utf-8", "surrogatepass"), "sha256").hexdigest()
