"""The manual pages: one of the program, one of each verb, and one that leads from the short name to the program's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orchestrator import __version__
from orchestrator.cli.help import MEANINGS, WHICH_EXIT
from orchestrator.cli.parser import ALIAS, PROGRAM, as_called
from scripts.reference import roff
from scripts.reference.environment import VARIABLES
from scripts.reference.markdown import sentence
from scripts.reference.verbs import GROUPS, Verb, Word, verbs

_MANUAL: Final = "Agent Orchestrator"
_ABOUT: Final = f"""\
{PROGRAM} plans a task, starts coding agents in tmux, watches them, checks their work, and asks only what nobody else
can answer. A task is described in `tasks/NAME/task.md` of its project. `{ALIAS}` is a shorter name of the same program.

A daemon does the work. Verbs that change something start it if it is down; verbs that only look read files, and answer
whether it is up or not. Inside a run, agents may only look."""
_FILES: Final = (
    ("~/.config/agent-orchestrator/config.toml", "The settings; `$XDG_CONFIG_HOME` is honoured."),
    ("~/.local/state/agent-orchestrator", "The state of the daemon; `$XDG_STATE_HOME` is honoured."),
    ("tasks/NAME/", "In the project: `task.md`, `progress.md`, `handoffs/`, `artifacts/`, `scratchpad/`."),
)
_EXAMPLE: Final = (
    f"cd ~/src/shop\n{PROGRAM} start tidy --template tidy --follow\n{PROGRAM} diff tidy\n{PROGRAM} merge tidy"
)


def manual_pages() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each manual page."""
    known = {verb.name: verb for verb in verbs()}
    yield f"{PROGRAM}.1", _page(PROGRAM, "a PM for coding agents in tmux", *_program(known))
    for verb in known.values():
        name = f"{PROGRAM}-{verb.name}"
        yield f"{name}.1", _page(name, verb.summary, *_verb(verb))
    yield f"{ALIAS}.1", f".so man1/{PROGRAM}.1\n"


def _page(name: str, about: str, *sections: str) -> str:
    top = roff.heading(name, "", f"{PROGRAM} {__version__}", _MANUAL)
    named = roff.section("Name", f"{roff.escaped(name)} \\- {roff.prose(about)}")
    return "\n".join(
        ['.\\" Made by scripts/docs reference from the code. Do not edit.', top, named, *sections, ""]
    )


def _program(known: dict[str, Verb]) -> Iterator[str]:
    yield roff.section(
        "Synopsis", f"{roff.bold(PROGRAM)} \\fIVERB\\fR \\&...", f"{roff.bold(PROGRAM)} \\-\\-version"
    )
    yield roff.section("Description", *(roff.prose(part) for part in _ABOUT.split("\n\n")))
    yield roff.section(
        "Verbs", roff.prose(f"`{PROGRAM} VERB --help` explains one verb, as its own page does.")
    )
    for title, names in GROUPS.values():
        yield roff.subsection(
            title, roff.tagged((f"{PROGRAM}-{name}(1)", _upper(known[name])) for name in names)
        )
    codes = roff.tagged((str(int(code)), sentence(as_called(meaning))) for code, meaning in MEANINGS.items())
    yield roff.section("Exit status", f"{roff.prose(as_called(WHICH_EXIT))}\n{codes}")
    yield roff.section("Environment", roff.tagged(VARIABLES))
    yield roff.section("Files", roff.tagged(_FILES))
    yield roff.section("Examples", roff.literal(_EXAMPLE))
    yield roff.section("See also", f"{roff.bold('tmux')}(1), {roff.bold('git')}(1)")


def _verb(verb: Verb) -> Iterator[str]:
    yield roff.section("Synopsis", roff.literal(verb.usage))
    yield roff.section("Description", roff.prose(_upper(verb)), *map(_paragraph, verb.more))
    yield roff.section(
        "Options", roff.tagged((_written(each), each.help) for each in (*verb.words, *verb.options))
    )
    yield roff.section("Examples", roff.literal("\n".join(verb.examples)))
    yield roff.section("See also", f"{roff.bold(PROGRAM)}(1)")


def _upper(verb: Verb) -> str:
    return sentence(verb.summary)


def _paragraph(text: str) -> str:
    """Return a paragraph of help; one that is indented is to stand as it is."""
    return roff.literal(text) if text.startswith("  ") else roff.prose(text)


def _written(word: Word) -> str:
    value = f" {word.value}" if word.value else ""
    return ", ".join(f"{name}{value}" for name in word.written)
