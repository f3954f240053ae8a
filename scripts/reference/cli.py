"""The pages about the command line, from its parsers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator.cli.help import MEANINGS, WHICH_EXIT
from orchestrator.cli.main import INTERRUPTED, PIPE_CLOSED
from orchestrator.cli.parser import ALIAS, PROGRAM, as_called
from scripts.reference.environment import VARIABLES
from scripts.reference.markdown import block, code, page, sentence, table
from scripts.reference.verbs import GROUPS, Verb, Word, verbs

_INTRODUCTION: Final = f"""\
The program is `{PROGRAM}`; `{ALIAS}` is a shorter name for the same. `{PROGRAM} VERB --help` explains one verb,
`man {PROGRAM}` all of them. Each verb has options of its own, and they may stand before or after its other words.

Verbs that change something write a request for the daemon and wait for its reply; they start the daemon if it is down.
Verbs that only look read files, and answer whether the daemon is up or not. Inside a run, agents may only look."""


def cli_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each page about the command line."""
    known = {verb.name: verb for verb in verbs()}
    rows = [
        (f"[{PROGRAM} {name}](cli-{group}.md#{name})", known[name].summary)
        for group, (_, names) in GROUPS.items()
        for name in names
    ]
    yield (
        "cli.md",
        page(
            "Command line",
            _INTRODUCTION,
            table(("verb", "what it does"), rows),
            "## Exit codes\n\nSee [exit codes](exit-codes.md).",
            "## Environment",
            table(("variable", "meaning"), [(code(name), meaning) for name, meaning in VARIABLES]),
        ),
    )
    for group, (title, names) in GROUPS.items():
        yield f"cli-{group}.md", page(f"Command line: {title}", *(_section(known[name]) for name in names))
    yield "exit-codes.md", _exit_codes()


def _section(verb: Verb) -> str:
    parts = [f"## {verb.name}", sentence(verb.summary), block("text", verb.usage)]
    parts += [_paragraph(part) for part in verb.more]
    parts += [
        table(("word", "meaning"), [(_written(each), each.help) for each in (*verb.words, *verb.options)])
    ]
    parts += ["For example:", block("text" if "(" in verb.examples[0] else "sh", "\n".join(verb.examples))]
    return "\n\n".join(parts)


def _paragraph(text: str) -> str:
    """Return a paragraph of help; one that is indented is to stand as it is."""
    return block("text", text) if text.startswith("  ") else text


def _written(word: Word) -> str:
    value = f" {word.value}" if word.value else ""
    return ", ".join(code(f"{name}{value}") for name in word.written)


def _exit_codes() -> str:
    rows = [
        (code(each.value), code(each.name), sentence(as_called(meaning)))
        for each, meaning in MEANINGS.items()
    ]
    rows += [
        (code(INTERRUPTED), "", "It was interrupted (Ctrl-C)."),
        (code(PIPE_CLOSED), "", "Whoever read its output has closed the pipe."),
    ]
    return page(
        "Exit codes", as_called(" ".join(WHICH_EXIT.split())), table(("code", "name", "meaning"), rows)
    )
