"""An answer from the page: through the same requests as `task answer`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.cli.answer import not_open, open_question, text_meant
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.requests import ask
from orchestrator.cli.screen import harmless
from orchestrator.cli.tasks import TaskRecord, ids


def answered(state: str, form: Mapping[str, str]) -> str:
    """Send the answer of a form to the daemon, and return what it replies. Blocks until it does.

    Args:
        state: the folder of the PM.
        form: `task` and `question` by their ids; `option`, the number of one that the question offers, counted from 1;
            and `text`, which counts if `option` is 0.

    Raises:
        CommandError: the question is not open, there is no answer in the form, or what `requests.ask` raises.

    """
    task, name, said = form.get("task", ""), form.get("question", ""), form.get("text", "").strip()
    if task not in ids(state):
        raise CommandError(Exit.USAGE, "there is no such task any more")
    record = TaskRecord(state, task)
    question = open_question(record, name)
    if question is None:
        raise CommandError(Exit.USAGE, not_open(record, name))
    options, number = [str(each) for each in question.get("options") or ()], form.get("option", "0")
    if number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= len(options):
        text = options[int(number) - 1]
    else:
        text = text_meant(question, said)
    if not text:
        raise CommandError(Exit.USAGE, f"nothing was sent: the answer to {name} is empty")
    reply = ask(record.home, "answer", {"question": name, "text": text})
    return harmless(f"{record.name}, answer to {name}: {reply}")
