"""A corpus of edits as models write them, right and wrong, on texts of several languages (`edits.json`).

Each says what must come of it: which lines become which, or why it is refused. `above` are lines that somebody else put
on top meanwhile, `twice` says that the file holds its lines twice, `end` and `last` are its line ends.
"""

import json
import re
from collections import Counter
from pathlib import Path

from orchestrator.formats.operations.patching import edited
from orchestrator.formats.operations.read import BadOperations, read_operations
from orchestrator.model.errors import Refused
from orchestrator.model.file_operations import FullContent

CORPUS = json.loads(Path(__file__).with_name("edits.json").read_text("utf-8"))


def text(each, lines):
    end = each.get("end", "\n")
    return end.join(lines) + each.get("last", end)


def before(each):
    lines = CORPUS["files"][each["file"]]
    return [*each.get("above", ()), *lines * (2 if each.get("twice") else 1)]


def wanted(each):
    """Return the text that must come out, by the lines that the corpus names."""
    lines = before(each)
    for start, end, new in sorted(each["becomes"], reverse=True):
        lines[start:end] = new
    return text(each, lines)


def outcome(each):
    """Return the text that comes of an edit, through all that reads it. Raises Refused."""
    said = {"operation": "edit", "file_path": "/work/file", "description": "as the goal asks for"}
    if "content" in each:
        said["content"] = each["content"]
    if each["edit"] is not None:
        said["edit_instructions"] = each["edit"]
    (operation,) = read_operations(json.dumps({"file_operations": [said]})).operations
    if isinstance(operation.change, FullContent):
        return operation.change.text
    assert operation.change is not None
    return edited(text(each, before(each)), operation.change).text


def judged(each):
    """Return what is wrong with what comes of an edit; empty if nothing is."""
    try:
        made = outcome(each)
    except (Refused, BadOperations) as error:
        why = each.get("refused")
        return "" if why and re.search(why, str(error)) else f"refused: {error}"
    if "becomes" not in each:
        return "applied, though it is wrong"
    return "" if made == wanted(each) else "applied, and the text is another one"


def test_every_edit_is_applied_right_or_refused_right():
    """Nothing is applied wrong, and nothing that is plain is refused."""
    judgements = [(number, each["kind"], judged(each)) for number, each in enumerate(CORPUS["edits"])]
    assert [each for each in judgements if each[2]] == []


def test_the_corpus_is_large_and_of_all_kinds():
    kinds = Counter(each["kind"] for each in CORPUS["edits"])
    applied = sum("becomes" in each for each in CORPUS["edits"])
    assert sum(kinds.values()) >= 400
    assert len(kinds) >= 20
    assert applied >= 250
    assert sum(kinds.values()) - applied >= 100
