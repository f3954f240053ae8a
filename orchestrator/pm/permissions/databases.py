"""sqlite3 on files: what its own commands and its SQL may do besides reading and writing the database."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import FILE_TEXT, MARKS, Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest

_FLAGS: Final = re.compile(
    r"--?(?:readonly|header|noheader|column|csv|json|line|list|box|table|markdown|html|tabs|quote|batch|bail|echo|ascii|safe"
    r"|version|help|interactive)"
)
_VALUED: Final = re.compile(r"--?(?:separator|newline|nullvalue|cmd)")
_COMMAND: Final = re.compile(
    r"\.(?:tables|schema|fullschema|indexes|indices|databases|dbinfo|headers?|mode|width|nullvalue|separator|timer|stats|changes"
    r"|dump|quit|exit|print|show|timeout|bail|echo|eqp|explain|help|limit|lint|parameter|version|count|sha3sum)\b[^|\n]*",
    re.IGNORECASE,
)
_REACHES: Final = re.compile(
    r"\b(?:readfile|writefile|edit|load_extension|fts3_tokenizer|attach|vacuum\s+into|zipfile|fsdir)\b",
    re.IGNORECASE,
)


def querying(call: Call) -> Finding | None:
    """Return the finding on `sqlite3`; None if it may reach more than its database."""
    operands, texts, takes = list[Field](), list[str](), False
    reads = False
    for field in call.rest:
        if takes:
            takes = False
            texts.append(field.text)
        elif field.option and _VALUED.fullmatch(field.text):
            takes = True
        elif field.option and _FLAGS.fullmatch(field.text):
            reads = reads or "readonly" in field.text
        elif field.option:
            return None
        else:
            operands.append(field)
    texts += [field.text for field in operands[1:]]
    texts += [call.given] if call.given is not None and call.given != FILE_TEXT else []
    if any(not _stays(text) for text in texts):
        return None
    if not operands or operands[0].text in {"", ":memory:"}:
        return call.allow("works on a database in memory")
    looks = call.given is None and (
        reads
        or (
            bool(texts)
            and all(re.match(r"\s*(?:select|pragma|explain|with|\.)", text, re.IGNORECASE) for text in texts)
        )
    )
    target = read_word(call, operands[0]) if looks else written(call, operands[:1])
    return strictest([call.allow("works on a database in the run's folders"), target])


def _stays(text: str) -> bool:
    """Return whether commands and SQL reach only the database."""
    if not MARKS.isdisjoint(text) or _REACHES.search(text):
        return False
    lines = [line.strip() for line in text.splitlines()]
    return all(_COMMAND.fullmatch(line) for line in lines if line.startswith("."))
