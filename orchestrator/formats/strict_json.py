"""JSON of others, read with suspicion: no name twice, no NaN, no nesting without end."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from orchestrator.formats.text import FILE_BYTES, decoded
from orchestrator.model.errors import BadFile, Fault, Refused

DEEPEST: Final = 32

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def load_json(data: bytes, name: str, limit: int = FILE_BYTES) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value that a file of JSON holds.

    Args:
        data: The file's bytes.
        name: Its name, for messages.
        limit: How many bytes it may have.

    Raises:
        BadFile: it is not JSON, or holds a name twice in one object, NaN, Infinity, a number of thousands of
            digits or beyond those that a float can hold, half of a surrogate pair, or brackets nested deeper than
            32; or it is not UTF-8, or too large.

    """
    text = decoded(data, name, limit)
    if line := _too_deep(text):
        raise BadFile(name, [Fault(line, f"is nested deeper than {DEEPEST} levels")])
    try:
        loaded = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
        if _SURROGATE.search(text):
            json.dumps(loaded, ensure_ascii=False).encode()
    except json.JSONDecodeError as problem:
        raise BadFile(name, [Fault(problem.lineno, f"is not JSON: {problem.msg}")]) from None
    except UnicodeEncodeError:
        raise BadFile(name, [Fault(0, "holds half of a surrogate pair")]) from None
    except Refused as problem:
        raise BadFile(name, [Fault(0, str(problem))]) from None
    except ValueError:  # an integer of more digits than Python converts
        raise BadFile(name, [Fault(0, "holds a number of too many digits")]) from None
    return loaded


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict[str, Any]()
    for key, value in pairs:
        if key in made:
            raise Refused(f"holds {key[:60]!a} twice in one object: keep one")
        made[key] = value
    return made


def _constant(word: str) -> NoReturn:
    raise Refused(f"holds {word}, which is no number in JSON")


def _number(digits: str) -> float:
    """Return a number. What Python would make infinite could not be written as JSON again."""
    value = float(digits)
    if math.isinf(value):
        raise Refused(f"holds {digits[:40]}, which is too large a number")
    return value


def _too_deep(text: str) -> int:
    """Return the line where brackets are nested too deep, or 0. Strings are passed over."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += token[0] in "[{"
        depth -= token[0] in "]}"
        if depth > DEEPEST:
            return text.count("\n", 0, token.start()) + 1
    return 0
